//! Windows of one process: captures that the same process wrote one after the other.
//!
//! They share a process id and do not overlap, because a process has one profiler. Processes of the same id on several hosts are
//! captured together, and overlap.
//! Windows share modules and operations, so that an operation is one row; their devices and threads stay apart, because what ran
//! between two windows is not known.

use crate::source::Window;
use std::ops::Range;

/// The row of the process whose modules and operations are those of `process`: its own, or that of an earlier window.
///
/// What is not known of the capture, as in those of old versions, keeps it by itself.
pub(super) fn first_window(windows: &mut Vec<Window>, process: u32, pid: Option<u64>, open: Option<Range<u64>>) -> u32 {
    let (Some(pid), Some(open)) = (pid, open) else { return process };
    let overlaps = |first: u32| {
        let mut others = windows.iter().filter(|other| other.first == first);
        others.any(|other| other.open.start < open.end && open.start < other.open.end)
    };
    let mut known = windows.iter().filter(|other| other.pid == pid).map(|other| other.first);
    let first = known.find(|first| !overlaps(*first)).unwrap_or(process);
    windows.push(Window { pid, open, first });
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_of_a_process_follow_each_other_and_ranks_overlap() {
        let mut windows = Vec::new();
        let mut first = |process, pid, open| first_window(&mut windows, process, pid, open);
        assert_eq!(first(0, Some(1), Some(0..10)), 0);
        assert_eq!(first(1, Some(1), Some(20..30)), 0, "the second window of the first host");
        assert_eq!(first(2, Some(1), Some(1..11)), 2, "another host");
        assert_eq!(first(3, Some(1), Some(21..31)), 2, "its second window");
        assert_eq!(first(4, Some(7), Some(40..50)), 4, "another process");
        assert_eq!(first(5, Some(1), None), 5, "who knows");
    }
}
