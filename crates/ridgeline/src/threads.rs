//! The threads that work is shared among, as many as the system grants.

use rayon::{ThreadBuilder, ThreadPoolBuilder};
use std::num::NonZero;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::{Builder, available_parallelism};

/// Starts a thread per core, as many as `RAYON_NUM_THREADS` asks for, or as many as there may be: limits on processes (`ulimit -u`, a container's) allow fewer,
/// or none, and then the calling thread does all the work.
///
/// For programs, before they open a capture, on the thread that does; whether there are threads beside it.
pub fn start_threads() -> bool {
    static GRANTED: OnceLock<bool> = OnceLock::new();
    *GRANTED.get_or_init(start_pool)
}

fn start_pool() -> bool {
    let wanted = wanted(std::env::var("RAYON_NUM_THREADS").ok().as_deref());
    let (send, receive) = channel::<ThreadBuilder>();
    let receive = Arc::new(Mutex::new(receive));
    // They are there before the pool is asked for: it counts on every one that it was promised.
    let started = (0..wanted).map_while(|_| start(&receive)).count();
    let pool = ThreadPoolBuilder::new();
    let built = match started {
        0 => pool.num_threads(1).use_current_thread().build_global(),
        _ => {
            let hand_over = |thread| send.send(thread).map_err(|_| std::io::Error::other("the thread has ended"));
            pool.num_threads(started).spawn_handler(hand_over).build_global()
        }
    };
    // Where there was a pool before, that one is used.
    built.is_err() || started > 0
}

/// How many threads there shall be, where the user `asked` for a number: as with any program's pool, 0 is one per core.
fn wanted(asked: Option<&str>) -> usize {
    let asked = asked.and_then(|asked| asked.parse().ok());
    asked.or(available_parallelism().ok()).map_or(1, NonZero::get)
}

/// Starts a thread that waits for its place in the pool.
fn start(receive: &Arc<Mutex<Receiver<ThreadBuilder>>>) -> Option<()> {
    let receive = Arc::clone(receive);
    let wait = move || {
        let place = receive.lock().ok().and_then(|receive| receive.recv().ok());
        if let Some(place) = place {
            place.run();
        }
    };
    Builder::new().spawn(wait).ok().map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_threads_as_were_asked_for() {
        let each_core = wanted(None);
        for (asked, expected) in [("1", 1), ("3", 3), ("0", each_core), ("many", each_core), ("", each_core)] {
            assert_eq!(wanted(Some(asked)), expected, "{asked:?}");
        }
    }
}
