//! The capture shows graphs being made, in which nothing runs.

use crate::case::Case;
use crate::fitness::{Doubt, Question};
use crate::launched::{Launches, without_work};
use crate::rule::{Find, Group, Rule};
use crate::words::percent;
use ridge_analysis::Need;

pub(crate) static RULE: Rule = Rule {
    id: "graph-capture-phase",
    group: Group::Fitness,
    summary: "CUDA graphs being captured, not run",
    document: include_str!("graph_capture_phase.md"),
    asks: &[],
    explains: &[],
    needs: &[Need::of::<Launches>()],
    find: Find::Doubts(find),
};

/// Fewest launches without work beside signs of a graph being captured.
const FEWEST: u64 = 20;
/// Above this part of the time that devices work, the rest is a program that runs.
const BUSY: f64 = 0.10;

fn find(case: &Case<'_>, doubts: &mut Vec<Doubt>) {
    let calls = case.host_rows(|_, name| captures(name)).len() as u64;
    // Of the whole capture: what is judged may be the one stretch in which something ran.
    let whole = case.trace().wall_ns().max(1) as f64 * case.breakdown().devices.len().max(1) as f64;
    let busy = case.breakdown().busy_ns() as f64 / whole;
    if calls == 0 || busy > BUSY {
        return;
    }
    let all = &case.analysis.get::<Launches>().0;
    // Launches while a stream is captured are known to have no work where both ends of that are in the capture.
    let launches = case.host_rows(|_, name| name.contains("LaunchKernel")).len() as u64;
    let with_work: u64 = all.iter().map(|process| process.kernels.len() as u64 - without_work(&process.kernels)).sum();
    let lost = launches.saturating_sub(with_work);
    if lost < FEWEST || lost * 2 < launches {
        return;
    }
    doubts.push(Doubt {
        message: format!(
            "the capture covers graph capture, not replay: {lost} of {launches} launches only went into a graph, and the device is busy {} of the time",
            percent(busy),
        ),
        command: Some("record after the server's warm-up, while it replays its graphs".to_owned()),
        blocks: vec![Question::Device, Question::Idle, Question::Steps],
    });
}

/// Whether a call belongs to the capture of a graph.
fn captures(name: &str) -> bool {
    ["StreamBeginCapture", "StreamGetCaptureInfo", "StreamEndCapture", "StreamIsCapturing"].iter().any(|word| name.contains(word))
}
