//! Device time by line of the user's source.
//!
//! What a compiler made has the stack frames of the Python lines that made it, instruction by instruction.
//! What PyTorch launched has the functions of Python that were open around the launch, where stacks were recorded; the
//! backward pass has those of the forward operator whose gradient it computes.
//! Self time goes to the innermost line, inclusive time to every line of the stack once, so a line that only calls others
//! has an inclusive time and no self time.
//! A fusion counts where its main instruction came from.
//! Work that no line made, such as a copy that the compiler put in, is owed to the line whose need made it; that is inferred
//! and stands in a column of its own, so that no measured number contains a guess.

use super::operator::HOST_ALONE;
use crate::Analysis;
use crate::WorkGroups;
use crate::context::Need;
use crate::context::PythonFrame;
use crate::context::host_paths::{HostPaths, PathOf, sum_by};
use crate::context::partition::ratio;
use crate::context::{Line, OpLines};
use crate::models::operators::own_times_of_operators;
use crate::tables::time::table as build;
use crate::view::{LineText, Shown, Topic, View, has_events};
use ridge_table::{Basis, Column, Rank, Subject, Table, Unit};
use ridge_trace::{EventKind, NONE, TrackKind};
use rustc_hash::FxHashMap;

/// The view.
pub(crate) static VIEW: View = View {
    topic: Topic::Time,
    id: "source",
    about: "line of Python source",
    aliases: &[],
    shown: Shown::InReport,
    needs: &[Need::of::<WorkGroups>(), Need::of::<crate::Lines>()],
    answers: has_events,
    charts: None,
    make: |analysis, ask| table(analysis, ask.line_text),
};

/// File, line and function.
type Frame = (String, u32, String);

/// A line's sums.
#[derive(Debug, Clone, Default)]
struct Sums {
    function: String,
    self_ns: i64,
    inferred_ns: i64,
    inclusive_ns: i64,
    events: u64,
}

impl Sums {
    /// Measured and inferred time, nanoseconds.
    fn held_ns(&self) -> i64 {
        self.self_ns.saturating_add(self.inferred_ns)
    }
}

/// All lines' sums.
#[derive(Debug, Default)]
struct Lines {
    by_place: FxHashMap<(String, u32), Sums>,
    unknown_ns: i64,
    unknown_events: u64,
}

impl Lines {
    /// Adds what has `stack`, innermost first; its own line is that of the frame at `own`.
    fn add(&mut self, stack: &[Frame], own: usize, self_ns: i64, events: u64) {
        let Some((file, line, function)) = stack.get(own) else {
            self.unknown_ns = self.unknown_ns.saturating_add(self_ns);
            self.unknown_events += events;
            return;
        };
        let innermost = self.by_place.entry((file.clone(), *line)).or_default();
        innermost.self_ns = innermost.self_ns.saturating_add(self_ns);
        innermost.events += events;
        innermost.function.clone_from(function);
        for (position, (file, line, function)) in stack.iter().enumerate() {
            // Recursion puts a line on the stack more than once; its time counts once.
            if stack[..position].iter().any(|(seen_file, seen_line, _)| seen_file == file && seen_line == line) {
                continue;
            }
            let entry = self.by_place.entry((file.clone(), *line)).or_default();
            entry.inclusive_ns = entry.inclusive_ns.saturating_add(self_ns);
            if entry.function.is_empty() {
                entry.function.clone_from(function);
            }
        }
    }

    /// Adds what is owed to the line of `stack`'s innermost frame.
    fn owe(&mut self, stack: &[Line], ns: i64, events: u64) {
        let Some(Line { file, line, function }) = stack.first() else { return };
        let owner = self.by_place.entry((file.clone(), *line)).or_default();
        owner.inferred_ns = owner.inferred_ns.saturating_add(ns);
        owner.events += events;
        owner.function.clone_from(function);
    }

    /// Those of instructions, and all other device work as unknown.
    fn compiled(analysis: &Analysis<'_>) -> Lines {
        let mut lines = Lines::default();
        for group in &analysis.groups().groups {
            match analysis.lines().of(group.op) {
                Some(OpLines { stack, owed: Some(_) }) => lines.owe(stack, group.self_ns, group.count()),
                Some(OpLines { stack, owed: None }) => {
                    let frame = |line: &Line| (line.file.clone(), line.line, line.function.clone());
                    let stack: Vec<Frame> = stack.iter().map(frame).collect();
                    lines.add(&stack, 0, group.self_ns, group.count());
                }
                None => lines.add(&[], 0, group.self_ns, group.count()),
            }
        }
        lines
    }

    /// Gives unknown work of streams to the functions of Python that launched it.
    fn launched(&mut self, analysis: &Analysis<'_>, paths: &HostPaths<'_>) {
        let events = &analysis.trace.events;
        let has_line = |row: usize| analysis.lines().of(events.op[row]).is_some();
        let streams = analysis.trace.device_tracks().filter(|track| track.kind == TrackKind::Stream);
        let rows = streams.flat_map(|track| track.rows.start as usize..track.rows.end as usize);
        let work = rows.filter(|row| EventKind::from_byte_is_work(events.kind[*row]) && !has_line(*row));
        let launched = work.map(|row| (paths.of_row(events.link[row]), events.dur_ns[row].max(0)));
        for (path, (ns, count)) in sum_by(launched.filter(|(path, _)| *path != NONE)) {
            self.unknown_ns = self.unknown_ns.saturating_sub(ns);
            self.unknown_events = self.unknown_events.saturating_sub(count);
            self.add_path(paths, path, ns, count);
        }
    }

