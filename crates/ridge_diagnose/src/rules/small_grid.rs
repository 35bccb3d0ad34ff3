//! Long kernels have fewer blocks than the device has multiprocessors.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::kernels::{Kernel, blocks, cores_of, kernels, names_by_time};
use crate::rule::{Find, Group, Rule};
use crate::seen::seen;
use crate::words::{list, percent};
use ridge_table::{Basis, Quantity, Subject, Unit};
use ridge_trace::EventRow;
use rustc_hash::FxHashMap;

pub(crate) static RULE: Rule = Rule {
    id: "small-grid",
    group: Group::Compute,
    summary: "Grid too small to fill the device",
    document: include_str!("small_grid.md"),
    asks: &[Question::Device],
    explains: &[],
    needs: &[],
    find: Find::Causes(find),
};

/// Shorter kernels are too short to be worth more blocks.
const LONG_NS: i64 = 20_000;
/// Kernels with blocks for at most this part of the multiprocessors.
const FEW: f64 = 0.5;
/// Below this part of the time they are not what holds a program back.
const LEAST: f64 = 0.05;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    if case.known.is_predicted {
        return Ok(seen(case, RULE.id).into_iter().collect());
    }
    let mut cores: FxHashMap<u32, Option<u64>> = FxHashMap::default();
    let mut small: Vec<(Kernel<'_>, f64, u64)> = Vec::new();
    for kernel in kernels(case).filter(|kernel| kernel.dur_ns > LONG_NS) {
        let (Some(shape), Some(cores)) =
            (kernel.shape, *cores.entry(kernel.device).or_insert_with(|| cores_of(case, kernel.device)))
        else {
            continue;
        };
        let part = blocks(shape) as f64 / cores as f64;
        if part > 0.0 && part <= FEW {
            small.push((kernel, part, cores));
        }
    }
    let held = case.parts_of_events(small.iter().map(|(kernel, _, _)| (kernel.row, kernel.dur_ns)));
    if case.share_of(held.iter().copied()) < LEAST {
        return Ok(Vec::new());
    }
    let idle = |(kernel, part, _): &(Kernel<'_>, f64, u64)| (kernel.row, (kernel.dur_ns as f64 * (1.0 - part)) as i64);
    let Some((longest, _, cores)) = small.iter().max_by_key(|(kernel, _, _)| kernel.dur_ns) else {
        return Ok(Vec::new());
    };
    let most = longest.shape.map_or(0, blocks);
    let names = names_by_time(case, small.iter().map(|(kernel, _, _)| (kernel.name, kernel.dur_ns)));
    let finding = Finding::new(format!(
        "kernels with blocks for less than half of the {cores} multiprocessors take {} of the time",
        percent(case.share_of(held.iter().copied()))
    ))
    .at(case.line_of_op(case.trace().events.op[longest.row as usize]))
    .about(EventRow::known(longest.row).map(Subject::Event))
    .number("blocks in the longest of these kernels", Quantity::new(most as f64, Unit::Count, Basis::Capture))
    .number("multiprocessors of the device", Quantity::new(*cores as f64, Unit::Count, Basis::Capture))
    .fact(format!("most of it in {}", list(&names, 3)))
    .why("a block runs on one multiprocessor, so the other multiprocessors are idle unless another stream has work")
    .help("increase the parallelism: larger batches, `vmap` instead of a loop, split reductions, or smaller blocks in your own kernels")
    .claims(case.parts_of_events(small.iter().map(idle)));
    Ok(vec![finding])
}
