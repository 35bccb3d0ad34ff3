//! Matrix products on a GPU with extents that its matrix units don't like: no multiples of what they load at once, or few tiles.

use crate::case::{Case, Framework};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::kernels::cores_of;
use crate::operator_calls::{NEEDS, OperatorCall, extents};
use crate::rule::{Find, Group, Rule};
use crate::words::percent;
use ridge_table::Subject;
use ridge_trace::{EventRow, NONE};
use rustc_hash::FxHashMap;

pub(crate) static RULE: Rule = Rule {
    id: "matrix-shape",
    group: Group::Compute,
    summary: "Matrix products with awkward extents",
    document: include_str!("matrix_shape.md"),
    asks: &[Question::Device],
    explains: &["unexplained-work", "kernel-hotspot"],
    needs: NEEDS,
    find: Find::Causes(find),
};

/// The least part of the judged time.
const LEAST: f64 = 0.20;
/// Extents below which a product is small anyway.
const SMALLEST: i64 = 64;
/// Bytes that matrix units load at once, and which rows should be multiples of.
const ALIGNED: i64 = 16;
/// Rows and columns of the result that one block computes, in the usual kernels.
const TILE: i64 = 128;
/// Compute units of a large GPU where its number isn't known.
const UNITS: u64 = 64;
/// How many times as long as the result's sides a sum is that could be split.
const LONGER: i64 = 8;

/// What is wrong with a product's extents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Defect {
    Misaligned,
    FewTiles,
}

/// m × k by k × n.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Product {
    m: i64,
    n: i64,
    k: i64,
}

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    if case.framework() != Framework::Torch || case.trace().operator_shapes.is_empty() || case.is_on_processors() {
        return Ok(Vec::new());
    }
    let cores = case.breakdown().devices.first().and_then(|device| cores_of(case, device.device.0));
    let units = cores.unwrap_or(UNITS);
    let mut known: FxHashMap<u32, Option<(Product, Defect, i64)>> = FxHashMap::default();
    let all = &case.operator_calls().calls;
    let mut found: FxHashMap<Defect, Vec<(usize, Product, i64)>> = FxHashMap::default();
    for (at, call) in all.iter().enumerate() {
        let one = product_row(case, call)
            .and_then(|detail| *known.entry(detail).or_insert_with(|| judged(case, detail, units)));
        if let Some((product, defect, multiple)) = one {
            found.entry(defect).or_default().push((at, product, multiple));
        }
    }
    let mut findings: Vec<(f64, Finding)> =
        found.into_iter().filter_map(|(defect, calls)| finding(case, defect, &calls, cores)).collect();
    findings.sort_by(|a, b| b.0.total_cmp(&a.0));
    Ok(findings.into_iter().map(|(_, finding)| finding).collect())
}

/// The shapes of the product of matrices that a call is, or makes.
fn product_row(case: &Case<'_>, call: &OperatorCall) -> Option<u32> {
    let events = &case.trace().events;
    let is_product = |row: &u32| {
        let name = case.trace().strings.get(ridge_trace::StringId(events.name[*row as usize]));
        matches!(name, "aten::mm" | "aten::addmm") && events.detail[*row as usize] != NONE
    };
    call.rows().find(is_product).map(|row| events.detail[row as usize])
}

/// A product with the defect of its extents, and the multiple that they should be of.
fn judged(case: &Case<'_>, detail: u32, units: u64) -> Option<(Product, Defect, i64)> {
    let shape = case.trace().operator_shapes.get(detail as usize)?;
    let arrays = extents(case.trace().strings.get(shape.dims));
    let matrices: Vec<&Vec<i64>> = arrays.iter().filter(|array| array.len() == 2).collect();
    let [.., left, right] = matrices[..] else { return None };
    let product = Product { m: *left.first()?, k: *left.last()?, n: *right.last()? };
    let types = case.trace().strings.get(shape.types);
    let bytes = if types.contains("Half") || types.contains("BFloat16") { 2 } else { 4 };
    if types.contains("double") {
        return None;
    }
    let multiple = ALIGNED / bytes;
    defect(product, multiple, units).map(|defect| (product, defect, multiple))
}

