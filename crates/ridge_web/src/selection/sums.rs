//! Time and events of like events, added up track by track, and stretches of time joined as they come.

use rustc_hash::FxHashMap;
use std::hash::Hash;

/// Time and events of like events.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sum {
    /// Time in the selection less that of what ran inside, nanoseconds.
    pub(crate) self_ns: i64,
    /// Time in the selection, nanoseconds.
    pub(crate) total_ns: i64,
    pub(crate) events: u64,
}

impl Sum {
    /// One event more.
    pub(super) fn add(&mut self, ns: i64) {
        self.join(&Sum { self_ns: ns, total_ns: ns, events: 1 });
    }

    /// Something ran inside for so long.
    pub(super) fn take(&mut self, ns: i64) {
        self.self_ns = self.self_ns.saturating_sub(ns);
    }

    pub(crate) fn join(&mut self, other: &Sum) {
        self.self_ns = self.self_ns.saturating_add(other.self_ns);
        self.total_ns = self.total_ns.saturating_add(other.total_ns);
        self.events += other.events;
    }
}

pub(super) type Sums<K = u32> = FxHashMap<K, Sum>;

/// The sums of several tracks together.
pub(super) fn merged<'p, K: Hash + Eq + Clone + 'p>(all: impl Iterator<Item = &'p Sums<K>>) -> Sums<K> {
    let mut sums: Sums<K> = Sums::default();
    for (key, sum) in all.flatten() {
        sums.entry(key.clone()).or_default().join(sum);
    }
    sums
}

/// Stretches that do not touch, in order.
#[derive(Debug, Default)]
pub(super) struct Stretches(pub(super) Vec<(i64, i64)>);

impl Stretches {
    /// Adds one that starts no earlier than those before.
    pub(super) fn add(&mut self, start: i64, end: i64) {
        match self.0.last_mut().filter(|last| start <= last.1) {
            Some(last) => last.1 = last.1.max(end),
            None if end > start => self.0.push((start, end)),
            None => {}
        }
    }
}
