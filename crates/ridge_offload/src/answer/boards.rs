//! One region on one board or GPU.

use super::generated::{self, Generated};
use super::{Ask, Asked};
use crate::baseline::Known;
use crate::bounds::{self, Forbids};
use crate::draw::Draw;
use crate::parameter::Parameter;
use crate::predict::{self, Interval, Prediction, predict};
use crate::regions::{Flow, Region, Specification};
use crate::target::{self, Target};
use crate::time::{BoundBy, Parts, time, time_of_core};
use crate::{Board, Calibration, Core, DesignBasis, WhatIf, Widening, Workload, bundle, constants, cut};
use ridge_analysis::{ScaledBy, least_secs};

/// A region on one board or GPU.
#[derive(Debug, Clone)]
pub struct BoardAnswer {
    /// The board's name in options.
    pub id: String,
    /// The maker's name.
    pub name: String,
    /// One call, seconds: calibrated.
    pub total_s: Interval,
    /// One call with data on the board, seconds: calibrated; `None` of a GPU.
    pub resident_s: Option<Interval>,
    /// What a middling call is made of; `None` of a GPU.
    pub parts: Option<Parts>,
    /// What takes longest.
    pub bound: Option<BoundBy>,
    /// How many times as fast a call is: calibrated.
    pub speedup: Interval,
    /// How many times as fast all device work would be, with the middling speed-up.
    pub program_speedup: f64,
    /// Calls with data on the board from which on it gains; `None` for never.
    pub break_even_calls: Option<f64>,
    /// One iteration of a loop at a time, with its transfers, seconds; `None` where the region is no loop.
    pub opened_s: Option<Interval>,
    /// The least time with everything at its best and data on the board, seconds, and what takes it.
    pub least: Option<(f64, BoundBy)>,
    /// How many times less energy a call takes.
    pub energy: Option<Energy>,
    /// The part of the region that gains most.
    pub cut: Option<Cut>,
    /// Which of its figures nobody has checked against a source.
    pub unverified: Vec<&'static str>,
    /// What a generated core changed; `None` where the model alone answers.
    pub generated: Option<Generated>,
    /// Why a generated core does not answer for this board, where there is one.
    pub core_unused: Option<String>,
    /// Of a GPU: by what its time was found, with the part of the region's time that was; most first. Empty of a board.
    pub scaled_by: Vec<(ScaledBy, f64)>,
}

impl BoardAnswer {
    /// Whether it is another GPU.
    pub fn is_gpu(&self) -> bool {
        !self.scaled_by.is_empty()
    }

    /// What the time on a board rests on; `None` of a GPU.
    pub fn basis(&self) -> Option<DesignBasis> {
        let of_board = || self.generated.as_ref().map_or(DesignBasis::Prior, |generated| generated.basis);
        (!self.is_gpu()).then(of_board)
    }
}

/// Energy of a call, with what the powers rest on.
#[derive(Debug, Clone, PartialEq)]
pub struct Energy {
    /// Joules on the program's device over joules on the board.
    pub ratio: Interval,
    /// What the powers rest on, in words.
    pub basis: &'static str,
}

/// The part of a region that a board should take.
#[derive(Debug, Clone, PartialEq)]
pub struct Cut {
    /// Its operations; none where no part gains.
    pub ops: Vec<String>,
    /// How many operations there are.
    pub of: usize,
    /// What a call saves by it, seconds, with everything in the middle.
    pub saves_s: f64,
    /// Where it is a part of a loop's body: what that means in each iteration.
    pub opened: Option<OpenedCut>,
    /// Whether it is a loop as a whole.
    pub is_whole_loop: bool,
}

/// A part of a loop's body that is called in each iteration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OpenedCut {
    /// Bytes over the link in each iteration, both ways.
    pub sent_bytes: f64,
    /// Bytes that are sent once a call, because the loop leaves them alone or asks for them at the end only.
    pub kept_bytes: f64,
    /// Iterations of a call.
    pub trips: f64,
}

/// What one unknown changes.
#[derive(Debug, Clone, PartialEq)]
pub struct Sensitivity {
    /// What is not known.
    pub what: String,
    /// One call, seconds, with it at its tenth percentile and at its ninetieth.
    pub from_s: f64,
    /// One call, seconds, with it at its ninetieth.
    pub to_s: f64,
}

/// The workload as it is asked for.
pub(super) fn asked(workload: &Workload, what_if: &WhatIf) -> Workload {
    let mut asked = what_if.format.map_or_else(|| workload.clone(), |format| workload.in_format(format));
    if what_if.is_streamed {
        (asked.input, asked.kept_input) = ((0.0, 0.0), (0.0, 0.0));
    }
    asked
}

