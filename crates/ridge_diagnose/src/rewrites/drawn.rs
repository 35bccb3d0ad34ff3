//! Many samples of one distribution over classes, drawn with noise for each class of each sample.

use super::only::only_for;
use super::site::{Rewrite, Site, Slack};
use crate::pricing::Work;
use ridge_hlo::InstructionId;

/// Samples of one distribution from which on its cumulative sum is worth making.
const FEWEST: f64 = 8.0;
/// Operations of a sample for each halving of the classes, and of a class: a search through the cumulative sum, and that sum.
const SEARCH: f64 = 20.0;

pub(super) fn find(site: &Site<'_, '_>) -> Vec<Rewrite> {
    site.module.instruction_ids().filter_map(|id| rewrite(site, id)).collect()
}

fn rewrite(site: &Site<'_, '_>, id: InstructionId) -> Option<Rewrite> {
    let largest = site.instruction(id);
    // The place of the largest is found together with it.
    let is_place = largest.opcode == "reduce" && largest.shape.leaves().len() == 2;
    let carrier = site.ran(id).filter(|_| is_place)?;
    let scores = site.flow.source(*largest.operands.first()?);
    let [one, other] = site.instruction(scores).operands[..] else { return None };
    let (weights, noise) = if is_noise(site, other) { (one, other) } else { (other, one) };
    if site.instruction(scores).opcode != "add" || !is_noise(site, noise) {
        return None;
    }
    let spread = site.instruction(site.flow.source(weights));
    let distribution = *spread.operands.first().filter(|_| spread.opcode == "broadcast")?;
    // The distribution has the classes, and is spread over samples.
    let is_over_classes = largest.dimensions.iter().all(|dimension| spread.dimensions.contains(dimension));
    let samples = site.elements(scores) / site.elements(distribution).max(1.0);
    if !is_over_classes || samples < FEWEST {
        return None;
    }
    let classes = (site.elements(scores) / site.elements(id).max(1.0)).max(2.0);
    let better = Work {
        plain: SEARCH * (site.elements(id) * classes.log2() + site.elements(distribution)),
        bytes: site.width(scores) * (4.0 * site.elements(distribution) + 2.0 * site.elements(id) * classes.log2()),
        ..Work::default()
    };
    let around = site.flow.loop_around(id);
    let firsts = [scores, site.flow.source(noise)];
    let mut old = only_for(site, &[id, scores], &firsts, around);
    old.push(carrier);
    old.sort_unstable();
    old.dedup();
    Some(Rewrite {
        does: "goes to drawing many samples from one distribution with a random number for each class of each sample (`jax.random.categorical`)",
        instead: "a search in the cumulative probabilities",
        why: "`categorical` adds Gumbel noise to the logits and takes the largest, so n samples of m classes take n × m random numbers and logarithms",
        help: "draw with `jax.random.choice(key, m, (n,), p=jax.nn.softmax(logits))`, which needs one random number per sample; to resample particles, use systematic resampling: `jnp.searchsorted(jnp.cumsum(p), (u + jnp.arange(n)) / n)`",
        at: id,
        old,
        better: better.times(site.events(id)),
        slack: Slack::Alike,
    })
}

/// Whether a value is Gumbel noise: minus the logarithm of minus the logarithm of a number.
fn is_noise(site: &Site<'_, '_>, id: InstructionId) -> bool {
    let mut at = site.flow.content(id);
    for opcode in ["negate", "log", "negate", "log"] {
        let instruction = site.instruction(at);
        let Some(of) = instruction.operands.first().filter(|_| instruction.opcode == opcode) else { return false };
        at = site.flow.content(*of);
    }
    true
}
