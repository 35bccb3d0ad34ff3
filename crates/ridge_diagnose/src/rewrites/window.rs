//! Running sums and maxima taken as one window over all elements, which adds every element again for each of them.

use super::site::{Rewrite, Site, Slack};
use crate::pricing::Work;
use ridge_hlo::InstructionId;

/// Elements below which a window is as good.
const FEWEST: i64 = 32;

pub(super) fn find(site: &Site<'_, '_>) -> Vec<Rewrite> {
    site.module.instruction_ids().filter_map(|id| rewrite(site, id)).collect()
}

fn rewrite(site: &Site<'_, '_>, id: InstructionId) -> Option<Rewrite> {
    let instruction = site.instruction(id);
    if instruction.opcode != "reduce-window" {
        return None;
    }
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
