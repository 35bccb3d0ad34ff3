//! Why a device was idle: one gap in its parts, and all parts in a stretch of time, as `ridgeline idle` tells them.

use crate::answer::Refusal;
use crate::page::Page;
use crate::request::Request;
use ridgeline::trace::{EventKind, EventRow};
use ridgeline::{Cause, GapsOfLength, IdleCauses, IdleOverTime, IdlePart};
use rustc_hash::FxHashMap;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Columns of idle time over time.
const COLUMNS: usize = 240;

/// `chart/idle`: idle time of each device by cause, over time, and by the length of its gaps; causes in the order in which
/// they are told apart.
pub(crate) fn causes(page: &Page) -> Value {
    let trace = page.session().trace();
    let courses: FxHashMap<u32, IdleOverTime> =
        page.session().idle_over_time(COLUMNS).into_iter().map(|course| (course.device, course)).collect();
    let device = |IdleCauses { device: row, capture_ns, causes }: IdleCauses| {
        let cause = |(cause, ns): &(Cause, i64)| {
            let share = if capture_ns > 0 { *ns as f64 / capture_ns as f64 } else { 0.0 };
            let position = Cause::ALL.iter().position(|known| known == cause);
            json!({ "name": cause.name(), "about": cause.definition(), "color_index": position, "ns": ns, "share": share })
        };
        json!({
            "row": row,
            "name": trace.devices[row as usize].plane,
            "capture_ns": capture_ns,
            "causes": causes.iter().filter(|(_, ns)| *ns > 0).map(cause).collect::<Vec<_>>(),
            "over_time": courses.get(&row).map(|course| over_time(page, course)),
            "gaps": courses.get(&row).map(|course| course.gaps.iter().map(of_length).collect::<Vec<_>>()),
        })
    };
    json!({ "causes": named(), "devices": page.session().idle_causes().into_iter().map(device).collect::<Vec<_>>() })
}

/// `chart/idle?from=NS&to=NS`: the same of a part of time, without the lengths of gaps, which its ends would cut.
pub(crate) fn selected(page: &Page, request: &Request) -> Result<Value, Refusal> {
    let (from, to): (i64, i64) = (request.needed("from")?, request.needed("to")?);
    let origin = page.timeline().span().0;
    let window = origin.saturating_add(from)..origin.saturating_add(to.max(from));
    let long = window.end.saturating_sub(window.start).max(1);
    let column_ns = (long / COLUMNS as i64).max(1);
    let trace = page.session().trace();
    let starts: FxHashMap<u32, i64> =
        page.session().idle_over_time(1).into_iter().map(|course| (course.device, course.start_ns)).collect();
    let device = |IdleCauses { device: row, capture_ns, .. }: IdleCauses| {
        // Outside of its own capture a device was neither busy nor idle.
        let begin = starts.get(&row).copied().unwrap_or(window.start);
        let held_ns = begin.saturating_add(capture_ns).min(window.end).saturating_sub(begin.max(window.start)).max(0);
        let mut by_cause = vec![0_i64; Cause::ALL.len()];
        let mut cells: BTreeMap<(usize, usize), i64> = BTreeMap::new();
        for part in page.session().idle_parts(row, &window, 0) {
            let (start, end) = (part.start_ns.max(window.start), part.start_ns.saturating_add(part.ns).min(window.end));
            let Some(cause) = Cause::ALL.iter().position(|known| *known == part.cause).filter(|_| end > start) else {
                continue;
            };
            by_cause[cause] = by_cause[cause].saturating_add(end - start);
            let column = |time: i64| ((time - window.start) / column_ns) as usize;
            for at in column(start)..=column(end - 1) {
                let begin = window.start + at as i64 * column_ns;
                *cells.entry((at, cause)).or_default() += end.min(begin + column_ns) - start.max(begin);
            }
        }
        let cause = |(at, cause): (usize, &Cause)| {
            let share = by_cause[at] as f64 / held_ns.max(1) as f64;
            json!({ "name": cause.name(), "about": cause.definition(), "color_index": at, "ns": by_cause[at], "share": share })
        };
        json!({
            "row": row,
            "name": trace.devices[row as usize].plane,
            "capture_ns": held_ns,
            "causes": Cause::ALL.iter().enumerate().filter(|(at, _)| by_cause[*at] > 0).map(cause).collect::<Vec<_>>(),
            "over_time": {
                "start_ns": from,
                "column_ns": column_ns,
                "columns": (long as u64).div_ceil(column_ns as u64),
                "cell": ["column", "cause", "ns"],
                "cells": cells.into_iter().map(|((column, cause), ns)| json!([column, cause, ns])).collect::<Vec<_>>(),
            },
            "gaps": null,
        })
    };
    Ok(
        json!({ "causes": named(), "devices": page.session().idle_causes().into_iter().map(device).collect::<Vec<_>>() }),
    )
}

/// Every cause, whose position is its number.
fn named() -> Value {
    Cause::ALL.iter().map(|cause| json!({ "name": cause.name(), "about": cause.definition() })).collect()
}