/// The region on `board`, by its generated core where there is one; `None` where the model has no time for it.
pub(super) fn on_board(
    region: &Region,
    spec: &Specification,
    known: &Known,
    board: &'static Board,
    (ask, draws): (&Ask, &[Draw]),
    core: Option<&Core>,
) -> Option<BoardAnswer> {
    let prior = by_model(region, spec, known, board, ask, draws)?;
    let Some(core) = core else { return Some(prior) };
    match unused(core, board, &ask.what_if) {
        Some(why) => Some(BoardAnswer { core_unused: Some(why), ..prior }),
        None => by_core(prior, (region, spec, known), board, (ask, draws), core),
    }
}

/// Why a core says nothing of a region on `board`.
fn unused(core: &Core, board: &Board, what_if: &WhatIf) -> Option<String> {
    if what_if.format.is_some() {
        return Some(format!("it computes in {}, and another format was requested", core.format));
    }
    let parts = core.parts_of(board);
    let (name, part) = parts.into_iter().find(|(_, part)| *part > 1.0)?;
    Some(format!("it does not fit: it takes {part:.1} times the {name} of {}", board.name))
}

/// The answer of the model alone, with a core's clocks and bytes in the place of its estimate.
fn by_core(
    prior: BoardAnswer,
    (region, spec, known): (&Region, &Specification, &Known),
    board: &'static Board,
    (ask, draws): (&Ask, &[Draw]),
    core: &Core,
) -> Option<BoardAnswer> {
    let found = predict::over(draws, ask.what_if.resident.unwrap_or(1.0), |draw| {
        time_of_core(&run_of(core, spec, ask), board, draw, constants())
    })?;
    let widening = bundle::widening(core, spec.workload.class);
    let speedup = speedup(known, &found, ask, &widening)?;
    let median = ask.what_if.apply(Draw::at(constants(), 0.5));
    let generated = Generated {
        bundle: core.bundle.clone(),
        basis: core.basis(board.family),
        prior_total_s: prior.total_s,
        prior_speedup: prior.speedup,
        prior_break_even_calls: prior.break_even_calls,
        prior_may_gain: prior.speedup.p90 >= 1.0
            || prior.break_even_calls.is_some() && prior.bound == Some(BoundBy::Link),
        takes: core.parts_of(board),
        copies: generated::copies(core, board, &median),
    };
    Some(BoardAnswer {
        total_s: widening.widen(&found.total_s),
        resident_s: Some(widening.widen(&found.resident_s)),
        parts: Some(found.parts),
        bound: Some(found.bound),
        program_speedup: amdahl(region.share, speedup.p50),
        speedup,
        break_even_calls: break_even(known, &found),
        opened_s: None,
        energy: energy(known, &found, board, ask, draws, &widening),
        // A core is all of the region.
        cut: None,
        generated: Some(generated),
        ..prior
    })
}

fn run_of(core: &Core, spec: &Specification, ask: &Ask) -> crate::time::CoreRun {
    let iterations = spec.opened.as_ref().map_or(1.0, |opened| opened.trips);
    generated::run_of(core, &spec.workload, iterations, ask.what_if.is_streamed)
}

/// Calls with data on the board from which on it gains.
fn break_even(known: &Known, found: &Prediction) -> Option<f64> {
    let saved = known.call_s.p50 - found.resident_s.p50;
    (saved > 0.0).then(|| (found.tax_s.p50 / saved).max(1.0))
}

/// How many times as fast a call is: widened, and by the other modules of another device.
fn speedup(known: &Known, found: &Prediction, ask: &Ask, widening: &Widening) -> Option<Interval> {
    let ratios = known.draws_s.iter().zip(&found.draws_s).map(|(host, board)| host / board).collect();
    let raw = Interval::of(ratios)?;
    // A longer time is a smaller gain: the ends change places.
    let (least_of_host, most_of_host) = ask.baseline.by_other_hlo(known.launches);
    Some(Interval {
        p10: raw.p10 / widening.above * least_of_host,
        p50: raw.p50,
        p90: raw.p90 * widening.below * most_of_host,
    })
}

