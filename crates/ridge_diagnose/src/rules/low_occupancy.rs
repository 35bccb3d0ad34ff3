//! A profiled kernel waits, and too few warps fit to hide it.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::CannotTell;
use crate::profiled::{Profiled, findings};
use crate::rule::{Find, Group, Rule};
use crate::words::{percent, short};
use ridge_table::{Basis, Quantity, Unit};

pub(crate) static RULE: Rule = Rule {
    id: "low-occupancy",
    group: Group::Compute,
    summary: "Low occupancy",
    document: include_str!("low_occupancy.md"),
    asks: &[],
    explains: &[],
    needs: &[],
    find: Find::Causes(find),
};

/// Below this part of the peak of arithmetic, and of memory, a kernel is bound by neither.
const BUSY: f64 = 0.6;
/// The part of the warps that fit.
const FEW: f64 = 0.5;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    findings(case, judge)
}

fn judge(launch: &Profiled<'_>) -> Option<(Finding, f32)> {
    let numbers = &launch.numbers;
    let busy = numbers.compute_share?.max(numbers.memory_share?);
    let (achieved, fit) = (numbers.occupancy?, numbers.theoretical_occupancy?);
    // Where more warps fit than there are, the grid is small or uneven, and registers are not the cause.
    if busy >= BUSY || achieved >= FEW || fit >= FEW {
        return None;
    }
    let limits = [
        (
            "registers",
            "launch__occupancy_limit_registers",
            "use fewer registers: `__launch_bounds__`, `--maxrregcount`, smaller tiles",
        ),
        (
            "shared memory",
            "launch__occupancy_limit_shared_mem",
            "use less shared memory per block: smaller tiles, fewer stages",
        ),
        ("the block size", "launch__occupancy_limit_warps", "use smaller blocks, so that more of them fit"),
        (
            "the number of blocks",
            "launch__occupancy_limit_blocks",
            "use larger blocks: the number of blocks per multiprocessor is limited",
        ),
    ];
    let known = limits.iter().filter_map(|(what, metric, help)| Some((what, launch.metric(metric)?, help)));
    let (what, blocks, help) = known.min_by(|one, other| one.1.total_cmp(&other.1))?;
    let finding =
        Finding::new(format!("`{}` stalls, and only {} of the warps fit, limited by {what}", short(launch.name), percent(fit)))
            .number(
                "of a multiprocessor's warps are active",
                Quantity::new(achieved, Unit::Share, Basis::Measured),
            )
            .number(
                "of peak arithmetic or memory throughput, whichever is higher",
                Quantity::new(busy, Unit::Share, Basis::Measured),
            )
            .number(
                format!("blocks per multiprocessor, limited by {what}"),
                Quantity::new(blocks, Unit::Count, Basis::Measured),
            )
            .why("neither arithmetic nor memory is busy: warps stall, and too few other warps are ready to run")
            .help(*help);
    Some((finding, (1.0 - busy / BUSY).clamp(0.0, 0.5) as f32))
}
