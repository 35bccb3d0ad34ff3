//! Collectives run while nothing else does.

use crate::case::{Case, Framework};
use crate::collectives::{Exposure, meetings};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::rule::{Find, Group, Rule};
use ridge_analysis::Need;
use crate::words::{list, percent};
use ridge_analysis::TimeOwner;
use ridge_table::{Basis, Quantity, Subject, Unit};
use rustc_hash::FxHashSet;

pub(crate) static RULE: Rule = Rule {
    id: "exposed-collectives",
    group: Group::Devices,
    summary: "Exposed collectives",
    document: include_str!("exposed_collectives.md"),
    asks: &[Question::Device],
    explains: &[],
    needs: &[Need::of::<Exposure>()],
    find: Find::Causes(find),
};

/// Below this part of the time, communication is not what holds a program back.
const LEAST: f64 = 0.05;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let exposure = case.exposure();
    let share = case.share(exposure.exposed_ns);
    if share < LEAST {
        return Ok(Vec::new());
    }
    let breakdown = case.breakdown();
    // Overlap hides no more than there is to compute meanwhile.
    let alone_ns = breakdown.busy_ns().saturating_sub(exposure.collective_ns).max(0);
    let hidden = (alone_ns as f64 / exposure.exposed_ns.max(1) as f64).min(1.0) as f32;
    let mut seen: FxHashSet<&str> = FxHashSet::default();
    let named = |at: usize| match breakdown.rows.get(at)?.owner {
        TimeOwner::Work { name, .. } => Some(case.trace().strings.get(name)),
        TimeOwner::Idle { .. } => None,
    };
    let names: Vec<&str> =
        exposure.rows.iter().filter_map(|row| named(row.at)).filter(|name| seen.insert(name)).collect();
    let longest = exposure.rows.first().map(|row| row.at);
    let place = longest.and_then(|at| case.work().find(|work| work.at == at)).and_then(|work| case.line_of(&work));
    let covered = 1.0 - exposure.exposed_ns as f64 / exposure.collective_ns.max(1) as f64;
    let mut finding = Finding::new(format!("collectives take {} of the time with no overlapping work", percent(share)))
        .at(place)
        .about(longest.and_then(|at| breakdown.rows.get(at)?.example).map(Subject::Event))
        .number("in collectives while nothing else ran", case.per_unit(exposure.exposed_ns))
        .number(
            "of collective time overlapped by other work",
            Quantity::new(covered, Unit::Share, Basis::Measured),
        )
        .fact(format!("most of it in {}", list(&names, 3)))
        .why("work that could overlap waits for the result, or isn't queued on a separate stream")
        .help(if case.is_on_processors() { ON_PROCESSORS } else { advice(case.framework()) })
        .claims(exposure.rows.iter().map(|row| (row.at, row.part * hidden)));
    if case.is_on_processors() {
        // Devices that are threads of one processor have nothing to overlap with: they share what computes.
        finding = finding.information();
    }
    if meetings(case).is_empty() {
        finding = finding.fact("a capture of one rank can't separate transfer from waiting for a slower rank");
    }
    Ok(vec![finding])
}

/// What helps where the devices are threads of one processor.
const ON_PROCESSORS: &str = "exchange less often: accumulate gradients on each device and sum them once per step (`psum` after the loop over microbatches); on a CPU nothing hides an exchange, because the devices share its cores";

fn advice(framework: Framework) -> &'static str {
    match framework {
        Framework::Jax => {
            "let XLA overlap them: `XLA_FLAGS=--xla_gpu_enable_latency_hiding_scheduler=true`; otherwise, shard to exchange less"
        }
        Framework::Torch => {
            "overlap them with the backward pass: `DistributedDataParallel` with a smaller `bucket_cap_mb`, `no_sync()` during gradient accumulation, or FSDP prefetching; otherwise, exchange less: bfloat16 gradients"
        }
        Framework::Other => "start them earlier on a separate stream, or exchange less",
    }
}
