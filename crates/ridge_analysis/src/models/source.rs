//! What each line of the user's source did.
//!
//! What a compiler made has the stack frames of the Python lines that made it, instruction by instruction.
//! What PyTorch launched has the functions of Python that were open around the launch, where stacks were recorded; the
//! backward pass has those of the forward operator whose gradient it computes.
//! Self time goes to the innermost line, inclusive time to every line of the stack once, so a line that only calls others
//! has an inclusive time and no self time.
//! A fusion counts where its main instruction came from.
//! Work that no line made, such as a copy that the compiler put in, is owed to the line whose need made it; that is
//! inferred and apart, so that no measured number contains a guess.

use super::each_work::{WorkRow, for_each_work};
use super::operators::own_times_of_operators;
use super::work::{Rows, WorkSums, sums};
use crate::context::host_paths::{HostPaths, PathOf, sum_by};
use crate::context::{Line, Lines, OpLines, PythonFrame, Shared, category};
use crate::{Analysis, Group, Need, WorkGroups, kernel_category};
use ridge_trace::{EventKind, NONE, StringId};
use rustc_hash::FxHashMap;

/// File, line and function.
type Frame = (String, u32, String);

/// What the times of lines are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TimeOf {
    /// Work of devices.
    #[default]
    Devices,
    /// Operators of the host: the capture has no work of devices.
    Host,
}

/// The sums of a line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LineSums {
    /// Time of work whose innermost line it is, measured, nanoseconds.
    pub self_ns: i64,
    /// Time of work that is owed to it by the data flow, nanoseconds; not in the self time.
    pub inferred_ns: i64,
    /// Time of work with this line anywhere on its stack, each once, measured, nanoseconds.
    pub inclusive_ns: i64,
    /// Pieces of work whose innermost line it is, or that are owed to it.
    pub events: u64,
    /// Those of them that copy: of the runtime, or operations that copy an array.
    pub copies: u64,
    /// The time of those, nanoseconds, measured and inferred.
    pub copy_ns: i64,
}

impl LineSums {
    /// Measured and inferred time, nanoseconds.
    pub fn held_ns(&self) -> i64 {
        self.self_ns.saturating_add(self.inferred_ns)
    }

    /// Pieces of work that do not copy.
    pub fn launches(&self) -> u64 {
        self.events.saturating_sub(self.copies)
    }

    /// Adds all of `other`.
    pub fn add(&mut self, other: &LineSums) {
        self.self_ns = self.self_ns.saturating_add(other.self_ns);
        self.inferred_ns = self.inferred_ns.saturating_add(other.inferred_ns);
        self.inclusive_ns = self.inclusive_ns.saturating_add(other.inclusive_ns);
        self.events += other.events;
        self.copies += other.copies;
        self.copy_ns = self.copy_ns.saturating_add(other.copy_ns);
    }
}

/// A line of the program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceLine {
    /// The file, as the capture names it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The function it is in.
    pub function: String,
    /// What it did.
    pub sums: LineSums,
    /// Positions of the groups of work that it made itself, of which compiled modules tell more.
    own: Vec<u32>,
}

/// The lines of the program.
#[derive(Debug, Clone, Default)]
pub struct SourceLines {
    /// The lines, most time first.
    pub rows: Vec<SourceLine>,
    /// What has no line.
    pub unknown: LineSums,
    /// The time of all lines and of what has none, measured and inferred, nanoseconds.
    all_ns: i64,
    /// What the times are of.
    pub of: TimeOf,
    /// Whether some lines are where functions of Python begin: the profiler recorded no other.
    pub has_functions: bool,
}

impl Shared for SourceLines {
    const NEEDS: &'static [Need] = &[Need::of::<WorkGroups>(), Need::of::<Lines>()];

    fn make(analysis: &Analysis<'_>) -> SourceLines {
        let mut found = Found::compiled(analysis);
        let of = if analysis.groups().groups.is_empty() { TimeOf::Host } else { TimeOf::Devices };
        let wants_python = of == TimeOf::Host || found.unknown.events > 0;
        let paths = if wants_python { HostPaths::find(analysis.trace, PathOf::Functions) } else { None };
        match (&paths, of) {
            (Some(paths), TimeOf::Host) => found = Found::of_host(analysis, paths),
            (Some(paths), TimeOf::Devices) => found.launched(analysis, paths),
            (None, _) => {}
        }
        let named = |((file, line), found): ((String, u32), SourceLine)| SourceLine { file, line, ..found };
        let mut rows: Vec<SourceLine> = found.by_place.into_iter().map(named).collect();
        rows.sort_by(|a, b| {
            let order = |row: &SourceLine| (row.sums.held_ns(), row.sums.inclusive_ns);
            order(b).cmp(&order(a)).then_with(|| (&a.file, a.line).cmp(&(&b.file, b.line)))
        });
        let lines = rows.iter().fold(0_i64, |sum, row| sum.saturating_add(row.sums.held_ns()));
        let all_ns = lines.saturating_add(found.unknown.held_ns());
        SourceLines { rows, unknown: found.unknown, all_ns, of, has_functions: paths.is_some() }
    }
}

