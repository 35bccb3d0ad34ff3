//! One event with all that is known of it.

use crate::answer::Refusal;
use crate::page::Page;
use crate::request::number;
use crate::subjects::place_of;
use ridgeline::trace::{EventRow, LaunchShape, OperatorShape, Transfer};
use ridgeline::{Basis, EventDetails, EventLines, EventWork, LinesKnown, Unit};
use serde_json::{Map, Value, json};
use std::ops::Range;

/// `event/{row}`.
pub(crate) fn event(page: &Page, row: &str) -> Result<Value, Refusal> {
    let row = number::<u32>("the event", row)?;
    let found = page.session().event(row).ok_or_else(|| Refusal::absent(format!("there is no event {row}")))?;
    let (trace, at) = (page.session().trace(), row as usize);
    let track = &trace.tracks[found.track as usize];
    let mut said = Map::new();
    let mut say = |key: &str, value: Value| {
        said.insert(key.to_owned(), value);
    };
    say("row", json!(row));
    say("name", json!(trace.name(at)));
    say("kind", json!(trace.events.kind(at).name()));
    say("category", json!(found.category));
    say("track", json!(found.track));
    say("track_name", json!(trace.strings.get(track.name)));
    say("start_ns", json!(page.timeline().relative(trace.events.start_ns[at])));
    say("duration_ns", json!(trace.events.dur_ns[at]));
    say("self_ns", json!(found.self_ns));
    if let Some(op) = found.op {
        let name = trace.strings.get(trace.operations[op as usize].name);
        say("operation", json!({ "name": name, "id": format!("op:{op}"), "known": found.op_known }));
    }
    let texts = [("module", &found.module), ("scope", &found.scope)];
    texts.into_iter().for_each(|(key, text)| text.iter().for_each(|text| say(key, json!(text))));
    found.lines.iter().for_each(|lines| said_lines(lines).into_iter().for_each(|(key, value)| say(key, value)));
    links(page, &found).into_iter().for_each(|(key, link)| say(key, link));
    neighbors(&track.rows, row).into_iter().for_each(|(key, row)| say(key, json!(row)));
    launched(page, row).into_iter().for_each(|launched| say("launched", launched));
    found.launch.iter().for_each(|shape| say("shape", launch_shape(shape)));
    found.transfer.iter().for_each(|transfer| say("transfer", moved(transfer, trace.events.dur_ns[at])));
    found.called_with.iter().for_each(|shape| say("called_with", called_with(page, shape)));
    found.work.iter().for_each(|work| work_of(work).into_iter().for_each(|(key, value)| say(key, value)));
    found.step.iter().for_each(|step| say("step", json!(step)));
    Ok(Value::Object(said))
}

/// The program's own innermost line with how it is known, and the whole stack.
fn said_lines(lines: &EventLines) -> [(&'static str, Value); 2] {
    let place = |at: usize| {
        let line = &lines.stack[at];
        json!({ "file": line.file, "line": line.line, "function": line.function })
    };
    let mut source = place(lines.own);
    source["owed"] = match lines.known {
        LinesKnown::Owed(why) => json!(why),
        _ => Value::Null,
    };
    source["known"] = json!(lines.known.text());
    source["basis"] = json!(if lines.known.is_measured() { "measured" } else { "inferred" });
    [("source", source), ("stack", (0..lines.stack.len()).map(place).collect())]
}

/// What caused it, and what it is in.
fn links(page: &Page, found: &EventDetails) -> Vec<(&'static str, Value)> {
    let trace = page.session().trace();
    let link = |EventRow(row): EventRow| {
        let place = place_of(page, row);
        let thread = trace.track_of(row).map(|track| trace.strings.get(track.name));
        json!({
            "row": row,
            "name": trace.name(row as usize),
            "start_ns": place[1],
            "duration_ns": place[2],
            "track": place[3],
            "thread": thread,
        })
    };
    [("launch", found.cause), ("parent", found.parent)]
        .into_iter()
        .filter_map(|(key, row)| Some((key, link(row?))))
        .collect()
}

/// The events before and behind it on its track.
fn neighbors(rows: &Range<u32>, row: u32) -> Vec<(&'static str, u32)> {
    let before = row.checked_sub(1).filter(|row| rows.contains(row)).map(|row| ("prev_row", row));
    let behind = Some(row + 1).filter(|row| rows.contains(row)).map(|row| ("next_row", row));
    before.into_iter().chain(behind).collect()
}

/// Events that are listed of those that one call caused.
const LAUNCHED: usize = 20;

/// What a host event caused: how many, and the first of them.
fn launched(page: &Page, row: u32) -> Option<Value> {
    let trace = page.session().trace();
    if trace.events.kind(row as usize).is_device_work() {
        return None;
    }
    let mut caused = (0..trace.events.len() as u32).filter(|other| trace.events.link[*other as usize] == row);
    let first: Vec<u32> = caused.by_ref().take(LAUNCHED).collect();
    let count = first.len() + caused.count();
    let named = |row: &u32| {
        let place = place_of(page, *row);
        json!({ "row": row, "name": trace.name(*row as usize), "start_ns": place[1], "duration_ns": place[2], "track": place[3] })
    };
    (count > 0).then(|| json!({ "count": count, "events": first.iter().map(named).collect::<Vec<_>>() }))
}

fn launch_shape(shape: &LaunchShape) -> Value {
    json!({
        "grid": shape.grid,
        "block": shape.block,
        "registers": shape.registers,
        "static_shared_bytes": shape.static_shared_bytes,
        "dynamic_shared_bytes": shape.dynamic_shared_bytes,
        "occupancy_pct": shape.occupancy_pct,
    })
}

fn moved(transfer: &Transfer, duration_ns: i64) -> Value {
    let rate = (duration_ns > 0).then(|| transfer.bytes as f64 / (duration_ns as f64 * 1e-9));
    json!({
        "bytes": transfer.bytes,
        "from": transfer.source.name(),
        "to": transfer.destination.name(),
        "async": transfer.is_async,
        "rate": rate.map(|rate| quantity(rate, Unit::BytesPerSec, Basis::Measured)),
    })
}

fn called_with(page: &Page, shape: &OperatorShape) -> Value {
    let text = |id| page.session().trace().strings.get(id);
    json!({ "dims": text(shape.dims), "types": text(shape.types) })
}

/// The work of a device event, each number with its unit and where it comes from.
fn work_of(work: &EventWork) -> Vec<(&'static str, Value)> {
    let counted = |value: f64, unit| quantity(value, unit, Basis::Counted);
    let modelled = |value: Option<f64>, unit| value.map(|value| quantity(value, unit, Basis::Modelled));
    let mut said = vec![("flops", counted(work.flops, Unit::Flops)), ("bytes", counted(work.bytes, Unit::Bytes))];
    let rates = [
        ("flops_per_sec", work.flops_per_sec.map(|rate| counted(rate, Unit::FlopsPerSec))),
        ("bytes_per_sec", work.bytes_per_sec.map(|rate| counted(rate, Unit::BytesPerSec))),
        ("headroom", modelled(work.headroom, Unit::Number)),
        ("bound", work.bound.map(|bound| json!(bound.name()))),
    ];
    said.extend(rates.into_iter().filter_map(|(key, value)| Some((key, value?))));
    said
}

fn quantity(value: f64, unit: Unit, basis: Basis) -> Value {
    json!({ "value": value, "unit": unit.name(), "basis": basis.name() })
}
