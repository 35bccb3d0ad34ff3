//! Transfers in rows: by direction, by size, by who asked, and those that come again and again.
//!
//! A capture does not say what was in transfers; that those of one direction, size and cause move the same bytes is
//! likely, not known.

use super::sums::{Sum, group};
use super::{Asked, Copied, Transfers};
use crate::{Analysis, Owners};
use ridge_trace::{EventKind, MemoryKind, Trace};
use rustc_hash::FxHashMap;

/// Transfers of one direction between two kinds of memory.
#[derive(Debug, Clone)]
pub struct DirectionRow {
    /// The direction.
    pub kind: EventKind,
    /// Kind of memory read, where it is known.
    pub from: Option<&'static str>,
    /// Kind of memory written, where it is known.
    pub to: Option<&'static str>,
    /// Their sums.
    pub sum: Sum,
}

/// Transfers of one direction and about one size.
#[derive(Debug, Clone)]
pub struct SizeRow {
    /// The direction.
    pub kind: EventKind,
    /// The power of two that their bytes are at least and less than twice; `None` where the capture says no size.
    pub power: Option<u32>,
    /// Their sums.
    pub sum: Sum,
}

impl SizeRow {
    /// Two to the power of the row's, and of `more`, bytes.
    pub fn bound(&self, more: u32) -> Option<u64> {
        self.power.map(|power| 1_u64.checked_shl(power + more).unwrap_or(u64::MAX))
    }
}

/// Transfers of one direction that one place asked for.
#[derive(Debug, Clone)]
pub struct AskedRow {
    /// The direction.
    pub kind: EventKind,
    /// Who asked.
    pub asked: Asked,
    /// Their sums.
    pub sum: Sum,
}

/// Transfers of one direction, size and cause that came more than once.
#[derive(Debug, Clone)]
pub struct RepeatRow {
    /// The direction.
    pub kind: EventKind,
    /// Size of each, bytes.
    pub each_bytes: u64,
    /// Who asked.
    pub asked: Asked,
    /// Their sums.
    pub sum: Sum,
    /// Transfers in each step that has any, where it is the same number in all of at least two steps.
    pub per_step: Option<u64>,
}

impl RepeatRow {
    /// Bytes of all of them but the first.
    pub fn again_bytes(&self) -> u64 {
        self.each_bytes.saturating_mul(self.sum.transfers - 1)
    }
}

/// What makes transfers identical as far as a capture tells.
type Identity = (EventKind, u64, Asked);

impl Transfers {
    /// By direction and kinds of memory, most time first.
    pub fn by_direction(&self, analysis: &Analysis<'_>) -> Vec<DirectionRow> {
        let trace = analysis.trace;
        // Memory kinds sort by their names, which tables show anyway.
        let ends = |copy: &Copied| {
            let (from, to) = copy.moved(trace).map_or(Default::default(), |moved| (moved.source, moved.destination));
            (copy.kind(trace), from.name(), to.name())
        };
        let known = |name| (name != MemoryKind::Unknown.name()).then_some(name);
        let row = |((kind, from, to), sum)| DirectionRow { kind, from: known(from), to: known(to), sum };
        group(self, trace, ends).into_iter().map(row).collect()
    }

    /// By direction, then by size in powers of two, smallest first.
    pub fn by_size(&self, analysis: &Analysis<'_>) -> Vec<SizeRow> {
        let trace = analysis.trace;
        let bucket = |copy: &Copied| (copy.kind(trace), copy.bytes(trace).map(u64::ilog2));
        let mut rows = group(self, trace, bucket);
        rows.sort_by_key(|(key, _)| *key);
        rows.into_iter().map(|((kind, power), sum)| SizeRow { kind, power, sum }).collect()
    }

    /// By direction and who asked, most time first.
    pub fn by_cause(&self, analysis: &Analysis<'_>) -> Vec<AskedRow> {
        if self.copies.is_empty() {
            return Vec::new();
        }
        let (trace, owners) = (analysis.trace, analysis.owners());
        let rows = group(self, trace, |copy| (copy.kind(trace), Asked::of(trace, owners, copy)));
        rows.into_iter().map(|((kind, asked), sum)| AskedRow { kind, asked, sum }).collect()
    }

    /// Those that came more than once, most time first.
    pub fn repeats(&self, analysis: &Analysis<'_>) -> Vec<RepeatRow> {
        if self.copies.is_empty() {
            return Vec::new();
        }
        let (trace, owners) = (analysis.trace, analysis.owners());
        let mut rows = group(self, trace, |copy| identity(trace, owners, copy));
        rows.retain(|((_, bytes, _), sum)| sum.transfers > 1 && *bytes > 0);
        let per_step = if rows.is_empty() { FxHashMap::default() } else { self.per_step(trace, owners) };
        let row = |(identity, sum): (Identity, Sum)| {
            let per_step = per_step.get(&identity).copied().flatten();
            let (kind, each_bytes, asked) = identity;
            RepeatRow { kind, each_bytes, asked, sum, per_step }
        };
        rows.into_iter().map(row).collect()
    }

    /// The sums over all of them.
    pub fn all(&self, analysis: &Analysis<'_>) -> Sum {
        group(self, analysis.trace, |_| ()).pop().map(|(_, sum)| sum).unwrap_or_default()
    }

    /// How often each came in every step, where that is one number over at least two steps.
    fn per_step(&self, trace: &Trace, owners: &Owners) -> FxHashMap<Identity, Option<u64>> {
        let mut counts: FxHashMap<(Identity, u32), u64> = FxHashMap::default();
        for copy in &self.copies {
            let is_step = |row: &u32| trace.events.kind(*row as usize) == EventKind::Step;
            if let Some(step) = owners.chain(trace, copy.row).find(is_step) {
                *counts.entry((identity(trace, owners, copy), step)).or_default() += 1;
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

fn identity(trace: &Trace, owners: &Owners, copy: &Copied) -> Identity {
    (copy.kind(trace), copy.bytes(trace).unwrap_or(0), Asked::of(trace, owners, copy))
}
