//! Our own wall time by phase and peak memory, printed on request (`--timings`).

use ridgeline::units::{Bytes, Nanos};
use std::io::Write as _;
use std::time::{Duration, Instant};

/// Wall time by phase since the program's start.
#[derive(Debug)]
pub(crate) struct Timings {
    start: Instant,
    phases: Vec<(&'static str, Duration)>,
}

impl Timings {
    /// Starts the clock.
    pub(crate) fn start() -> Timings {
        Timings { start: Instant::now(), phases: Vec::new() }
    }

    /// Runs `work` as the phase `name`; phases of one name add up.
    pub(crate) fn phase<T>(&mut self, name: &'static str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let done = work();
        let took = start.elapsed();
        match self.phases.iter_mut().find(|(known, _)| *known == name) {
            Some((_, sum)) => *sum += took,
            None => self.phases.push((name, took)),
        }
        done
    }

    /// Writes phases, total and peak memory to standard error.
    pub(crate) fn print(&self) {
        let total = ("total", self.start.elapsed());
        let mut text = String::new();
        for (name, took) in self.phases.iter().chain([&total]) {
            let nanos = Nanos(i64::try_from(took.as_nanos()).unwrap_or(i64::MAX)).to_string();
            text.push_str(&format!("timing: {name:<12} {nanos:>8}\n"));
        }
        if let Some(peak) = peak_memory() {
            text.push_str(&format!("timing: {:<12} {:>8}\n", "peak memory", Bytes(peak).to_string()));
        }
        // Timings are a courtesy: a closed standard error is no reason to fail.
        let _ = anstream::stderr().write_all(text.as_bytes());
    }
}

/// Largest resident set of this process in bytes, where the system says it.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
