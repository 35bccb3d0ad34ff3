//! No line of the program is known for what the device did.

use crate::case::{Case, Framework};
use crate::fitness::Doubt;
use crate::rule::{Find, Group, Rule};
use ridge_analysis::{Lines, Need};
use ridge_trace::EventKind;

pub(crate) static RULE: Rule = Rule {
    id: "no-source-lines",
    group: Group::Fitness,
    summary: "No source lines recorded",
    document: include_str!("no_source_lines.md"),
    asks: &[],
    explains: &[],
    needs: &[Need::of::<Lines>()],
    find: Find::Doubts(find),
};

fn find(case: &Case<'_>, doubts: &mut Vec<Doubt>) {
    let events = &case.trace().events;
    let command = match case.framework() {
        Framework::Torch => "torch.profiler.profile(with_stack=True)",
        Framework::Jax => "ridgeline record -- python PROGRAM.py",
        // Nothing tells that it is a program of Python.
        Framework::Other => return,
    };
    // Where some lines are known, recording again would not bring the others.
    let has_lines = || case.work().any(|work| case.analysis.lines().of(work.op).is_some());
    if case.breakdown().busy_ns() == 0 || events.kind.contains(&(EventKind::PythonCall as u8)) || has_lines() {
        return;
    }
    if !case.is_on_processors() {
        let message = "the device's work can't be linked to source lines".to_owned();
        doubts.push(Doubt { message, command: Some(command.to_owned()), blocks: Vec::new() });
    }
}
