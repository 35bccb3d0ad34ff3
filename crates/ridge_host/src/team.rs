//! The same work on every core at once, timed in rounds.
//!
//! A round lasts from the first core's start to the last one's end, by the cores' own clock readings.
//! Each core keeps the part of the arrays that it wrote first, so that on machines with several memories each works on its own.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, OnceLock};
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

/// How long to go on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    /// Rounds to do at least.
    pub(crate) least_rounds: usize,
    /// Start no further round after this long.
    pub(crate) time: Duration,
}

/// One core's rounds: when each began and ended.
type Times = Vec<(Instant, Instant)>;

/// Runs `work` on all `parts` at once, again and again; the time of each round in nanoseconds, after one that warms up.
///
/// `prepare` makes each part on the core that will work on it. Where the system grants fewer threads, the calling one works
/// on what is left over, one part after the other: the time of a round is always that of all parts.
/// It ends with the budget, or when `stop` is set, between rounds.
pub(crate) fn rounds<P>(
    parts: usize,
    budget: Budget,
    stop: &AtomicBool,
    prepare: impl Fn(usize) -> P + Sync,
    work: impl Fn(&mut P) + Sync,
) -> Vec<u64> {
    rounds_on(parts, parts, budget, stop, prepare, work)
}

/// As [`rounds`], on at most so many `threads`.
fn rounds_on<P>(
    threads: usize,
    parts: usize,
    budget: Budget,
    stop: &AtomicBool,
    prepare: impl Fn(usize) -> P + Sync,
    work: impl Fn(&mut P) + Sync,
) -> Vec<u64> {
    // It is there once it is known how many wait for each other.
    let (barrier, is_over) = (OnceLock::<Barrier>::new(), AtomicBool::new(false));
    let member = |mine: Vec<usize>| {
        let barrier = barrier.wait();
        let is_first = mine.contains(&0);
        let mut own: Vec<P> = mine.into_iter().map(&prepare).collect();
        let mut work_on_all = || own.iter_mut().for_each(&work);
        work_on_all();
        let mut times = Times::new();
        let mut first = None;
        loop {
            if is_first {
                let began = *first.get_or_insert_with(Instant::now);
                let enough = times.len() >= budget.least_rounds && began.elapsed() >= budget.time;
                is_over.store(enough || stop.load(Ordering::Relaxed), Ordering::Relaxed);
            }
            // The barrier orders the flag: the first core wrote it before it came here.
            barrier.wait();
            if is_over.load(Ordering::Relaxed) {
                return times;
            }
            let start = Instant::now();
            work_on_all();
            times.push((start, Instant::now()));
            barrier.wait();
        }
    };
    let all = thread::scope(|scope| {
        let start = |index: usize| Builder::new().spawn_scoped(scope, move || member(vec![index])).ok();
        let others: Vec<_> = (1..parts.min(threads)).map_while(start).collect();
        let started = others.len();
        barrier.get_or_init(|| Barrier::new(1 + started));
        let mut all = vec![member([0].into_iter().chain(1 + started..parts).collect())];
        all.extend(others.into_iter().map(|other| other.join().unwrap_or_default()));
        all
    });
    together(&all)
}

/// The time of each round over all cores, nanoseconds.
fn together(all: &[Times]) -> Vec<u64> {
    let rounds = all.iter().map(Vec::len).min().unwrap_or(0);
    let of = |round: usize| {
        let start = all.iter().map(|times| times[round].0).min()?;
        let end = all.iter().map(|times| times[round].1).max()?;
        Some(u64::try_from(end.duration_since(start).as_nanos()).unwrap_or(u64::MAX).max(1))
    };
    (0..rounds).filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    const THREE: Budget = Budget { least_rounds: 3, time: Duration::ZERO };

    #[test]
    fn every_part_works_in_every_round_and_once_to_warm_up() {
        let done = AtomicUsize::new(0);
        let count = |_: &mut usize| {
            done.fetch_add(1, Ordering::Relaxed);
        };
        let times = rounds(2, THREE, &AtomicBool::new(false), |index| index, count);
        assert_eq!(times.len(), 3);
        assert_eq!(done.load(Ordering::Relaxed), 2 * (3 + 1));
    }

    #[test]
    fn fewer_threads_work_on_as_many_parts() {
        for threads in [0, 1, 2] {
            let done = AtomicUsize::new(0);
            let count = |part: &mut usize| {
                done.fetch_add(*part, Ordering::Relaxed);
            };
            let times = rounds_on(threads, 4, THREE, &AtomicBool::new(false), |index| index, count);
            assert_eq!((times.len(), done.load(Ordering::Relaxed)), (3, (1 + 2 + 3) * (3 + 1)), "{threads}");
        }
    }

    #[test]
    fn a_stop_ends_it_between_rounds() {
        assert_eq!(rounds(2, THREE, &AtomicBool::new(true), |_| (), |()| ()), Vec::<u64>::new());
    }

    #[test]
    fn a_round_lasts_from_the_first_start_to_the_last_end() {
        let zero = Instant::now();
        let at = |nanos| zero + Duration::from_nanos(nanos);
        let all = [vec![(at(10), at(30)), (at(50), at(60))], vec![(at(15), at(45)), (at(48), at(55))]];
        assert_eq!(together(&all), [35, 12]);
    }
}
