//! Who launched most of the device's work is not in the capture.

use crate::case::{Case, Framework};
use crate::fitness::{Doubt, Question};
use crate::launched::Launches;
use crate::losses::advice_for_device_work;
use crate::rule::{Find, Group, Rule};
use crate::words::percent;
use ridge_analysis::{Cause, Need};

pub(crate) static RULE: Rule = Rule {
    id: "unlinked-launches",
    group: Group::Fitness,
    summary: "Device work without launch calls",
    document: include_str!("unlinked_launches.md"),
    asks: &[],
    explains: &[],
    needs: &[Need::of::<Launches>()],
    find: Find::Doubts(find),
};

/// Above this part of the work, what is said of launches is said of the smaller part.
const MOST: f64 = 0.50;
/// Above this part of the time, idle time without a cause makes the known causes a guess.
const UNKNOWN: f64 = 0.10;

fn find(case: &Case<'_>, doubts: &mut Vec<Doubt>) {
    if case.is_on_processors() {
        return;
    }
    let all = &case.analysis.get::<Launches>().0;
    let sum = |ns: i64, part: i64| ns.saturating_add(part);
    let work = all.iter().map(|process| process.work_ns).fold(0_i64, sum);
    let unlinked = all.iter().map(|process| process.unlinked_ns).fold(0_i64, sum);
    let share = unlinked as f64 / work.max(1) as f64;
    if share <= MOST {
        return;
    }
    let unknown = case.idle().filter(|idle| idle.cause == Cause::Unknown);
    let unknown = case.share(unknown.map(|idle| idle.row.ns).fold(0_i64, sum));
    let blocks = if unknown > UNKNOWN { vec![Question::Idle, Question::Host] } else { Vec::new() };
    let command = match case.framework() {
        Framework::Torch => "torch.profiler.profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])",
        _ => "ridgeline record -- python PROGRAM.py",
    };
    let message = format!("the launch calls of {} of the device's work are missing from the capture", percent(share));
    let command = advice_for_device_work(case, command);
    doubts.push(Doubt { message, command: Some(command.to_owned()), blocks });
}
