//! Sums over like transfers.

use super::{Copied, TINY_BYTES, Transfers};
use crate::context::quantiles::quantile;
use ridge_trace::{StringId, Trace};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::hash::Hash;

/// The sums of some transfers.
#[derive(Debug, Clone, Default)]
pub struct Sum {
    /// How many they are.
    pub transfers: u64,
    /// Sum of the bytes that the capture says.
    pub bytes: u64,
    /// Sum of their durations, nanoseconds.
    pub ns: i64,
    /// Part of it in which the same device did not compute, nanoseconds.
    pub exposed_ns: i64,
    /// Those whose call waited for them.
    pub synchronous: u64,
    /// Those of at most 4 KiB.
    pub tiny: u64,
    /// Those of which the capture says no size.
    pub unsized_count: u64,
    /// Time of the transfers whose size is known, nanoseconds.
    sized_ns: i64,
    /// Bytes and time of those whose link is known too, and the time that the link would take, seconds.
    linked_bytes: u64,
    linked_ns: i64,
    link_secs: f64,
    /// Sizes that are known, sorted at the end.
    sizes: Vec<i64>,
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
    pub fn rate(&self) -> Option<f64> {
        (self.sized_ns > 0 && self.bytes > 0).then(|| self.bytes as f64 / (self.sized_ns as f64 / 1e9))
    }

    /// Bytes per second that the link can carry.
    pub fn link(&self) -> Option<f64> {
        (self.link_secs > 0.0).then(|| self.linked_bytes as f64 / self.link_secs)
    }

    /// The part of the link's rate that was achieved.
    pub fn link_share(&self) -> Option<f64> {
        (self.link_secs > 0.0 && self.linked_ns > 0).then(|| self.link_secs / (self.linked_ns as f64 / 1e9))
    }

    /// Bytes that were moved; `None` where the capture says no size.
    pub fn known_bytes(&self) -> Option<u64> {
        (self.unsized_count < self.transfers).then_some(self.bytes)
    }

    /// Size that the `share` of the transfers do not exceed, bytes.
    pub fn size(&self, share: f64) -> Option<u64> {
        quantile(&[&self.sizes], share).and_then(|size| u64::try_from(size).ok())
    }
}

/// Whether the call that asked for the copy waited for it; `None` where nothing says.
///
/// Where the copy itself does not say, the call's name does: CUDA and HIP name the copies that do not wait `…Async`.
pub(crate) fn is_synchronous(trace: &Trace, copy: &Copied) -> Option<bool> {
    if let Some(is_async) = copy.moved(trace).and_then(|transfer| transfer.is_async) {
        return Some(!is_async);
    }
    let call = trace.events.link[copy.row as usize];
    let name = trace.events.name.get(call as usize).map(|name| trace.strings.get(StringId(*name)))?;
    name.contains("Memcpy").then(|| !name.contains("Async"))
}

/// Groups all copies by `key`, most time first; ties in the order of the keys.
pub(crate) fn group<K: Hash + Eq + Ord + Copy>(
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
