//! Small damage to good files, the same for the same seed: bits, cuts, splices, inflated lengths, numbers at the edge.
//!
//! It knows nothing of any format; what a format finds hard is found by starting from files of that format.

/// Numbers that look random and are the same every time (xorshift64*).
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// A sequence of its own for each `seed`.
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// The next number.
    pub fn next_u64(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `end`; 0 where `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        // The high bits are the good ones.
        ((u128::from(self.next_u64()) * end as u128) >> 64) as usize
    }
}

/// Varints and texts at the edges of what integers hold.
const EDGES: &[&[u8]] = &[
    &[0xff, 0xff, 0xff, 0xff, 0x0f],
    &[0xff, 0xff, 0xff, 0xff, 0x07],
    &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
    &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
    &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80],
    &[0x00],
    &[0xff],
    &[0x7f],
    &[0x80, 0x01],
    b"18446744073709551616",
    b"9223372036854775807",
    b"-9223372036854775808",
    b"4294967295",
    b"0",
    b"-1",
    b"nan",
    b"((((((((",
    b"{{{{{{{{",
    b"[[[[[[[[",
    b"\"",
    b"\n",
    b"/*",
];

/// A damaged copy of `seed`; parts of `other` may come in. Never longer than `max_bytes`.
pub fn mutate(seed: &[u8], other: &[u8], max_bytes: usize, random: &mut Random) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..1 + random.below(4) {
        damage(&mut bytes, other, random);
    }
    if random.below(32) == 0 {
        repeat(&mut bytes, max_bytes, random);
    }
    bytes.truncate(max_bytes);
    bytes
}

fn damage(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    let at = random.below(bytes.len());
    match random.below(8) {
        0 | 1 if !bytes.is_empty() => bytes[at] ^= 1 << random.below(8),
        2 if !bytes.is_empty() => bytes[at] = random.next_u64() as u8,
        3 => bytes.truncate(at),
        4 => drop(bytes.drain(span(at, bytes.len(), random))),
        5 => {
            let copied = bytes[span(at, bytes.len(), random)].to_vec();
            let to = random.below(bytes.len());
            bytes.splice(to..to, copied);
        }
        6 => {
            let from = random.below(other.len());
            let part = &other[span(from, other.len(), random)];
            let replaced = span(at, bytes.len(), random);
            bytes.splice(replaced, part.iter().copied());
        }
        _ => {
            let edge = EDGES[random.below(EDGES.len())];
            let end = (at + random.below(edge.len() + 1)).min(bytes.len());
            bytes.splice(at..end, edge.iter().copied());
        }
    }
}

/// A part comes again and again: what costs little once may cost the square of it.
fn repeat(bytes: &mut Vec<u8>, max_bytes: usize, random: &mut Random) {
    let at = random.below(bytes.len());
    let part = bytes[span(at, bytes.len(), random)].to_vec();
    let times = max_bytes.saturating_sub(bytes.len()) / part.len().max(1) / (1 + random.below(8));
    bytes.splice(at..at, part.repeat(times));
}

/// A range from `at`, mostly short.
fn span(at: usize, len: usize, random: &mut Random) -> std::ops::Range<usize> {
    let longest = if random.below(4) == 0 { len - at } else { (len - at).min(64) };
    at..at + random.below(longest + 1)
}

#[cfg(test)]
mod tests {
    use super::{Random, mutate};

    #[test]
    fn the_same_seed_gives_the_same_damage() {
        let made = |seed| {
            let mut random = Random::new(seed);
            (0..50).map(|_| mutate(b"abcdefgh", b"12345678", 100, &mut random)).collect::<Vec<_>>()
        };
        assert_eq!(made(7), made(7));
        assert_ne!(made(7), made(8));
        assert!(made(7).iter().filter(|bytes| bytes.as_slice() != b"abcdefgh").count() > 40);
    }

    #[test]
    fn nothing_to_damage_is_no_trouble() {
        let mut random = Random::new(1);
        for _ in 0..1000 {
            assert!(mutate(b"", b"", 16, &mut random).len() <= 16);
        }
    }
}
