//! Most of the capture is Python calls, and each was slowed down by being recorded.

use crate::case::{Case, Framework};
use crate::fitness::Doubt;
use crate::rule::{Find, Group, Rule};
use crate::words::percent;
use ridge_trace::EventKind;

pub(crate) static RULE: Rule = Rule {
    id: "capture-too-heavy",
    group: Group::Fitness,
    summary: "Python tracing dominates the capture",
    document: include_str!("capture_too_heavy.md"),
    asks: &[],
    explains: &[],
    needs: &[],
    find: Find::Doubts(find),
};

/// Above this part of all events the host is slowed down by what is recorded of it.
const MOST: f64 = 0.80;

fn find(case: &Case<'_>, doubts: &mut Vec<Doubt>) {
    let kinds = &case.trace().events.kind;
    let calls = kinds.iter().filter(|kind| **kind == EventKind::PythonCall as u8).count();
    let share = calls as f64 / kinds.len().max(1) as f64;
    if share <= MOST {
        return;
    }
    let command = match case.framework() {
        Framework::Torch => "torch.profiler.profile(with_stack=False)",
        _ => "ridgeline record -- python PROGRAM.py",
    };
    let message = format!("{} of the events are Python calls, and recording them slows the host down", percent(share));
    doubts.push(Doubt { message, command: Some(command.to_owned()), blocks: Vec::new() });
}
