//! Collective operations, each once for all ranks: how long it took and who was waited for.

use crate::Analysis;
use crate::context::Need;
use crate::models::collectives::{Collectives, Matched, rank_of};
use crate::tables::time::table as build;
use crate::view::{Shown, Topic, View};
use ridge_table::{Basis, Column, Rank, Subject, Table, Unit};
use ridge_trace::{Collective, EventRow};

/// The view.
pub(crate) static VIEW: View = View {
    topic: Topic::Time,
    id: "collective",
    about: "collective operation, matched over ranks",
    aliases: &[],
    shown: Shown::InReport,
    needs: &[Need::of::<Collectives>()],
    answers: |analysis| !analysis.trace.collectives.is_empty(),
    charts: None,
    make: |analysis, _| table(analysis),
};

/// Collectives in order of time.
pub(crate) fn table(analysis: &Analysis<'_>) -> Table {
    let trace = analysis.trace;
    let rows = &analysis.collectives().matched;
    let first = |row: &Matched| row.parts[0].collective;
    let text = |value: fn(&Collective) -> ridge_trace::StringId| {
        rows.iter().map(move |row| Some(analysis.text(value(&first(row))).to_owned()).filter(|text| !text.is_empty()))
    };
    let shortest = |row: &Matched| row.parts.iter().map(|part| part.dur_ns).min().unwrap_or(0);
    let longest = |row: &Matched| row.parts.iter().map(|part| part.dur_ns).max().unwrap_or(0);
    let skew =
        |row: &Matched| row.first_and_last().map_or(0, |(first, last)| last.start_ns.saturating_sub(first.start_ns));
    let bytes = |row: &Matched| {
        row.parts.iter().filter_map(|part| part.collective.bytes_in.max(part.collective.bytes_out)).max()
    };
    let several = |row: &Matched| row.parts.len() > 1;
    let rank = |row: &Matched, last: bool| {
        let ends = row.first_and_last().filter(|_| several(row))?;
        Some(rank_of(trace, if last { ends.1.process } else { ends.0.process }))
    };
    let mut table = build(
        "collective",
        "Collectives",
        vec![
            Column::text(
                "kernel",
                "Kernel",
                "name of the first rank's kernel, without its arguments",
                rows.iter().map(|row| {
                    let name = trace.name(first(row).event as usize);
                    name.split('(').next().unwrap_or(name).to_owned()
                }),
            )
            .ranked(Rank::Key),
            Column::text("collective", "Collective", "what it does, as the capture names it", text(|row| row.name)),
            Column::text("group", "Group", "group of processes that it runs among", text(|row| row.group)),
            Column::whole(
                "sequence",
                "Sequence",
                "number of the call in its group, where the capture counts them",
                Unit::Number,
                rows.iter().map(|row| first(row).sequence),
            )
            .basis(Basis::Capture)
            .ranked(Rank::Detail),
            Column::whole(
                "ranks",
                "Ranks",
                "ranks whose part was captured",
                Unit::Count,
                rows.iter().map(|row| row.parts.len() as u64),
            )
            .basis(Basis::Counted)
            .ranked(Rank::Key),
            Column::nanos(
                "latency_ns",
                "Latency",
                "duration on the rank where it was shortest: the part in which nobody waits for a later rank",
                rows.iter().map(shortest),
            )
            .ranked(Rank::Key)
            .basis(Basis::Measured),
            Column::nanos(
                "longest_ns",
                "Longest",
                "duration on the rank where it was longest",
                rows.iter().map(longest),
            )
            .basis(Basis::Measured),
            Column::nanos(
                "skew_ns",
                "Skew",
                "from the first rank's start to the last's",
                rows.iter().map(|row| several(row).then(|| skew(row))),
            )
            .ranked(Rank::Key)
            .basis(Basis::Measured),
            Column::whole(
                "last_rank",
                "Last rank",
                "rank that began last: the one the others waited for",
                Unit::Number,
                rows.iter().map(|row| rank(row, true)),
            )
            .basis(Basis::Measured)
            .ranked(Rank::Key),
            Column::whole(
                "first_rank",
                "First rank",
                "rank that began first",
                Unit::Number,
                rows.iter().map(|row| rank(row, false)),
            )
            .basis(Basis::Measured)
            .ranked(Rank::Detail),
            Column::whole(
                "bytes",
                "Bytes",
                "what one rank puts in or gets out, whichever is more, where the capture says it",
                Unit::Bytes,
                rows.iter().map(bytes),
            )
            .basis(Basis::Counted),
            Column::real(
                "bytes_per_sec",
                "Bytes/s",
                "bytes over latency: the algorithm's bandwidth",
                Unit::BytesPerSec,
                rows.iter().map(|row| {
                    let latency = shortest(row);
                    bytes(row).filter(|_| latency > 0).map(|bytes| bytes as f64 / (latency as f64 * 1e-9))
                }),
            )
            .basis(Basis::Measured),
        ],
    );
    table = table.about(rows.iter().map(|row| EventRow::known(first(row).event).map(Subject::Event)));
    if rows.is_empty() {
        table.footnotes.push("the capture holds no collective operations".to_owned());
    } else if rows.iter().all(|row| !several(row)) {
        table.footnotes.push("one rank was captured: with the captures of several, who waited for whom".to_owned());
    }
    table
}
