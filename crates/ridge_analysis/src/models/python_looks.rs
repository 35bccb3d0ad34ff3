//! Where the program's Python stood while a device was idle, and where it stood in the judged time at all.
//!
//! The recorder looks now and then ([`ridge_trace::PythonSamples`]), so what is known of a stretch of time is how many looks fell into
//! it and what they found. A look needs the interpreter's lock: while one thread computes in Python, looks come late and rather at the
//! calls that give the lock away, which are those that one wants to know of.

use crate::context::Shared;
use crate::{Analysis, AnalyzedTime, Breakdown, IdleGaps, Need, TimeOwner};
use ridge_trace::{DeviceRow, PythonThread, Trace};
use rustc_hash::FxHashMap;

/// How often each stack was found, by row of [`ridge_trace::PythonSamples::stacks`].
pub type Looks = FxHashMap<u32, u64>;

/// The looks of each process's busiest thread in the judged time.
#[derive(Debug, Default)]
pub struct PythonLooks {
    /// While a device was idle, by row of the breakdown.
    idle: FxHashMap<usize, Looks>,
    /// In all of it; where that is short, also after it and between its windows.
    all: Looks,
    /// Their number.
    pub count: u64,
}

impl Shared for PythonLooks {
    const NEEDS: &'static [Need] = &[Need::of::<AnalyzedTime>(), Need::of::<Breakdown>(), Need::of::<IdleGaps>()];

    fn make(analysis: &Analysis<'_>) -> PythonLooks {
        let (trace, frame, breakdown) = (analysis.trace, analysis.analyzed(), analysis.breakdown());
        let mut found = PythonLooks::default();
        if trace.python.threads.is_empty() {
            return found;
        }
        let idle = analysis.get::<IdleGaps>();
        let mut of_process: FxHashMap<u32, Vec<(i64, u32)>> = FxHashMap::default();
        for process in 0..trace.processes.len() as u32 {
            let Some((thread, looks)) = busiest(analysis, process) else { continue };
            let mut count = |stack: u32| {
                if is_import(trace, stack) {
                    return; // A library that is loaded late is no part of what recurs.
                }
                *found.all.entry(stack).or_default() += 1;
                found.count += 1;
            };
            match looks.first() {
                // Between windows of a recording the program goes on as it did in them.
                Some((first, _)) if looks.len() < ENOUGH => {
                    looks_of(thread).filter(|(at, _)| at >= first).for_each(|(_, stack)| count(stack));
                }
                _ => looks.iter().for_each(|(_, stack)| count(*stack)),
            }
            of_process.insert(process, looks);
        }
        for (position, device) in idle.devices.iter().enumerate() {
            let process = trace.devices.get(device.device as usize).map_or(0, |device| device.process);
            let looks = of_process.get(&process).map_or(&[][..], Vec::as_slice);
            if looks.is_empty() {
                continue;
            }
            let seen = idle.visit(trace, position, 0, Vec::new, |seen: &mut Vec<(usize, u32)>, gap| {
                for part in gap {
                    let first = looks.partition_point(|(at, _)| *at < part.start_ns);
                    let inside = looks[first..].iter().take_while(|(at, _)| *at < part.end_ns());
                    let owner =
                        TimeOwner::Idle { cause: part.cause_per(frame.per), activity: part.activity, name: part.name };
                    let mut place = None;
                    for (_, stack) in inside {
                        let at = *place.get_or_insert_with(|| breakdown.place(DeviceRow(device.device), owner));
                        seen.extend(at.map(|at| (at, *stack)));
                    }
                }
            });
            for (at, stack) in seen.into_iter().flatten() {
                *found.idle.entry(at).or_default().entry(stack).or_default() += 1;
            }
        }
        found
    }
}

impl PythonLooks {
    /// What was found while a device was idle for the reason in row `at` of the breakdown.
    pub fn idle_in(&self, at: usize) -> Option<&Looks> {
        self.idle.get(&at)
    }

    /// What was found in the judged time; where that is short, also after it and between its windows.
    pub fn all(&self) -> &Looks {
        &self.all
    }
}

/// The thread of `process` with most looks in the judged time, and those, ascending.
fn busiest<'a>(analysis: &Analysis<'a>, process: u32) -> Option<(&'a PythonThread, Vec<(i64, u32)>)> {
    let spans = analysis.analyzed().spans.get(process as usize)?;
    let judged = threads(analysis.trace, process).map(|thread| {
        let looks: Vec<(i64, u32)> = looks_of(thread).filter(|(at, _)| spans.contains(*at)).collect();
        (thread, looks)
    });
    judged.max_by_key(|(_, looks)| looks.len())
}

/// The looks of a thread: when they were, and the stacks that they found.
fn looks_of(thread: &PythonThread) -> impl Iterator<Item = (i64, u32)> + '_ {
    thread.at_ns.iter().copied().zip(thread.stack.iter().copied())
}

/// Looks that tell what a program spends its time on.
const ENOUGH: usize = 64;

/// Whether a look found the program in an import.
fn is_import(trace: &Trace, stack: u32) -> bool {
    let stack = trace.python.stacks.get(stack as usize);
    stack.is_some_and(|stack| trace.strings.get(stack.calls).starts_with("<frozen importlib"))
}

fn threads(trace: &Trace, process: u32) -> impl Iterator<Item = &PythonThread> {
    trace.python.threads.iter().filter(move |thread| thread.process == process)
}

impl Analysis<'_> {
    /// What was found in the main thread of process `process` from its first window on, judged or not.
    pub fn looks_from_main(&self, process: u32) -> impl Iterator<Item = u32> + '_ {
        threads(self.trace, process).filter(|thread| thread.is_main).flat_map(|thread| thread.stack.iter().copied())
    }

    /// What was found in process `process` between `start` and `end`, nanoseconds on the trace clock, judged or not.
    pub fn looks_between(&self, process: u32, start: i64, end: i64) -> impl Iterator<Item = u32> + '_ {
        let inside = move |thread: &PythonThread| {
            let first = thread.at_ns.partition_point(|at| *at < start);
            let last = thread.at_ns.partition_point(|at| *at <= end);
            first..last.max(first)
        };
        threads(self.trace, process).flat_map(move |thread| thread.stack[inside(thread)].iter().copied())
    }
}
