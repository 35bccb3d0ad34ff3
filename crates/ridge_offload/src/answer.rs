//! The answer: each region on each board, with its verdict and the reason.

mod boards;
mod judge;
mod words;

pub use boards::{BoardAnswer, Cut, Energy, Swing};

use crate::baseline::{Baseline, Host};
use crate::draw::Draw;
use crate::predict::Interval;
use crate::regions::{Region, regions};
use crate::{Board, Class, Fix, Verdict, WhatIf, constants};
use ridge_analysis::{Analysis, Ceilings};

/// Draws for the answer; the quantiles of twice as many differ by less than 2 %.
const DRAWS: usize = 500;

/// Regions below this part of the device time are counted together.
const LEAST_SHARE: f64 = 0.01;

/// Another GPU that a region may move to.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetGpu {
    /// Its name in the answer, `h200`.
    pub id: String,
    /// The maker's name.
    pub name: String,
    /// Its roofs.
    pub ceilings: Ceilings,
    /// Its design power, watts.
    pub tdp_w: Option<f64>,
}

/// What is asked.
#[derive(Debug, Clone)]
pub struct Ask {
    /// What the program runs on, or is meant to.
    pub baseline: Baseline,
    /// Boards to lay beside it.
    pub boards: Vec<&'static Board>,
    /// Other GPUs to lay beside it.
    pub targets: Vec<TargetGpu>,
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
    let regions: Vec<RegionAnswer> = shown.into_iter().map(|region| judge::answer(region, ask, &draws)).collect();
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

impl Offload {
    /// Whether the times of the program's own device were measured.
    pub fn is_measured(&self) -> bool {
        self.baseline.host != Host::Sheet
    }
}
