//! Drawings as numbers: the roofline, sampled counters.

use crate::answer::Refusal;
use crate::page::Page;
use crate::request::{Request, number};
use crate::tables;
use crate::timeline::COLUMNS;
use ridgeline::trace::{DeviceRow, EventKind, StringId};
use ridgeline::{Chart, ChartPoint, OverTime, View};
use serde_json::{Value, json};

/// Events of a capture whose work is summed in no time.
const QUICK: usize = 300_000;
/// Points of a series where no level was asked for.
const POINTS: u64 = 2_000;

/// `chart/roofline?by=op`: what `ridgeline roofline` draws, one chart for each kind of device; without `by`, by operation,
/// or by profiled launch where nothing else can be drawn.
pub(crate) fn roofline(page: &Page, request: &Request) -> Result<Value, Refusal> {
    let (view, charts) = match request.get("by") {
        Some(by) => drawn(page, by)?,
        None => roofs(page)?,
    };
    Ok(json!({ "by": view.id, "charts": charts.iter().map(chart).collect::<Vec<_>>() }))
}

fn drawn(page: &Page, by: &str) -> Result<(&'static View, Vec<Chart>), Refusal> {
    tables::named("roofline", by).map(|view| (view, page.session().charts(view)))
}

/// Launches under a hardware profiler bring counters and no modules.
fn roofs(page: &Page) -> Result<(&'static View, Vec<Chart>), Refusal> {
    let (view, charts) = drawn(page, "op")?;
    let has_others = charts.is_empty() && !page.session().trace().profiles.is_empty();
    if has_others { drawn(page, "profile") } else { Ok((view, charts)) }
}

/// Whether a roofline has something to show. What takes long to find out is not asked for before the first picture.
pub(crate) fn has_roofline(page: &Page) -> bool {
    page.session().trace().events.len() > QUICK || roofs(page).is_ok_and(|(_, charts)| !charts.is_empty())
}

fn chart(chart: &Chart) -> Value {
    let slopes = chart.slopes.iter().map(|slope| json!({ "name": slope.name, "bytes_per_sec": slope.bytes_per_sec }));
    let roofs = chart.roofs.iter().map(|roof| json!({ "name": roof.name, "flops_per_sec": roof.flops_per_sec }));
    json!({
        "device": chart.device,
        "basis": chart.basis,
        "intensity": chart.intensity,
        "slopes": slopes.collect::<Vec<_>>(),
        "roofs": roofs.collect::<Vec<_>>(),
        "points": chart.points.iter().map(point).collect::<Vec<_>>(),
        "share_left_out": chart.share_left_out,
    })
}

fn point(point: &ChartPoint) -> Value {
    let others = point.others.iter().map(|other| {
        let label = if other.label.is_empty() { "XLA's count" } else { other.label };
        json!({ "label": label, "intensity": other.intensity })
    });
    json!({
        "name": point.name,
        "intensity": point.intensity,
        "flops_per_sec": point.flops_per_sec,
        "share": point.share,
        "bound": point.bound.map(|bound| bound.name()),
        "others": others.collect::<Vec<_>>(),
    })
}

/// `counter/{id}?level=…&index=…`: `[start, least, most, last]` of each column that has a sample, 2^level nanoseconds wide.
///
/// With `index`, of the columns of one tile, the first of them with the value that holds at its start.
pub(crate) fn counter(page: &Page, id: &str, request: &Request) -> Result<Value, Refusal> {
    let (timeline, span) = (page.timeline(), page.timeline().span());
    let fitting = (span.1.saturating_sub(span.0).max(1) as u64).div_ceil(POINTS);
    let level = request.number::<u32>("level")?.unwrap_or(u64::BITS - fitting.leading_zeros()).min(62);
    let (from, to) = match request.number::<u32>("index")? {
        Some(index) => {
            let edge = |index: u64| i128::from(span.0) + (i128::from(index * COLUMNS as u64) << level);
            let [from, to] =
                [u64::from(index), u64::from(index) + 1].map(|index| i64::try_from(edge(index)).unwrap_or(i64::MAX));
            (from, to)
        }
        None => (i64::MIN, i64::MAX),
    };
    let mut points: Vec<(i64, f64, f64, f64)> = Vec::new();
    let [least, most] = each_change(page, id, from, to, |time, value| {
        let start = timeline.relative(time) >> level << level;
        match points.last_mut().filter(|last| last.0 == start) {
            Some(last) => *last = (start, last.1.min(value), last.2.max(value), value),
            None => points.push((start, value, value, value)),
        }
    })?;
    let points: Vec<Value> =
        points.into_iter().map(|(start, least, most, last)| json!([start, least, most, last])).collect();
    let point = ["start_ns", "least", "most", "last"];
    Ok(json!({ "id": id, "level": level, "range": [least, most], "point": point, "points": points }))
}

/// Calls `see` with each change of a counter after `from` and before `to`, and before them with the value at `from`; returns
/// the least and the largest value of the whole.
fn each_change(page: &Page, id: &str, from: i64, to: i64, mut see: impl FnMut(i64, f64)) -> Result<[f64; 2], Refusal> {
    let absent = || Refusal::absent(format!("no counter is called `{id}`"));
    let mut samples = match id.split('-').collect::<Vec<_>>()[..] {
        ["sample", device, metric] => sampled(page, number("the device", device)?, number("the metric", metric)?),
        ["memory", at] => page.session().memory_samples(number("the allocator", at)?).ok_or_else(absent)?,
        ["queue", track] => {
            let of = OverTime::Queue(number("the track", track)?);
            return over_time(page, 0, of, from, to, see).ok_or_else(absent);
        }
        ["rate", device, kind] => {
            let of = OverTime::Rate(EventKind::from_byte(number("the kind", kind)?));
            return over_time(page, number("the device", device)?, of, from, to, see).ok_or_else(absent);
        }
        _ => return Err(absent()),
    };
    if samples.is_empty() {
        return Err(absent());
    }
    samples.sort_by_key(|(time, _)| *time);
    let first = samples.partition_point(|(time, _)| *time <= from);
    if let Some((_, value)) = first.checked_sub(1).and_then(|at| samples.get(at)) {
        see(from, *value);
    }
    samples[first..].iter().take_while(|(time, _)| *time < to).for_each(|(time, value)| see(*time, *value));
    let values = samples.iter().map(|(_, value)| *value);
    Ok([values.clone().fold(f64::INFINITY, f64::min), values.fold(f64::NEG_INFINITY, f64::max)])
}

fn over_time(
    page: &Page,
    device: u32,
    of: OverTime,
    from: i64,
    to: i64,
    see: impl FnMut(i64, f64),
) -> Option<[f64; 2]> {
    let line = page.session().line_over_time(of, DeviceRow(device))?;
    line.each(from, to, see);
    // All that is launched begins, and all copies end.
    Some([0.0, line.most()])
}

fn sampled(page: &Page, device: u32, metric: u32) -> Vec<(i64, f64)> {
    let counters = &page.session().trace().counters;
    let rows = (0..counters.time_ns.len()).filter(|row| counters.device[*row] == device);
    let rows = rows.filter(|row| counters.metric[*row] == StringId(metric) && counters.value[*row].is_finite());
    rows.map(|row| (counters.time_ns[row], counters.value[row])).collect()
}
