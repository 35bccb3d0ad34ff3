//! Which change of the program is worth more than any other hardware.

use crate::baseline::Known;
use crate::operators::Operator;
use crate::regions::Region;

/// Kernels of one call from which on starting them is what to mend.
const MANY_LAUNCHES: f64 = 8.0;

/// A change of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fix {
    /// A short sort of each item is a network of minima and maxima in one kernel.
    Network,
    /// Values between operations go through memory.
    Fuse,
    /// Many small kernels, one after the other.
    FewerLaunches,
    /// Accesses in an order that data decide.
    Reorder,
    /// Kernels that stay far below their roofs.
    Kernels,
}

impl Fix {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Fix::Network => "network",
            Fix::Fuse => "fuse",
            Fix::FewerLaunches => "fewer launches",
            Fix::Reorder => "reorder",
            Fix::Kernels => "kernels",
        }
    }

    /// What to do, as a sentence's part.
    pub fn words(self) -> &'static str {
        match self {
            Fix::Network => {
                "replace the sort of a few values by a network of minima and maxima, in one kernel that reads each value once"
            }
            Fix::Fuse => "fuse its operations: values passed between them go through memory",
            Fix::FewerLaunches => {
                "start fewer kernels: one compiled program, a captured graph or one loop on the device"
            }
            Fix::Reorder => "let neighboring threads access neighboring cells, or use the library's own kernel for it",
            Fix::Kernels => "its kernels stay far below their roofs: see `ridgeline roofline` and `ridgeline check`",
        }
    }

    /// The change that the region asks for first.
    pub(crate) fn of(region: &Region, known: &Known) -> Fix {
        let Ok(spec) = &region.specification else { return Fix::Kernels };
        let workload = &spec.workload;
        let passed_on = spec.compulsory_bytes / (workload.input.0 + workload.output.0).max(1.0);
        let is_short = known.call_s.p50 < known.launches * 20e-6;
        match () {
            () if workload.count_of(Operator::Exchange) > 0.0 => Fix::Network,
            () if known.launches >= MANY_LAUNCHES && is_short => Fix::FewerLaunches,
            () if passed_on > 3.0 => Fix::Fuse,
            () if !workload.tables.is_empty() => Fix::Reorder,
            () => Fix::Kernels,
        }
    }
}
