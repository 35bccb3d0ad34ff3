//! SIGINT and SIGTERM while tools run: nothing further is begun, what runs is ended with all that it started, and the command
//! that runs them cleans up and ends as if the signal had ended it.

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

static SIGNAL: OnceLock<Arc<AtomicUsize>> = OnceLock::new();

/// From here on, signals are seen; a second one ends the process at once.
pub fn watch() {
    let signal = Arc::clone(SIGNAL.get_or_init(Arc::default));
    let again = Arc::new(AtomicBool::new(false));
    for number in [SIGINT, SIGTERM] {
        // Where they cannot be watched, they do what they always do.
        let _ = flag::register_conditional_shutdown(number, 128 + number, Arc::clone(&again))
            .and_then(|_| flag::register(number, Arc::clone(&again)))
            .and_then(|_| flag::register_usize(number, Arc::clone(&signal), usize::try_from(number).unwrap_or(1)));
    }
}

/// The signal that came, where one did.
pub fn signal() -> Option<i32> {
    let number = SIGNAL.get()?.load(Ordering::Relaxed);
    i32::try_from(number).ok().filter(|number| *number > 0)
}
