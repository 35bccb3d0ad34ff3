//! Whether a reader's work grows with its input and no faster: processor time, always against other input of the same
//! reader on the same machine, never against a clock.

use crate::mutate::Random;
use std::time::Instant;

/// Bytes of the smaller input; the larger one has [`TIMES`] as many.
const SMALL: usize = 32 << 10;
const TIMES: usize = 16;
/// How much longer the larger may take; work by the square of the bytes takes 256 times as long.
///
/// Caches that the smaller input fits and the larger does not cost a few times as much by themselves.
const AT_MOST: u64 = 6 * TIMES as u64;
/// Less says nothing, in nanoseconds: what is done once for any input outweighs it.
const LEAST_NS: u64 = 1_000_000;
/// Others run on the machine, too: the best of so many runs counts.
const RUNS: usize = 3;

/// Texts that open, close and separate things in the formats that are read, and bytes that say how long others are.
const PIECES: &[&[u8]] = &[
    b"\0",
    b"\xff",
    b" ",
    b"[",
    b"{",
    b"\"",
    b",\n",
    b"},{",
    b"},{\"",
    b"{\"a\":{",
    b"{\"a\":{\"b\":\"c\"d},",
    b"{\"a\":\"b\"c\"},",
    b"{\"ph\":\"X\",\"args\":{\"a\":[\"},",
    b"{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":9},",
    b"{\"ph\":\"B\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1},",
    b"\"a\",",
    b"a = f32[2] add(a, a)\n",
    b"\n}\n",
    b"PK\x03\x04",
    b"\x0a\x02\x0a\x00",
    b"\x08\x01",
    b"(K\x01",
];

/// Prefixes: what has to come first for a reader to look at the rest.
const HEADS: &[&[u8]] = &[b"", b"{\"traceEvents\":[", b"[", b"HloModule m\nENTRY e {\n"];

/// Reads an input and says how long that took, nanoseconds; `None` where it panicked.
pub type Reading<'a> = dyn FnMut(&[u8]) -> Option<u64> + 'a;

/// What grows too fast where `read` reads it: the piece whose repetition does, and how fast; or which cannot be read.
pub fn too_fast(read: &mut Reading<'_>, seeds: &[Vec<u8>], random: &mut Random) -> Option<String> {
    let made = HEADS.iter().flat_map(|head| PIECES.iter().map(move |piece| (head.to_vec(), piece.to_vec())));
    let cut: Vec<(Vec<u8>, Vec<u8>)> = (0..16).filter_map(|_| piece_of(seeds, random)).collect();
    made.chain(cut).find_map(|(head, piece)| {
        let shown = || format!("{}, then {} again and again", head.escape_ascii(), piece.escape_ascii());
        match growth(read, &head, &piece) {
            Some(factor) if factor <= AT_MOST => None,
            Some(factor) => Some(format!("{TIMES} times the bytes take {factor} times as long: {}", shown())),
            None => Some(format!("a panic: {}", shown())),
        }
    })
}

/// The beginning of a seed, and a piece from behind it.
fn piece_of(seeds: &[Vec<u8>], random: &mut Random) -> Option<(Vec<u8>, Vec<u8>)> {
    let seed = seeds.get(random.below(seeds.len()))?;
    let at = random.below(seed.len().min(SMALL / 4));
    let length = 1 + random.below((seed.len() - at).min(256));
    Some((seed[..at].to_vec(), seed[at..].iter().copied().take(length).collect()))
}

/// How many times as long the larger input takes; `None` where one panicked.
fn growth(read: &mut Reading<'_>, head: &[u8], piece: &[u8]) -> Option<u64> {
    let input = |bytes: usize| -> Vec<u8> { head.iter().chain(piece.iter().cycle()).copied().take(bytes).collect() };
    let small = best_ns(read, &input(SMALL))?.max(LEAST_NS);
    let large = input(SMALL * TIMES);
    let first = read(&large)?;
    let factor = first / small;
    Some(if factor > AT_MOST { best_ns(read, &large)?.min(first) / small } else { factor })
}

/// The least time of some runs, in nanoseconds of all the process's threads; `None` where one panicked.
pub fn best_ns(read: &mut Reading<'_>, input: &[u8]) -> Option<u64> {
    (0..RUNS).map(|_| read(input)).min().flatten()
}

/// The processor time of `work` over all threads; where the system does not say it, the time that passes.
pub fn work_ns(work: impl FnOnce()) -> u64 {
    let (begun, before) = (Instant::now(), processor_ns());
    work();
    let passed = begun.elapsed().as_nanos() as u64;
    match (before, processor_ns()) {
        (Some(before), Some(after)) => after.saturating_sub(before),
        _ => passed,
    }
}

/// Time on a processor of every thread: the first number of `schedstat` (`Documentation/scheduler/sched-stats.rst`).
fn processor_ns() -> Option<u64> {
    let tasks = std::fs::read_dir("/proc/self/task").ok()?;
    let of = |task: std::fs::DirEntry| -> Option<u64> {
        let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse().ok()
    };
    Some(tasks.filter_map(Result::ok).filter_map(of).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(bytes: &[u8]) {
        let found = bytes.iter().step_by(8).filter(|byte| !bytes.iter().step_by(8).any(|other| other > *byte)).count();
        std::hint::black_box(found);
    }

    fn linear(bytes: &[u8]) {
        (0..64).for_each(|_| drop(std::hint::black_box(bytes.to_vec())));
    }

    #[test]
    fn the_square_is_told_from_the_line() {
        let found =
            |run: fn(&[u8])| too_fast(&mut |input: &[u8]| Some(work_ns(|| run(input))), &[], &mut Random::new(1));
        assert!(found(square).is_some_and(|what| what.contains("times as long")));
        assert_eq!(found(linear), None);
    }

    #[test]
    fn a_panic_is_found() {
        let read = |input: &[u8]| (!input.starts_with(b"HloModule")).then_some(1);
        assert!(
            too_fast(&mut { read }, &[], &mut Random::new(1)).is_some_and(|what| what.contains("a panic: HloModule"))
        );
    }
}
