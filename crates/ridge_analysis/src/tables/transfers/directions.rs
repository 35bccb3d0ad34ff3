//! Transfers by direction and by the kinds of memory at both ends.

use super::columns::{columns, direction_column, link_columns, size_columns};
use crate::Analysis;
use crate::models::transfers::sums::group;
use crate::models::transfers::{Copied, Transfers};
use crate::tables::time::table as build;
use ridge_table::{Column, Subject, Table};
use ridge_trace::{EventKind, MemoryKind};

impl Transfers {
    /// Most time first.
    pub(crate) fn by_direction(&self, analysis: &Analysis<'_>) -> Table {
        let trace = analysis.trace;
        // Memory kinds sort by their names, which tables show anyway.
        let ends = |copy: &Copied| {
            let (from, to) = copy.moved(trace).map_or(Default::default(), |moved| (moved.source, moved.destination));
            (copy.kind(trace), from.name(), to.name())
        };
        let rows = group(self, trace, ends);
        let kind = |name: &'static str| (name != MemoryKind::Unknown.name()).then(|| name.to_owned());
        let mut shown = vec![
            direction_column(rows.iter().map(|((direction, _, _), _): &((EventKind, _, _), _)| *direction)),
            Column::text("from", "From", "kind of memory read", rows.iter().map(|((_, from, _), _)| kind(from))),
            Column::text("to", "To", "kind of memory written", rows.iter().map(|((_, _, to), _)| kind(to))),
        ];
        shown.extend(columns(&rows));
        shown.extend(link_columns(self, &rows));
        shown.extend(size_columns(&rows));
        build("direction", "Transfers by direction", shown)
            .about(rows.iter().map(|((kind, ..), _)| Some(Subject::Copies(*kind))))
    }
}
