//! Sums over like transfers, and the columns that every table of transfers has.

use super::{Copied, TINY_BYTES, Transfers};
use crate::context::quantiles::quantile;
use ridge_table::{Basis, Column, Rank, Unit};
use ridge_trace::{EventKind, StringId, Trace};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::hash::Hash;

/// The sums of some transfers.
#[derive(Debug, Clone, Default)]
pub(super) struct Sum {
    pub(super) transfers: u64,
    pub(super) bytes: u64,
    pub(super) ns: i64,
    pub(super) exposed_ns: i64,
    pub(super) synchronous: u64,
    pub(super) tiny: u64,
    /// Transfers of which the capture says no size.
    pub(super) unsized_count: u64,
    /// Time of the transfers whose size is known, nanoseconds.
    sized_ns: i64,
    /// Bytes and time of those whose link is known too, and the time that the link would take, seconds.
    linked_bytes: u64,
    linked_ns: i64,
    link_secs: f64,
    /// Sizes that are known, sorted at the end.
    pub(super) sizes: Vec<i64>,
}

impl Sum {
    fn add(&mut self, transfers: &Transfers, trace: &Trace, copy: &Copied) {
        self.transfers += 1;
        self.ns = self.ns.saturating_add(copy.ns);
        self.exposed_ns = self.exposed_ns.saturating_add(copy.exposed_ns());
        self.synchronous += u64::from(is_synchronous(trace, copy) == Some(true));
        let Some(bytes) = copy.bytes(trace) else {
            self.unsized_count += 1;
            return;
        };
        self.bytes = self.bytes.saturating_add(bytes);
        self.sized_ns = self.sized_ns.saturating_add(copy.ns);
        self.tiny += u64::from(bytes <= TINY_BYTES);
        self.sizes.push(i64::try_from(bytes).unwrap_or(i64::MAX));
        if let Some(link) = transfers.link(trace, copy) {
            self.linked_bytes = self.linked_bytes.saturating_add(bytes);
            self.linked_ns = self.linked_ns.saturating_add(copy.ns);
            self.link_secs += bytes as f64 / link;
        }
    }

    /// Achieved bytes per second while copying.
    pub(super) fn rate(&self) -> Option<f64> {
        (self.sized_ns > 0 && self.bytes > 0).then(|| self.bytes as f64 / (self.sized_ns as f64 / 1e9))
    }

    /// Bytes per second that the link can carry.
    fn link(&self) -> Option<f64> {
        (self.link_secs > 0.0).then(|| self.linked_bytes as f64 / self.link_secs)
    }

    /// The part of the link's rate that was achieved.
    fn link_share(&self) -> Option<f64> {
        (self.link_secs > 0.0 && self.linked_ns > 0).then(|| self.link_secs / (self.linked_ns as f64 / 1e9))
    }

    /// Size that the `share` of the transfers do not exceed, bytes.
    fn size(&self, share: f64) -> Option<u64> {
        quantile(&[&self.sizes], share).and_then(|size| u64::try_from(size).ok())
    }
}

/// Whether the call that asked for the copy waited for it; `None` where nothing says.
///
/// Where the copy itself does not say, the call's name does: CUDA and HIP name the copies that do not wait `…Async`.
pub(super) fn is_synchronous(trace: &Trace, copy: &Copied) -> Option<bool> {
    if let Some(is_async) = copy.moved(trace).and_then(|transfer| transfer.is_async) {
        return Some(!is_async);
    }
    let call = trace.events.link[copy.row as usize];
    let name = trace.events.name.get(call as usize).map(|name| trace.strings.get(StringId(*name)))?;
    name.contains("Memcpy").then(|| !name.contains("Async"))
}

/// Groups all copies by `key`, most time first; ties in the order of the keys.
pub(super) fn group<K: Hash + Eq + Ord + Copy>(
    transfers: &Transfers,
    trace: &Trace,
    mut key: impl FnMut(&Copied) -> K,
) -> Vec<(K, Sum)> {
    let mut sums: FxHashMap<K, Sum> = FxHashMap::default();
    for copy in &transfers.copies {
        sums.entry(key(copy)).or_default().add(transfers, trace, copy);
    }
    let mut rows: Vec<(K, Sum)> = sums.into_iter().collect();
    rows.iter_mut().for_each(|(_, sum)| sum.sizes.sort_unstable());
    rows.sort_by_key(|(key, sum)| (Reverse(sum.ns), *key));
    rows
}