impl SourceLines {
    /// The time of all lines and of what has none, measured and inferred, nanoseconds.
    pub fn all_ns(&self) -> i64 {
        self.all_ns
    }

    /// What has no line as a row called `name`.
    pub fn without_line(&self, name: &str) -> SourceLine {
        let sums = LineSums { inclusive_ns: self.unknown.self_ns, ..self.unknown };
        SourceLine { file: name.to_owned(), sums, ..SourceLine::default() }
    }

    /// What the work that a line made itself had to compute and move; nothing of what is owed to it.
    pub fn work_of(&self, analysis: &Analysis<'_>, row: &SourceLine) -> WorkSums {
        let all = &analysis.groups().groups;
        let own: Vec<&Group> = row.own.iter().filter_map(|at| all.get(*at as usize)).collect();
        sums(analysis, &own, Rows::WholeExecutions)
    }
}

impl<'a> Analysis<'a> {
    /// What each line of the program did.
    pub fn source_lines(&self) -> &'a SourceLines {
        self.get()
    }
}

/// Work as it is added to lines.
#[derive(Debug, Clone, Copy)]
struct Work {
    ns: i64,
    events: u64,
    is_copy: bool,
    /// Its group, where all of it goes to the same line.
    group: Option<u32>,
}

/// The lines so far.
#[derive(Debug, Default)]
struct Found {
    by_place: FxHashMap<(String, u32), SourceLine>,
    unknown: LineSums,
}

impl Found {
    /// Adds what has `stack`, innermost first; its own line is that of the frame at `own`.
    fn add(&mut self, stack: &[Frame], own: usize, work: Work) {
        let Some((file, line, function)) = stack.get(own) else {
            count(&mut self.unknown, work);
            self.unknown.self_ns = self.unknown.self_ns.saturating_add(work.ns);
            return;
        };
        let innermost = self.by_place.entry((file.clone(), *line)).or_default();
        count(&mut innermost.sums, work);
        innermost.sums.self_ns = innermost.sums.self_ns.saturating_add(work.ns);
        innermost.own.extend(work.group);
        innermost.function.clone_from(function);
        for (position, (file, line, function)) in stack.iter().enumerate() {
            // Recursion puts a line on the stack more than once; its time counts once.
            if stack[..position].iter().any(|(seen_file, seen_line, _)| seen_file == file && seen_line == line) {
                continue;
            }
            let entry = self.by_place.entry((file.clone(), *line)).or_default();
            entry.sums.inclusive_ns = entry.sums.inclusive_ns.saturating_add(work.ns);
            if entry.function.is_empty() {
                entry.function.clone_from(function);
            }
        }
    }

    /// Adds what is owed to the line of `stack`'s innermost frame.
    fn owe(&mut self, stack: &[Line], work: Work) {
        let Some(Line { file, line, function }) = stack.first() else { return };
        let owner = self.by_place.entry((file.clone(), *line)).or_default();
        count(&mut owner.sums, work);
        owner.sums.inferred_ns = owner.sums.inferred_ns.saturating_add(work.ns);
        owner.function.clone_from(function);
    }

    /// Those of instructions, and all other device work as unknown.
    fn compiled(analysis: &Analysis<'_>) -> Found {
        let mut found = Found::default();
        for (at, group) in (0..).zip(&analysis.groups().groups) {
            let is_copy = group.kind.is_copy() || category::of(analysis, group).starts_with("copy");
            let work = Work { ns: group.self_ns, events: group.count(), is_copy, group: Some(at) };
            match analysis.lines().of(group.op) {
                Some(OpLines { stack, owed: Some(_) }) => found.owe(stack, work),
                Some(OpLines { stack, owed: None }) => {
                    let frame = |line: &Line| (line.file.clone(), line.line, line.function.clone());
                    let stack: Vec<Frame> = stack.iter().map(frame).collect();
                    found.add(&stack, 0, work);
                }
                None => found.add(&[], 0, work),
            }
        }
        found
    }

    /// Gives unknown work to the functions of Python that launched it.
    fn launched(&mut self, analysis: &Analysis<'_>, paths: &HostPaths<'_>) {
        let events = &analysis.trace.events;
        let has_line = |row: usize| analysis.lines().of(events.op[row]).is_some();
        let mut launched = Vec::new();
        for_each_work(analysis.trace, |WorkRow { row, self_ns, .. }| {
            let row = row as usize;
            if !has_line(row) {
                launched.push(((paths.of_row(events.link[row]), copying(analysis, row)), self_ns));
            }
        });
        let known = launched.into_iter().filter(|((path, _), _)| *path != NONE);
        for ((path, copies), (ns, count)) in sum_by(known) {
            let is_copy = copies.is_copy(analysis);
            self.unknown.self_ns = self.unknown.self_ns.saturating_sub(ns);
            self.unknown.events = self.unknown.events.saturating_sub(count);
            if is_copy {
                self.unknown.copies = self.unknown.copies.saturating_sub(count);
                self.unknown.copy_ns = self.unknown.copy_ns.saturating_sub(ns);
            }
            self.add_path(paths, path, Work { ns, events: count, is_copy, group: None });
        }
    }

