//! Memory as numbers to draw: over time, what is alive when, along a compiled program's schedule.

use crate::answer::Refusal;
use crate::page::Page;
use crate::request::{Request, number};
use ridgeline::{Held, MemorySeries, ScheduledValue};
use serde_json::{Value, json};

/// `chart/memory`: use of each allocator over time, and what is alive at its peak.
pub(crate) fn memory(page: &Page) -> Value {
    let series = page.session().memory_series();
    let allocators = series.iter().enumerate().map(|(at, series)| of_allocator(page, at, series));
    json!({ "allocators": allocators.collect::<Vec<_>>() })
}

fn of_allocator(page: &Page, at: usize, series: &MemorySeries) -> Value {
    let relative = |time: i64| page.timeline().relative(time);
    let points = series.points.iter().map(|point| {
        json!([
            relative(point.time_ns),
            point.most,
            point.last,
            (point.reserved >= 0).then_some(point.reserved),
            point.events
        ])
    });
    let ends = ends(series).into_iter().map(relative);
    json!({
        "id": format!("memory-{at}"),
        "name": series.name,
        "point": ["start_ns", "most_bytes", "last_bytes", "reserved_bytes", "events"],
        "points": points.collect::<Vec<_>>(),
        "ends_ns": ends.collect::<Vec<_>>(),
        "peak_bytes": series.peak_bytes,
        "peak_ns": relative(series.peak_ns),
        "alive_at_peak": held(page, &series.alive_at_peak),
        "unknown_at_peak_bytes": series.unknown_at_peak_bytes,
    })
}

/// The last moment of each stretch that a point stands for, on the trace clock; stretches are equally long.
fn ends(series: &MemorySeries) -> Vec<i64> {
    let starts: Vec<i64> = series.points.iter().map(|point| point.time_ns).collect();
    let width = starts.windows(2).map(|two| two[1].saturating_sub(two[0])).next().unwrap_or(1);
    starts.into_iter().map(|start| start.saturating_add(width - 1)).collect()
}

/// Who holds memory, most bytes first.
fn held(page: &Page, all: &[Held]) -> Vec<Value> {
    let held = |held: &Held| {
        json!({
            "owner": held.owner,
            "stack": held.stack,
            "bytes": held.bytes,
            "blocks": held.blocks,
            "since_ns": page.timeline().relative(held.since_ns),
        })
    };
    all.iter().map(held).collect()
}

/// `chart/alive?allocator=memory-0&at=NS`: what is alive in an allocator at a time.
pub(crate) fn alive(page: &Page, request: &Request) -> Result<Value, Refusal> {
    let id = request.get("allocator").ok_or_else(|| Refusal::bad("expected `allocator=ID`, found none"))?;
    let allocator =
        id.strip_prefix("memory-").ok_or_else(|| Refusal::bad(format!("expected memory-N, found `{id}`")))?;
    let time = page.timeline().span().0.saturating_add(request.needed::<i64>("at")?);
    let alive = page.session().memory_alive_at(number("the allocator", allocator)?, time);
    let alive = alive.ok_or_else(|| Refusal::absent(format!("`{id}` has nothing yet, or is not an allocator")))?;
    Ok(json!({
        "allocator": id,
        "at_ns": page.timeline().relative(alive.time_ns),
        "bytes": alive.in_use_bytes,
        "alive": held(page, &alive.held),
        "unknown_bytes": alive.unknown_bytes,
    }))
}

/// `chart/schedule?module=M`: what a compiled program has in memory along its schedule.
pub(crate) fn schedule(page: &Page, request: &Request) -> Result<Value, Refusal> {
    let module = request.get("module").ok_or_else(|| Refusal::bad("expected `module=NAME`, found none"))?;
    let schedule = page.session().memory_schedule(module)?;
    let value = |value: &ScheduledValue| {
        json!({
            "name": value.name,
            "op": value.op,
            "class": value.class,
            "bytes": value.bytes,
            "from": value.lives.0,
            "to": value.lives.1,
            "source": value.source.as_ref().map(|(file, line)| json!({ "file": file, "line": line })),
            "scope": value.scope,
        })
    };
    Ok(json!({
        "module": module,
        "basis": schedule.basis.name(),
        "positions": schedule.positions,
        "peak_bytes": schedule.peak_bytes,
        "peak_at": schedule.peak_at.map(|(position, name)| json!({ "position": position, "op": name })),
        "width": schedule.width,
        "classes": schedule.classes,
        "columns": schedule.columns,
        "values": schedule.values.iter().map(value).collect::<Vec<_>>(),
        "others": schedule.others,
    }))
}
