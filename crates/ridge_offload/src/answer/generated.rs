//! What a generated core changes in the answer of a board.

use crate::bundle::DesignBasis;
use crate::draw::Draw;
use crate::parameter::Parameter;
use crate::predict::Interval;
use crate::time::CoreRun;
use crate::{Board, Core, Workload};

/// What a generated core changed in the answer of a board.
#[derive(Debug, Clone, PartialEq)]
pub struct Generated {
    /// The bundle, as it was named.
    pub bundle: String,
    /// What the time on this board rests on.
    pub basis: DesignBasis,
    /// One call by the model alone, of a design that fills the board, seconds: calibrated.
    pub prior_total_s: Interval,
    /// How many times as fast that would be.
    pub prior_speedup: Interval,
    /// Calls with data on the board from which on that would gain; `None` for never.
    pub prior_break_even_calls: Option<f64>,
    /// Whether that may gain, as it is called or with data on the board.
    pub prior_may_gain: bool,
    /// The parts of the board that the core takes, where they are known.
    pub takes: Vec<(&'static str, f64)>,
    /// How many such cores the usable part of the board holds; `None` where not all cells are known.
    pub copies: Option<f64>,
}

/// What a call of `core` does in the place of `workload`, which has so many iterations.
pub(super) fn run_of(core: &Core, workload: &Workload, iterations: f64, is_streamed: bool) -> CoreRun {
    // Where a loop around it leaves a part of the data alone, the same part of the core's is sent once.
    let part = |sent: (f64, f64), all: (f64, f64)| if all.0 > 0.0 { (sent.0 / all.0).clamp(0.0, 1.0) } else { 1.0 };
    let sent = |part: f64, bytes: f64| if part > 0.0 { (part * bytes, 1.0) } else { (0.0, 0.0) };
    let input = sent(part(workload.sent(), workload.input), core.input_bytes);
    CoreRun {
        clocks: core.call_clocks,
        iterations: iterations.max(1.0),
        moved_bytes: core.input_bytes + core.output_bytes,
        input: if is_streamed { (0.0, 0.0) } else { input },
        output: sent(part(workload.sent_back(), workload.output), core.output_bytes),
    }
}

/// How many cores the usable part of a board holds.
pub(super) fn copies(core: &Core, board: &Board, draw: &Draw) -> Option<f64> {
    if core.basis(board.family) != DesignBasis::Synthesized {
        return None;
    }
    let usable = |name: &str| match name {
        "DSP slices" => draw.get(Parameter::DspUse),
        "look-up tables" => draw.get(Parameter::LutUse),
        _ => draw.get(Parameter::OnchipUse),
    };
    let most = core.parts_of(board).into_iter().map(|(name, part)| (usable(name) / part).floor());
    most.reduce(f64::min)
}
