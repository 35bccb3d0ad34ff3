//! Device work in rows: any partition of the groups, with its sums.

use super::Group;
use rustc_hash::FxHashMap;
use std::hash::Hash;

/// Groups that share a row, with their sums.
#[derive(Debug, Clone)]
pub(crate) struct Row<'g, K> {
    /// What the row is.
    pub(crate) key: K,
    /// Its groups.
    pub(crate) groups: Vec<&'g Group>,
    /// Sum of durations, nanoseconds; of work inside work of the same row too, where [`count_once`] does not follow.
    ///
    /// [`count_once`]: super::nested_likes::count_once
    pub(crate) total_ns: i64,
    /// Sum of self times, nanoseconds.
    pub(crate) self_ns: i64,
    /// Number of events.
    pub(crate) events: u64,
}

/// Partitions all groups by `key`; a group without a key is left out. Most self time first.
pub(crate) fn partition<'g, K: Hash + Eq + Clone>(
    groups: &'g [Group],
    mut key: impl FnMut(&Group) -> Option<K>,
) -> Vec<Row<'g, K>> {
    let mut ids: FxHashMap<K, usize> = FxHashMap::default();
    let mut rows: Vec<Row<'g, K>> = Vec::new();
    for group in groups {
        let Some(key) = key(group) else { continue };
        let at = *ids.entry(key.clone()).or_insert(rows.len());
        if at == rows.len() {
            rows.push(Row { key, groups: Vec::new(), total_ns: 0, self_ns: 0, events: 0 });
        }
        let row = &mut rows[at];
        row.groups.push(group);
        row.total_ns = row.total_ns.saturating_add(group.total_ns);
        row.self_ns = row.self_ns.saturating_add(group.self_ns);
        row.events += group.count();
    }
    rows.sort_by_key(|row| (std::cmp::Reverse(row.self_ns), std::cmp::Reverse(row.total_ns)));
    rows
}

/// `part` of `whole`; `None` where there is no whole.
pub(crate) fn ratio(part: i64, whole: i64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