/// `[column, cause, ns]` of what is not zero.
fn over_time(page: &Page, course: &IdleOverTime) -> Value {
    let cells = course.columns.iter().enumerate().flat_map(|(column, causes)| {
        let there = causes.iter().enumerate().filter(|(_, ns)| **ns > 0);
        there.map(move |(cause, ns)| json!([column, cause, ns]))
    });
    json!({
        "start_ns": page.timeline().relative(course.start_ns),
        "column_ns": course.column_ns,
        "columns": course.columns.len(),
        "cell": ["column", "cause", "ns"],
        "cells": cells.collect::<Vec<_>>(),
    })
}

/// Gaps of about one length, their time by cause.
fn of_length(gaps: &GapsOfLength) -> Value {
    let there = gaps.causes.iter().enumerate().filter(|(_, ns)| **ns > 0);
    json!({
        "from_ns": gaps.from_ns,
        "below_ns": gaps.from_ns.saturating_mul(2),
        "count": gaps.count,
        "ns": gaps.causes.iter().fold(0_i64, |all, ns| all.saturating_add(*ns)),
        "causes": there.map(|(cause, ns)| json!([cause, ns])).collect::<Vec<_>>(),
    })
}

/// Parts of one answer; of more, the longest.
const MOST_PARTS: usize = 5_000;

/// `gap?prev=ROW&next=ROW`: the causes of the time between two pieces of work; `gap?device=ROW&at=NS` of that around a time.
pub(crate) fn gap(page: &Page, request: &Request) -> Result<Value, Refusal> {
    let (prev, next) = match request.number::<u32>("device")? {
        Some(device) => around(page, device, request.needed("at")?)?,
        None => (request.needed("prev")?, request.needed("next")?),
    };
    let parts = page.session().gap(EventRow(prev), EventRow(next));
    if parts.is_empty() {
        return Err(Refusal::absent("expected two events of one device with time between, found none"));
    }
    let longest = parts.iter().max_by_key(|part| part.ns);
    Ok(json!({
        "prev": prev,
        "next": next,
        "start_ns": page.timeline().relative(parts[0].start_ns),
        "duration_ns": parts.iter().map(|part| part.ns).sum::<i64>(),
        "cause": longest.map(|part| part.cause.name()),
        "parts": parts.iter().map(|part| described(page, part)).collect::<Vec<_>>(),
    }))
}

/// The work of a device that ended last before a time, and that which began first behind it.
fn around(page: &Page, device: u32, at: i64) -> Result<(u32, u32), Refusal> {
    let trace = page.session().trace();
    let (events, time) = (&trace.events, page.timeline().span().0.saturating_add(at));
    let (mut prev, mut next): (Option<u32>, Option<u32>) = (None, None);
    for track in trace.device_tracks().filter(|track| track.device == Some(device)) {
        let work = track.rows.clone().filter(|row| EventKind::from_byte_is_work(events.kind[*row as usize]));
        for row in work {
            let (start, end) = (events.start_ns[row as usize], events.end_ns(row as usize));
            if end <= time && prev.is_none_or(|prev| end > events.end_ns(prev as usize)) {
                prev = Some(row);
            }
            if start >= time && end > time {
                if next.is_none_or(|next| start < events.start_ns[next as usize]) {
                    next = Some(row);
                }
                // Rows are sorted by start.
                break;
            }
        }
    }
    prev.zip(next).ok_or_else(|| Refusal::absent("expected work of the device before and behind that time, found none"))
}

fn described(page: &Page, part: &IdlePart) -> Value {
    let trace = page.session().trace();
    json!({
        "start_ns": page.timeline().relative(part.start_ns),
        "duration_ns": part.ns,
        "cause": part.cause.name(),
        "about": part.cause.definition(),
        "activity": part.activity.name(),
        "name": part.name.map(|name| trace.strings.get(name)),
        "row": part.row.map(|row| row.0),
    })
}

/// `idle?device=ROW&from=NS&to=NS&least=NS`: `[start, duration, cause, row]` of each part, causes by their position in
/// `causes`; where there are too many, the longest, and `left_out_ns` says how much the others are.
pub(crate) fn idle(page: &Page, request: &Request) -> Result<Value, Refusal> {
    let (timeline, origin) = (page.timeline(), page.timeline().span().0);
    let device = request.needed::<u32>("device")?;
    let from = request.number::<i64>("from")?.unwrap_or(0);
    let to = request.number::<i64>("to")?.unwrap_or(i64::MAX);
    let window = origin.saturating_add(from)..origin.saturating_add(to);
    let mut parts = page.session().idle_parts(device, &window, request.number("least")?.unwrap_or(0));
    let (total, mut left_out_ns) = (parts.len(), 0_i64);
    if total > MOST_PARTS {
        parts.select_nth_unstable_by_key(MOST_PARTS, |part| std::cmp::Reverse(part.ns));
        left_out_ns = parts.drain(MOST_PARTS..).map(|part| part.ns).sum();
    }
    parts.sort_by_key(|part| part.start_ns);
    let position = |cause: Cause| Cause::ALL.iter().position(|known| *known == cause);
    let row = |part: &IdlePart| {
        json!([timeline.relative(part.start_ns), part.ns, position(part.cause), part.row.map(|row| row.0)])
    };
    Ok(json!({
        "device": device,
        "causes": named(),
        "part": ["start_ns", "duration_ns", "cause", "row"],
        "parts": parts.iter().map(row).collect::<Vec<_>>(),
        "total": total,
        "left_out_ns": left_out_ns,
    }))
}