fn defect(product: Product, multiple: i64, units: u64) -> Option<Defect> {
    let Product { m, n, k } = product;
    if m.min(n).min(k) < SMALLEST {
        return None;
    }
    if k % multiple != 0 || n % multiple != 0 {
        return Some(Defect::Misaligned);
    }
    let is_few = tiles(product) * 2 <= units && k >= LONGER * m.max(n);
    is_few.then_some(Defect::FewTiles)
}

fn tiles(product: Product) -> u64 {
    let along = |extent: i64| u64::try_from(extent.saturating_add(TILE - 1) / TILE).unwrap_or(1);
    along(product.m).saturating_mul(along(product.n))
}

fn finding(case: &Case<'_>, defect: Defect, calls: &[(usize, Product, i64)], cores: Option<u64>) -> Option<(f64, Finding)> {
    let all = case.operator_calls();
    let claim = case.claim_of_calls(calls.iter().map(|(at, ..)| *at), 1.0);
    let share = case.share_of(claim.iter().copied());
    if share < LEAST {
        return None;
    }
    let ns = |at: usize| all.work_of(at).fold(0_i64, |sum, (_, ns)| sum.saturating_add(ns));
    let (at, product, multiple) = calls.iter().max_by_key(|(at, ..)| (ns(*at), std::cmp::Reverse(*at)))?;
    let Product { m, n, k } = product;
    let sizes = format!("{m} × {k} by {k} × {n}");
    let (message, why, help) = match defect {
        Defect::Misaligned => (
            format!(
                "{} of the time goes to matrix products with extents that aren't multiples of {multiple} ({sizes}); padding them would let the matrix units load aligned rows",
                percent(share)
            ),
            "matrix units (tensor cores) load 16 bytes at once, and a row that doesn't begin at such an address needs a slower kernel",
            "pad the extents to a multiple of 8 for 16-bit types (4 for 32-bit ones), better of 64 or 128: vocabularies (50257 to 50304), hidden sizes, and batches times sequence lengths",
        ),
        Defect::FewTiles => (
            format!(
                "{} of the time goes to matrix products with few output tiles ({sizes}: {} tiles of {TILE} × {TILE}); splitting the long sum (split-K), or a batch of products, would use more of {}",
                percent(share),
                tiles(*product),
                cores.map_or_else(|| "the compute units".to_owned(), |cores| format!("the {cores} compute units")),
            ),
            "a block computes one tile of the result, so a small result keeps few compute units busy, however long its sums are",
            "use a kernel that splits the sum (`split-K` or `stream-K` in cuBLASLt, hipBLASLt or Triton; autotune with `torch.compile(mode=\"max-autotune\")`), reshape to a batched product and add its results, or process several such products at once",
        ),
    };
    let row = all.calls[*at].row;
    Some((
        share,
        Finding::new(message)
            .at(case.line_of_row(row))
            .about(EventRow::known(row).map(Subject::Event))
            .number("products with such extents", case.count_per_unit(calls.len() as u64))
            .why(why)
            .help(help)
            .claims(claim)
            .unknown_amount()
            .information(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents_that_matrix_units_do_not_like() {
        let of = |m, k, n| defect(Product { m, n, k }, 8, 132);
        assert_eq!(of(4097, 4097, 4097), Some(Defect::Misaligned));
        assert_eq!(of(4096, 768, 50257), Some(Defect::Misaligned));
        assert_eq!(of(4097, 4096, 4096), None, "rows of the first matrix begin at multiples anyway");
        assert_eq!(of(256, 131_072, 512), Some(Defect::FewTiles));
        assert_eq!(of(256, 1024, 512), None, "short sums");
        assert_eq!(of(4096, 4096, 4096), None);
        assert_eq!(of(4096, 4096, 1), None, "a vector");
    }
}