    /// Operators of the host by the functions of Python that called them.
    fn of_host(analysis: &Analysis<'_>, paths: &HostPaths<'_>) -> Found {
        let mut found = Found::default();
        let operators = own_times_of_operators(analysis.trace).map(|(row, ns)| (paths.of_row(row), ns));
        for (path, (ns, events)) in sum_by(operators) {
            found.add_path(paths, path, Work { ns, events, is_copy: false, group: None });
        }
        found
    }

    fn add_path(&mut self, paths: &HostPaths<'_>, path: u32, work: Work) {
        let (frames, own) = frames_of(paths, path);
        let owned = |frame: &PythonFrame<'_>| (frame.file.to_owned(), frame.line, frame.function.to_owned());
        let stack: Vec<Frame> = frames.iter().map(owned).collect();
        self.add(&stack, own, work);
    }
}

/// The events that the row of a line counts, in order; of a line that made none itself, those with it on their stack.
pub fn rows_of_line(analysis: &Analysis<'_>, file: &str, line: u32) -> Vec<u32> {
    let trace = analysis.trace;
    let is_host = analysis.groups().groups.is_empty();
    let paths = HostPaths::find(trace, PathOf::Functions);
    let is_line = |frame: &PythonFrame<'_>| frame.file == file && frame.line == line;
    // Whether it is the innermost line, and whether it is on the stack at all.
    let mut of_path: FxHashMap<u32, (bool, bool)> = FxHashMap::default();
    let mut on_path = |path: u32| {
        let Some(paths) = paths.as_ref().filter(|_| path != NONE) else { return (false, false) };
        *of_path.entry(path).or_insert_with(|| {
            let (frames, own) = frames_of(paths, path);
            (frames.get(own).is_some_and(is_line), frames.iter().any(is_line))
        })
    };
    let mut of_op: FxHashMap<u32, Option<(bool, bool)>> = FxHashMap::default();
    let mut on_op = |op: u32| {
        *of_op.entry(op).or_insert_with(|| {
            let stack = &analysis.lines().of(op)?.stack;
            let is_line = |at: &Line| at.file == file && at.line == line;
            Some((stack.first().is_some_and(is_line), stack.iter().any(is_line)))
        })
    };
    let (mut own, mut around) = (Vec::new(), Vec::new());
    let mut add = |row: u32, (is_own, is_around): (bool, bool)| {
        own.extend(is_own.then_some(row));
        around.extend(is_around.then_some(row));
    };
    if is_host {
        let mut rows: Vec<u32> = own_times_of_operators(trace).map(|(row, _)| row).collect();
        rows.sort_unstable();
        rows.into_iter().for_each(|row| add(row, on_path(paths.as_ref().map_or(NONE, |paths| paths.of_row(row)))));
    } else {
        for track in trace.device_tracks() {
            let rows = track.rows.clone();
            for row in rows.filter(|row| EventKind::from_byte_is_work(trace.events.kind[*row as usize])) {
                let path = || paths.as_ref().map_or(NONE, |paths| paths.of_row(trace.events.link[row as usize]));
                let found = match on_op(trace.events.op[row as usize]) {
                    Some(found) => found,
                    None => on_path(path()),
                };
                add(row, found);
            }
        }
    }
    if own.is_empty() { around } else { own }
}

/// The functions of a path, innermost first, and which of them is the program's own.
fn frames_of<'t>(paths: &HostPaths<'t>, path: u32) -> (Vec<PythonFrame<'t>>, usize) {
    let frames: Vec<PythonFrame<'_>> = paths.parts(path).into_iter().rev().filter_map(PythonFrame::of_torch).collect();
    let own = frames.iter().position(|frame| !frame.is_of_library()).unwrap_or(0);
    (frames, own)
}

fn count(sums: &mut LineSums, work: Work) {
    sums.events += work.events;
    if work.is_copy {
        sums.copies += work.events;
        sums.copy_ns = sums.copy_ns.saturating_add(work.ns);
    }
}

/// What says whether a piece of work copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Copying {
    /// Its kind.
    Known(bool),
    /// The name of its kernel.
    Named(u32),
}

fn copying(analysis: &Analysis<'_>, row: usize) -> Copying {
    let events = &analysis.trace.events;
    match events.kind(row) {
        EventKind::Kernel | EventKind::DeviceOp => Copying::Named(events.name[row]),
        kind => Copying::Known(kind.is_copy()),
    }
}

impl Copying {
    fn is_copy(self, analysis: &Analysis<'_>) -> bool {
        match self {
            Copying::Known(known) => known,
            Copying::Named(name) => kernel_category(analysis.text(StringId(name))).starts_with("copy"),
        }
    }
}