/// The region on `board` by the model alone.
fn by_model(
    region: &Region,
    spec: &Specification,
    known: &Known,
    board: &'static Board,
    ask: &Ask,
    draws: &[Draw],
) -> Option<BoardAnswer> {
    let workload = asked(&spec.workload, &ask.what_if);
    let resident_calls = ask.what_if.resident.unwrap_or(1.0);
    let found = predict(&workload, board, draws, resident_calls, constants())?;
    let widening = Calibration::of_this_version().widening(workload.class, None);
    let speedup = speedup(known, &found, ask, &widening)?;
    let least: Option<Forbids> = bounds::least(&workload, board, constants());
    let opened = spec.opened.as_ref().and_then(|opened| {
        let one = predict(&asked(&opened.workload, &ask.what_if), board, draws, 1.0, constants())?;
        Some(widening.widen(&one.total_s))
    });
    Some(BoardAnswer {
        id: board.id.clone(),
        name: board.name.clone(),
        total_s: widening.widen(&found.total_s),
        resident_s: Some(widening.widen(&found.resident_s)),
        parts: Some(found.parts),
        bound: Some(found.bound),
        program_speedup: amdahl(region.share, speedup.p50),
        speedup,
        break_even_calls: break_even(known, &found),
        opened_s: opened,
        least: least.map(|least| (least.least_s, least.by)),
        energy: energy(known, &found, board, ask, draws, &widening),
        cut: cut_of(region, spec, known, found.total_s.p50, board, ask),
        unverified: board.unverified(),
        generated: None,
        core_unused: None,
        scaled_by: Vec::new(),
    })
}

/// The region on another GPU.
pub(super) fn on_gpu(region: &Region, known: &Known, target: &Target<'_>, asked: &Asked<'_>) -> Option<BoardAnswer> {
    let there = target::time(region, &asked.ask.baseline, target, asked.groups, asked.draws)?;
    let ratios = known.draws_s.iter().zip(&there.draws_s).map(|(here, there)| here / there).collect();
    let speedup = Interval::of(ratios)?;
    Some(BoardAnswer {
        id: target.gpu.id.clone(),
        name: target.gpu.sheet.name.clone(),
        total_s: there.total_s,
        resident_s: None,
        parts: None,
        bound: None,
        program_speedup: amdahl(region.share, speedup.p50),
        speedup,
        break_even_calls: None,
        opened_s: None,
        least: None,
        energy: None,
        cut: None,
        unverified: Vec::new(),
        generated: None,
        core_unused: None,
        scaled_by: there.scaled_by,
    })
}

/// Amdahl, AFIPS 1967: how much faster everything is where a part `share` is so many times as fast.
pub(crate) fn amdahl(share: f64, speedup: f64) -> f64 {
    1.0 / ((1.0 - share).max(0.0) + share / speedup.max(1e-12))
}

fn energy(
    known: &Known,
    found: &Prediction,
    board: &Board,
    ask: &Ask,
    draws: &[Draw],
    widening: &Widening,
) -> Option<Energy> {
    let host_w = ask.baseline.tdp_w?;
    let (fixed_w, tdp_w) = (board.measured_w.as_ref().map(|power| power.value), board.tdp_w.as_ref());
    let board_w = |draw: &Draw| fixed_w.or_else(|| Some(tdp_w?.value * draw.get(Parameter::BoardPower)));
    let mut ratios = Vec::with_capacity(draws.len());
    for ((draw, host_s), board_s) in draws.iter().zip(&known.draws_s).zip(&found.draws_s) {
        ratios.push(host_s * host_w * draw.get(Parameter::GpuPower) / (board_s * board_w(draw)?));
    }
    let raw = Interval::of(ratios)?;
    let basis = match fixed_w {
        Some(_) => "power of one published design on the board; a part of the GPU's design power",
        None => "a part of each device's design power; the board's is unverified",
    };
    Some(Energy {
        ratio: Interval {
            p10: raw.p10 / widening.above * ask.baseline.by_other_hlo(known.launches).0,
            p50: raw.p50,
            p90: raw.p90 * widening.below * ask.baseline.by_other_hlo(known.launches).1,
        },
        basis,
    })
}

