//! What is asked of other hardware, and what the answer for every region needs.

use crate::baseline::Baseline;
use crate::draw::Draw;
use crate::target::{Target, TargetGpu};
use crate::{Board, Bundle, WhatIf};
use ridge_analysis::{Analysis, DeviceSheet, Group};

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
    /// Cores that were generated of regions.
    pub bundles: Vec<Bundle>,
    /// What is taken to be otherwise.
    pub what_if: WhatIf,
}

/// What is asked of every region, and what all of them need.
pub(super) struct Asked<'a> {
    pub(super) ask: &'a Ask,
    pub(super) draws: &'a [Draw],
    pub(super) targets: Vec<Target<'a>>,
    pub(super) groups: &'a [Group],
    pub(super) analysis: &'a Analysis<'a>,
}
