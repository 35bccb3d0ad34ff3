//! Threads of a profiled kernel's warps take different ways.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::CannotTell;
use crate::profiled::{Profiled, findings};
use crate::rule::{Find, Group, Rule};
use crate::words::{percent, short};
use ridge_table::{Basis, Quantity, Unit};

pub(crate) static RULE: Rule = Rule {
    id: "divergence",
    group: Group::Compute,
    summary: "Warp divergence",
    document: include_str!("divergence.md"),
    asks: &[],
    explains: &[],
    needs: &[],
    find: Find::Causes(find),
};

/// Threads of 32 that are at work in an instruction.
const FEW: f64 = 24.0;
/// Below this part of the peak of arithmetic, instructions are not what the kernel waits for.
const BUSY: f64 = 0.3;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    findings(case, judge)
}

fn judge(launch: &Profiled<'_>) -> Option<(Finding, f32)> {
    let threads = launch
        .metric("smsp__thread_inst_executed_per_inst_executed.ratio")
        .filter(|threads| *threads > 0.0 && *threads < FEW)?;
    let busy = launch.numbers.compute_share.filter(|busy| *busy >= BUSY)?;
    let idle = 1.0 - threads / 32.0;
    let finding = Finding::new(format!("{} of the threads of `{}` are inactive in an average instruction", percent(idle), short(launch.name)))
        .number("active threads of 32 per instruction", Quantity::new(threads, Unit::Number, Basis::Measured))
        .number("of peak arithmetic", Quantity::new(busy, Unit::Share, Basis::Measured))
        .why("threads of a warp that take different branches, or leave a loop early, wait for each other")
        .help("sort the work so threads of a warp take the same path, use selects instead of branches, and make block sizes multiples of 32");
    Some((finding, (idle * busy) as f32))
}
