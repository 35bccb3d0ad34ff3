//! Idle time of devices by the line of the program that the host was in meanwhile.
//!
//! A stretch of idle time that [`IdleGaps`] gives to something the host did belongs to the innermost function of the program
//! that was open around it, on the thread that did it. Captures without calls of Python tell no line, and what has none is
//! said rather than guessed. XLA's tracer names files without their folders, so whoever asks says which of those are the
//! program's. What is before a device's first work and after its last is not counted: no line is late there.

use super::idle::{Activity, Cause, IdleGaps, IdlePart};
use crate::Analysis;
use crate::context::PythonFrame;
use ridge_trace::{EventKind, NONE, StringId, Trace};
use rustc_hash::FxHashMap;

/// Events around one that are looked at.
const NESTING: usize = 256;

/// Idle time by line.
#[derive(Debug, Clone, Default)]
pub struct SourceIdle {
    /// The lines that held devices up, longest first.
    pub rows: Vec<LineIdle>,
    /// Idle time between the first and the last work of each device, all devices together, nanoseconds.
    pub whole_ns: i64,
}

/// The idle time of one line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineIdle {
    /// The file, as the capture names it; XLA's tracer gives no folders.
    pub file: String,
    /// Where the function begins, from 1.
    pub line: u32,
    /// The function.
    pub function: String,
    /// Its idle time, nanoseconds.
    pub ns: i64,
    /// The parts of it, longest first, nanoseconds; they add up to it.
    pub parts: Vec<(Cause, Activity, i64)>,
}

impl SourceIdle {
    /// The part that has a line, nanoseconds.
    pub fn known_ns(&self) -> i64 {
        self.rows.iter().fold(0, |sum, row| sum.saturating_add(row.ns))
    }
}

impl SourceIdle {
    /// Finds it; `is_programs` says whether a file that is named without its folder is the program's.
    pub fn of(analysis: &Analysis<'_>, is_programs: &dyn Fn(&str) -> bool) -> SourceIdle {
        let (trace, idle) = (analysis.trace, analysis.get::<IdleGaps>());
        let whole_ns = idle.devices.iter().fold(0_i64, |sum, device| sum.saturating_add(device.idle_ns()));
        if !trace.events.kind.contains(&(EventKind::PythonCall as u8)) {
            return SourceIdle { rows: Vec::new(), whole_ns };
        }
        let (of_row, of_name) = (FxHashMap::default(), FxHashMap::default());
        let mut functions = Functions { trace, is_programs, of_row, of_name };
        let mut sums: FxHashMap<(u32, Cause, Activity), i64> = FxHashMap::default();
        for position in 0..idle.devices.len() {
            for ((row, cause, activity), ns) in hosts_time(trace, idle, position) {
                if let Some(name) = functions.of(row) {
                    let sum = sums.entry((name, cause, activity)).or_default();
                    *sum = sum.saturating_add(ns);
                }
            }
        }
        SourceIdle { rows: rows(trace, sums), whole_ns }
    }
}

/// Idle time by the event of the host that had it, its cause, and what the host did.
fn hosts_time(trace: &Trace, idle: &IdleGaps, position: usize) -> FxHashMap<(u32, Cause, Activity), i64> {
    let is_the_hosts = |part: &&IdlePart| {
        !matches!(part.cause, Cause::BeforeFirst | Cause::AfterLast | Cause::Profiler | Cause::Unknown)
    };
    let mut sums: FxHashMap<(u32, Cause, Activity), i64> = FxHashMap::default();
    let found = idle.visit(trace, position, 0, FxHashMap::default, |found: &mut FxHashMap<_, i64>, parts| {
        for part in parts.iter().filter(is_the_hosts) {
            if let Some(row) = part.row {
                let sum = found.entry((row.0, part.cause, part.activity)).or_default();
                *sum = sum.saturating_add(part.ns);
            }
        }
    });
    for (key, ns) in found.into_iter().flatten() {
        let sum = sums.entry(key).or_default();
        *sum = sum.saturating_add(ns);
    }
    sums
}

/// One row per place: functions of one line share it.
fn rows(trace: &Trace, sums: FxHashMap<(u32, Cause, Activity), i64>) -> Vec<LineIdle> {
    let mut by_place: FxHashMap<(&str, u32), LineIdle> = FxHashMap::default();
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_unstable_by_key(|(key, _)| *key);
    for ((name, cause, activity), ns) in sums {
        let Some(PythonFrame { file, line, function, .. }) = PythonFrame::parse(trace.strings.get(StringId(name)))
        else {
            continue;
        };
        let row = by_place.entry((file, line)).or_insert_with(|| LineIdle {
            file: file.to_owned(),
            line,
            function: function.to_owned(),
            ..LineIdle::default()
        });
        row.ns = row.ns.saturating_add(ns);
        match row.parts.iter_mut().find(|part| (part.0, part.1) == (cause, activity)) {
            Some(part) => part.2 = part.2.saturating_add(ns),
            None => row.parts.push((cause, activity, ns)),
        }
    }
    let mut rows: Vec<LineIdle> = by_place.into_values().collect();
    rows.iter_mut().for_each(|row| row.parts.sort_by_key(|part| (std::cmp::Reverse(part.2), part.0, part.1)));
    rows.sort_by(|a, b| b.ns.cmp(&a.ns).then_with(|| (&a.file, a.line).cmp(&(&b.file, b.line))));
    rows
}

