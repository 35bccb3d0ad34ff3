//! Device work in rows: any partition of the groups, with its sums.

use super::Group;
use crate::Analysis;
use rustc_hash::FxHashMap;
use std::hash::Hash;

/// Device work that shares a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkRow<K> {
    /// What the row is.
    pub key: K,
    /// Its time.
    pub time: DeviceTime,
}

/// Groups of device work, with their sums.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeviceTime {
    /// The groups, by their position.
    groups: Vec<u32>,
    /// Sum of durations, nanoseconds; of work inside work of the same row too, where it is not taken out.
    pub total_ns: i64,
    /// Sum of self times, nanoseconds.
    pub self_ns: i64,
    /// Number of events.
    pub events: u64,
}

impl DeviceTime {
    /// The groups.
    pub fn groups<'a>(&self, analysis: &Analysis<'a>) -> Vec<&'a Group> {
        let all = &analysis.groups().groups;
        self.groups.iter().map(|group| &all[*group as usize]).collect()
    }
}

/// Partitions all groups by `key`; a group without a key is left out. Most self time first.
pub(crate) fn partition<K: Hash + Eq + Clone>(
    analysis: &Analysis<'_>,
    mut key: impl FnMut(&Group) -> Option<K>,
) -> Vec<WorkRow<K>> {
    let mut ids: FxHashMap<K, usize> = FxHashMap::default();
    let mut rows: Vec<WorkRow<K>> = Vec::new();
    for (group, at) in analysis.groups().groups.iter().zip(0..) {
        let Some(key) = key(group) else { continue };
        let id = *ids.entry(key.clone()).or_insert(rows.len());
        if id == rows.len() {
            rows.push(WorkRow { key, time: DeviceTime::default() });
        }
        let time = &mut rows[id].time;
        time.groups.push(at);
        time.total_ns = time.total_ns.saturating_add(group.total_ns);
        time.self_ns = time.self_ns.saturating_add(group.self_ns);
        time.events += group.count();
    }
    rows.sort_by_key(|row| (std::cmp::Reverse(row.time.self_ns), std::cmp::Reverse(row.time.total_ns)));
    rows
}

/// `part` of `whole`; `None` where there is no whole.
pub(crate) fn ratio(part: i64, whole: i64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// `part` of `whole`; 0 where there is no whole.
pub(crate) fn part(part: i64, whole: i64) -> f64 {
    ratio(part, whole).unwrap_or(0.0)
}
