//! A table from names to positions that stores no names.
//!
//! Modules come by the thousand and most are never looked into, so the index is two words per instruction and no
//! string is copied.

use std::hash::Hasher;

use rustc_hash::FxHasher;

/// Open addressing over positions; the names stay where they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct NameTable {
    /// Position plus one; 0 is free. Its length is a power of two.
    slots: Vec<u32>,
}

impl NameTable {
    /// Indexes positions `0..count` by the hash each name has; of equal names the first one is found first.
    pub(crate) fn build(count: usize, hash_at: impl Fn(usize) -> u64) -> NameTable {
        let mut slots = vec![0u32; (count * 2).next_power_of_two().max(2)];
        let mask = slots.len() - 1;
        for position in 0..count {
            let mut slot = start(hash_at(position)) & mask;
            while slots[slot] != 0 {
                slot = (slot + 1) & mask;
            }
            slots[slot] = u32::try_from(position + 1).expect("positions were bounded when they were made");
        }
        NameTable { slots }
    }

    /// Positions that may have this hash, in the order they were added; the caller compares names.
    pub(crate) fn candidates(&self, hash: u64) -> impl Iterator<Item = usize> + '_ {
        let mask = self.slots.len().wrapping_sub(1);
        let mut slot = start(hash) & mask;
        std::iter::from_fn(move || {
            let found = *self.slots.get(slot)?;
            slot = (slot + 1) & mask;
            (found != 0).then(|| found as usize - 1)
        })
    }
}

/// Where a hash begins to look; the hasher ends by bringing its best bits to the low end.
fn start(hash: u64) -> usize {
    hash as usize
}

/// The hash of a name read byte by byte, so that a changed spelling need not be stored to be hashed.
pub(crate) fn hash_bytes(bytes: impl Iterator<Item = u8>) -> u64 {
    let mut hasher = FxHasher::default();
    let (mut word, mut filled) = (0u64, 0);
    for byte in bytes {
        word = word << 8 | u64::from(byte);
        filled += 1;
        if filled == 8 {
            hasher.write_u64(word);
            (word, filled) = (0, 0);
        }
    }
    hasher.write_u64(word << 4 | filled);
    hasher.finish()
}
