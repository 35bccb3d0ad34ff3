//! What an answer is about, in words and numbers that a program can follow.

use ridge_table::Subject;
use ridge_trace::{EventRow, StringId, Trace};

/// A subject as documents name it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SubjectText {
    /// What it is: `event`, `operation`, `module`…
    pub kind: &'static str,
    /// Its name, where it has one.
    pub name: Option<String>,
    /// Its row in its table of the trace, where it has one.
    pub row: Option<u32>,
    /// When it began, nanoseconds on the trace clock, where it is a stretch of time.
    pub start_ns: Option<i64>,
    /// Its length, nanoseconds, where it is a stretch of time.
    pub dur_ns: Option<i64>,
}

/// `subject` of `trace` in words.
pub(crate) fn subject_text(trace: &Trace, subject: &Subject) -> SubjectText {
    let text = |id: StringId| Some(trace.strings.get(id).to_owned());
    let only = |kind, name| SubjectText { kind, name, ..SubjectText::default() };
    let named = |kind, name, row| SubjectText { kind, name, row: Some(row), ..SubjectText::default() };
    match *subject {
        Subject::Event(row) => event(trace, row),
        Subject::Gap { prev, next } => {
            let (before, after) = (event(trace, prev), event(trace, next));
            let end = |found: &SubjectText| Some(found.start_ns?.saturating_add(found.dur_ns?));
            let start_ns = end(&before);
            let dur_ns = after.start_ns.zip(start_ns).map(|(until, from)| until.saturating_sub(from));
            SubjectText { kind: "gap", name: after.name, row: Some(next.0), start_ns, dur_ns }
        }
        Subject::Op(row) => {
            let op = trace.operations.get(row.index());
            named("operation", op.and_then(|op| text(op.name)), row.0)
        }
        Subject::Module(row) => {
            named("module", trace.modules.get(row.index()).and_then(|module| text(module.name)), row.0)
        }
        Subject::Instruction(row, at) => {
            named("instruction", trace.modules.get(row.index()).and_then(|module| text(module.name)), at)
        }
        Subject::Device(row) => {
            named("device", trace.devices.get(row.index()).map(|device| device.plane.clone()), row.0)
        }
        Subject::Track(row) => named("track", trace.tracks.get(row.index()).and_then(|track| text(track.name)), row.0),
        // Processes are called after hosts, which is private.
        Subject::Process(row) => named("process", None, row.0),
        Subject::Range(name) => only("range", text(name)),
        Subject::Named(name) => only("name", text(name)),
        Subject::Source(ref file, line) => only("line", Some(format!("{file}:{line}"))),
        Subject::Scope(ref path) => only("scope", Some(path.to_string())),
        Subject::Category(ref name) => only("category", Some(name.to_string())),
        Subject::Copies(kind) => only("copies", Some(kind.name().to_owned())),
        Subject::Profile(row) => named("profile", None, row.0),
        // As an allocator of a process, whose name is private.
        Subject::Allocator(process, name) => named("allocator", text(name), process.0),
        Subject::Segment(row) => {
            let start_ns = trace.memory.segments.time_ns.get(row.index()).copied();
            SubjectText { kind: "segment", row: Some(row.0), start_ns, ..SubjectText::default() }
        }
        Subject::Snapshot(_, allocator) => only("snapshot", text(allocator)),
        Subject::Stack(row) => named("stack", trace.memory.stacks.frames(row.0).next().and_then(text), row.0),
    }
}

fn event(trace: &Trace, row: EventRow) -> SubjectText {
    if row.index() >= trace.events.len() {
        return SubjectText { kind: "event", row: Some(row.0), ..SubjectText::default() };
    }
    SubjectText {
        kind: "event",
        name: Some(trace.name(row.index()).to_owned()),
        row: Some(row.0),
        start_ns: Some(trace.events.start_ns[row.index()]),
        dur_ns: Some(trace.events.dur_ns[row.index()]),
    }
}
