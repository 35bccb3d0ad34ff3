//! What a row or a finding is about, as an address, and the events that it means.

use crate::answer::Refusal;
use crate::page::Page;
use crate::request::{Request, number};
use ridgeline::Subject;
use ridgeline::trace::{DeviceRow, EventKind, EventRow, ModuleRow, NONE, OpRow, ProcessRow, StringId, Trace, TrackRow};
use serde_json::{Value, json};

/// Most events that one answer lists.
const MOST_EVENTS: usize = 2_000;

/// `events?subject=op:12`: how many events it means, and the first of them.
pub(crate) fn events(page: &Page, request: &Request) -> Result<Value, Refusal> {
    let subject = request.get("subject").ok_or_else(|| Refusal::bad("expected `subject=KIND:ID`, found none"))?;
    let found = events_of(page, &parse(subject)?, MOST_EVENTS);
    Ok(json!({ "subject": subject, "count": found.count, "total_ns": found.total_ns, "events": found.listed(page) }))
}

/// Adds to `place`, the subject in a document, its address, its words, and its first events.
pub(crate) fn describe(page: &Page, subject: &Subject, most: usize, place: &mut Value) {
    if !place.is_object() {
        *place = json!({});
    }
    let said = page.session.subject_text(subject);
    place["kind"] = json!(said.kind);
    place["text"] = json!(said.name.unwrap_or_else(|| said.kind.to_owned()));
    let Some(id) = address(subject) else { return };
    let found = events_of(page, subject, most);
    place["id"] = json!(id);
    place["count"] = json!(found.count);
    place["events"] = found.listed(page);
}

/// A subject in a row of a table: its kind, its words and its address, without its events.
pub(crate) fn short(page: &Page, subject: &Subject) -> Value {
    let said = page.session.subject_text(subject);
    json!({ "kind": said.kind, "text": said.name, "id": address(subject), "row": said.row })
}

/// The events that a subject means.
#[derive(Debug, Default)]
struct Found {
    count: u64,
    total_ns: i64,
    rows: Vec<u32>,
}

impl Found {
    fn add(&mut self, trace: &Trace, row: u32, most: usize) {
        self.count += 1;
        self.total_ns = self.total_ns.saturating_add(trace.events.dur_ns[row as usize]);
        if self.rows.len() < most {
            self.rows.push(row);
        }
    }

    /// `[row, start, duration, track]` of each.
    fn listed(&self, page: &Page) -> Value {
        self.rows.iter().map(|row| place_of(page, *row)).collect()
    }
}

/// `[row, start_ns, duration_ns, track, lane]`, the start relative to the capture's.
pub(crate) fn place_of(page: &Page, row: u32) -> Value {
    let (trace, at) = (page.session.trace(), row as usize);
    let start = page.timeline().relative(trace.events.start_ns[at]);
    json!([row, start, trace.events.dur_ns[at], page.timeline().track_of(row), page.timeline().lane_of(row)])
}

/// The subject as an address, where the page can ask for its events.
pub(crate) fn address(subject: &Subject) -> Option<String> {
    Some(match subject {
        Subject::Event(row) => format!("event:{}", row.0),
        Subject::Gap { prev, next } => format!("gap:{}-{}", prev.0, next.0),
        Subject::Op(row) => format!("op:{}", row.0),
        Subject::Module(row) => format!("module:{}", row.0),
        Subject::Instruction(row, at) => format!("instruction:{}-{at}", row.0),
        Subject::Device(row) => format!("device:{}", row.0),
        Subject::Track(row) => format!("track:{}", row.0),
        Subject::Process(row) => format!("process:{}", row.0),
        Subject::Range(name) => format!("range:{}", name.0),
        Subject::Named(name) => format!("name:{}", name.0),
        Subject::Source(file, line) => format!("source:{line}:{file}"),
        Subject::Scope(path) => format!("scope:{path}"),
        Subject::Category(name) => format!("category:{name}"),
        Subject::Copies(kind) => format!("copies:{}", kind.name()),
        Subject::Profile(_)
        | Subject::Allocator(..)
        | Subject::Segment(_)
        | Subject::Snapshot(..)
        | Subject::Stack(_) => {
            return None;
        }
    })
}

