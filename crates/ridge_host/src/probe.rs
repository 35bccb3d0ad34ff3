//! What can be measured, how long it takes and on how much memory.

use crate::machine::Machine;
use crate::rounds::Rounds;
use crate::stream::Loop;
use crate::team::Budget;
use crate::{copy, exponential, multiply_add, sort};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// STREAM's rule: each array at least four times the caches (<https://www.cs.virginia.edu/stream/ref.html>).
const CACHES: u64 = 4;
/// Size of an array where the system does not tell its caches.
const USUAL_ARRAY_BYTES: u64 = 1 << 30;
/// Least size of an array.
const LEAST_ARRAY_BYTES: u64 = 64 << 20;
/// The three arrays together take at most this part of the memory that is free.
const PART_OF_MEMORY: u64 = 2;

/// The arrays of `a = b + s c`.
const ARRAYS: u64 = 3;
/// Arrays that the last-level caches hold take this part of them; the rest is for whatever else runs.
const PART_OF_CACHE: u64 = 2;
/// Bytes that every core's own second-level cache holds: processors of the last ten years have 256 KiB or more.
const NEAR_BYTES: u64 = 192 << 10;

/// One rate that can be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Probe {
    /// `a = b` on all cores, bytes.
    StreamCopy,
    /// `a = s b` on all cores, bytes.
    StreamScale,
    /// `a = b + c` on all cores, bytes.
    StreamAdd,
    /// `a = b + s c` on all cores, bytes.
    StreamTriad,
    /// `a = b + s c` on all cores, over arrays that take half of the last-level caches, bytes.
    CacheTriad,
    /// `a = b + s c` on all cores, over arrays that each core's own cache holds, bytes.
    NearCacheTriad,
    /// One core's `memcpy` of a large block, bytes copied.
    CoreCopy,
    /// Multiply-adds of 8-byte numbers on all cores, operations.
    MultiplyAddF64,
    /// Multiply-adds of 4-byte numbers on all cores, operations.
    MultiplyAddF32,
    /// Exponentials of 8-byte numbers on all cores.
    TranscendentalF64,
    /// Exponentials of 4-byte numbers on all cores.
    TranscendentalF32,
    /// Sorts of 8-byte numbers on all cores, comparisons.
    SortF64,
    /// Sorts of 4-byte numbers on all cores, comparisons.
    SortF32,
}

/// How long to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// A fraction of a second each, smaller arrays.
    Quick,
    /// Some seconds each, arrays as STREAM asks for.
    Full,
}

impl Probe {
    /// Every probe, in the order to measure.
    pub const ALL: [Probe; 13] = [
        Probe::StreamCopy,
        Probe::StreamScale,
        Probe::StreamAdd,
        Probe::StreamTriad,
        Probe::CacheTriad,
        Probe::NearCacheTriad,
        Probe::CoreCopy,
        Probe::MultiplyAddF64,
        Probe::MultiplyAddF32,
        Probe::TranscendentalF64,
        Probe::TranscendentalF32,
        Probe::SortF64,
        Probe::SortF32,
    ];

    /// Measures it on all cores of `machine`; ends early, between rounds, when `stop` is set.
    ///
    /// `None` where the machine does not say what it takes.
    pub fn measure(self, machine: &Machine, effort: Effort, stop: &AtomicBool) -> Option<Rounds> {
        let (cores, budget, bytes) = (machine.usable_cores, effort.budget(), effort.array_bytes(machine));
        Some(match self {
            Probe::StreamCopy => Loop::Copy.measure(bytes, cores, budget, stop),
            Probe::StreamScale => Loop::Scale.measure(bytes, cores, budget, stop),
            Probe::StreamAdd => Loop::Add.measure(bytes, cores, budget, stop),
            Probe::StreamTriad => Loop::Triad.measure(bytes, cores, budget, stop),
            Probe::CoreCopy => copy::measure(bytes, budget, stop),
            Probe::MultiplyAddF64 => multiply_add::measure_f64(cores, budget, stop),
            Probe::MultiplyAddF32 => multiply_add::measure_f32(cores, budget, stop),
            Probe::CacheTriad => {
                let array_bytes = machine.last_level_cache_bytes? / PART_OF_CACHE / ARRAYS;
                Loop::Triad.measure(array_bytes.min(bytes), cores, budget, stop)
            }
            Probe::NearCacheTriad => Loop::Triad.measure(NEAR_BYTES / ARRAYS * cores as u64, cores, budget, stop),
            Probe::TranscendentalF64 => exponential::measure_f64(cores, budget, stop),
            Probe::TranscendentalF32 => exponential::measure_f32(cores, budget, stop),
            Probe::SortF64 => sort::measure_f64(cores, budget, stop),
            Probe::SortF32 => sort::measure_f32(cores, budget, stop),
        })
    }
}

impl Effort {
    fn budget(self) -> Budget {
        match self {
            Effort::Quick => Budget { least_rounds: 3, time: Duration::from_millis(200) },
            Effort::Full => Budget { least_rounds: 10, time: Duration::from_secs(2) },
        }
    }

    /// Bytes of each array whose bandwidth is measured: beyond the caches, within the memory that is free.
    pub fn array_bytes(self, machine: &Machine) -> u64 {
        let caches = match self {
            Effort::Quick => 1,
            Effort::Full => CACHES,
        };
        let wanted = machine.last_level_cache_bytes.map_or(USUAL_ARRAY_BYTES, |cache| cache.saturating_mul(caches));
        let most = machine.available_memory_bytes.map_or(u64::MAX, |free| free / PART_OF_MEMORY / 3);
        wanted.max(LEAST_ARRAY_BYTES).min(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(cache: Option<u64>, free: Option<u64>) -> Machine {
        Machine {
            model: None,
            architecture: "x86_64",
            usable_cores: 2,
            last_level_cache_bytes: cache,
            available_memory_bytes: free,
            memory_bytes: None,
        }
    }

    #[test]
    fn arrays_exceed_the_caches_and_leave_memory_free() {
        const MIB: u64 = 1 << 20;
        for (cache, free, effort, expected) in [
            (Some(260 * MIB), Some(24 << 30), Effort::Full, 1040 * MIB),
            (Some(260 * MIB), Some(24 << 30), Effort::Quick, 260 * MIB),
            (Some(MIB), Some(24 << 30), Effort::Full, LEAST_ARRAY_BYTES),
            (Some(260 * MIB), Some(600 * MIB), Effort::Full, 100 * MIB),
            (None, None, Effort::Full, USUAL_ARRAY_BYTES),
        ] {
            assert_eq!(effort.array_bytes(&with(cache, free)), expected, "{cache:?} {free:?} {effort:?}");
        }
    }

    #[test]
    fn a_stopped_probe_has_no_rounds() {
        let machine = with(Some(1 << 20), Some(6 << 20));
        for probe in Probe::ALL {
            let rounds = probe.measure(&machine, Effort::Quick, &AtomicBool::new(true));
            assert!(rounds.is_some_and(|rounds| rounds.nanos.is_empty()), "{probe:?}");
        }
    }
}
