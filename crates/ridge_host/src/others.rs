//! What others did meanwhile: the part of the processors' time that was neither idle nor used by the processes that measure.
//!
//! Read from `/proc`, in the system's ticks of a hundredth of a second; elsewhere it is not known.

use std::fs;

/// A moment from which the use of the processors is counted.
#[derive(Debug, Clone)]
pub struct Others {
    ours: Vec<u32>,
    start: Option<Ticks>,
}

/// Ticks since the system began, of all processors together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ticks {
    all: u64,
    idle: u64,
    ours: u64,
}

impl Others {
    /// Counts from now; `ours` are the processes that measure.
    pub fn from_now(ours: &[u32]) -> Others {
        Others { ours: ours.to_vec(), start: Ticks::now(ours) }
    }

    /// The part of all processors' time until now that others used, from 0 to 1, the time included in which a virtual machine's host
    /// gave them to somebody else; `None` where the system does not tell, or no tick went by.
    pub fn share(&self) -> Option<f64> {
        share(self.start?, Ticks::now(&self.ours)?)
    }
}

impl Ticks {
    fn now(ours: &[u32]) -> Option<Ticks> {
        let (all, idle) = all_and_idle(&fs::read_to_string("/proc/stat").ok()?)?;
        let of = |pid: &u32| of_process(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?);
        Some(Ticks { all, idle, ours: ours.iter().map(of).sum::<Option<u64>>()? })
    }
}

fn share(start: Ticks, end: Ticks) -> Option<f64> {
    let all = end.all.checked_sub(start.all).filter(|all| *all > 0)?;
    let used = all.saturating_sub(end.idle.checked_sub(start.idle)?);
    Some(used.saturating_sub(end.ours.checked_sub(start.ours)?) as f64 / all as f64)
}

/// All ticks and the idle ones in the text of `/proc/stat`, proc(5): user, nice, system, idle, iowait, irq, softirq, steal; what
/// follows is in them already.
fn all_and_idle(stat: &str) -> Option<(u64, u64)> {
    let fields = stat.lines().next()?.strip_prefix("cpu ")?.split_whitespace().take(8);
    let ticks: Vec<u64> = fields.map(|field| field.parse().ok()).collect::<Option<_>>()?;
    Some((ticks.iter().sum(), ticks.get(3)?.checked_add(*ticks.get(4)?)?))
}

/// Ticks of a process in the text of its `stat`, proc(5): the 14th and 15th field; the name before them may hold anything.
fn of_process(stat: &str) -> Option<u64> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let (user, system): (u64, u64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    user.checked_add(system)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_systems_words_are_read() {
        let stat = "cpu  10 1 5 100 7 2 3 4 9 9\ncpu0 1 1 1 1 1 1 1 1 0 0\n";
        assert_eq!(all_and_idle(stat), Some((132, 107)));
        assert_eq!(all_and_idle("cpu  10 1"), None);
        assert_eq!(of_process("7 (a b) c) R 1 2 3 4 5 6 7 8 9 10 40 2 0 0"), Some(42));
        assert_eq!(of_process("7 (x) R 1"), None);
    }

    #[test]
    fn what_is_neither_idle_nor_ours_is_the_others() {
        let ticks = |all, idle, ours| Ticks { all, idle, ours };
        assert_eq!(share(ticks(100, 50, 10), ticks(200, 70, 40)), Some(0.5));
        assert_eq!(share(ticks(100, 50, 10), ticks(200, 50, 150)), Some(0.0));
        assert_eq!(share(ticks(100, 50, 10), ticks(100, 50, 10)), None);
    }
}
