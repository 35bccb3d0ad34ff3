//! From times to a verdict.

use super::boards::{BoardAnswer, asked, on_board, on_gpu, sensitivities};
use super::generated::Generated;
use super::{Ask, Asked, RegionAnswer, words};
use crate::baseline::{Host, Known};
use crate::draw::Draw;
use crate::parameter::Parameter;
use crate::regions::{Region, Specification};
use crate::{Board, BoundBy, Fix, Verdict, bundle, constants};

/// Headroom from which on the program itself is what to mend.
const GPU_FIRST: f64 = 3.0;

/// The verdict of one region.
pub(super) fn answer(region: Region, asked: &Asked<'_>) -> RegionAnswer {
    let (ask, draws) = (asked.ask, asked.draws);
    let known = ask.baseline.known(&region, draws);
    let core = bundle::of_region(&region, &ask.bundles, asked.analysis).map(|bundle| bundle.core.clone());
    let mut answer = RegionAnswer {
        core,
        verdict: Verdict::NoSpecification,
        why: String::new(),
        class: region.specification.as_ref().ok().map(|spec| spec.workload.class),
        call_s: known.as_ref().map(|known| known.call_s),
        headroom: None,
        fix: None,
        launches: known.as_ref().map_or(0.0, |known| known.launches),
        launches_to_replace: None,
        boards: Vec::new(),
        sensitivities: Vec::new(),
        region,
    };
    let spec = match &answer.region.specification {
        Ok(spec) => spec.clone(),
        Err(because) => {
            answer.why = format!("no specification, because {because}");
            if let Some(known) = known.filter(|_| ask.baseline.host == Host::Measured) {
                by_measured_time(&mut answer, &known, asked);
            }
            return answer;
        }
    };
    let Some(known) = known else {
        answer.verdict = Verdict::Undecided;
        answer.why =
            format!("a peak rate of {} that it needs is unknown, and so is its time there", ask.baseline.device);
        return answer;
    };
    answer.headroom = ask.baseline.headroom(&answer.region, &known);
    let core = answer.core.as_ref();
    let boards =
        ask.boards.iter().filter_map(|board| on_board(&answer.region, &spec, &known, board, (ask, draws), core));
    let mut all: Vec<BoardAnswer> = boards.chain(on_gpus(&answer.region, &known, asked)).collect();
    sort(&mut all);
    answer.launches_to_replace = (ask.baseline.host != Host::MeasuredOnProcessor).then(|| to_replace(&spec));
    if let Some(best) = all.iter().find(|board| !board.is_gpu())
        && let Some(board) = Board::named(&best.id)
    {
        let core = answer.core.as_ref().filter(|_| best.generated.is_some());
        answer.sensitivities = sensitivities(&spec, board, ask, core);
    }
    answer.boards = all;
    judge(&mut answer, &spec, &known, ask);
    answer
}

fn on_gpus(region: &Region, known: &Known, asked: &Asked<'_>) -> Vec<BoardAnswer> {
    asked.targets.iter().filter_map(|target| on_gpu(region, known, target, asked)).collect()
}

/// The fastest first.
fn sort(boards: &mut [BoardAnswer]) {
    boards.sort_by(|one, other| other.speedup.p50.total_cmp(&one.speedup.p50));
}

/// A GPU needs no specification where its kernels were measured on another; the verdict is on GPUs where no board was
/// asked for.
fn by_measured_time(answer: &mut RegionAnswer, known: &Known, asked: &Asked<'_>) {
    answer.boards = on_gpus(&answer.region, known, asked);
    sort(&mut answer.boards);
    if answer.boards.is_empty() && !asked.targets.is_empty() {
        let device = &asked.ask.baseline.device;
        answer.why.push_str(&format!(
            "; its time on another GPU is unknown as well: `{device}` has no data sheet (`--as` names the device)"
        ));
    }
    let Some(best) = answer.boards.first().filter(|_| asked.ask.boards.is_empty()) else { return };
    let how = words::interval_times(&best.speedup);
    (answer.verdict, answer.why) = match best.speedup {
        speedup if speedup.p10 > 1.0 => (Verdict::LatencyCandidate, format!("{} answers {how} as fast", best.name)),
        speedup if speedup.p90 < 1.0 => (Verdict::NeverOnThroughput, format!("{} is {how} as fast", best.name)),
        _ => (
            Verdict::Undecided,
            format!("{} is {how} as fast: the interval includes both a gain and a loss", best.name),
        ),
    };
}

/// The board on which another design than the generated one may gain, the one that gains most.
fn faster_design(answer: &RegionAnswer) -> Option<(&BoardAnswer, &Generated)> {
    let all = answer.boards.iter().filter_map(|board| Some((board, board.generated.as_ref()?)));
    all.filter(|(_, generated)| generated.prior_may_gain)
        .max_by(|one, other| one.1.prior_speedup.p50.total_cmp(&other.1.prior_speedup.p50))
}

