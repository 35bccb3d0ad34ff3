//! A histogram of transfer sizes in powers of two.

use super::columns::{columns, direction_column, link_columns};
use crate::Analysis;
use crate::models::transfers::sums::group;
use crate::models::transfers::{Copied, Transfers};
use crate::tables::time::table as build;
use ridge_table::{Basis, Column, Rank, Subject, Table, Unit};
use ridge_trace::EventKind;

impl Transfers {
    /// By direction, then by size, smallest first.
    pub(crate) fn by_size(&self, analysis: &Analysis<'_>) -> Table {
        let trace = analysis.trace;
        let bucket = |copy: &Copied| (copy.kind(trace), copy.bytes(trace).map(u64::ilog2));
        let mut rows = group(self, trace, bucket);
        rows.sort_by_key(|(key, _)| *key);
        let bound =
            |bucket: &Option<u32>, more: u32| bucket.map(|power| 1_u64.checked_shl(power + more).unwrap_or(u64::MAX));
        let mut shown = vec![
            direction_column(rows.iter().map(|((kind, _), _): &((EventKind, _), _)| *kind)),
            Column::whole(
                "from_bytes",
                "From",
                "least size of the row; unknown where the capture says no size",
                Unit::Bytes,
                rows.iter().map(|((_, bucket), _)| bound(bucket, 0)),
            )
            .basis(Basis::Counted)
            .ranked(Rank::Key),
            Column::whole(
                "below_bytes",
                "Below",
                "sizes of the row are below this",
                Unit::Bytes,
                rows.iter().map(|((_, bucket), _)| bound(bucket, 1)),
            )
            .basis(Basis::Counted),
        ];
        shown.extend(columns(&rows));
        shown.extend(link_columns(self, &rows));
        build("size", "Transfers by size", shown).about(rows.iter().map(|((kind, _), _)| Some(Subject::Copies(*kind))))
    }
}
