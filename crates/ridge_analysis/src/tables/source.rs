//! Device time by line of the user's source: [`SourceLines`] as a table.

use super::operator::HOST_ALONE;
use crate::context::Need;
use crate::context::partition::ratio;
use crate::models::source::{SourceLine, SourceLines, TimeOf};
use crate::tables::time::table as build;
use crate::view::{LineText, Shown, Topic, View, has_events};
use crate::{Analysis, WorkGroups};
use ridge_table::{Basis, Column, Rank, Subject, Table, Unit};

/// The view.
pub(crate) static VIEW: View = View {
    topic: Topic::Time,
    id: "source",
    about: "line of Python source",
    aliases: &[],
    shown: Shown::InReport,
    needs: &[Need::of::<WorkGroups>(), Need::of::<SourceLines>()],
    answers: has_events,
    charts: None,
    make: |analysis, ask| table(analysis, ask.line_text),
};

/// Lines, most self time first; `line_text` gives the text of a line where its file can be read.
pub(crate) fn table(analysis: &Analysis<'_>, line_text: Option<LineText<'_>>) -> Table {
    let lines = analysis.source_lines();
    let mut rows: Vec<&SourceLine> = lines.rows.iter().collect();
    let unknown = lines.without_line("(no source line known)");
    if lines.unknown.events > 0 {
        // It stands where its time puts it.
        let order = |row: &SourceLine| (row.sums.held_ns(), row.sums.inclusive_ns);
        let at = rows.partition_point(|row| (order(row), &*unknown.file) > (order(&unknown), &*row.file));
        rows.insert(at, &unknown);
    }
    let all_ns = lines.all_ns();
    let owes = rows.iter().any(|row| row.sums.inferred_ns > 0);
    let share = |ns: i64| ratio(ns, all_ns).unwrap_or(0.0);
    let place = |row: &SourceLine| if row.line == 0 { row.file.clone() } else { format!("{}:{}", row.file, row.line) };
    let mut table = build(
        "source",
        "Source lines",
        vec![
            Column::text("source", "Line", "file and line of the program", rows.iter().map(|row| place(row)))
                .ranked(Rank::Key),
            Column::nanos(
                "self_ns",
                "Self",
                "time of work whose innermost line this is, outside PyTorch and Python's library, measured: of the device, or of operators of the host where there is none",
                rows.iter().map(|row| row.sums.self_ns),
            ).basis(Basis::Measured)
            .ranked(Rank::Key),
            Column::real(
                "self_share",
                "Share",
                "self and inferred time as a part of that of all lines",
                Unit::Share,
                rows.iter().map(|row| share(row.sums.held_ns())),
            ).basis(if owes { Basis::Inferred } else { Basis::Measured })
            .ranked(Rank::Key),
            Column::nanos(
                "inferred_ns",
                "Inferred",
                "time of work that no line made and that is owed to this one by the data flow: copies, conversions and changes of layout that the compiler put in for it; not in the self time",
                rows.iter().map(|row| row.sums.inferred_ns),
            ).basis(Basis::Inferred)
            .ranked(if owes { Rank::Key } else { Rank::Detail }),
            Column::nanos(
                "inclusive_ns",
                "Inclusive",
                "time of work with this line anywhere on its stack, each once, measured",
                rows.iter().map(|row| row.sums.inclusive_ns),
            ).basis(Basis::Measured),
            Column::whole(
                "events",
                "Events",
                "kernels, copies and device operations, or operators of the host where there are none",
                Unit::Count,
                rows.iter().map(|row| row.sums.events),
            ).basis(Basis::Counted),
            Column::text(
                "function",
                "Function",
                "function the line is in",
                rows.iter().map(|row| row.function.clone()),
            ),
            Column::text(
                "text",
                "Code",
                "the line as its file has it now",
                rows.iter().map(|row| line_text.and_then(|text| text(&row.file, row.line))),
            ),
        ],
    );
    let subject = |row: &&SourceLine| (row.line > 0).then(|| Subject::Source(row.file.as_str().into(), row.line));
    table = table.about(rows.iter().map(subject));
    if lines.has_functions {
        table.footnotes.push(
            "functions of Python are shown where they begin: PyTorch's profiler records no other line".to_owned(),
        );
        if lines.of == TimeOf::Host {
            table.footnotes.push(HOST_ALONE.to_owned());
        }
    }
    table
}
