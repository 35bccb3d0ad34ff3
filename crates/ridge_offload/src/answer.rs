//! The answer: each region on each board, with its verdict and the reason.

mod asked;
mod boards;
mod generated;
mod judge;
mod region;
mod words;

pub use asked::Ask;
pub use boards::{BoardAnswer, Cut, Energy, OpenedCut, Sensitivity};
pub use generated::Generated;
pub use region::RegionAnswer;

use asked::Asked;

use crate::baseline::{Baseline, Host};
use crate::draw::Draw;
use crate::regions::{Region, regions};
use crate::target::{Target, TargetGpu};
use crate::{BundleUse, WhatIf, bundle, constants};
use ridge_analysis::{Analysis, Factors};

/// Draws for the answer; the quantiles of twice as many differ by less than 2%.
const DRAWS: usize = 500;

/// Regions below this part of the device time are counted together.
const LEAST_SHARE: f64 = 0.01;

/// The whole answer.
#[derive(Debug, Clone)]
pub struct Offload {
    /// It in one line.
    pub headline: String,
    /// What the program runs on, or is meant to.
    pub baseline: Baseline,
    /// The regions, most time first.
    pub regions: Vec<RegionAnswer>,
    /// Regions that take too little to be shown: how many, and their part of all device work.
    pub others: (usize, f64),
    /// What became of each bundle that was named.
    pub bundles: Vec<BundleUse>,
    /// What the answer rests on besides the capture.
    pub assumptions: Vec<String>,
    /// What was taken to be otherwise.
    pub what_if: WhatIf,
}

/// Asks what other hardware would gain.
pub fn offload(analysis: &Analysis<'_>, ask: &Ask) -> Offload {
    let draws: Vec<Draw> = Draw::many(constants(), DRAWS).into_iter().map(|draw| ask.what_if.apply(draw)).collect();
    let (shown, others): (Vec<Region>, Vec<Region>) =
        regions(analysis).into_iter().partition(|region| region.share >= LEAST_SHARE);
    let is_measured = ask.baseline.host == Host::Measured;
    let factors = |gpu: &TargetGpu| is_measured.then(|| Factors::new(analysis, gpu.sheet, ask.captured_on));
    let targets = ask.targets.iter().map(|gpu| Target { gpu, factors: factors(gpu) }).collect();
    let bundles = bundle::uses(&shown, &ask.bundles, analysis);
    let asked = Asked { ask, draws: &draws, targets, groups: &analysis.groups().groups, analysis };
    let regions: Vec<RegionAnswer> = shown.into_iter().map(|region| judge::answer(region, &asked)).collect();
    let others = (others.len(), others.iter().map(|region| region.share).sum());
    Offload {
        headline: words::headline(&regions, ask),
        assumptions: words::assumptions(&regions, ask),
        baseline: ask.baseline.clone(),
        regions,
        others,
        bundles,
        what_if: ask.what_if.clone(),
    }
}

impl Offload {
    /// Whether the times of the program's own device were measured.
    pub fn is_measured(&self) -> bool {
        !self.baseline.host.is_by_sheet()
    }
}
