//! Device time by the ranges that the program named (`TraceAnnotation`), with all device work they caused.

use crate::by_step::WorkRow;
use crate::quantiles::quantile;
use crate::roofline::{RooflineRow, WorkSums, add_event, rows_by_class, work_columns};
use crate::rows::table as build;
use crate::{Analysis, by_step};
use ridge_trace::{Column, EventKind, NONE, Rank, StringId, Table, Unit};
use rustc_hash::FxHashMap;

/// The sums of one name.
#[derive(Debug, Default)]
struct Named {
    walls: Vec<i64>,
    device_ns: i64,
    self_ns: i64,
    events: u64,
    depth: u64,
    /// By class of device.
    work: Vec<WorkSums>,
}

/// Ranges by name with their sums, most device time first; ranges inside ranges count in both.
fn named(analysis: &Analysis<'_>) -> Vec<(String, Named)> {
    let trace = analysis.trace;
    let owners = analysis.owners();
    let mut named: FxHashMap<u32, Named> = FxHashMap::default();
    for row in by_step::ranges(trace).filter(|row| trace.events.kind(*row as usize) == EventKind::Annotation) {
        let entry = named.entry(trace.events.name[row as usize]).or_default();
        entry.walls.push(trace.events.dur_ns[row as usize]);
        entry.depth = entry.depth.max(owners.chain(trace, row).count() as u64 - 1);
    }
    let mut outside = Named::default();
    let mut seen: Vec<u32> = Vec::new();
    by_step::for_each_work(trace, |WorkRow { row, self_ns, device }| {
        seen.clear();
        for (position, range) in owners.chain(trace, row).enumerate() {
            if trace.events.kind(range as usize) != EventKind::Annotation {
                continue;
            }
            let name = trace.events.name[range as usize];
            let Some(entry) = named.get_mut(&name) else { continue };
            if position == 0 {
                entry.self_ns += self_ns;
            }
            if !seen.contains(&name) {
                seen.push(name);
                entry.device_ns += self_ns;
                entry.events += 1;
                add_event(analysis, &mut entry.work, row, self_ns, device);
            }
        }
        if owners.of(row) == NONE {
            outside.device_ns += self_ns;
            outside.self_ns += self_ns;
            outside.events += 1;
            add_event(analysis, &mut outside.work, row, self_ns, device);
        }
    });
    let mut rows: Vec<(String, Named)> =
        named.into_iter().map(|(name, sums)| (analysis.text(StringId(name)).to_owned(), sums)).collect();
    rows.iter_mut().for_each(|(_, sums)| sums.walls.sort_unstable());
    if outside.events > 0 && !rows.is_empty() {
        rows.push(("(outside every range)".to_owned(), outside));
    }
    rows.sort_by(|(a, left), (b, right)| right.device_ns.cmp(&left.device_ns).then_with(|| a.cmp(b)));
    rows
}

/// The work of each named range on each class of device, for the roofline.
pub(crate) fn work(analysis: &Analysis<'_>) -> Vec<RooflineRow> {
    named(analysis).into_iter().flat_map(|(name, sums)| rows_by_class(name, None, sums.work)).collect()
}

/// Ranges by name, most device time first; ranges inside ranges count in both.
pub(crate) fn table(analysis: &Analysis<'_>) -> Table {
    let rows = named(analysis);
    let share = |sums: &Named| analysis.share_of_work(sums.device_ns);
    let wall = |share: f64| rows.iter().map(|(_, sums)| quantile(&[&sums.walls], share)).collect::<Vec<_>>();
    let mut columns = vec![
        Column::text(
            "operation",
            "Operation",
            "range that the program named",
            rows.iter().map(|(name, _)| name.clone()),
        )
        .ranked(Rank::Key),
        Column::nanos(
            "device_ns",
            "Device",
            "self times of all device work the ranges caused, measured",
            rows.iter().map(|(_, sums)| sums.device_ns),
        )
        .ranked(Rank::Key),
        Column::real(
            "device_share",
            "Share",
            "device time as a part of all device work",
            Unit::Share,
            rows.iter().map(|(_, sums)| share(sums)),
        )
        .ranked(Rank::Key),
        Column::nanos(
            "device_self_ns",
            "Device self",
            "device work caused directly, not by a range inside",
            rows.iter().map(|(_, sums)| sums.self_ns),
        ),
        Column::whole(
            "count",
            "Count",
            "how often the range was entered",
            Unit::Count,
            rows.iter().map(|(_, sums)| sums.walls.len() as u64),
        ),
        Column::nanos(
            "wall_ns",
            "Wall",
            "sum of the ranges' own durations on their threads",
            rows.iter().map(|(_, sums)| sums.walls.iter().sum::<i64>()),
        ),
        Column::nanos("median_ns", "Median", "range that half of them do not exceed", wall(0.5)),
        Column::nanos("min_ns", "Min", "shortest range", wall(0.0)).ranked(Rank::Detail),
        Column::nanos("p95_ns", "p95", "range that 95 % of them do not exceed", wall(0.95)).ranked(Rank::Detail),
        Column::nanos("max_ns", "Max", "longest range", wall(1.0)).ranked(Rank::Detail),
        Column::whole(
            "events",
            "Events",
            "kernels, copies and device operations they caused",
            Unit::Count,
            rows.iter().map(|(_, sums)| sums.events),
        ),
        Column::whole(
            "depth",
            "Depth",
            "named ranges around it, at most",
            Unit::Count,
            rows.iter().map(|(_, sums)| sums.depth),
        )
        .ranked(Rank::Detail),
    ];
    let work: Vec<WorkSums> = rows.iter().map(|(_, sums)| WorkSums::all(&sums.work)).collect();
    let after_share = 3;
    columns.splice(after_share..after_share, work_columns(analysis, &work));
    let mut table = build("operation", "Annotated operations", columns);
    table.footnotes.extend(by_step::time_note(analysis.owners()));
    table
}