    /// Operators of the host by the functions of Python that called them.
    fn of_host(analysis: &Analysis<'_>, paths: &HostPaths<'_>) -> Lines {
        let mut lines = Lines::default();
        let operators = own_times_of_operators(analysis.trace).map(|(row, ns)| (paths.of_row(row), ns));
        sum_by(operators).into_iter().for_each(|(path, (ns, count))| lines.add_path(paths, path, ns, count));
        lines
    }

    fn add_path(&mut self, paths: &HostPaths<'_>, path: u32, ns: i64, events: u64) {
        let parts = paths.parts(path);
        let frames: Vec<PythonFrame<'_>> = parts.into_iter().rev().filter_map(PythonFrame::parse).collect();
        let own = frames.iter().position(|frame| !frame.is_of_library()).unwrap_or(0);
        let owned = |frame: &PythonFrame<'_>| (frame.file.to_owned(), frame.line, frame.function.to_owned());
        let stack: Vec<Frame> = frames.iter().map(owned).collect();
        self.add(&stack, own, ns, events);
    }
}

/// Lines, most self time first; `line_text` gives the text of a line where its file can be read.
pub(crate) fn table(analysis: &Analysis<'_>, line_text: Option<LineText<'_>>) -> Table {
    let mut lines = Lines::compiled(analysis);
    let is_host_alone = analysis.groups().groups.is_empty();
    let wants_python = is_host_alone || lines.unknown_events > 0;
    let paths = if wants_python { HostPaths::find(analysis.trace, PathOf::Functions) } else { None };
    match &paths {
        Some(paths) if is_host_alone => lines = Lines::of_host(analysis, paths),
        Some(paths) => lines.launched(analysis, paths),
        None => {}
    }
    let Lines { by_place, unknown_ns, unknown_events } = lines;
    let mut rows: Vec<((String, u32), Sums)> = by_place.into_iter().collect();
    if unknown_events > 0 {
        let unknown = Sums { self_ns: unknown_ns, inclusive_ns: unknown_ns, events: unknown_events, ..Sums::default() };
        rows.push((("(no source line known)".to_owned(), 0), unknown));
    }
    rows.sort_by(|(a, left), (b, right)| {
        (right.held_ns(), right.inclusive_ns).cmp(&(left.held_ns(), left.inclusive_ns)).then_with(|| a.cmp(b))
    });
    let all_ns = rows.iter().fold(0_i64, |all, (_, line)| all.saturating_add(line.held_ns()));
    let owes = rows.iter().any(|(_, line)| line.inferred_ns > 0);
    let share = |ns: i64| ratio(ns, all_ns).unwrap_or(0.0);
    let place = |(file, line): &(String, u32)| if *line == 0 { file.clone() } else { format!("{file}:{line}") };
    let mut table = build(
        "source",
        "Source lines",
        vec![
            Column::text("source", "Line", "file and line of the program", rows.iter().map(|(key, _)| place(key)))
                .ranked(Rank::Key),
            Column::nanos(
                "self_ns",
                "Self",
                "time of work whose innermost line this is, outside PyTorch and Python's library, measured: of the device, or of operators of the host where there is none",
                rows.iter().map(|(_, line)| line.self_ns),
            ).basis(Basis::Measured)
            .ranked(Rank::Key),
            Column::real(
                "self_share",
                "Share",
                "self and inferred time as a part of that of all lines",
                Unit::Share,
                rows.iter().map(|(_, line)| share(line.held_ns())),
            ).basis(if owes { Basis::Inferred } else { Basis::Measured })
            .ranked(Rank::Key),
            Column::nanos(
                "inferred_ns",
                "Inferred",
                "time of work that no line made and that is owed to this one by the data flow: copies, conversions and changes of layout that the compiler put in for it; not in the self time",
                rows.iter().map(|(_, line)| line.inferred_ns),
            ).basis(Basis::Inferred)
            .ranked(if owes { Rank::Key } else { Rank::Detail }),
            Column::nanos(
                "inclusive_ns",
                "Inclusive",
                "time of work with this line anywhere on its stack, each once, measured",
                rows.iter().map(|(_, line)| line.inclusive_ns),
            ).basis(Basis::Measured),
            Column::whole(
                "events",
                "Events",
                "kernels, copies and device operations, or operators of the host where there are none",
                Unit::Count,
                rows.iter().map(|(_, line)| line.events),
            ).basis(Basis::Counted),
            Column::text(
                "function",
                "Function",
                "function the line is in",
                rows.iter().map(|(_, line)| line.function.clone()),
            ),
            Column::text(
                "text",
                "Code",
                "the line as its file has it now",
                rows.iter().map(|((file, line), _)| line_text.and_then(|text| text(file, *line))),
            ),
        ],
    );
    let subject = |(file, line): &(String, u32)| (*line > 0).then(|| Subject::Source(file.as_str().into(), *line));
    table = table.about(rows.iter().map(|(key, _)| subject(key)));
    if paths.is_some() {
        table.footnotes.push(
            "functions of Python are shown where they begin: PyTorch's profiler records no other line".to_owned(),
        );
        if is_host_alone {
            table.footnotes.push(HOST_ALONE.to_owned());
        }
    }
    table
}
