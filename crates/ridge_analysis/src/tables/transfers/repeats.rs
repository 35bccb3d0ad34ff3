//! Transfers of one direction, size and cause that come again and again.
//!
//! A capture does not say what was in them; that they move the same bytes is likely, not known.

use super::causes::Asked;
use super::columns::{columns, direction_column};
use crate::models::transfers::Transfers;
use crate::models::transfers::sums::{Sum, group};
use crate::tables::time::table as build;
use crate::{Analysis, Owners};
use ridge_table::{Basis, Column, Rank, Table, Unit};
use ridge_trace::{EventKind, Trace};
use rustc_hash::FxHashMap;

/// What makes transfers identical as far as a capture tells.
type Identity = (EventKind, u64, Asked);

impl Transfers {
    /// Those that came more than once, most repeated time first.
    pub(crate) fn repeats(&self, analysis: &Analysis<'_>) -> Table {
        let trace = analysis.trace;
        let found = if self.copies.is_empty() { Vec::new() } else { self.repeated(trace, analysis.owners()) };
        let per_step = if found.is_empty() { FxHashMap::default() } else { self.per_step(trace, analysis.owners()) };
        let rows = &found;
        let mut shown = vec![
            direction_column(rows.iter().map(|((kind, _, _), _)| *kind)),
            Column::whole(
                "each_bytes",
                "Each",
                "size of each transfer",
                Unit::Bytes,
                rows.iter().map(|((_, bytes, _), _)| *bytes),
            )
            .basis(Basis::Measured)
            .ranked(Rank::Key),
        ];
        shown.extend(Asked::columns(analysis, rows.iter().map(|((_, _, asked), _)| asked)));
        shown.extend(columns(rows));
        shown.extend([
            Column::whole(
                "again_bytes",
                "Again",
                "bytes of all transfers but the first",
                Unit::Bytes,
                rows.iter().map(|((_, bytes, _), sum)| bytes.saturating_mul(sum.transfers - 1)),
            )
            .basis(Basis::Counted),
            Column::whole(
                "per_step",
                "Per step",
                "transfers in each step that has any, where it is the same number in all of at least two steps",
                Unit::Count,
                rows.iter().map(|(identity, _)| per_step.get(identity).copied().flatten()),
            )
            .basis(Basis::Counted),
        ]);
        let subjects = rows.iter().map(|((kind, _, asked), _)| Some(asked.subject(*kind)));
        let mut table = build("repeat", "Transfers that repeat", shown).about(subjects);
        if !found.is_empty() {
            let note = "of one direction, size and cause; a capture does not say whether their content was the same";
            table.footnotes.push(note.to_owned());
        }
        table
    }

    fn repeated(&self, trace: &Trace, owners: &Owners) -> Vec<(Identity, Sum)> {
        let identity = |copy: &_| self.identity(trace, owners, copy);
        let mut rows = group(self, trace, identity);
        rows.retain(|((_, bytes, _), sum)| sum.transfers > 1 && *bytes > 0);
        rows
    }

    fn identity(&self, trace: &Trace, owners: &Owners, copy: &crate::models::transfers::Copied) -> Identity {
        (copy.kind(trace), copy.bytes(trace).unwrap_or(0), Asked::of(trace, owners, copy))
    }

    /// Bytes that identical transfers moved after the first of each.
    pub(crate) fn again_bytes(&self, analysis: &Analysis<'_>) -> u64 {
        if self.copies.is_empty() {
            return 0;
        }
        let rows = self.repeated(analysis.trace, analysis.owners());
        let again = rows.iter().map(|((_, bytes, _), sum)| bytes.saturating_mul(sum.transfers - 1));
        again.fold(0, u64::saturating_add)
    }

    /// How often each came in every step, where that is one number over at least two steps.
    fn per_step(&self, trace: &Trace, owners: &Owners) -> FxHashMap<Identity, Option<u64>> {
        let mut counts: FxHashMap<(Identity, u32), u64> = FxHashMap::default();
        for copy in &self.copies {
            let is_step = |row: &u32| trace.events.kind(*row as usize) == EventKind::Step;
            if let Some(step) = owners.chain(trace, copy.row).find(is_step) {
                *counts.entry((self.identity(trace, owners, copy), step)).or_default() += 1;
            }
        }
        // The count of a step, how many steps have it, and whether all agree.
        let mut steps: FxHashMap<Identity, (u64, u64, bool)> = FxHashMap::default();
        for ((identity, _), count) in counts {
            let entry = steps.entry(identity).or_insert((count, 0, true));
            entry.1 += 1;
            entry.2 &= entry.0 == count;
        }
        let agreed = |(count, steps, agree): (u64, u64, bool)| (agree && steps > 1).then_some(count);
        steps.into_iter().map(|(identity, found)| (identity, agreed(found))).collect()
    }
}
