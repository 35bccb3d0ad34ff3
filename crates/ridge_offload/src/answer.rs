//! The answer: each region on each board, with its verdict and the reason.

mod boards;
mod judge;
mod words;

pub use boards::{BoardAnswer, Cut, Energy, OpenedCut, Swing};

use crate::baseline::{Baseline, Host};
use crate::draw::Draw;
use crate::predict::Interval;
use crate::regions::{Region, regions};
use crate::target::{Target, TargetGpu};
use crate::{Board, Class, Fix, Verdict, WhatIf, constants};
use ridge_analysis::{Analysis, DeviceSheet, Factors, Group};

/// Draws for the answer; the quantiles of twice as many differ by less than 2 %.
const DRAWS: usize = 500;

/// Regions below this part of the device time are counted together.
const LEAST_SHARE: f64 = 0.01;

/// What is asked.
#[derive(Debug, Clone)]
pub struct Ask {
    /// What the program runs on, or is meant to.
    pub baseline: Baseline,
    /// Boards to lay beside it.
    pub boards: Vec<&'static Board>,
    /// Other GPUs to lay beside it.
    pub targets: Vec<TargetGpu>,
    /// The sheet of what was captured, where the capture does not name it.
    pub captured_on: Option<&'static DeviceSheet>,
    /// What is taken to be otherwise.
    pub what_if: WhatIf,
}

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
    /// What the answer rests on besides the capture.
    pub assumptions: Vec<String>,
    /// What was taken to be otherwise.
    pub what_if: WhatIf,
}

/// One region with its verdict.
#[derive(Debug, Clone)]
pub struct RegionAnswer {
    /// The region.
    pub region: Region,
    /// What is to be done with it.
    pub verdict: Verdict,
    /// Why, in words.
    pub why: String,
    /// What kind of work decides its time; `None` without a specification.
    pub class: Option<Class>,
    /// One call on the program's own device, seconds; `None` where nothing tells.
    pub call_s: Option<Interval>,
    /// How many times longer the program takes than it must.
    pub headroom: Option<f64>,
    /// Which change of the program is worth most, where that is more than other hardware.
    pub fix: Option<Fix>,
    /// Kernels that one call starts.
    pub launches: f64,
    /// Launches of the program's device that one call of a board must replace before it can gain, by its setup alone.
    pub launches_to_replace: Option<f64>,
    /// Each board and GPU, the fastest first.
    pub boards: Vec<BoardAnswer>,
    /// What changes the time on the fastest board most, most first.
    pub swings: Vec<Swing>,
}

/// Asks what other hardware would gain.
pub fn offload(analysis: &Analysis<'_>, ask: &Ask) -> Offload {
    let draws: Vec<Draw> = Draw::many(constants(), DRAWS).into_iter().map(|draw| ask.what_if.apply(draw)).collect();
    let (shown, others): (Vec<Region>, Vec<Region>) =
        regions(analysis).into_iter().partition(|region| region.share >= LEAST_SHARE);
    let is_measured = ask.baseline.host == Host::Measured;
    let factors = |gpu: &TargetGpu| is_measured.then(|| Factors::new(analysis, gpu.sheet, ask.captured_on));
    let targets = ask.targets.iter().map(|gpu| Target { gpu, factors: factors(gpu) }).collect();
    let asked = Asked { ask, draws: &draws, targets, groups: &analysis.groups().groups };
    let regions: Vec<RegionAnswer> = shown.into_iter().map(|region| judge::answer(region, &asked)).collect();
    let others = (others.len(), others.iter().map(|region| region.share).sum());
    Offload {
        headline: words::headline(&regions, ask),
        assumptions: words::assumptions(&regions, ask),
        baseline: ask.baseline.clone(),
        regions,
        others,
        what_if: ask.what_if.clone(),
    }
}

/// What is asked of every region, and what all of them need.
struct Asked<'a> {
    ask: &'a Ask,
    draws: &'a [Draw],
    targets: Vec<Target<'a>>,
    groups: &'a [Group],
}

impl Offload {
    /// Whether the times of the program's own device were measured.
    pub fn is_measured(&self) -> bool {
        self.baseline.host != Host::Sheet
    }
}
