//! Device time by line of the user's source: [`SourceLines`] as a table.

use super::operator::HOST_ALONE;
use crate::WorkGroups;
use crate::context::Need;
use crate::context::partition::part;
use crate::models::source::{SourceLine, SourceLines, TimeOf};
use crate::view::{Sheet, Shown, Topic, View, columns};
use ridge_table::{Basis, Column, Rank, Subject};

/// The view.
pub(crate) static VIEW: View = View {
    id: "source",
    about: "line of Python source",
    shown: Shown::InReport,
    needs: &[Need::of::<WorkGroups>(), Need::of::<SourceLines>()],
    make: |analysis, ask| {
        let lines = analysis.source_lines();
        let mut rows: Vec<&SourceLine> = lines.rows.iter().collect();
        let unknown = lines.without_line("(no source line known)");
        if lines.unknown.events > 0 {
            // It stands where its time puts it.
            let order = |row: &SourceLine| (row.sums.held_ns(), row.sums.inclusive_ns);
            let at = rows.partition_point(|row| (order(row), &*unknown.file) > (order(&unknown), &*row.file));
            rows.insert(at, &unknown);
        }
        let owes = rows.iter().any(|row| row.sums.inferred_ns > 0);
        let text = |row: &&SourceLine| ask.line_text.and_then(|text| text(&row.file, row.line));
        let code = Column::text("text", "Code", "the line as its file has it now", rows.iter().map(text));
        let mut table = Sheet::over(analysis, rows)
            .about(|_, row| (row.line > 0).then(|| Subject::Source(row.file.as_str().into(), row.line)))
            .show(COLUMNS)
            .with("self_share", |column| column.basis(if owes { Basis::Inferred } else { Basis::Measured }))
            .with("inferred_ns", |column| column.ranked(if owes { Rank::Key } else { Rank::Detail }))
            .columns([code])
            .table("Source lines");
        if lines.has_functions {
            table.footnotes.push(
                "Python functions are shown at their first line: PyTorch's profiler records no other line".to_owned(),
            );
            table.footnotes.extend((lines.of == TimeOf::Host).then(|| HOST_ALONE.to_owned()));
        }
        table
    },
    ..View::of(Topic::Time)
};

columns! {
    COLUMNS: SourceLine {
        source: text Key "Line", "file and line of the program",
            |_, row| if row.line == 0 { row.file.clone() } else { format!("{}:{}", row.file, row.line) };
        self_ns: nanos Key Measured "Self",
            "time of work with this innermost line, outside PyTorch and Python's library, measured: device time, or host operators if there is none",
            |_, row| row.sums.self_ns;
        self_share: share Key "Share", "self and inferred time as a share of all lines' time",
            |at, row| part(row.sums.held_ns(), at.source_lines().all_ns());
        inferred_ns: nanos Inferred "Inferred",
            "time of work that no line created but that the data flow attributes to this one: copies, conversions and layout changes inserted by the compiler; not in the self time",
            |_, row| row.sums.inferred_ns;
        inclusive_ns: nanos Measured "Inclusive",
            "time of work with this line anywhere on its stack, each once, measured", |_, row| row.sums.inclusive_ns;
        events: count Counted "Events",
            "kernels, copies and device operations, or host operators if there are none",
            |_, row| row.sums.events;
        function: text "Function", "function the line is in", |_, row| row.function.as_str();
    }
}
