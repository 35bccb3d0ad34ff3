//! A table from names to positions that stores no names.
//!
//! Modules come by the thousand and most are never looked into, so the index is two words per instruction and no
//! string is copied.

use std::hash::Hasher;

use rustc_hash::FxHasher;

/// Positions by the hash of their names; the names stay where they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct NameTable {
    /// Half of a hash above a position, sorted: any number of equal names costs no more than as many different ones.
    entries: Vec<u64>,
}

impl NameTable {
    /// Indexes positions `0..count` by the hash each name has; of equal names the first one is found first.
    pub(crate) fn build(count: usize, hash_at: impl Fn(usize) -> u64) -> NameTable {
        let position = |position| u32::try_from(position).expect("positions were bounded when they were made");
        let mut entries: Vec<u64> = (0..count).map(|at| upper_half(hash_at(at)) | u64::from(position(at))).collect();
        entries.sort_unstable();
        NameTable { entries }
    }

    /// Positions that may have this hash, in the order they were added; the caller compares names.
    pub(crate) fn candidates(&self, hash: u64) -> impl Iterator<Item = usize> + '_ {
        let wanted = upper_half(hash);
        let first = self.entries.partition_point(|entry| *entry < wanted);
        let same = self.entries[first..].iter().take_while(move |entry| upper_half_of(**entry) == wanted);
        same.map(|entry| (*entry & u64::from(u32::MAX)) as usize)
    }
}

/// The better half of a hash, where entries have it: the hasher ends by bringing its best bits to the low end.
fn upper_half(hash: u64) -> u64 {
    hash << 32
}

fn upper_half_of(entry: u64) -> u64 {
    entry & !u64::from(u32::MAX)
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

/// The hash of an instruction's name as a kernel would carry it.
pub(crate) fn hash_of_kernel(name: &str) -> u64 {
    hash_bytes(sanitized(name))
}

/// XLA's rule for function names: letters, digits, `_` and `$` stay, all else becomes `_`.
pub(crate) fn sanitized(name: &str) -> impl Iterator<Item = u8> + '_ {
    let leading = name.bytes().next().is_some_and(|first| first.is_ascii_digit()).then_some(b'_');
    leading.into_iter().chain(
        name.bytes().map(|byte| if byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' { byte } else { b'_' }),
    )
}
