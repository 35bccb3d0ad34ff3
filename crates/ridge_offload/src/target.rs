//! Another GPU: measured work by what the two devices differ in, work that was not measured there at the target's roofs.
//!
//! How much of its time each kernel takes there is [`Factors`], the one that `what-if --target` replays with.

use crate::baseline::{Baseline, Host};
use crate::draw::Draw;
use crate::parameter::Parameter;
use crate::predict::Interval;
use crate::regions::Region;
use ridge_analysis::{Ceilings, DeviceSheet, Factors, Group, ScaledBy, least_secs};

/// Multiples of it, less their whole part, lie evenly and follow no order: (√5 − 1) / 2.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// Half the middle eight tenths.
const EIGHT_IN_TEN: f64 = 0.4;

/// Another GPU that a region may move to.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetGpu {
    /// Its name in the answer, `h200`.
    pub id: String,
    /// Its data sheet.
    pub sheet: &'static DeviceSheet,
}

/// A target with what each piece of the capture's work takes there; `None` where nothing was measured on a GPU.
#[derive(Debug)]
pub(crate) struct Target<'a> {
    pub(crate) gpu: &'a TargetGpu,
    pub(crate) factors: Option<Factors>,
}

/// The time of a region on another GPU.
#[derive(Debug)]
pub(crate) struct There {
    /// One call, seconds.
    pub(crate) total_s: Interval,
    /// One call in each draw, seconds.
    pub(crate) draws_s: Vec<f64>,
    /// What its time was scaled by, with the part of it that was; most first.
    pub(crate) scaled_by: Vec<(ScaledBy, f64)>,
}

/// The time of one call of `region` there; `None` where nothing tells.
pub(crate) fn time(
    region: &Region,
    baseline: &Baseline,
    target: &Target<'_>,
    groups: &[Group],
    draws: &[Draw],
) -> Option<There> {
    match &target.factors {
        Some(factors) if baseline.host == Host::Measured => by_factors(region, factors, groups, draws),
        _ => at_roofs(region, &target.gpu.sheet.ceilings, draws),
    }
}

/// Each piece of measured work times its factor.
fn by_factors(region: &Region, factors: &Factors, groups: &[Group], draws: &[Draw]) -> Option<There> {
    let (mut low, mut high) = (0.0, 0.0);
    let mut bases: Vec<(ScaledBy, f64)> = Vec::new();
    for group in region.ops.iter().flat_map(|op| &op.groups).filter_map(|at| groups.get(*at)) {
        let (ns, factor) = (group.self_ns as f64, factors.of(group));
        low += ns * f64::from(factor.low);
        high += ns * f64::from(factor.high);
        match bases.iter_mut().find(|(by, _)| *by == factor.by) {
            Some((_, sum)) => *sum += ns,
            None => bases.push((factor.by, ns)),
        }
    }
    let all: f64 = bases.iter().map(|(_, ns)| ns).sum();
    bases.retain(|(_, ns)| *ns > 0.0);
    if low <= 0.0 || bases.iter().all(|(by, _)| by.is_unscaled()) {
        return None;
    }
    bases.sort_by(|one, other| other.1.total_cmp(&one.1));
    // Where kernels were measured on two GPUs, eight in ten predictions were off by no more.
    let spread: f64 = bases.iter().map(|(by, ns)| crate::gpus::spread(*by, None).ln() * ns / all).sum();
    // Nothing says where between its ends a time lies, nor how far off it is: anywhere, evenly, the one not as the other.
    let even = |at: usize| (at as f64 + 0.5) / draws.len() as f64;
    let other = |at: usize| ((at as f64 + 0.5) * GOLDEN).fract();
    let between = |at: usize| low * (high / low).powf(even(at));
    let errs = |at: usize| (spread * (other(at) - 0.5) / EIGHT_IN_TEN).exp();
    let draws_s: Vec<f64> = (0..draws.len()).map(|at| between(at) * 1e-9 / region.calls * errs(at)).collect();
    let scaled_by = bases.into_iter().map(|(by, ns)| (by, ns / all)).collect();
    Some(There { total_s: Interval::of(draws_s.clone())?, draws_s, scaled_by })
}

/// Each operation at the part of the roof there that GPUs reach.
fn at_roofs(region: &Region, ceilings: &Ceilings, draws: &[Draw]) -> Option<There> {
    let mut ops = Vec::new();
    for op in &region.ops {
        let Some(cost) = &op.cost else { continue };
        let (compute, memory) = least_secs(ceilings, cost)?;
        ops.push((compute.max(memory), op.executions));
    }
    if ops.is_empty() {
        return None;
    }
    let call = |draw: &Draw| {
        let (efficiency, launch) = (draw.get(Parameter::GpuEfficiency), draw.get(Parameter::GpuLaunch));
        ops.iter().map(|(least, runs)| (least / efficiency).max(launch) * runs).sum::<f64>() / region.calls
    };
    let draws_s: Vec<f64> = draws.iter().map(call).collect();
    Some(There { total_s: Interval::of(draws_s.clone())?, draws_s, scaled_by: vec![(ScaledBy::Roof, 1.0)] })
}
