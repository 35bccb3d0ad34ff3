//! The time of one launch on a GPU where nothing was measured: the roofs, what the grid leaves idle, and what any kernel takes.

use crate::constants::constants;
use crate::parameter::Parameter;

/// Bytes that a multiprocessor takes from the cache that all share in a clock; NVIDIA, Volta and later, by the counter
/// `l1tex__m_xbar2l1tex_read_bytes` (64 a clock at its peak).
const CACHE_BYTES_PER_CLOCK: f64 = 64.0;

/// What is known of a launch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LaunchWork {
    /// Its arithmetic at the roof of the whole GPU, seconds.
    pub compute_s: f64,
    /// Its traffic at the roof of the memory, seconds.
    pub memory_s: f64,
    /// Blocks of its grid, and those that the GPU holds at a time; `None` where that is not known.
    pub blocks: Option<(f64, f64)>,
}

/// What is known of the GPU beside its roofs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LaunchGpu {
    /// Multiprocessors.
    pub cores: f64,
    /// Clock, Hz.
    pub clock_hz: f64,
    /// Bytes a second of its memory.
    pub memory_bytes_per_s: f64,
}

/// An interval of a time, seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LaunchTime {
    /// The roof is reached as far as code ever reaches it.
    pub low_s: f64,
    /// The likeliest.
    pub mid_s: f64,
    /// The roof is reached as little as code usually does.
    pub high_s: f64,
}

/// How far the ends of an interval are moved outwards: factors of at least 1 on the time at the roof.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LaunchWidth {
    /// What the lower end is divided by.
    pub below: f64,
    /// What the upper end is multiplied by.
    pub above: f64,
}

impl LaunchWidth {
    /// The priors as they are.
    pub const NONE: LaunchWidth = LaunchWidth { below: 1.0, above: 1.0 };
}

/// The time of a launch, by the priors of how far code reaches a roof and of what any kernel takes, as wide as `width` says.
///
/// A grid of fewer blocks than multiprocessors leaves the rest idle; of more, the last wave is as long as the others.
/// What any kernel takes at least is not widened: no launch that short is published with its work.
pub fn launch_time(work: LaunchWork, gpu: LaunchGpu, width: LaunchWidth) -> LaunchTime {
    let constants = constants();
    let (efficiency, start) = (constants.prior(Parameter::GpuEfficiency), constants.prior(Parameter::GpuLaunch));
    let (compute, memory) = match work.blocks {
        None => (work.compute_s, work.memory_s),
        Some((blocks, held)) => {
            let cores = gpu.cores.max(1.0);
            let busy = (blocks / cores).clamp(1.0 / cores, 1.0);
            let waves = (blocks / held.max(1.0)).max(f64::MIN_POSITIVE);
            let tail = if waves > 1.0 { waves.ceil() / waves } else { 1.0 };
            let reach = busy * cores * CACHE_BYTES_PER_CLOCK * gpu.clock_hz / gpu.memory_bytes_per_s.max(1.0);
            (work.compute_s / busy * tail, work.memory_s / reach.clamp(f64::MIN_POSITIVE, 1.0))
        }
    };
    let roof = compute.max(memory);
    let at = |efficiency: f64, start_us: f64| (roof / efficiency).max(start_us * 1e-6);
    LaunchTime {
        low_s: at(efficiency.high * width.below, start.low),
        mid_s: at(efficiency.mode, start.mode),
        high_s: at(efficiency.low / width.above, start.high),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const H100: LaunchGpu = LaunchGpu { cores: 132.0, clock_hz: 1.98e9, memory_bytes_per_s: 3.35e12 };

    fn micros(compute_us: f64, memory_us: f64, blocks: Option<(f64, f64)>) -> String {
        let work = LaunchWork { compute_s: compute_us * 1e-6, memory_s: memory_us * 1e-6, blocks };
        let time = launch_time(work, H100, LaunchWidth::NONE);
        format!("{:.1} {:.1} {:.1}", time.low_s * 1e6, time.mid_s * 1e6, time.high_s * 1e6)
    }

    #[test]
    fn what_the_grid_leaves_idle_costs() {
        assert_eq!(micros(0.0, 0.1, None), "2.0 3.0 4.0");
        assert_eq!(micros(10.0, 90.0, None), "100.0 150.0 300.0");
        let work = LaunchWork { compute_s: 0.0, memory_s: 90e-6, blocks: None };
        let wide = launch_time(work, H100, LaunchWidth { below: 2.0, above: 3.0 });
        assert_eq!([wide.low_s, wide.mid_s, wide.high_s].map(|secs| (secs * 1e6).round()), [50.0, 150.0, 900.0]);
        // Half of the multiprocessors, so twice the arithmetic.
        assert_eq!(micros(9.0, 0.0, Some((66.0, 264.0))), "20.0 30.0 60.0");
        // One and a half waves take two.
        assert_eq!(micros(90.0, 0.0, Some((396.0, 264.0))), "133.3 200.0 400.0");
        // One block takes from memory what one multiprocessor can: 127 of 3350 GB/s.
        assert_eq!(micros(0.0, 9.0, Some((1.0, 264.0))), "264.4 396.5 793.1");
    }
}
