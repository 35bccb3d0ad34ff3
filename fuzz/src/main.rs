//! Runs the targets on damaged seeds for a while: `ridge_fuzz [--seconds N] [--seed S] [TARGET…]`.
//!
//! It follows no coverage; `make fuzz` does, with libFuzzer.
//! The input being read is on disk while it is read (`fuzz/artifacts/<target>/running`), so an abort or a full stack
//! leaves it behind too.

use ridge_fuzz::growth;
use ridge_fuzz::mutate::{Random, mutate};
use ridge_fuzz::seeds::{root, seeds};
use ridge_fuzz::{TARGETS, Target};
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, abort};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Longest input made, in bytes.
const MAX_BYTES: usize = 1 << 20;
/// How much longer than the slowest of the seeds a damaged input may take, by bytes.
const SLOWEST: u64 = 100;
/// Nanoseconds a byte that any reader may take: where seeds are read faster, a hundred times as long is still nothing.
const LEAST_USUAL: u64 = 100;
/// Bytes that any input counts as more than it has: for what is done once for each.
const FREE_BYTES: u64 = 16 << 10;
/// Without an end after this, an input counts as one that has none.
const ENDLESS: Duration = Duration::from_secs(40);

/// What the command line asked for.
struct Options {
    seconds: f64,
    seed: u64,
    targets: Vec<Target>,
}

fn main() -> ExitCode {
    let options = match parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::from(2);
        }
    };
    watch();
    let each = Duration::from_secs_f64(options.seconds / options.targets.len() as f64);
    let failed = options.targets.iter().filter(|target| !run(target, each, options.seed)).count();
    println!("fuzz: {} passed, {failed} failed", options.targets.len() - failed);
    ExitCode::from(u8::from(failed > 0))
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options { seconds: 60.0, seed: 1, targets: Vec::new() };
    while let Some(argument) = arguments.next() {
        let mut number = |name: &str| {
            let value = arguments.next().and_then(|text| text.parse::<f64>().ok()).filter(|value| *value >= 0.0);
            value.ok_or_else(|| format!("{name} wants a number that is not negative"))
        };
        match argument.as_str() {
            "--seconds" => options.seconds = number("--seconds")?,
            "--seed" => options.seed = number("--seed")? as u64,
            name => options.targets.push(named(name)?),
        }
    }
    if options.targets.is_empty() {
        options.targets = TARGETS.to_vec();
    }
    Ok(options)
}

fn named(name: &str) -> Result<Target, String> {
    let known = || TARGETS.iter().map(|target| target.name).collect::<Vec<_>>().join(", ");
    TARGETS
        .iter()
        .copied()
        .find(|target| target.name == name)
        .ok_or_else(|| format!("no target is called `{name}`; the targets are {}", known()))
}

/// The number of the input being read, from 1; 0 between inputs.
static READING: AtomicU64 = AtomicU64::new(0);

/// Ends the process where one input takes far too long, as a panic would.
fn watch() {
    let start = Instant::now();
    std::thread::spawn(move || {
        let mut last = (0, Duration::ZERO);
        loop {
            std::thread::sleep(Duration::from_millis(500));
            let reading = READING.load(Ordering::Relaxed);
            if reading != last.0 {
                last = (reading, start.elapsed());
            } else if reading != 0 && start.elapsed() - last.1 > ENDLESS {
                eprintln!("an input takes more than {} s; it is kept as `running`", ENDLESS.as_secs());
                abort();
            }
        }
    });
}

/// Lets `target` read `input`, which is `running` on disk meanwhile and watched: how long it took, `None` if it panicked.
fn read(target: &Target, running: &Path, input: &[u8]) -> Option<u64> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    std::fs::write(running, input).expect("fuzz/artifacts can be written");
    READING.store(COUNT.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
    let mut outcome = Ok(());
    let ns = growth::work_ns(|| outcome = catch_unwind(|| (target.run)(input)));
    READING.store(0, Ordering::Relaxed);
    outcome.ok().map(|()| ns)
}

/// Whether `target` read everything for `time` without a panic, and worked in proportion to what it read.
fn run(target: &Target, time: Duration, seed: u64) -> bool {
    let seeds = seeds(target);
    if seeds.is_empty() {
        println!("{}: failed: no seed ends with {}", target.name, target.seeds_end_with);
        return false;
    }
    let artifacts = root().join("fuzz/artifacts").join(target.name);
    std::fs::create_dir_all(&artifacts).expect("fuzz/artifacts can be written");
    let running = artifacts.join("running");
    let mut random = Random::new(seed);
    let mut read = |input: &[u8]| read(target, &running, input);
    if let Some(what) = growth::too_fast(&mut read, &seeds, &mut random) {
        println!("{}: failed: {what}", target.name);
        return keep(target, &running);
    }
    let per_byte = |input: &[u8], ns: u64| ns / (input.len() as u64 + FREE_BYTES);
    let mut usual = LEAST_USUAL;
    for seed in &seeds {
        match growth::best_ns(&mut read, seed) {
            Some(ns) => usual = usual.max(per_byte(seed, ns)),
            None => return keep(target, &running),
        }
    }
    let is_slow = |input: &[u8], ns: u64| per_byte(input, ns) > SLOWEST * usual;
    let (start, mut count, mut slowest) = (Instant::now(), 0_usize, 0);
    while start.elapsed() < time || count < seeds.len() {
        let input = next_input(&seeds, count, &mut random);
        let Some(ns) = read(&input) else { return keep(target, &running) };
        slowest = slowest.max(per_byte(&input, ns));
        count += 1;
        if is_slow(&input, ns) && growth::best_ns(&mut read, &input).is_none_or(|ns| is_slow(&input, ns)) {
            return keep(target, &running);
        }
    }
    let _ = std::fs::remove_file(&running);
    println!(
        "{}: {count} inputs from {} seeds in {:.1} s, {slowest} ns a byte at most, {usual} of seeds{}",
        target.name,
        seeds.len(),
        start.elapsed().as_secs_f64(),
        peak_memory().unwrap_or_default()
    );
    true
}

/// Each seed as it is first, then damaged ones.
fn next_input(seeds: &[Vec<u8>], count: usize, random: &mut Random) -> Vec<u8> {
    if let Some(seed) = seeds.get(count) {
        return seed.clone();
    }
    let (seed, other) = (random.below(seeds.len()), random.below(seeds.len()));
    mutate(&seeds[seed], &seeds[other], MAX_BYTES, random)
}

/// Keeps the input that was read last.
fn keep(target: &Target, running: &Path) -> bool {
    let hash = std::fs::read(running)
        .unwrap_or_default()
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3));
    let kept: PathBuf = running.with_file_name(format!("crash-{hash:016x}"));
    let _ = std::fs::rename(running, &kept);
    println!("{}: failed: the input is {}", target.name, kept.display());
    false
}

/// The process's peak memory, where the system says it.
fn peak_memory() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(format!(", peak memory so far {}", line.trim()))
}