/// The best part of the region on `board`, each of its operations at the median: all of it, which takes `whole_s`, or a
/// minimum cut of its operations, in each iteration where it is a loop.
fn cut_of(region: &Region, spec: &Specification, known: &Known, whole_s: f64, board: &Board, ask: &Ask) -> Option<Cut> {
    if spec.nodes.len() > cut::MOST_NODES {
        return None;
    }
    let median = ask.what_if.apply(Draw::at(constants(), 0.5));
    let trips = spec.opened.as_ref().map_or(1.0, |opened| opened.trips).max(1.0);
    let calls = region.calls * trips;
    let gains: Vec<f64> = spec
        .nodes
        .iter()
        .map(|node| {
            let workload = asked(&node.workload, &ask.what_if);
            let board_s = time(&workload, board, &median, constants()).map(|parts| parts.resident_s());
            let host_s = match ask.baseline.host {
                crate::Host::Sheet | crate::Host::Compiled => least_of(region, &node.name, ask, &median, calls),
                _ => node.self_ns * 1e-9,
            };
            host_s - board_s.unwrap_or(f64::INFINITY).min(1e3)
        })
        .collect();
    let resident = ask.what_if.resident.unwrap_or(1.0);
    let rate = constants().fixed("to_board_rate").value * 1e9 * board.link.times_gen3x16();
    let setup = constants().fixed("to_board_setup").value * 1e-6;
    let cost = |flow: &Flow| (setup + flow.bytes / rate) * flow.times / resident;
    let values: Vec<cut::Value> =
        spec.values.iter().map(|flow| (flow.maker, flow.readers.clone(), cost(flow))).collect();
    let set = cut::best_set(&gains, &values);
    let launch = median.get(Parameter::Launch) / resident;
    let part_s = if set.is_empty() { 0.0 } else { trips * (cut::worth(&gains, &values, &set) - launch) };
    let whole_s = known.call_s.p50 - whole_s;
    let of = spec.nodes.len();
    let name = |at: usize| spec.nodes[at].name.clone();
    let is_loop = spec.opened.is_some();
    Some(if whole_s > 0.0 && whole_s >= part_s {
        Cut { ops: (0..of).map(name).collect(), of, saves_s: whole_s, opened: None, is_whole_loop: is_loop }
    } else if part_s > 0.0 {
        let opened = is_loop.then(|| opened_cut(&spec.values, &cut::Inside::new(of, &set), trips));
        Cut { ops: set.into_iter().map(name).collect(), of, saves_s: part_s, opened, is_whole_loop: false }
    } else {
        Cut { ops: Vec::new(), of, saves_s: 0.0, opened: None, is_whole_loop: false }
    })
}

/// What crosses the link where the `set` of a loop's body is on the board.
fn opened_cut(values: &[Flow], set: &cut::Inside, trips: f64) -> OpenedCut {
    let crosses = |flow: &&Flow| set.is_crossed(flow.maker, &flow.readers);
    let bytes = |is_each: bool| {
        let flows = values.iter().filter(crosses).filter(|flow| (flow.times >= 1.0) == is_each);
        flows.fold(0.0, |sum, flow| sum + flow.bytes)
    };
    OpenedCut { sent_bytes: bytes(true), kept_bytes: bytes(false), trips }
}

fn least_of(region: &Region, name: &str, ask: &Ask, draw: &Draw, calls: f64) -> f64 {
    let op = region.ops.iter().find(|op| op.name == name);
    let least = op.and_then(|op| {
        let (compute, memory) = least_secs(&ask.baseline.ceilings, op.cost.as_ref()?)?;
        let secs = compute.max(memory) / draw.get(Parameter::GpuEfficiency);
        Some(secs.max(draw.get(Parameter::GpuLaunch)) * op.executions / calls)
    });
    least.unwrap_or(0.0)
}

/// What each unknown changes on `board`, most first; nothing that changes less than 2%.
pub(super) fn sensitivities(spec: &Specification, board: &Board, ask: &Ask, core: Option<&Core>) -> Vec<Sensitivity> {
    let workload = asked(&spec.workload, &ask.what_if);
    let parts = |draw: &Draw| match core {
        Some(core) => time_of_core(&run_of(core, spec, ask), board, draw, constants()),
        None => time(&workload, board, draw, constants()),
    };
    let resident = ask.what_if.resident.unwrap_or(1.0);
    let median = ask.what_if.apply(Draw::at(constants(), 0.5));
    let total = |draw: &Draw, resident: f64| parts(draw).map(|parts| parts.resident_s() + parts.tax_s() / resident);
    let mut sensitivities: Vec<Sensitivity> = Vec::new();
    let is_open = |parameter: &Parameter| ask.what_if.decided.iter().all(|(decided, _)| decided != parameter);
    for parameter in Parameter::ALL.into_iter().filter(is_open) {
        let at = |share: f64| total(&median.with(parameter, Draw::value(constants(), parameter, share)), resident);
        if let (Some(from_s), Some(to_s)) = (at(0.1), at(0.9)) {
            sensitivities.push(Sensitivity { what: parameter.words().to_owned(), from_s, to_s });
        }
    }
    if ask.what_if.resident.is_none()
        && let (Some(from_s), Some(to_s)) = (total(&median, 1.0), total(&median, 100.0))
    {
        sensitivities.push(Sensitivity { what: "calls with data on the board, 1 or 100".to_owned(), from_s, to_s });
    }
    let size = |sensitivity: &Sensitivity| (sensitivity.from_s / sensitivity.to_s).ln().abs();
    sensitivities.retain(|sensitivity| size(sensitivity) > 0.02);
    sensitivities.sort_by(|one, other| size(other).total_cmp(&size(one)));
    sensitivities
}
