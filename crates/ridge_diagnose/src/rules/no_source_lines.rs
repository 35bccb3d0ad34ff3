//! No line of the program is known for what the device did.

use crate::case::{Case, Framework};
use crate::fitness::Doubt;
use crate::rule::{Find, Group, Rule};
use crate::words::percent;
use ridge_analysis::{Lines, Need};
use ridge_trace::EventKind;

pub(crate) static RULE: Rule = Rule {
    id: "no-source-lines",
    group: Group::Fitness,
    summary: "no lines of the program are known",
    document: include_str!("no_source_lines.md"),
    asks: &[],
    explains: &[],
    needs: &[Need::of::<Lines>()],
    find: Find::Doubts(find),
};

/// Above this part of the device's work, findings name no line.
const MOST: f64 = 0.80;

fn find(case: &Case<'_>, doubts: &mut Vec<Doubt>) {
    let events = &case.trace().events;
    let command = match case.framework() {
        Framework::Torch => "torch.profiler.profile(with_stack=True)",
        Framework::Jax => "ridgeline record -- python PROGRAM.py",
        // Nothing tells that it is a program of Python.
        Framework::Other => return,
    };
    let has_python = events.kind.contains(&(EventKind::PythonCall as u8));
    if has_python || case.is_on_processors() {
        return;
    }
    let (mut all, mut without) = (0_i64, 0_i64);
    for work in case.work() {
        all = all.saturating_add(work.row.ns);
        if case.analysis.lines().of(work.op).is_some() {
            continue;
        }
        without = without.saturating_add(work.row.ns);
    }
    let share = without as f64 / all.max(1) as f64;
    if share <= MOST {
        return;
    }
    let message = format!("no line of the program is known for {} of the device's work", percent(share));
    doubts.push(Doubt { message, command: Some(command.to_owned()), blocks: Vec::new() });
}
