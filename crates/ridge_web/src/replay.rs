//! The timeline that the capture would become with the change of a finding made, or with changes that are typed, beside
//! today's. Predicted, and only where the replay explains the capture.

use crate::answer::Refusal;
use crate::beside::{Bit, Half, Names, drawn};
use crate::page::{Page, Replayed};
use crate::request::Request;
use crate::tables;
use ridge_report::json as report;
use ridgeline::{Change, Changed, Moved, Retimed};
use rustc_hash::FxHashMap;
use serde_json::{Value, json};
use std::sync::Arc;

/// What no replay covers, whatever the capture.
const LIMITS: [&str; 3] = [
    "new work that replaces changed work is not included",
    "kernels on two streams that compete for one device keep their durations, and so do collectives whose other ranks were not captured",
    "host calls are drawn as a whole: nested calls move with them",
];

/// Changes that may be typed at once.
const MOST_CHANGES: usize = 50;

/// `replay?finding=N&step=ROW&from=NS&to=NS`, or `replay?changes=LINES&…`: the capture and its replay, of one step where steps
/// are marked: the one in the middle unless one is named.
pub(crate) fn replay(page: &Page, request: &Request) -> Result<Value, Refusal> {
    let (mut answer, replayed) = match request.get("changes") {
        Some(lines) => typed(page, lines)?,
        None => of_finding(page, request.needed("finding")?)?,
    };
    answer["predicted"] = json!(true);
    answer["refused"] = json!(replayed.retimed.as_ref().err());
    if let Ok(found) = &replayed.retimed {
        let picture = picture(page, found, request)?;
        let (Value::Object(answer), Value::Object(picture)) = (&mut answer, picture) else { return Ok(answer) };
        answer.extend(picture);
    }
    Ok(answer)
}

fn of_finding(page: &Page, position: usize) -> Result<(Value, Arc<Replayed>), Refusal> {
    let absent = || Refusal::absent(format!("there is no finding {position}"));
    let finding = page.check().diagnosis.findings.get(position).ok_or_else(absent)?;
    let make = || Replayed { retimed: page.session().retimed(finding), answer: None };
    Ok((json!({ "finding": position }), page.replayed(&format!("finding {position}"), make)))
}

/// Changes as `ridgeline what-if` takes them, one a line and without dashes: `scale gemm*=2x`.
fn typed(page: &Page, lines: &str) -> Result<(Value, Arc<Replayed>), Refusal> {
    let lines: Vec<&str> = lines.lines().filter(|line| !line.trim().is_empty()).collect();
    if lines.is_empty() || lines.len() > MOST_CHANGES {
        return Err(Refusal::bad(format!("expected 1 to {MOST_CHANGES} changes, found {}", lines.len())));
    }
    let changes = lines.iter().map(|line| Change::read(line)).collect::<Result<Vec<_>, _>>().map_err(Refusal::bad)?;
    let make = || {
        let Changed { answer, retimed } = page.session().changed(&changes);
        Replayed { retimed, answer: Some(answer) }
    };
    let replayed = page.replayed(&format!("typed\n{}", lines.join("\n")), make);
    let said = replayed.answer.as_ref().map(|answer| {
        json!({
            "finding": null,
            "sections": answer.sections.iter().map(report::section).collect::<Vec<_>>(),
            "changes": tables::listed(page, &answer.changes),
        })
    });
    Ok((said.unwrap_or_default(), replayed))
}

/// Both timelines, and how well the replay explains the capture.
fn picture(page: &Page, found: &Retimed, request: &Request) -> Result<Value, Refusal> {
    let step = step(found, request.number("step")?)?;
    let between = step.map_or_else(|| whole(found), |step| [step.captured, step.replayed]);
    let mut names = Names::default();
    let [captured, replayed] =
        [Side::Captured, Side::Replayed].map(|side| half(page, found, side, between, &mut names));
    let long = between.map(|(start, end)| end.saturating_sub(start));
    let mut answer = drawn([captured, replayed], &names, request)?;
    let numbers: FxHashMap<u32, i64> =
        page.session().trace().steps.iter().map(|step| (step.event, step.number)).collect();
    answer["step"] = json!(step.map(|step| json!({ "row": step.row, "number": numbers.get(&step.row) })));
    answer["steps"] = found.steps.iter().map(|step| json!([step.row, numbers.get(&step.row)])).collect();
    answer["captured_ns"] = json!(long[0]);
    answer["replayed_ns"] = json!(long[1]);
    answer["rigid_share"] = json!(found.baseline.rigid_share);
    answer["class_error"] = json!(found.baseline.class_error);
    answer["limits"] = json!(LIMITS);
    Ok(answer)
}

/// The step that the event at `row` marks; else the one in the middle of those behind the first; none where none is marked.
fn step(found: &Retimed, row: Option<u32>) -> Result<Option<Moved>, Refusal> {
    if let Some(row) = row {
        let named = found.steps.iter().find(|step| step.row == row).copied();
        let absent = || Refusal::absent(format!("no replayed step is marked by event {row}"));
        return named.ok_or_else(absent).map(Some);
    }
    let mut steady: Vec<&Moved> = found.steps.iter().skip(usize::from(found.steps.len() > 1)).collect();
    steady.sort_by_key(|step| (step.captured.1.saturating_sub(step.captured.0), step.row));
    Ok(steady.get(steady.len().saturating_sub(1) / 2).map(|step| **step))
}

/// First start and last end of all that was replayed: captured, replayed.
fn whole(found: &Retimed) -> [(i64, i64); 2] {
    [|event: &Moved| event.captured, |event: &Moved| event.replayed].map(|times| {
        let all = found.events.iter().map(times);
        all.reduce(|(first, last), (start, end)| (first.min(start), last.max(end))).unwrap_or_default()
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Captured,
    Replayed,
}

/// What ran between two times, track by track.
fn half(page: &Page, found: &Retimed, side: Side, between: [(i64, i64); 2], names: &mut Names) -> Half {
    let timeline = page.timeline();
    let (title, (start, end)) = match side {
        Side::Captured => ("captured", between[0]),
        Side::Replayed => ("predicted", between[1]),
    };
    let times = |event: &Moved| if side == Side::Captured { event.captured } else { event.replayed };
    let long_ns = end.saturating_sub(start);
    let start_ns = timeline.relative(start);
    let mut half = Half { title: title.to_owned(), start_ns, long_ns, ..Half::default() };
    // Events of one track are neighbors.
    for track in found.events.chunk_by(|one, next| timeline.track_of(one.row) == timeline.track_of(next.row)) {
        let is_there = |event: &&Moved| {
            let (from, to) = times(event);
            from < end && to > start && !(side == Side::Replayed && event.is_gone)
        };
        let bit = |event: &Moved| {
            let (from, to) = times(event);
            let (name, category) = names.of(page, event.row);
            let inside = |time: i64| time.clamp(start, end).saturating_sub(start);
            Bit { lane: 0, start: inside(from), end: inside(to), category, name, row: event.row }
        };
        let mut bits: Vec<Bit> = track.iter().filter(is_there).map(bit).collect();
        bits.sort_by_key(|bit| bit.start);
        let name = names.of_track(page, timeline.track_of(track[0].row));
        half.add(name, bits);
    }
    half
}