/// The subject that an address means.
fn parse(text: &str) -> Result<Subject, Refusal> {
    let (kind, id) = text.split_once(':').ok_or_else(|| Refusal::bad(format!("expected KIND:ID, found `{text}`")))?;
    let row = || number::<u32>(kind, id);
    let two = || -> Result<(u32, u32), Refusal> {
        let (one, other) = id.split_once('-').ok_or_else(|| Refusal::bad(format!("expected A-B, found `{id}`")))?;
        Ok((number(kind, one)?, number(kind, other)?))
    };
    Ok(match kind {
        "event" => Subject::Event(EventRow(row()?)),
        "gap" => two().map(|(prev, next)| Subject::Gap { prev: EventRow(prev), next: EventRow(next) })?,
        "op" => Subject::Op(OpRow(row()?)),
        "module" => Subject::Module(ModuleRow(row()?)),
        "instruction" => two().map(|(module, at)| Subject::Instruction(ModuleRow(module), at))?,
        "device" => Subject::Device(DeviceRow(row()?)),
        "track" => Subject::Track(TrackRow(row()?)),
        "process" => Subject::Process(ProcessRow(row()?)),
        "range" => Subject::Range(StringId(row()?)),
        "name" => Subject::Named(StringId(row()?)),
        "source" => {
            let (line, file) = id.split_once(':').ok_or_else(|| Refusal::bad("expected source:LINE:FILE"))?;
            Subject::Source(file.into(), number("the line", line)?)
        }
        "scope" => Subject::Scope(id.into()),
        "category" => Subject::Category(id.into()),
        "copies" => Subject::Copies(
            EventKind::from_name(id).ok_or_else(|| Refusal::bad(format!("unknown kind of copy `{id}`")))?,
        ),
        _ => return Err(Refusal::bad(format!("unknown kind of subject `{kind}`"))),
    })
}

/// How many events `subject` means, and the first `most`.
fn events_of(page: &Page, subject: &Subject, most: usize) -> Found {
    let (session, trace) = (&page.session, page.session.trace());
    let (events, all) = (&trace.events, 0..trace.events.len() as u32);
    let mut found = Found::default();
    let mut collect = |rows: &mut dyn Iterator<Item = u32>| rows.for_each(|row| found.add(trace, row, most));
    let is_work = |row: u32| EventKind::from_byte_is_work(events.kind[row as usize]);
    let of_ops =
        |accept: &dyn Fn(u32) -> bool| -> Vec<bool> { (0..trace.operations.len() as u32).map(accept).collect() };
    let has_op = |wanted: &[bool], row: u32| {
        let op = events.op[row as usize];
        op != NONE && wanted.get(op as usize) == Some(&true)
    };
    let on_tracks = |accept: &dyn Fn(usize) -> bool| -> Vec<u32> {
        let tracks = trace.tracks.iter().enumerate().filter(|(at, _)| accept(*at));
        tracks.flat_map(|(_, track)| track.rows.clone()).collect()
    };
    match subject {
        Subject::Event(row) => collect(&mut all.filter(|other| *other == row.0)),
        Subject::Gap { prev, next } => collect(&mut [prev.0, next.0].into_iter().filter(|row| all.contains(row))),
        Subject::Op(op) => collect(&mut all.filter(|row| events.op[*row as usize] == op.0)),
        Subject::Module(module) => {
            let wanted = of_ops(&|op| trace.operations[op as usize].module == module.0);
            collect(&mut all.filter(|row| has_op(&wanted, *row)));
        }
        Subject::Instruction(module, at) => {
            let is_it = |op: u32| {
                let op = &trace.operations[op as usize];
                op.module == module.0 && op.instruction == *at
            };
            let wanted = of_ops(&is_it);
            collect(&mut all.filter(|row| has_op(&wanted, *row)));
        }
        Subject::Source(file, line) => collect(&mut session.rows_of_line(file, *line).into_iter()),
        Subject::Scope(path) => collect(&mut session.rows_of_scope(path).into_iter()),
        Subject::Device(device) => {
            collect(
                &mut on_tracks(&|at| trace.tracks[at].device == Some(device.0)).into_iter().filter(|row| is_work(*row)),
            );
        }
        Subject::Track(track) => collect(&mut on_tracks(&|at| at == track.index()).into_iter()),
        Subject::Process(process) => collect(&mut on_tracks(&|at| trace.tracks[at].process == process.0).into_iter()),
        Subject::Range(name) | Subject::Named(name) => {
            collect(&mut all.filter(|row| events.name[*row as usize] == name.0));
        }
        Subject::Category(name) => {
            let categories = session.event_categories();
            let wanted = categories.names.iter().position(|known| **known == **name);
            collect(&mut all.filter(|row| Some(categories.of(events, *row as usize) as usize) == wanted));
        }
        Subject::Copies(kind) => collect(&mut all.filter(|row| events.kind[*row as usize] == *kind as u8)),
        // What is about memory and counters has rows of its own and no events.
        Subject::Profile(_)
        | Subject::Allocator(..)
        | Subject::Segment(_)
        | Subject::Snapshot(..)
        | Subject::Stack(_) => {}
    }
    found
}
