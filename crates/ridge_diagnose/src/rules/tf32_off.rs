//! 32-bit matrix products run in ordinary arithmetic on a device that has tensor cores for them.

use crate::case::{Case, Framework, Work};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::products::{Plain, Product, is_nvidia, product};
use crate::rule::{Find, Group, Rule};
use crate::words::percent;
use ridge_table::{Basis, Quantity, Unit};

pub(crate) static RULE: Rule = Rule {
    id: "tf32-off",
    group: Group::Compute,
    summary: "TF32 disabled",
    document: include_str!("tf32_off.md"),
    asks: &[Question::Device],
    explains: &[],
    needs: &[],
    find: Find::Causes(find),
};

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let Some(plain) = Plain::of(case, |work| is_plain(case, work)) else { return Ok(Vec::new()) };
    let message =
        format!("32-bit matrix products take {} of the time without tensor cores", percent(case.share(plain.ns)));
    let events = plain.works.iter().map(|work| work.row.events).sum::<u64>();
    let finding = plain.finding(case, message)
        .number("in 32-bit products without tensor cores", case.per_unit(plain.ns))
        .number("kernels", Quantity::new(events as f64, Unit::Count, Basis::Measured))
        .fact(plain.most_in())
        .why("TF32 rounds the factors to 10 mantissa bits and multiplies them on tensor cores, up to 8 times as fast; it is off by default")
        .help(match case.framework() {
            Framework::Jax => "if 10 mantissa bits are enough, set `jax.config.update(\"jax_default_matmul_precision\", \"tensorfloat32\")`",
            _ => "if 10 mantissa bits are enough, call `torch.set_float32_matmul_precision(\"high\")`; bfloat16 with `torch.autocast` is even faster",
        });
    Ok(vec![finding])
}

fn is_plain(case: &Case<'_>, work: &Work<'_>) -> bool {
    let device = case.trace().devices.get(work.row.device.index());
    let has_tf32 = device
        .filter(|device| is_nvidia(device))
        .and_then(|device| device.compute_capability)
        .is_some_and(|(major, _)| (8..100).contains(&major));
    // A program that asked for all bits has its reasons.
    let asked = case.instruction(work.op).is_some_and(|(module, id, _)| {
        let hero = module.instruction(module.hero(id));
        let operands = &hero.attributes().precision.operands;
        operands.iter().any(|precision| precision.eq_ignore_ascii_case("highest"))
            || hero.backend_config.raw.contains("\"HIGHEST\"")
    });
    work.kind.is_compute() && has_tf32 && !asked && product(work.name) == Some(Product::PlainF32)
}
