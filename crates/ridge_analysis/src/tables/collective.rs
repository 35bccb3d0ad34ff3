//! Collective operations, each once for all ranks: how long it took and who was waited for.

use crate::Analysis;
use crate::context::Need;
use crate::models::collectives::{Collectives, Matched, Part, rank_of};
use crate::view::{Sheet, Shown, Topic, View, columns};
use ridge_table::Subject;
use ridge_trace::{EventRow, StringId};

/// The view.
pub(crate) static VIEW: View = View {
    id: "collective",
    about: "collective operation, matched over ranks",
    shown: Shown::InReport,
    needs: &[Need::of::<Collectives>()],
    answers: |analysis| !analysis.trace.collectives.is_empty(),
    make: |analysis, _| {
        let rows = &analysis.collectives().matched;
        let about = |_: &_, row: &Matched| EventRow::known(row.first().collective.event).map(Subject::Event);
        let mut table = Sheet::over(analysis, rows).about(about).show(COLUMNS).table("Collectives");
        if rows.is_empty() {
            table.footnotes.push("the capture has no collective operations".to_owned());
        } else if !rows.iter().any(Matched::is_met) {
            table
                .footnotes
                .push("only one rank was captured; captures of several show which ranks waited for others".to_owned());
        }
        table
    },
    ..View::of(Topic::Time)
};

/// The name of the first rank's kernel without its arguments.
fn kernel<'a>(analysis: &Analysis<'a>, row: &Matched) -> Option<&'a str> {
    analysis.trace.name(row.first().collective.event as usize).split('(').next()
}

fn text<'a>(analysis: &Analysis<'a>, id: StringId) -> Option<&'a str> {
    Some(analysis.text(id)).filter(|text| !text.is_empty())
}

/// One of the ranks that began first and last, where several were captured.
fn rank(analysis: &Analysis<'_>, row: &Matched, which: fn((&Part, &Part)) -> u32) -> Option<u64> {
    row.first_and_last().filter(|_| row.is_met()).map(|ends| rank_of(analysis.trace, which(ends)))
}

columns! {
    COLUMNS: Matched {
        kernel: text Key "Kernel", "name of the first rank's kernel, without its arguments", |at, row| kernel(at, row);
        collective: text "Collective",
            "the operation, as named in the capture", |at, row| text(at, row.first().collective.name);
        group: text "Group", "group of processes that it runs among", |at, row| text(at, row.first().collective.group);
        sequence: whole(Number) Detail Capture "Sequence",
            "number of the call in its group, if the capture counts them", |_, row| row.first().collective.sequence;
        ranks: count Key Counted "Ranks", "captured ranks", |_, row| row.parts.len() as u64;
        latency_ns: nanos Key Measured "Latency",
            "duration on the rank where it was shortest, which didn't wait for a later rank",
            |_, row| row.extremes_ns().0;
        longest_ns: nanos Measured "Longest",
            "duration on the rank where it was longest", |_, row| row.extremes_ns().1;
        skew_ns: nanos Key Measured "Skew", "from the first rank's start to the last's", |_, row| row.skew_ns();
        last_rank: whole(Number) Key Measured "Last rank",
            "rank that began last: the one the others waited for", |at, row| rank(at, row, |(_, last)| last.process);
        first_rank: whole(Number) Detail Measured "First rank",
            "rank that began first", |at, row| rank(at, row, |(first, _)| first.process);
        bytes: bytes Counted "Bytes",
            "data that one rank sends or receives, whichever is more, if recorded", |_, row| row.bytes();
        bytes_per_sec: real(BytesPerSec) Measured "Bytes/s",
            "bytes over latency: the algorithm's bandwidth", |_, row| row.bytes_per_sec();
    }
}
