//! Which range of the program was open at a time, for work of threads that work for others.

use super::helping_threads::{Role, is_range};
use ridge_trace::{EventKind, NONE, Trace};
use rustc_hash::FxHashSet;

/// The ranges of one process that are open at each time, where they are one thread's.
#[derive(Debug, Default)]
pub(crate) struct OpenRanges {
    times: Vec<i64>,
    /// The innermost range from each time on; [`NONE`] where none is open, or ranges of several threads are.
    ranges: Vec<u32>,
}

impl OpenRanges {
    /// For every process, the ranges of its threads, given what each is for; of those that launch work alone, where
    /// there are any.
    pub(crate) fn of_processes(trace: &Trace, roles: &[Role]) -> Vec<OpenRanges> {
        let mut threads: Vec<Vec<Thread>> = vec![Vec::new(); trace.processes.len()];
        let naming = trace.tracks.iter().zip(roles).filter(|(_, role)| **role == Role::Names);
        for (track, _) in naming {
            let thread = Thread::of(trace, track.rows.clone());
            if let Some(known) = threads.get_mut(track.process as usize).filter(|_| !thread.ranges.is_empty()) {
                known.push(thread);
            }
        }
        threads.into_iter().map(|threads| OpenRanges::of(trace, threads)).collect()
    }

    fn of(trace: &Trace, mut threads: Vec<Thread>) -> OpenRanges {
        if threads.iter().any(|thread| thread.launches) {
            threads.retain(|thread| thread.launches);
        }
        // Ends before starts at one instant: ranges that touch do not overlap.
        let mut changes: Vec<(i64, bool, u32, usize)> = Vec::new();
        for (at, thread) in threads.iter().enumerate() {
            for row in &thread.ranges {
                changes.push((trace.events.start_ns[*row as usize], true, *row, at));
                changes.push((trace.events.end_ns(*row as usize), false, *row, at));
            }
        }
        changes.sort_unstable();
        let mut open = Open { stacks: vec![Vec::new(); threads.len()], ..Open::default() };
        let mut found = OpenRanges::default();
        for (time, begins, row, thread) in changes {
            if begins {
                open.begin(row, thread)
            } else {
                open.end(row, thread)
            }
            found.times.push(time);
            found.ranges.push(open.innermost());
        }
        found
    }

    /// The innermost range open at `time`, or [`NONE`].
    pub(crate) fn at(&self, time: i64) -> u32 {
        match self.times.partition_point(|start| *start <= time) {
            0 => NONE,
            position => self.ranges[position - 1],
        }
    }
}

/// A thread that names ranges.
#[derive(Debug, Clone)]
struct Thread {
    ranges: Vec<u32>,
    launches: bool,
}

impl Thread {
    fn of(trace: &Trace, rows: std::ops::Range<u32>) -> Thread {
        let launches = rows.clone().any(|row| trace.events.kind(row as usize) == EventKind::Launch);
        // A range of no length is open at no time.
        let is_open = |row: &u32| is_range(trace, *row) && trace.events.dur_ns[*row as usize] > 0;
        Thread { ranges: rows.filter(is_open).collect(), launches }
    }
}

/// The ranges that are open while time goes on.
#[derive(Debug, Default)]
struct Open {
    /// By thread, the outermost first; what has ended leaves when it is the last.
    stacks: Vec<Vec<u32>>,
    ended: FxHashSet<u32>,
    /// Threads with open ranges.
    threads: FxHashSet<usize>,
}

impl Open {
    fn begin(&mut self, row: u32, thread: usize) {
        self.stacks[thread].push(row);
        self.threads.insert(thread);
    }

    fn end(&mut self, row: u32, thread: usize) {
        self.ended.insert(row);
        let stack = &mut self.stacks[thread];
        while stack.last().is_some_and(|last| self.ended.remove(last)) {
            stack.pop();
        }
        if stack.is_empty() {
            self.threads.remove(&thread);
        }
    }

    fn innermost(&self) -> u32 {
        let mut threads = self.threads.iter();
        match (threads.next(), threads.next()) {
            (Some(thread), None) => self.stacks[*thread].last().copied().unwrap_or(NONE),
            _ => NONE,
        }
    }
}
