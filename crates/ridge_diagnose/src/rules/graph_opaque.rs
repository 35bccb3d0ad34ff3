//! Graphs were traced whole: what ran in them is not known.

use crate::case::{Case, Framework};
use crate::fitness::Doubt;
use crate::rule::{Find, Group, Rule};
use crate::words::percent;
use ridge_trace::EventKind;

pub(crate) static RULE: Rule = Rule {
    id: "graph-opaque",
    group: Group::Fitness,
    summary: "CUDA graphs traced without their kernels",
    document: include_str!("graph_opaque.md"),
    asks: &[],
    explains: &[],
    needs: &[],
    find: Find::Doubts(find),
};

/// Below this part of the device's work, what is not known of it does not matter.
const LEAST: f64 = 0.50;

fn find(case: &Case<'_>, doubts: &mut Vec<Doubt>) {
    let graphs: Vec<_> = case.work().filter(|work| work.kind == EventKind::GraphLaunch).collect();
    let ns = graphs.iter().fold(0_i64, |sum, work| sum.saturating_add(work.row.ns));
    let share = ns as f64 / case.breakdown().busy_ns().max(1) as f64;
    if share <= LEAST {
        return;
    }
    let replays: u64 = graphs.iter().map(|work| work.row.events).sum();
    let command = match case.framework() {
        // Without command buffers XLA launches each kernel on its own.
        Framework::Jax => "XLA_FLAGS=--xla_gpu_enable_command_buffer= ridgeline record -- python PROGRAM.py",
        _ => "nsys profile --cuda-graph-trace=node python PROGRAM.py",
    };
    let share = percent(share);
    let message = format!(
        "{share} of the device's work is in graphs traced as a whole, {replays} replays: their kernels are unknown"
    );
    doubts.push(Doubt { message, command: Some(command.to_owned()), blocks: Vec::new() });
}
