//! Matrix products that tensor cores could do run in ordinary arithmetic.

use crate::case::{Case, Work};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::products::{Plain, Product, is_nvidia, product};
use crate::rule::{Find, Group, Rule};
use crate::seen::seen;
use crate::words::percent;

pub(crate) static RULE: Rule = Rule {
    id: "tensor-cores-idle",
    group: Group::Compute,
    summary: "Matrix products not on tensor cores",
    document: include_str!("tensor_cores_idle.md"),
    asks: &[Question::Device],
    explains: &[],
    needs: &[],
    find: Find::Causes(find),
};

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let found = |wanted: Product| finding(case, wanted);
    let by_name = [Product::PlainF32, Product::PlainHalf].into_iter().filter_map(found);
    Ok(by_name.chain(seen(case, RULE.id)).collect())
}

fn finding(case: &Case<'_>, wanted: Product) -> Option<Finding> {
    let plain = Plain::of(case, |work| is_idle(case, work, wanted))?;
    let (what, why, help) = match wanted {
        Product::PlainHalf => (
            "16-bit matrix products",
            "the library found no tensor-core kernel: sizes or strides aren't multiples of 8, or pointers aren't 16-byte aligned",
            "pad the dimensions of products to multiples of 8, or 64 if that is cheap",
        ),
        _ => (
            "32-bit matrix products",
            "this device's tensor cores multiply 16-bit numbers, but the program uses 32-bit numbers",
            "train in mixed precision: `torch.autocast(\"cuda\", dtype=torch.float16)` with `torch.amp.GradScaler`, or float16 inputs",
        ),
    };
    let message = format!("{what} take {} of the time without tensor cores", percent(case.share(plain.ns)));
    let finding = plain.finding(case, message);
    Some(
        finding
            .number("in products without tensor cores", case.per_unit(plain.ns))
            .fact(plain.most_in())
            .why(why)
            .help(help),
    )
}

/// Whether tensor cores of the device could have done it; TF32, from 8.0 on, is another matter.
fn is_idle(case: &Case<'_>, work: &Work<'_>, wanted: Product) -> bool {
    let device = case.trace().devices.get(work.row.device.index());
    let capability = device.and_then(|device| device.compute_capability);
    let is_nvidia = device.is_some_and(is_nvidia);
    let has_units = match (wanted, capability) {
        (Product::PlainF32, Some((7, _))) => is_nvidia,
        (Product::PlainHalf, Some((major, _))) => major >= 7,
        _ => false,
    };
    // A Turing of the GTX 16 series has none.
    let has_units =
        has_units && !device.and_then(|device| device.model.as_deref()).is_some_and(|model| model.contains("GTX 16"));
    work.kind.is_compute() && has_units && product(work.name) == Some(wanted)
}