/// The function of the program around each row of the host that was asked for.
struct Functions<'t> {
    trace: &'t Trace,
    is_programs: &'t dyn Fn(&str) -> bool,
    /// The name of the call, or [`NONE`].
    of_row: FxHashMap<u32, u32>,
    /// Whether a name is of the program's calls.
    of_name: FxHashMap<u32, bool>,
}

impl Functions<'_> {
    /// The name of the innermost call of the program around the host's event at `row`.
    fn of(&mut self, row: u32) -> Option<u32> {
        let name = match self.of_row.get(&row) {
            Some(known) => *known,
            None => {
                let found = self.innermost(row).unwrap_or(NONE);
                self.of_row.insert(row, found);
                found
            }
        };
        (name != NONE).then_some(name)
    }

    fn innermost(&mut self, row: u32) -> Option<u32> {
        let Functions { trace, is_programs, of_name, .. } = self;
        let events = &trace.events;
        let outer = |row: &u32| events.parent.get(*row as usize).copied().filter(|around| *around != NONE);
        let around = std::iter::successors(Some(row), outer).take(NESTING).map(|row| row as usize);
        let mut names = around.filter(|row| events.kind(*row) == EventKind::PythonCall).map(|row| events.name[row]);
        names.find(|name| {
            *of_name.entry(*name).or_insert_with(|| {
                let text = trace.strings.get(StringId(*name));
                PythonFrame::parse(text)
                    .is_some_and(|frame| !frame.is_installed() && (!text.starts_with('$') || is_programs(frame.file)))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Prepared;
    use expect_test::{Expect, expect};

    #[track_caller]
    fn check(text: &str, expected: Expect) {
        let trace = ridge_test::trace(text);
        let prepared = Prepared::with_sheets(&trace);
        let idle = SourceIdle::of(&prepared.analysis(&trace, &[]), &|file| file == "solver.py");
        let mut lines = format!("{} of {} ns\n", idle.known_ns(), idle.whole_ns);
        for row in &idle.rows {
            lines.push_str(&format!("{}:{} {}: {}\n", row.file, row.line, row.function, row.ns));
            assert_eq!(row.parts.iter().map(|part| part.2).sum::<i64>(), row.ns);
            for (cause, activity, ns) in &row.parts {
                lines.push_str(&format!("  {} ({}): {ns}\n", cause.name(), activity.name()));
            }
        }
        expected.assert_eq(&lines);
    }

    #[test]
    fn idle_time_belongs_to_the_function_that_was_open() {
        check(
            "thread python
               0 +1000 \"train.py(40): main\" python
               10 +5 launch launch id=1
               100 +300 \"train.py(12): load\" python
               150 +100 \"torch/utils/data.py(9): fetch\" python
               500 +10 launch launch id=2
             stream 1 on gpu
               20 +30 gemm id=1
               520 +30 gemm id=2",
            expect![[r#"
                470 of 470 ns
                train.py:12 load: 300
                  host late (Python): 300
                train.py:40 main: 170
                  host late (Python): 150
                  in the launch call (launching): 10
                  launch latency (launching): 10
            "#]],
        );
    }

    #[test]
    fn files_without_folders_are_the_programs_where_it_has_them() {
        check(
            "thread python
               0 +1000 \"$solver.py:40 main\" python
               10 +5 launch launch id=1
               100 +300 \"$util.py:12 wrapper\" python
               500 +10 launch launch id=2
             stream 1 on gpu
               20 +30 gemm id=1
               520 +30 gemm id=2",
            expect![[r#"
                470 of 470 ns
                solver.py:40 main: 470
                  host late (Python): 450
                  in the launch call (launching): 10
                  launch latency (launching): 10
            "#]],
        );
    }

    #[test]
    fn without_calls_of_python_nothing_is_guessed() {
        check(
            "thread python
               10 +5 launch launch id=1
               500 +10 launch launch id=2
             stream 1 on gpu
               20 +30 gemm id=1
               520 +30 gemm id=2",
            expect![[r#"
                0 of 470 ns
            "#]],
        );
    }
}