/// Setup of both transfers and a launch, in launches of a GPU.
fn to_replace(spec: &Specification) -> f64 {
    let micros = |name: &str| constants().fixed(name).value * 1e-6;
    let (input, output) = (spec.workload.sent().1.max(1.0), spec.workload.sent_back().1.max(1.0));
    let launch = Draw::value(constants(), Parameter::Launch, 0.5);
    let setup = input * micros("to_board_setup") + output * micros("from_board_setup") + launch;
    setup / Draw::value(constants(), Parameter::GpuLaunch, 0.5)
}

fn judge(answer: &mut RegionAnswer, spec: &Specification, known: &Known, ask: &Ask) {
    let device = &ask.baseline.device;
    if let Some(headroom) =
        answer.headroom.filter(|headroom| *headroom > GPU_FIRST && ask.baseline.host != Host::MeasuredOnProcessor)
    {
        let fix = Fix::of(&answer.region, known);
        answer.fix = Some(fix);
        answer.verdict = Verdict::GpuFirst;
        let mended = match (answer.boards.first(), known.least_s) {
            (Some(best), Some(least)) => {
                format!(
                    "; fixed, a call takes {} there at best, and {} on {}{}",
                    words::secs(least),
                    words::secs(best.total_s.p50),
                    best.name,
                    words::with_core(best)
                )
            }
            _ => String::new(),
        };
        let as_compiled = if ask.baseline.host == Host::Sheet { "with the modules as compiled here, " } else { "" };
        answer.why = format!(
            "{as_compiled}{device} takes {} times as long as necessary: {}{mended}",
            words::times(headroom),
            fix.words()
        );
        return;
    }
    let Some(best) = answer.boards.first() else {
        answer.verdict = Verdict::Undecided;
        answer.why = "the model has no time for any of the boards".to_owned();
        return;
    };
    let speedup = best.speedup;
    let energy = answer.boards.iter().filter_map(|board| Some((board, board.energy.as_ref()?)));
    let thrifty = energy
        .filter(|(_, energy)| energy.ratio.p10 > 1.0)
        .max_by(|one, other| one.1.ratio.p50.total_cmp(&other.1.ratio.p50));
    let keeps_pace = |board: &BoardAnswer| {
        let rate = constants().fixed("to_board_rate").value * 1e9;
        let input = asked(&spec.workload, &crate::WhatIf { is_streamed: false, ..ask.what_if.clone() }).input.0;
        board.resident_s.is_some_and(|resident| resident.p90 <= input / rate)
    };
    let (verdict, why) = if speedup.p10 > 1.0 {
        let why =
            format!("{} answers {} as fast{}", best.name, words::interval_times(&speedup), words::with_core(best));
        (Verdict::LatencyCandidate, why)
    } else if ask.what_if.is_streamed && keeps_pace(best) {
        (
            Verdict::StreamCandidate,
            format!(
                "{} keeps pace with its input at the rate of a PCIe 3.0 link, so that only results are sent on",
                best.name
            ),
        )
    } else if speedup.p90 >= 1.0 {
        let why = format!(
            "{} is {} as fast{}: the interval includes both a gain and a loss",
            best.name,
            words::interval_times(&speedup),
            words::with_core(best)
        );
        (Verdict::Undecided, why)
    } else if let Some((board, energy)) = thrifty {
        let why = format!(
            "{} is slower, and takes {} less energy ({})",
            board.name,
            words::interval_times(&energy.ratio),
            energy.basis
        );
        (Verdict::EnergyCandidate, why)
    } else if let (Some(calls), Some(BoundBy::Link)) = (best.break_even_calls, best.bound) {
        let why = format!(
            "as it is called, bytes over the link make {} {} as fast{}; it would gain after {} calls with data on the board, but the capture does not show whether data can stay there",
            best.name,
            words::interval_times(&speedup),
            words::with_core(best),
            calls.ceil()
        );
        (Verdict::Undecided, why)
    } else if let Some((board, generated)) = faster_design(answer) {
        // What is slower is one core, and not every design.
        let after = match generated.prior_break_even_calls {
            Some(calls) if generated.prior_speedup.p90 < 1.0 => {
                format!(", and a gain after {} calls with data there", calls.ceil())
            }
            _ => String::new(),
        };
        let why = format!(
            "{} is {} as fast{}; of a design that fills {}, the model expects {}{after}",
            best.name,
            words::interval_times(&speedup),
            words::with_core(best),
            board.name,
            words::interval_times(&generated.prior_speedup),
        );
        (Verdict::Undecided, why)
    } else {
        (Verdict::NeverOnThroughput, words::forbidden(best, known, device))
    };
    (answer.verdict, answer.why) = (verdict, why);
}
