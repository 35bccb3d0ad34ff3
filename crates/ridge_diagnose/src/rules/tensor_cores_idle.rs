//! Matrix products that tensor cores could do run in ordinary arithmetic.

use crate::case::{Case, Work};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::products::{Product, is_nvidia, product};
use crate::rule::{Find, Group, Rule};
use crate::words::{list, percent};
use ridge_table::Subject;

pub(crate) static RULE: Rule = Rule {
    id: "tensor-cores-idle",
    group: Group::Compute,
    summary: "matrix products run without tensor cores",
    document: include_str!("tensor_cores_idle.md"),
    asks: &[Question::Device],
    explains: &[],
    needs: &[],
    find: Find::Causes(find),
};

/// Below this part of the time it is not worth a change of types or sizes.
const LEAST: f64 = 0.02;
/// The part that goes: sheets say seven eighths, memory and small sizes leave more.
const GONE: f32 = 0.5;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let found = |wanted: Product| finding(case, wanted);
    Ok([Product::PlainF32, Product::PlainHalf].into_iter().filter_map(found).collect())
}

fn finding(case: &Case<'_>, wanted: Product) -> Option<Finding> {
    let mut works: Vec<Work<'_>> = case.work().filter(|work| is_idle(case, work, wanted)).collect();
    works.sort_by_key(|work| std::cmp::Reverse(work.row.ns));
    let ns = works.iter().fold(0_i64, |sum, work| sum.saturating_add(work.row.ns));
    let share = case.share(ns);
    let longest = works.first().filter(|_| share >= LEAST)?;
    let names: Vec<&str> = works.iter().map(|work| work.name).collect();
    let (what, why, help) = match wanted {
        Product::PlainHalf => (
            "16-bit matrix products",
            "the library found no kernel for tensor cores: sizes or strides are not multiples of 8, or pointers are not aligned to 16 bytes",
            "pad the dimensions of products to multiples of 8, 64 where that is cheap",
        ),
        _ => (
            "32-bit matrix products",
            "the tensor cores of this device multiply 16-bit numbers, and the program's are 32 bits wide",
            "train in mixed precision: `torch.autocast(\"cuda\", dtype=torch.float16)` with `torch.amp.GradScaler`, or float16 inputs",
        ),
    };
    Some(
        Finding::new(format!("{what} take {} of the time without tensor cores", percent(share)))
            .at(case.line_of(longest))
            .about(longest.row.example.map(Subject::Event))
            .number("in products in ordinary arithmetic", case.per_unit(ns))
            .fact(format!("most of it in {}", list(&names, 2)))
            .why(why)
            .help(help)
            .claims(works.iter().map(|work| (work.at, GONE))),
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
