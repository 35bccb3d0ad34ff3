//! How many blocks of a kernel run at a time, and so in how many waves its grid does.

use crate::DeviceSheet;
use ridge_trace::LaunchShape;

/// What one multiprocessor holds, by compute capability.
///
/// "Technical Specifications per Compute Capability" of NVIDIA's CUDA C++ Programming Guide; the same numbers are in
/// NVIDIA/cccl, `cudax/include/cuda/experimental/__device/arch_traits.cuh`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Multiprocessor {
    blocks: u64,
    warps: u64,
    shared_bytes: u64,
    /// Taken by the driver of each block's.
    reserved_bytes: u64,
}

/// 32-bit registers of a multiprocessor; they are given to warps in pieces of [`REGISTERS_AT_ONCE`].
const REGISTERS: u64 = 64 * 1024;
const REGISTERS_AT_ONCE: u64 = 256;
/// Threads of a warp.
const WARP: u64 = 32;

fn multiprocessor(capability: (u32, u32)) -> Option<Multiprocessor> {
    let (blocks, warps, shared_kib, reserved_kib) = match capability {
        (7, 0) => (32, 64, 96, 0),
        (7, 5) => (16, 32, 64, 0),
        (8, 0) => (32, 64, 164, 1),
        (8, 6) => (16, 48, 100, 1),
        (8, 9) => (24, 48, 100, 1),
        (9, 0) | (10, 0) => (32, 64, 228, 1),
        (12, 0) => (24, 48, 100, 1),
        _ => return None,
    };
    Some(Multiprocessor { blocks, warps, shared_bytes: shared_kib * 1024, reserved_bytes: reserved_kib * 1024 })
}

/// A grid on a device.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Waves {
    /// Blocks of the grid.
    pub(super) blocks: f64,
    /// Blocks that run at a time.
    pub(super) at_once: f64,
}

impl Waves {
    /// How `shape` runs on the device of `sheet`; `None` where that is not known, or no block of it fits.
    pub(super) fn of(shape: &LaunchShape, sheet: &DeviceSheet) -> Option<Waves> {
        let holds = multiprocessor(sheet.compute_capability).filter(|_| sheet.vendor == "NVIDIA")?;
        let product = |sizes: [u32; 3]| sizes.iter().map(|size| u64::from(*size)).fold(1_u64, u64::saturating_mul);
        let (blocks, threads) = (product(shape.grid), product(shape.block));
        if blocks == 0 || threads == 0 {
            return None;
        }
        let warps = threads.div_ceil(WARP);
        let by_registers = shape.registers.filter(|registers| *registers > 0).map_or(u64::MAX, |registers| {
            let of_warp = (u64::from(registers) * WARP).next_multiple_of(REGISTERS_AT_ONCE);
            REGISTERS / of_warp / warps
        });
        let shared = [shape.static_shared_bytes, shape.dynamic_shared_bytes].into_iter().flatten().map(u64::from);
        let shared = shared.sum::<u64>() + holds.reserved_bytes;
        let by_shared = holds.shared_bytes.checked_div(shared).unwrap_or(u64::MAX);
        let each = holds.blocks.min(holds.warps / warps).min(by_registers).min(by_shared);
        (each > 0).then_some(Waves { blocks: blocks as f64, at_once: each as f64 * sheet.cores.value })
    }

    /// Whether all blocks run at a time.
    pub(super) fn is_one(&self) -> bool {
        self.blocks <= self.at_once
    }

    /// The time of whole waves as a part of that of the blocks alone: 1 where the last wave is full.
    pub(super) fn tail(&self) -> f64 {
        (self.blocks / self.at_once).ceil() * self.at_once / self.blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheets_named;

    #[track_caller]
    fn at_once(device: &str, block: u32, registers: u32, shared: u32) -> Option<f64> {
        let shape = LaunchShape {
            grid: [1000, 1, 1],
            block: [block, 1, 1],
            registers: Some(registers),
            static_shared_bytes: Some(shared),
            ..LaunchShape::default()
        };
        Waves::of(&shape, sheets_named(device)[0]).map(|waves| waves.at_once)
    }

    #[test]
    fn warps_registers_shared_memory_and_blocks_limit() {
        // 64 warps of 8 each; 128 registers: 65536 / 4096 = 16 warps; 100 KiB + 1 of 228: 2 blocks; 32 blocks of one warp.
        assert_eq!(at_once("h100 sxm5", 256, 32, 0), Some(8.0 * 132.0));
        assert_eq!(at_once("h100 sxm5", 256, 128, 0), Some(2.0 * 132.0));
        assert_eq!(at_once("h100 sxm5", 128, 32, 100 * 1024), Some(2.0 * 132.0));
        assert_eq!(at_once("h100 sxm5", 32, 32, 0), Some(32.0 * 132.0));
        // What a kernel of a newer device needs may not fit an older one; of AMD nothing is said.
        assert_eq!(at_once("t4", 128, 32, 100 * 1024), None);
        assert_eq!(at_once("mi300x", 256, 32, 0), None);
    }
}
