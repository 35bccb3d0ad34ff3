//! Places of keys in a list, found fast where few keys come again and again, as the work of a loop does.

use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::{BuildHasher, Hash};

/// Keys that are found without a look into the map.
const RECENT: usize = 64;

/// The place of each key, in the order in which keys first came.
#[derive(Debug, Clone)]
pub(crate) struct Places<K> {
    known: FxHashMap<K, u32>,
    /// By hash, the key that came last; empty before the first.
    recent: Vec<(K, u32)>,
}

impl<K> Default for Places<K> {
    fn default() -> Places<K> {
        Places { known: FxHashMap::default(), recent: Vec::new() }
    }
}

impl<K: Hash + Eq + Copy> Places<K> {
    /// The place of `key`; a new key has the next one, which is the number of keys before it.
    #[inline]
    pub(crate) fn of(&mut self, key: K) -> usize {
        let slot = FxBuildHasher.hash_one(key) as usize % RECENT;
        match self.recent.get(slot) {
            Some((known, place)) if *known == key => *place as usize,
            _ => self.look_up(key, slot),
        }
    }

    #[inline(never)]
    fn look_up(&mut self, key: K, slot: usize) -> usize {
        let next = self.known.len() as u32;
        let place = *self.known.entry(key).or_insert(next);
        if self.recent.is_empty() {
            self.recent = vec![(key, place); RECENT];
        }
        self.recent[slot] = (key, place);
        place as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_the_place_of_their_first_coming() {
        let mut places = Places::default();
        let keys = || (0_u32..1000).map(|at| at * at % 997);
        let mut list: Vec<u32> = Vec::new();
        for key in keys().chain(keys()) {
            let place = places.of(key);
            if place == list.len() {
                list.push(key);
            }
            assert_eq!(list[place], key);
        }
        let mut different = list.clone();
        different.sort_unstable();
        different.dedup();
        assert_eq!(different.len(), list.len());
    }
}
