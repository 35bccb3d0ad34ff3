//! Whether a reader's work grows with its input and no faster: processor time, always against other input of the same
//! reader on the same machine, never against a clock.

use crate::Target;
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

/// What grows too fast for `target`: the piece whose repetition does, and how fast.
pub fn too_fast(target: &Target, seeds: &[Vec<u8>], random: &mut Random) -> Option<String> {
    let made = HEADS.iter().flat_map(|head| PIECES.iter().map(move |piece| (head.to_vec(), piece.to_vec())));
    let cut: Vec<(Vec<u8>, Vec<u8>)> = (0..16).filter_map(|_| piece_of(seeds, random)).collect();
    made.chain(cut).find_map(|(head, piece)| {
        let factor = growth(target, &head, &piece);
        let shown = || format!("{}, then {} again and again", head.escape_ascii(), piece.escape_ascii());
        (factor > AT_MOST).then(|| format!("{TIMES} times the bytes take {factor} times as long: {}", shown()))
    })
}

/// The beginning of a seed, and a piece from behind it.
fn piece_of(seeds: &[Vec<u8>], random: &mut Random) -> Option<(Vec<u8>, Vec<u8>)> {
    let seed = seeds.get(random.below(seeds.len()))?;
    let at = random.below(seed.len().min(SMALL / 4));
    let length = 1 + random.below((seed.len() - at).min(256));
    Some((seed[..at].to_vec(), seed[at..].iter().copied().take(length).collect()))
}

/// How many times as long the larger input takes.
fn growth(target: &Target, head: &[u8], piece: &[u8]) -> u64 {
    let input = |bytes: usize| -> Vec<u8> { head.iter().chain(piece.iter().cycle()).copied().take(bytes).collect() };
    let small = best_ns(target, &input(SMALL)).max(LEAST_NS);
    let large = input(SMALL * TIMES);
    let first = work_ns(|| (target.run)(&large));
    let factor = first / small;
    if factor > AT_MOST { best_ns(target, &large).min(first) / small } else { factor }
}

/// The least time of some runs, in nanoseconds of all the process's threads.
pub fn best_ns(target: &Target, input: &[u8]) -> u64 {
    (0..RUNS).map(|_| work_ns(|| (target.run)(input))).min().unwrap_or(0)
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
        let target = |run| Target { name: "made up", run, seeds_end_with: "" };
        assert!(too_fast(&target(square), &[], &mut Random::new(1)).is_some());
        assert_eq!(too_fast(&target(linear), &[], &mut Random::new(1)), None);
    }
}
