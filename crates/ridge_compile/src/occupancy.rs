//! How many blocks of a kernel a multiprocessor holds, and in how many waves its grid runs.

use crate::assembler::Usage;
use crate::target::Target;
use crate::thunks::Launch;

/// Registers are given to warps by so many; CUDA C++ Programming Guide and NVIDIA's occupancy calculator, compute
/// capabilities 3.5 to 12.0.
const REGISTERS_AT_ONCE: u32 = 256;

/// Bytes of shared memory that the system takes of each block; the same, from 8.0 on.
const SYSTEM_SHARED_BYTES: u32 = 1024;

/// Shared memory is given to blocks by so many bytes; the same.
const SHARED_AT_ONCE: u32 = 128;

/// How a launch fills a GPU.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Occupancy {
    /// Blocks that a multiprocessor holds at a time.
    pub blocks: u32,
    /// Warps at a time over those that a multiprocessor has room for, 0 to 1.
    pub share: f64,
    /// What bounds it.
    pub bound: Bound,
    /// Blocks of the grid over those that the GPU holds at a time.
    pub waves: f64,
}

/// What bounds the blocks of a multiprocessor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// Threads or warps.
    Threads,
    /// The number of blocks.
    Blocks,
    /// Registers.
    Registers,
    /// Shared memory.
    SharedMemory,
}

impl Bound {
    /// The word in tables.
    pub fn name(self) -> &'static str {
        match self {
            Bound::Threads => "threads",
            Bound::Blocks => "blocks",
            Bound::Registers => "registers",
            Bound::SharedMemory => "shared memory",
        }
    }
}

/// How `launch` fills `target`; `None` where not one block fits, or a launch has no threads.
pub fn occupancy(target: &Target, launch: &Launch, usage: Usage) -> Option<Occupancy> {
    let core = target.core;
    let product = |sizes: [u32; 3]| sizes.iter().try_fold(1_u64, |all, size| all.checked_mul(u64::from(*size)));
    let (threads, blocks) = (u32::try_from(product(launch.block)?).ok()?, product(launch.grid)?);
    let warps = threads.div_ceil(core.warp.max(1));
    if warps == 0 || blocks == 0 {
        return None;
    }
    let per_warp = usage.registers.checked_mul(core.warp)?.checked_next_multiple_of(REGISTERS_AT_ONCE)?;
    let system = if target.compute_capability.0 >= 8 { SYSTEM_SHARED_BYTES } else { 0 };
    let asked = usage.static_shared_bytes.saturating_add(launch.dynamic_shared_bytes);
    let shared = asked.saturating_add(system).checked_next_multiple_of(SHARED_AT_ONCE)?;
    let room = core.threads / core.warp.max(1);
    let bounds = [
        (room / warps, Bound::Threads),
        (core.blocks, Bound::Blocks),
        (core.registers.checked_div(per_warp).map_or(u32::MAX, |held| held / warps), Bound::Registers),
        (core.shared_bytes.checked_div(shared).unwrap_or(u32::MAX), Bound::SharedMemory),
    ];
    let (held, bound) = bounds.into_iter().min_by_key(|(held, _)| *held).filter(|(held, _)| *held > 0)?;
    Some(Occupancy {
        blocks: held,
        share: f64::from(held * warps) / f64::from(room.max(1)),
        bound,
        waves: blocks as f64 / (f64::from(held) * f64::from(target.cores.max(1))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(gpu: &str, grid: u32, block: u32, registers: u32, shared: u32) -> String {
        let launch = Launch { grid: [grid, 1, 1], block: [block, 1, 1], ..Launch::default() };
        let usage = Usage { registers, static_shared_bytes: shared, ..Usage::default() };
        let target = Target::named(gpu).expect("a target");
        occupancy(target, &launch, usage).map_or("none".to_owned(), |found| {
            format!("{} blocks by {}, {:.3}, {:.3} waves", found.blocks, found.bound.name(), found.share, found.waves)
        })
    }

    /// By NVIDIA's occupancy calculator, but for the waves.
    #[test]
    fn blocks_by_what_bounds_them() {
        assert_eq!(of("h100", 2112, 128, 32, 0), "16 blocks by threads, 1.000, 1.000 waves");
        assert_eq!(of("h100", 132, 256, 64, 0), "4 blocks by registers, 0.500, 0.250 waves");
        assert_eq!(of("a100", 1, 32, 16, 0), "32 blocks by blocks, 0.500, 0.000 waves");
        assert_eq!(of("h100", 264, 1024, 31, 8320), "2 blocks by threads, 1.000, 1.000 waves");
        assert_eq!(of("h100", 132, 128, 32, 100_000), "2 blocks by shared memory, 0.125, 0.500 waves");
        // 255 registers of 32 threads are given as 8192 to a warp, of which 65536 hold eight: two blocks of four warps.
        assert_eq!(of("h100", 1, 128, 255, 0), "2 blocks by registers, 0.125, 0.004 waves");
    }

    #[test]
    fn what_does_not_fit_has_none() {
        assert_eq!(of("a6000", 1, 128, 32, 110_000), "none");
        assert_eq!(of("h100", 0, 128, 32, 0), "none");
        assert_eq!(of("h100", 1, u32::MAX, 32, u32::MAX), "none");
    }
}