/// The column that says the direction.
pub(super) fn direction_column(kinds: impl Iterator<Item = EventKind>) -> Column {
    let name = |kind: EventKind| {
        let name = kind.name();
        name.strip_prefix("copy ").unwrap_or("not said").to_owned()
    };
    Column::text("direction", "Direction", "from where to where", kinds.map(name)).ranked(Rank::Key)
}

/// Transfers, bytes, time, rate and exposure of each row.
pub(super) fn columns<K>(rows: &[(K, Sum)]) -> Vec<Column> {
    let sums = || rows.iter().map(|(_, sum)| sum);
    vec![
        Column::whole("transfers", "Transfers", "copies", Unit::Count, sums().map(|sum| sum.transfers))
            .basis(Basis::Counted)
            .ranked(Rank::Key),
        Column::whole(
            "bytes",
            "Bytes",
            "bytes moved, as the capture says; unknown where it says none",
            Unit::Bytes,
            sums().map(|sum| (sum.unsized_count < sum.transfers).then_some(sum.bytes)),
        )
        .basis(Basis::Measured)
        .ranked(Rank::Key),
        Column::nanos("total_ns", "Time", "sum of the copies' durations", sums().map(|sum| sum.ns))
            .basis(Basis::Measured)
            .ranked(Rank::Key),
        Column::nanos(
            "exposed_ns",
            "Exposed",
            "part of that time in which the same device did not compute",
            sums().map(|sum| sum.exposed_ns),
        )
        .basis(Basis::Measured)
        .ranked(Rank::Key),
        Column::real(
            "exposed_share",
            "Exposed share",
            "exposed time as a part of the copies' time",
            Unit::Share,
            sums().map(|sum| crate::context::partition::ratio(sum.exposed_ns, sum.ns)),
        )
        .basis(Basis::Measured)
        .ranked(Rank::Detail),
        Column::real(
            "bytes_per_sec",
            "Rate",
            "bytes over the time of the copies that moved them",
            Unit::BytesPerSec,
            sums().map(Sum::rate),
        )
        .basis(Basis::Measured),
    ]
}

/// What the link could do, and how much of it was achieved.
pub(super) fn link_columns<K>(transfers: &Transfers, rows: &[(K, Sum)]) -> Vec<Column> {
    vec![
        Column::real(
            "link_bytes_per_sec",
            "Link",
            "what the link can carry one way: measured figures where there are any, else the data sheet's; a copy within a device can go at half its memory's bandwidth",
            Unit::BytesPerSec,
            rows.iter().map(|(_, sum)| sum.link()),
        )
        .basis(transfers.links_basis)
        .ranked(Rank::Detail),
        Column::real(
            "link_share",
            "Of link",
            "part of the link's rate that the copies achieved",
            Unit::Share,
            rows.iter().map(|(_, sum)| sum.link_share()),
        )
        .basis(transfers.links_basis),
    ]
}

/// How large the transfers of each row are, and how many of them are tiny or waited for.
pub(super) fn size_columns<K>(rows: &[(K, Sum)]) -> Vec<Column> {
    let sums = || rows.iter().map(|(_, sum)| sum);
    let size = |key, title, definition, share: f64| {
        Column::whole(key, title, definition, Unit::Bytes, sums().map(|sum| sum.size(share))).basis(Basis::Measured)
    };
    vec![
        size("median_bytes", "Median size", "size that half of the transfers do not exceed", 0.5),
        size("max_bytes", "Largest", "size of the largest transfer", 1.0).ranked(Rank::Detail),
        Column::whole(
            "tiny",
            "Tiny",
            "transfers of at most 4 KiB: their time is latency",
            Unit::Count,
            sums().map(|sum| sum.tiny),
        )
        .basis(Basis::Counted),
        Column::whole(
            "synchronous",
            "Synchronous",
            "transfers whose call waited for them, where the copy or the call's name says so",
            Unit::Count,
            sums().map(|sum| sum.synchronous),
        )
        .basis(Basis::Counted),
    ]
}
