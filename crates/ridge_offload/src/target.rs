//! Another GPU: each operation at its roof there, at the part of the roof that it reached where it was measured.

use crate::baseline::{Baseline, Host};
use crate::draw::{Draw, Parameter};
use crate::predict::Interval;
use crate::regions::Region;
use ridge_analysis::{Ceilings, least_secs};

/// How much the reached part may change from one GPU to the next; judged, no published kernels are scored for it.
const CARRIED: f64 = 1.35;

/// The time of one call of `region` on the device with `target`'s roofs; `None` where a roof is not known.
pub(crate) fn time(
    region: &Region,
    baseline: &Baseline,
    target: &Ceilings,
    draws: &[Draw],
) -> Option<(Interval, Vec<f64>)> {
    let launch_s = crate::constants().prior(Parameter::GpuLaunch).low * 1e-6;
    let mut carried = 0.0;
    let mut ops = Vec::new();
    for op in &region.ops {
        let Some(cost) = &op.cost else { continue };
        let (compute, memory) = least_secs(target, cost)?;
        let there = compute.max(memory);
        if baseline.host == Host::Measured {
            let (compute, memory) = least_secs(&baseline.ceilings, cost)?;
            let here = compute.max(memory);
            let measured = op.self_ns * 1e-9;
            // What takes no time at its roof is launches, which are as long there.
            carried += if here > launch_s { measured * there / here } else { measured };
        }
        ops.push((there, op.executions));
    }
    let draws_s: Vec<f64> = match baseline.host {
        Host::Measured => {
            // The same draw that says what part of its roof a GPU reaches says which way the carried part errs.
            let prior = crate::constants().prior(Parameter::GpuEfficiency);
            let middle = prior.quantile(0.5);
            let spread = |draw: &Draw| {
                let aside = (draw.get(Parameter::GpuEfficiency) - middle) / (prior.high - prior.low) * 2.0;
                CARRIED.powf(-aside)
            };
            draws.iter().map(|draw| carried / region.calls * spread(draw)).collect()
        }
        _ => draws
            .iter()
            .map(|draw| {
                let (efficiency, launch) = (draw.get(Parameter::GpuEfficiency), draw.get(Parameter::GpuLaunch));
                ops.iter().map(|(least, runs)| (least / efficiency).max(launch) * runs).sum::<f64>() / region.calls
            })
            .collect(),
    };
    Some((Interval::of(draws_s.clone())?, draws_s))
}
