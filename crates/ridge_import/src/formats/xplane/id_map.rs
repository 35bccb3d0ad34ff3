//! Maps from the format's 64-bit ids: an array where ids are small and dense, as they nearly always are.

use rustc_hash::FxHashMap;

/// Values by id; ids are arbitrary and may repeat (the last one wins, as in a protobuf map).
#[derive(Debug)]
pub(super) enum IdMap<T> {
    /// Values at their ids.
    Dense(Vec<Option<T>>),
    /// Values of wide or sparse ids.
    Sparse(FxHashMap<u64, T>),
}

impl<T> IdMap<T> {
    /// Collects `entries`; memory stays in proportion to their number, whatever the ids.
    pub(super) fn collect(entries: Vec<(u64, T)>) -> IdMap<T> {
        let largest = entries.iter().map(|(id, _)| *id).max().unwrap_or(0);
        if largest <= 4 * entries.len() as u64 + 64 {
            let mut values: Vec<Option<T>> = Vec::new();
            values.resize_with(largest as usize + 1, || None);
            for (id, value) in entries {
                values[id as usize] = Some(value);
            }
            return IdMap::Dense(values);
        }
        IdMap::Sparse(entries.into_iter().collect())
    }

    /// The value of `id`.
    #[inline]
    pub(super) fn get(&self, id: u64) -> Option<&T> {
        match self {
            IdMap::Dense(values) => values.get(usize::try_from(id).ok()?)?.as_ref(),
            IdMap::Sparse(values) => values.get(&id),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_ids_cost_no_memory() {
        for ids in [[0, 1, 2], [5, u64::MAX, 7]] {
            let map = IdMap::collect(ids.iter().map(|&id| (id, id)).collect());
            for id in ids {
                assert_eq!(map.get(id), Some(&id));
            }
            assert_eq!(map.get(99), None);
        }
    }
}
