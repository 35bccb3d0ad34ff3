//! A profiled kernel has conflicts in shared memory.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::CannotTell;
use crate::profiled::{Profiled, findings};
use crate::rule::{Find, Group, Rule};
use crate::words::{percent, short};
use ridge_table::{Basis, Quantity, Unit};

pub(crate) static RULE: Rule = Rule {
    id: "bank-conflicts",
    group: Group::Compute,
    summary: "Shared-memory bank conflicts",
    document: include_str!("bank_conflicts.md"),
    asks: &[],
    explains: &[],
    needs: &[],
    find: Find::Causes(find),
};

/// The part of the passes over shared memory that conflicts cause.
const MANY: f64 = 0.1;
/// Below this part of the time of the pipe they hardly count: passes per cycle.
const LEAST_PASSES: f64 = 0.05;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    findings(case, judge)
}

fn judge(launch: &Profiled<'_>) -> Option<(Finding, f32)> {
    let passes = launch.metric("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum").filter(|passes| *passes > 0.0)?;
    let conflicts = launch.metric("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum")?;
    let share = (conflicts / passes).min(1.0);
    let busy = launch
        .metric("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum.pct_of_peak_sustained_elapsed")
        .map_or(1.0, |percent| percent / 100.0);
    if share < MANY || busy < LEAST_PASSES {
        return None;
    }
    let finding = Finding::new(format!(
        "{} of the shared-memory passes of `{}` are bank conflicts",
        percent(share),
        short(launch.name)
    ))
    .number("bank conflicts", Quantity::new(conflicts, Unit::Count, Basis::Measured))
    .number("shared-memory passes", Quantity::new(passes, Unit::Count, Basis::Measured))
    .why("threads of a warp access different words in the same bank, so the accesses are serialized")
    .help("pad each tile row by one word (`tile[32][33]`), or swizzle the columns");
    Some((finding, (share * busy.min(0.5)) as f32))
}
