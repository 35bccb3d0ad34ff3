//! Ranks of a distributed program: who waits, and who is waited for.

use crate::Analysis;
use crate::context::coverage::Coverage;
use crate::models::collectives::{Matched, matched, rank_of};
use crate::tables::time::table as build;
use crate::view::{Shown, Topic, View};
use ridge_table::{Basis, Column, Rank, Table, Unit};
use ridge_trace::Trace;

/// The view.
pub(crate) static VIEW: View = View {
    topic: Topic::Time,
    id: "rank",
    about: "rank: who waits for whom",
    aliases: &[],
    shown: Shown::InReport,
    needs: &[],
    answers: has_ranks,
    charts: None,
    make: |analysis, _| table(analysis),
};

fn has_ranks(analysis: &Analysis<'_>) -> bool {
    analysis.trace.processes.iter().filter(|process| process.rank.is_some()).count() > 1
}

/// The sums of one rank.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    process: u32,
    collectives: u64,
    collective_ns: i64,
    wait_ns: i64,
    times_last: u64,
    busy_ns: i64,
}

/// Ranks by number.
pub(crate) fn table(analysis: &Analysis<'_>) -> Table {
    let trace = analysis.trace;
    let all = matched(trace);
    let mut rows = sums(trace, &all);
    rows.sort_by_key(|row| rank_of(trace, row.process));
    let whole = |key, title, definition, value: fn(&Sums) -> u64| {
        Column::whole(key, title, definition, Unit::Count, rows.iter().map(value)).basis(Basis::Counted)
    };
    let nanos = |key, title, definition, value: fn(&Sums) -> i64| {
        Column::nanos(key, title, definition, rows.iter().map(value)).basis(Basis::Measured)
    };
    let mut table = build(
        "rank",
        "Ranks",
        vec![
            Column::whole(
                "rank",
                "Rank",
                "rank as the capture says it, else its position",
                Unit::Number,
                rows.iter().map(|row| rank_of(trace, row.process)),
            )
            .basis(Basis::Capture)
            .ranked(Rank::Key),
            Column::nanos(
                "wall_ns",
                "Wall",
                "from the first event of its capture to the last",
                rows.iter().map(|row| trace.process_wall_ns(row.process)),
            )
            .basis(Basis::Measured),
            nanos("busy_ns", "Busy", "union of the device work of each of its devices", |row| row.busy_ns)
                .ranked(Rank::Key),
            whole("collectives", "Collectives", "collective operations it took part in", |row| row.collectives),
            nanos("collective_ns", "In collectives", "durations of its collective kernels", |row| row.collective_ns)
                .ranked(Rank::Key),
            nanos("wait_ns", "Waited", "sum over its collectives of the last rank's start less its own", |row| {
                row.wait_ns
            })
            .ranked(Rank::Key),
            whole("times_last", "Times last", "collectives of several ranks that it was the last to begin", |row| {
                row.times_last
            })
            .ranked(Rank::Key),
        ],
    );
    table.footnotes.extend(straggler(trace, &rows, &all));
    table
}

fn sums(trace: &Trace, all: &[Matched<'_>]) -> Vec<Sums> {
    let mut rows: Vec<Sums> =
        (0..trace.processes.len() as u32).map(|process| Sums { process, ..Sums::default() }).collect();
    for matched in all {
        for part in &matched.parts {
            let row = &mut rows[part.process as usize];
            row.collectives += 1;
            row.collective_ns = row.collective_ns.saturating_add(part.dur_ns);
            row.wait_ns = row.wait_ns.saturating_add(matched.wait_ns(part));
        }
        if let Some((_, last)) = matched.first_and_last().filter(|_| matched.parts.len() > 1) {
            rows[last.process as usize].times_last += 1;
        }
    }
    for (device, covered) in trace.devices.iter().zip(Coverage::new(trace).devices) {
        let row = &mut rows[device.process as usize];
        row.busy_ns = row.busy_ns.saturating_add(covered.busy.total_ns());
    }
    rows
}

/// Who the others wait for, where several ranks met in collectives.
fn straggler(trace: &Trace, rows: &[Sums], all: &[Matched<'_>]) -> Option<String> {
    let met = all.iter().filter(|matched| matched.parts.len() > 1).count();
    if met == 0 {
        return Some("no collective was seen on several ranks: nobody is known to wait for another".to_owned());
    }
    let least = rows.iter().filter(|row| row.collectives > 0).min_by_key(|row| row.wait_ns)?;
    Some(format!(
        "rank {} waited least and was the last to begin in {} of {met} collectives: the others wait for it",
        rank_of(trace, least.process),
        least.times_last
    ))
}
