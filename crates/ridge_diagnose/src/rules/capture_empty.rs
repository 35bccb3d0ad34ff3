//! Nothing that a device did was recorded.

use crate::case::{Case, Framework};
use crate::fitness::{Doubt, Question};
use crate::log::MonitorLog;
use crate::losses::advice_for_device_work;
use crate::rule::{Find, Group, Rule};
use crate::words::count;
use ridge_analysis::models::counters::CounterRows;
use ridge_analysis::{Need, ProfileNumbers};
use ridge_units::Nanos;

pub(crate) static RULE: Rule = Rule {
    id: "capture-empty",
    group: Group::Fitness,
    summary: "No device work recorded",
    document: include_str!("capture_empty.md"),
    asks: &[],
    explains: &[],
    needs: &[Need::of::<CounterRows>()],
    find: Find::Doubts(find),
};

fn find(case: &Case<'_>, doubts: &mut Vec<Doubt>) {
    if case.breakdown().busy_ns() > 0 {
        doubts.extend(nearly_empty(case));
        return;
    }
    if MonitorLog::of(case).is_some() {
        doubts.push(Doubt {
            message: "a monitor log shows device utilization, but not which work ran or why the device was idle"
                .to_owned(),
            command: Some("ridgeline record -o run/ -- python PROGRAM.py".to_owned()),
            blocks: vec![Question::Device, Question::Idle, Question::Steps],
        });
        return;
    }
    let profiled = profiled(case);
    if profiled > 0 {
        doubts.push(Doubt {
            message: format!(
                "the capture contains {} under a hardware profiler, but no timeline",
                count(profiled, "launch", "launches")
            ),
            command: Some(
                "nsys profile --trace=cuda,nvtx,osrt PROGRAM, to see what happens between the kernels".to_owned(),
            ),
            blocks: vec![Question::Idle, Question::Steps],
        });
        return;
    }
    let launches: u64 = case.trace().processes_without_device_activity().iter().map(|(_, launches)| launches).sum();
    let message = match launches {
        0 => "no device work was recorded".to_owned(),
        launches => format!("the host launched {launches} kernels, but no device work was recorded"),
    };
    let command = match case.framework() {
        Framework::Torch => "torch.profiler.profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])",
        _ => "ridgeline record -- python PROGRAM.py",
    };
    let blocks = vec![Question::Device, Question::Idle, Question::Steps];
    let command = advice_for_device_work(case, command);
    doubts.push(Doubt { message, command: Some(command.to_owned()), blocks });
}

/// Fewer pieces of work than this that take less than this part of the time are leftovers of a capture, or a test of the device.
const FEW: u64 = 5;
const LITTLE: f64 = 2e-4;

/// A capture in which the device did next to nothing says nothing of why it did not do more.
fn nearly_empty(case: &Case<'_>) -> Option<Doubt> {
    let pieces: u64 = case.work().map(|work| work.row.events).sum();
    let (busy, whole) = (case.breakdown().busy_ns(), case.breakdown().whole_ns());
    if pieces >= FEW || busy as f64 >= LITTLE * whole as f64 {
        return None;
    }
    Some(Doubt {
        message: format!(
            "{} of device work in {}, busy for {}: too little to analyze",
            count(pieces, "piece", "pieces"),
            Nanos(whole),
            Nanos(busy)
        ),
        command: Some("ridgeline record -- python PROGRAM.py".to_owned()),
        blocks: vec![Question::Device, Question::Idle, Question::Steps],
    })
}

/// Launches under a profiler that counted what a kernel reached.
fn profiled(case: &Case<'_>) -> u64 {
    let (trace, profiles) = (case.trace(), &case.trace().profiles);
    let numbers = (0..profiles.launches.len() as u32).map(|row| ProfileNumbers::of(profiles, &trace.strings, row));
    numbers
        .filter(|numbers| numbers.duration_ns.is_some() && numbers.compute_share.or(numbers.memory_share).is_some())
        .count() as u64
}
