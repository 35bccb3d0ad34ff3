//! Sums and maxima over windows that share most of their elements, each added up anew: over all elements so far, or over wide
//! windows around each element.

use super::site::{Rewrite, Site, Slack};
use crate::pricing::Work;
use ridge_hlo::InstructionId;

/// Elements below which a window is as good.
const FEWEST: i64 = 32;
/// The same of a window that moves along.
const FEWEST_IN_WINDOW: i64 = 16;

pub(super) fn find(site: &Site<'_, '_>) -> Vec<Rewrite> {
    let windows = site.module.instruction_ids().filter(|id| site.instruction(*id).opcode == "reduce-window");
    windows.filter_map(|id| running(site, id).or_else(|| moving(site, id))).collect()
}

/// A wide window around each element, far wider than its step.
fn moving(site: &Site<'_, '_>, id: InstructionId) -> Option<Rewrite> {
    let instruction = site.instruction(id);
    let operand = site.instruction(*instruction.operands.first()?);
    let windows = &instruction.attributes().window.as_ref()?.dimensions;
    let whole = windows.iter().zip(&operand.shape.dimensions).any(|(one, extent)| one.size >= *extent && *extent > 1);
    let wide: Vec<i64> =
        windows.iter().filter(|one| one.size >= 4 * one.stride && one.size > 1).map(|one| one.size).collect();
    let elements: i64 = windows.iter().map(|one| one.size.max(1)).fold(1, i64::saturating_mul);
    let carrier = site.ran(id).filter(|_| !whole && !wide.is_empty() && elements >= FEWEST_IN_WINDOW)?;
    // For each extent, a pass of running sums and one of differences; of maxima, as many passes as the window has doublings.
    let passes: f64 = wide.iter().map(|size| (*size as f64).log2().ceil() + 1.0).sum();
    let all = site.elements(*instruction.operands.first()?);
    let better = Work { plain: passes * all, bytes: 4.0 * wide.len() as f64 * all * site.width(id), ..Work::default() };
    Some(Rewrite {
        does: "goes to sums or maxima over wide windows around each element (`reduce_window`)",
        instead: "differences of running sums (`cumsum`), or one pass along each axis",
        why: "each window adds up all of its elements anew, although it shares most of them with the next one",
        help: "for a moving sum or mean, subtract running sums: `c = jnp.cumsum(x)`, then `c[w:] - c[:-w]`, along one axis after the other; for a maximum, or if digits matter, use one window along each axis: `(w, 1)`, then `(1, w)`",
        at: id,
        old: vec![carrier],
        better: better.times(site.events(id)),
        slack: Slack::Little,
    })
}

fn running(site: &Site<'_, '_>, id: InstructionId) -> Option<Rewrite> {
    let instruction = site.instruction(id);
    let operand = site.instruction(*instruction.operands.first()?);
    let window = instruction.attributes().window.as_ref()?;
    let is_running = window.dimensions.iter().zip(&operand.shape.dimensions).any(|(one, extent)| {
        let padded = one.padding_low.max(one.padding_high);
        one.size == *extent && *extent >= FEWEST && one.stride == 1 && padded == *extent - 1
    });
    let carrier = site.ran(id).filter(|_| is_running)?;
    let elements = site.elements(id);
    let better = Work { plain: 2.0 * elements, bytes: 4.0 * elements * site.width(id), ..Work::default() };
    Some(Rewrite {
        does: "goes to computing running sums by a window over all elements",
        instead: "a scan in logarithmic depth",
        why: "a window over all elements combines each element with all earlier ones, which is quadratic in their number",
        help: "use `jax.lax.associative_scan(jnp.add, x)`, or sum in blocks: first the block sums, then the sums within each block",
        at: id,
        old: vec![carrier],
        better: better.times(site.events(id)),
        slack: Slack::Alike,
    })
}
