//! What the program's own device needs for a region: measured, or by the data sheet of the device that is meant.

use crate::draw::Draw;
use crate::parameter::Parameter;
use crate::predict::Interval;
use crate::regions::{Region, RegionOp};
use ridge_analysis::{Ceilings, ComputeUnit, Limit, NumberType, least_secs};

/// A minimum or maximum takes the place of so many operations at the 32-bit rate: it is no multiply-add, and half as
/// many are begun each clock (64 a multiprocessor and clock on Hopper; unverified).
const OPERATIONS_OF_A_MINIMUM: f64 = 4.0;

/// The device that a board is laid beside.
#[derive(Debug, Clone, PartialEq)]
pub struct Baseline {
    /// Its name.
    pub device: String,
    /// How its times are known.
    pub host: Host,
    /// Its roofs.
    pub ceilings: Ceilings,
    /// Its design power, watts.
    pub tdp_w: Option<f64>,
}

/// How the times of a [`Baseline`] are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Host {
    /// The capture measured them on an accelerator.
    Measured,
    /// The capture measured them on a processor.
    MeasuredOnProcessor,
    /// By the roofs of its data sheet, at an efficiency that is drawn; nothing was measured on it.
    Sheet,
    /// By the same roofs, of modules that were compiled for the device; nothing was measured on it.
    Compiled,
}

impl Host {
    /// The word in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Host::Measured => "measured",
            Host::MeasuredOnProcessor => "measured on a CPU",
            Host::Sheet => "sheet",
            Host::Compiled => "compiled",
        }
    }

    /// Whether its times are those of its data sheet's roofs.
    pub(crate) fn is_by_sheet(self) -> bool {
        matches!(self, Host::Sheet | Host::Compiled)
    }
}

/// The time of one call on the baseline's device.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Known {
    /// One call, seconds.
    pub(crate) call_s: Interval,
    /// One call in each draw, seconds.
    pub(crate) draws_s: Vec<f64>,
    /// The least time of a good program for the same, seconds; `None` where a roof is not known.
    pub(crate) least_s: Option<f64>,
    /// Kernels that one call starts.
    pub(crate) launches: f64,
}

impl Baseline {
    /// The time of one call of `region`; `None` where nothing tells.
    pub(crate) fn known(&self, region: &Region, draws: &[Draw]) -> Option<Known> {
        let launches =
            region.ops.iter().filter(|op| op.cost.is_some()).map(|op| op.executions).sum::<f64>() / region.calls;
        let draws_s: Vec<f64> = match self.host {
            Host::Sheet | Host::Compiled => {
                let ops: Vec<(f64, f64)> = self.least_of_ops(region)?;
                let call = |draw: &Draw| {
                    let efficiency = draw.get(Parameter::GpuEfficiency);
                    let launch = draw.get(Parameter::GpuLaunch);
                    ops.iter().map(|(least, runs)| (least / efficiency).max(launch) * runs).sum::<f64>() / region.calls
                };
                draws.iter().map(call).collect()
            }
            _ => vec![region.self_ns * 1e-9 / region.calls; draws.len()],
        };
        let drawn = Interval::of(draws_s.clone())?;
        let (least, most) = self.by_other_hlo(launches);
        let call_s = Interval { p10: drawn.p10 * least, p50: drawn.p50, p90: drawn.p90 * most };
        Some(Known { call_s, draws_s, least_s: self.least_call(region), launches })
    }

    /// The least and the most that a call of `launches` may take, as parts of its time by the operations that XLA made for
    /// another device: 1 and 1 where they are the device's own.
    pub(crate) fn by_other_hlo(&self, launches: f64) -> (f64, f64) {
        if self.host != Host::Sheet {
            return (1.0, 1.0);
        }
        let part = |name: &str| crate::constants().fixed(name).value;
        if launches >= part("cpu_hlo_many") {
            (part("cpu_hlo_least_of_many"), 1.0)
        } else {
            (part("cpu_hlo_least"), 1.0)
        }
    }

    /// How much longer the program takes than it must: measured, or where nothing was measured by the operations as they
    /// are, each at its roof.
    pub(crate) fn headroom(&self, region: &Region, known: &Known) -> Option<f64> {
        let least = known.least_s?;
        match self.host {
            Host::Sheet | Host::Compiled => {
                let ops = self.least_of_ops(region)?;
                let launch = crate::constants().prior(Parameter::GpuLaunch).low * 1e-6;
                let all: f64 = ops.iter().map(|(least, runs)| least.max(launch) * runs).sum();
                Some(all / region.calls / least)
            }
            _ => Some(known.call_s.p50 / least),
        }
    }

    /// The least time of each operation and how often it ran; `None` where a roof is not known.
    fn least_of_ops(&self, region: &Region) -> Option<Vec<(f64, f64)>> {
        let least = |op: &RegionOp| {
            let Some(cost) = &op.cost else { return Some((0.0, 0.0)) };
            let (compute, memory) = least_secs(&self.ceilings, cost)?;
            Some((compute.max(memory), op.executions))
        };
        region.ops.iter().map(least).collect()
    }

    /// The least time of a call: what enters and leaves once, the arithmetic at its roof, or starting one kernel an iteration.
    fn least_call(&self, region: &Region) -> Option<f64> {
        let workload = &region.specification.as_ref().ok()?.workload;
        let memory = (workload.input.0 + workload.output.0) / self.ceilings.value(Limit::Memory)?;
        let mut compute = 0.0;
        for op in &region.ops {
            let Some(cost) = &op.cost else { continue };
            let secs = match op.exchanges > 0.0 {
                true => {
                    let rate = self.ceilings.value(Limit::Rate(NumberType::F32, ComputeUnit::Plain))?;
                    2.0 * op.exchanges * OPERATIONS_OF_A_MINIMUM / rate
                }
                false => least_secs(&self.ceilings, cost)?.0,
            };
            compute += secs * op.executions / region.calls;
        }
        let launch = match self.host {
            Host::MeasuredOnProcessor => 0.0,
            _ => crate::constants().prior(Parameter::GpuLaunch).low * 1e-6,
        };
        // Iterations that follow one another start at least one kernel each.
        let iterations =
            region.specification.as_ref().ok()?.opened.as_ref().map_or(1.0, |opened| opened.trips.max(1.0));
        Some(memory.max(compute).max(launch * iterations))
    }
}
