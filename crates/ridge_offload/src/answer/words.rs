//! The sentences of the answer.

use super::boards::BoardAnswer;
use super::{Ask, RegionAnswer};
use crate::baseline::{Host, Known};
use crate::predict::Interval;
use crate::{BoundBy, Verdict};
use ridge_units::{Nanos, Share};

/// A time in words.
pub(super) fn secs(seconds: f64) -> String {
    Nanos((seconds * 1e9).round().clamp(0.0, 9e18) as i64).to_string()
}

/// A factor with as many digits as matter.
pub(super) fn times(factor: f64) -> String {
    match factor {
        factor if factor >= 10.0 => format!("{factor:.0}"),
        factor if factor >= 0.01 => format!("{factor:.2}"),
        _ => "less than 0.01".to_owned(),
    }
}

/// `2.1 times (1.3 to 3.4)`.
pub(super) fn interval_times(interval: &Interval) -> String {
    format!("{} times ({} to {})", times(interval.p50), times(interval.p10), times(interval.p90))
}

/// Which core a time is that of, where it is a core's.
pub(super) fn with_core(board: &BoardAnswer) -> String {
    match &board.generated {
        Some(generated) => format!(" with the core of `{}` ({})", generated.bundle, generated.basis.name()),
        None => String::new(),
    }
}

/// Why no design on the fastest board can win.
pub(super) fn forbidden(best: &BoardAnswer, known: &Known, device: &str) -> String {
    let call = known.call_s.p50;
    match best.least {
        _ if best.is_gpu() => format!("{} is {} as fast", best.name, interval_times(&best.speedup)),
        Some((least, by)) if least > call => format!(
            "even at best, with the data on the board, {} limits a call on {} to {}; {} takes {}",
            bound_words(by),
            best.name,
            secs(least),
            device,
            secs(call)
        ),
        _ if best.bound == Some(BoundBy::Link) => format!(
            "bytes over the link: {} needs {} for a call that takes {} on {device}{}",
            best.name,
            secs(best.total_s.p50),
            secs(call),
            match best.break_even_calls {
                Some(calls) => format!("; it gains after {} calls with data on the board", calls.ceil()),
                None => "; not even with data on the board".to_owned(),
            }
        ),
        _ => format!(
            "the fastest board, {}, is {} as fast, limited by {}",
            best.name,
            interval_times(&best.speedup),
            best.bound.map_or("its roofs", bound_words)
        ),
    }
}

/// What takes longest, as a sentence's part.
pub(super) fn bound_words(by: BoundBy) -> &'static str {
    match by {
        BoundBy::Link => "the link",
        BoundBy::Launch => "the launch",
        BoundBy::Fill => "filling the pipeline in each iteration",
        BoundBy::Dsp => "arithmetic on its DSP slices",
        BoundBy::Lut => "arithmetic on its look-up tables",
        BoundBy::Lanes => "the number of items begun each clock",
        BoundBy::Clocks => "the clocks of the generated core",
        BoundBy::Memory => "its memory",
        BoundBy::Port => "the rate of the ports to its memory",
        BoundBy::Gather => "random access to its memory",
        BoundBy::Tables => "access to tables on the chip",
        BoundBy::Merge => "the last merger",
    }
}

/// The answer in one line.
pub(super) fn headline(regions: &[RegionAnswer], ask: &Ask) -> String {
    let share =
        |verdict: Verdict| regions.iter().filter(|one| one.verdict == verdict).map(|one| one.region.share).sum::<f64>();
    let device = &ask.baseline.device;
    let against = match ask.baseline.host {
        Host::MeasuredOnProcessor => format!("{device}, the CPU of the capture"),
        Host::Sheet | Host::Compiled => format!("{device} by its data sheet"),
        Host::Measured => device.clone(),
    };
    let candidates: Vec<&RegionAnswer> = regions.iter().filter(|one| one.verdict.is_candidate()).collect();
    let is_beaten = |one: &&RegionAnswer| one.boards.first().is_some_and(|best| best.speedup.p10 > 1.0);
    let beaten: f64 = regions.iter().filter(is_beaten).map(|one| one.region.share).sum();
    let first = match candidates.first() {
        None if regions.is_empty() => return format!("no device work to compare with {against}"),
        None if beaten > 0.0 => {
            format!("no region is worth offloading yet: fix the program on {device} first")
        }
        None if share(Verdict::Undecided) > 0.0 => {
            format!("no region is known to run faster elsewhere than on {against}")
        }
        None if share(Verdict::NeverOnThroughput) + share(Verdict::GpuFirst) == 0.0 => {
            format!("no region could be compared with {against}")
        }
        None => match ask.boards.len() + ask.targets.len() {
            1 => format!("the board does not beat {against} in any region of this program"),
            boards => format!("none of {boards} boards beats {against} in any region of this program"),
        },
        Some(best) => {
            let board = best.boards.first().map_or("", |board| board.name.as_str());
            let gain = best.boards.first().map_or(1.0, |board| board.program_speedup);
            let then = match best.verdict {
                Verdict::EnergyCandidate => "would be slower, for less energy".to_owned(),
                Verdict::StreamCandidate => "would keep pace with its input".to_owned(),
                _ => format!("would make all device work {} times as fast", times(gain)),
            };
            format!(
                "{} of {} regions {} against {against}: `{}` on {board} {then}",
                candidates.len(),
                regions.len(),
                if candidates.len() == 1 { "is a candidate" } else { "are candidates" },
                best.region.name,
            )
        }
    };
    let parts: Vec<String> = Verdict::ALL
        .into_iter()
        .filter(|verdict| share(*verdict) >= 0.0005)
        .map(|verdict| format!("{} {}", verdict.words(), Share(share(verdict))))
        .collect();
    format!("{first}: {}", parts.join(", "))
}

