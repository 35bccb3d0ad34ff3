//! Kernels that run shorter than it takes to start one.

use crate::case::{Case, Framework, IdleTime};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::rule::{Find, Group, Rule};
use crate::words::percent;
use ridge_analysis::{Activity, Cause, IdleGaps, Need};
use ridge_table::{Basis, Quantity, Subject, Unit};

pub(crate) static RULE: Rule = Rule {
    id: "many-small-kernels",
    group: Group::Host,
    summary: "Kernels shorter than their launch",
    document: include_str!("many_small_kernels.md"),
    asks: &[Question::Device, Question::Idle, Question::Host],
    explains: &[],
    needs: &[Need::of::<IdleGaps>()],
    find: Find::Causes(find),
};

/// Below this part of the time, launches are what every program needs.
const LEAST: f64 = 0.05;
/// Fewer kernels than this part are short: then the short ones are not what the time goes to.
const LEAST_SMALL: f64 = 0.5;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let devices = &case.analysis.get::<IdleGaps>().devices;
    let (kernels, small) = devices.iter().fold((0_u64, 0_u64), |(kernels, small), device| {
        (kernels.saturating_add(device.small.kernels), small.saturating_add(device.small.small))
    });
    let part = small as f64 / kernels.max(1) as f64;
    let between: Vec<IdleTime<'_>> = case.idle().filter(is_of_launches).collect();
    let ns = between.iter().fold(0_i64, |sum, idle| sum.saturating_add(idle.row.ns));
    if part < LEAST_SMALL || case.share(ns) * part < LEAST {
        return Ok(Vec::new());
    }
    let latency = devices.iter().filter_map(|device| device.latency).map(|latency| latency.median_ns).max();
    let longest = between.iter().max_by_key(|idle| idle.row.ns).and_then(|idle| idle.row.example);
    let launched = case.work().filter(|work| work.kind.is_compute()).map(|work| work.row.events).sum();
    let mut finding = Finding::new(format!(
        "{} of the kernels run for less time than a launch takes, and the device is idle {} of the time between them",
        percent(part),
        percent(case.share(ns) * part),
    ))
    .at(longest.and_then(|row| case.line_of_row(row.0)))
    .about(longest.map(Subject::Event))
    .number("kernels", case.count_per_unit(launched))
    .number("idle in and after launch calls", case.per_unit(ns))
    .why("every kernel needs a launch, and here the launches take longer than the kernels")
    .help(advice(case.framework()))
    .claims(between.iter().map(|idle| (idle.at, part as f32)));
    if let Some(latency) = latency {
        finding = finding.number(
            "launch latency in this capture",
            Quantity::new(latency as f64, Unit::Nanos, Basis::Measured),
        );
    }
    Ok(vec![finding])
}

/// Time that went into launching kernels: in the call, after it, and between kernels that were queued.
fn is_of_launches(idle: &IdleTime<'_>) -> bool {
    let launches = matches!(idle.cause, Cause::HostLate | Cause::LaunchCall | Cause::LaunchLatency | Cause::Queued);
    let is_copy = idle.name.is_some_and(|name| name.contains("Memcpy") || name.contains("Memset"));
    launches && idle.activity == Activity::Launching && !is_copy
}

fn advice(framework: Framework) -> &'static str {
    match framework {
        Framework::Torch => {
            "fuse the kernels or launch them together: use `torch.compile`, with `mode=\"reduce-overhead\"` for CUDA graphs, fused optimizers, or larger batches"
        }
        Framework::Jax => {
            "wrap the whole step in one `jax.jit`, use `jax.vmap` instead of a loop over small arrays, or use XLA command buffers, which launch many kernels as one graph"
        }
        Framework::Other => "fuse the kernels, or capture them once as a CUDA graph and launch the graph",
    }
}
