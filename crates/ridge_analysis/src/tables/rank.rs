//! Ranks of a distributed program: who waits, and who is waited for.

use crate::Analysis;
use crate::context::Need;
use crate::context::coverage::Coverage;
use crate::models::collectives::{Collectives, Matched, rank_of};
use crate::models::rank_times::{RankTimes, rank_times};
use crate::view::{Shown, Topic, View};
use ridge_table::{Basis, Column, Columns, Subject, Table, Unit};
use ridge_trace::{ProcessRow, Trace};

/// The view.
pub(crate) static VIEW: View = View {
    topic: Topic::Time,
    id: "rank",
    about: "rank: how it spent its time, and who waits for whom",
    aliases: &[],
    shown: Shown::InReport,
    needs: &[Need::of::<Collectives>()],
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
    times: RankTimes,
}

/// Ranks by number.
pub(crate) fn table(analysis: &Analysis<'_>) -> Table {
    let trace = analysis.trace;
    let all = &analysis.collectives().matched;
    let mut rows = sums(trace, all);
    rows.sort_by_key(|row| rank_of(trace, row.process));
    let numbers = rows.iter().map(|row| rank_of(trace, row.process));
    let rank = Column::whole("rank", "Rank", "rank as the capture says it, else its position", Unit::Number, numbers)
        .basis(Basis::Capture);
    let mut table = Columns::over(&rows)
        .about(|row| Some(Subject::Process(ProcessRow(row.process))))
        .column(rank)
        .key()
        .nanos("wall_ns", "Wall", "from the first event of its capture to the last", Basis::Measured, |row| {
            trace.process_wall_ns(row.process)
        })
        .nanos("busy_ns", "Busy", "union of the device work of each of its devices", Basis::Measured, |row| row.busy_ns)
        .key()
        .nanos(
            "computing_ns",
            "Computing",
            "union of kernels and operations that are no collectives, and of memory sets",
            Basis::Measured,
            |row| row.times.computing_ns,
        )
        .key()
        .nanos("communicating_ns", "Communicating", "collectives while nothing was computed", Basis::Measured, |row| {
            row.times.communicating_ns
        })
        .key()
        .nanos("copying_ns", "Copying", "copies while nothing else ran", Basis::Measured, |row| row.times.copying_ns)
        .nanos(
            "device_idle_ns",
            "Idle",
            "from the first device work to the last, less all that ran",
            Basis::Measured,
            |row| row.times.idle_ns(),
        )
        .key()
        .count("collectives", "Collectives", "collective operations it took part in", Basis::Counted, |row| {
            row.collectives
        })
        .nanos("collective_ns", "In collectives", "durations of its collective kernels", Basis::Measured, |row| {
            row.collective_ns
        })
        .key()
        .nanos(
            "wait_ns",
            "Waited",
            "sum over its collectives of the last rank's start less its own",
            Basis::Measured,
            |row| row.wait_ns,
        )
        .key()
        .count(
            "times_last",
            "Times last",
            "collectives of several ranks that it was the last to begin",
            Basis::Counted,
            |row| row.times_last,
        )
        .key()
        .table("rank", "Ranks");
    table.footnotes.extend(straggler(trace, &rows, all));
    table
}

fn sums(trace: &Trace, all: &[Matched]) -> Vec<Sums> {
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
    for (row, times) in rows.iter_mut().zip(rank_times(trace)) {
        row.times = times;
    }
    rows
}

/// Who the others wait for, where several ranks met in collectives.
fn straggler(trace: &Trace, rows: &[Sums], all: &[Matched]) -> Option<String> {
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