/// What the answer rests on besides the capture.
pub(super) fn assumptions(regions: &[RegionAnswer], ask: &Ask) -> Vec<String> {
    let mut all = Vec::new();
    let device = &ask.baseline.device;
    match ask.baseline.host {
        Host::Sheet => all.push(format!(
            "nothing was measured on {device}: each operation of the capture's modules takes its time at the roof of the data sheet, at 30 to 90% of it, and 2 to 4 µs at least; modules compiled for that device would be fused otherwise and take 0.27 to 1 times as long, 0.4 to 1 below five launches, by which intervals are wider"
        )),
        Host::Compiled => all.push(format!(
            "nothing was measured on {device}: each launch that XLA makes for it takes its time at the roof of the data sheet, at 30 to 90% of it, and 2 to 4 µs at least; autotuning and libraries may choose other kernels"
        )),
        Host::MeasuredOnProcessor => all.push(format!(
            "times are from {device}; `--as h100` compares the boards with a GPU, using its data sheet"
        )),
        Host::Measured => {}
    }
    all.push("every time on a board is predicted; see docs/offload-validation.md for its accuracy".to_owned());
    if !ask.what_if.is_streamed && !ask.boards.is_empty() {
        let stays = |one: &RegionAnswer| {
            let work = one.region.specification.as_ref().ok().map(|spec| &spec.workload);
            work.is_some_and(|work| work.kept_input.0 + work.kept_output.0 > 0.0)
        };
        let but =
            if regions.iter().any(stays) { ", except for data that a surrounding loop leaves unchanged" } else { "" };
        all.push(format!(
            "input and output cross the host's link in each call{but}, unless `--what-if resident=N` or `stream=yes` is set"
        ));
    }
    if regions.iter().any(|one| one.boards.iter().any(BoardAnswer::is_gpu)) {
        all.push(match ask.baseline.host {
            Host::Measured => "between GPUs, work keeps its efficiency: kernels whose launch is known are scaled by the waves of their blocks, others by their roofs; grids and kernels are taken to be the same on both".to_owned(),
            _ => "nothing was measured on a GPU: each operation takes its time at the roof of the target's data sheet, at 30 to 90% of it, and 2 to 4 µs at least".to_owned(),
        });
    }
    let cores: Vec<&crate::Core> = regions.iter().filter_map(|one| one.core.as_ref()).collect();
    if !cores.is_empty() {
        all.push("a generated core works alone, starts once per call or iteration, and uses one channel of the board's memory; nobody has placed it, so its clock is the prior of published designs; converting numbers to its format on the host is not counted".to_owned());
    }
    if cores.iter().any(|core| core.is_engine || core.divides_in_one_clock) {
        all.push("the clock of an engine, or of a core that divides within a clock, may be lower than those of published designs, so its interval is widened like the model's".to_owned());
    }
    let mut unverified: Vec<String> = regions
        .iter()
        .flat_map(|one| &one.boards)
        .filter(|board| !board.unverified.is_empty())
        .map(|board| format!("{} ({})", board.id, board.unverified.join(", ")))
        .collect();
    unverified.sort();
    unverified.dedup();
    if !unverified.is_empty() {
        all.push(format!("boards marked * have unverified figures: {}", unverified.join("; ")));
    }
    all
}
