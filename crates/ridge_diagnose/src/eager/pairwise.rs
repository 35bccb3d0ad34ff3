//! Sums over squared differences or products of all pairs, written out as one large array.

use super::calls::{Form, LeftBy, Match, Nodes, WIDTH, elements, later};
use crate::pricing::Work;

/// Terms of a sum below which writing it out is as good.
const FEWEST: f64 = 8.0;

/// Pairs of `rest[0]`, which combines two arrays, added up by a call after it.
pub(super) fn find(rest: &Nodes<'_>) -> Option<Match> {
    let (at, node) = rest.first()?;
    let is_difference = matches!(node.name, "sub" | "rsub");
    if !(is_difference || node.name == "mul") {
        return None;
    }
    // A factor of the second array is written as an argument, too.
    let arrays: Vec<&Vec<i64>> = node.arrays.iter().filter(|array| !array.is_empty()).collect();
    let [one, two] = arrays[..] else { return None };
    let large = node.broadcast_sizes();
    let (rows, columns, all) = (elements(one), elements(two), elements(&large));
    // Each pair has what both arrays have in common.
    let terms = rows * columns / all.max(1.0);
    if terms < FEWEST || rows <= terms || columns <= terms || all < FEWEST * rows.max(columns) {
        return None;
    }
    let mut calls = vec![*at];
    let mut is_squared = !is_difference;
    for (at, next) in later(rest) {
        if !next.reads(all) {
            if next.broadcast() == all {
                return None; // Another array of that size is made.
            }
            continue;
        }
        calls.push(*at);
        match next.name {
            "pow" | "square" | "mul" if !is_squared => is_squared = true,
            "norm" | "linalg_vector_norm" | "linalg_norm" if is_difference && !is_squared => {
                return Some(of_pairs(true, calls, large, (rows, columns, all, terms)));
            }
            "sum" | "mean" if is_squared && sums_last(next.values, next.arrays.first()?, terms) => {
                return Some(of_pairs(is_difference, calls, large, (rows, columns, all, terms)));
            }
            _ => return None,
        }
    }
    None
}

/// Whether a sum is over the dimensions that both arrays have: by its arguments where they are known.
fn sums_last(values: &str, extents: &[i64], terms: f64) -> bool {
    let Some(dimension) = values.split('"').nth(3).and_then(|text| text.strip_prefix('[')?.strip_suffix(']')) else {
        return false;
    };
    let rank = extents.len() as i64;
    let extent = |text: &str| {
        let at: i64 = text.trim().parse().ok()?;
        let at = usize::try_from(if at < 0 { at + rank } else { at }).ok()?;
        extents.get(at).map(|extent| *extent as f64)
    };
    let summed: Option<f64> = dimension.split(',').map(extent).product();
    summed == Some(terms)
}

fn of_pairs(
    is_difference: bool,
    calls: Vec<usize>,
    large: Vec<i64>,
    (rows, columns, all, terms): (f64, f64, f64, f64),
) -> Match {
    let results = all / terms;
    let better = Work {
        matrix: 2.0 * all,
        plain: if is_difference { 3.0 * results + 2.0 * (rows + columns) } else { 0.0 },
        bytes: WIDTH * (2.0 * (rows + columns) + results * if is_difference { 3.0 } else { 1.0 }),
        functions: 0.0,
    };
    Match { form: if is_difference { DIFFERENCES } else { PRODUCTS }, calls, better, large, now: Work::default() }
}

const DIFFERENCES: Form = Form {
    does: "goes to broadcasting the differences of all pairs into an intermediate array of {} to sum their squares",
    instead: "a product of matrices",
    why: "the array of all differences repeats each vector for every partner; |a - b|² = |a|² - 2 a·b + |b|² needs one matrix product and never writes that array",
    help: "use `torch.cdist(a, b)`, or `(a**2).sum(-1)[:, None] - 2 * a @ b.T + (b**2).sum(-1)`; omit the `(a**2)` term if you need only the nearest `b`",
    left: LeftBy::Price,
};

const PRODUCTS: Form = Form {
    does: "goes to broadcasting the products of all pairs into an intermediate array of {} to sum them",
    instead: "a product of matrices",
    why: "the array of all products repeats each vector for every partner; a matrix product never writes it",
    help: "use `a @ b.T` or `torch.einsum('ik,jk->ij', a, b)` instead of `(a[:, None] * b[None]).sum(-1)`",
    left: LeftBy::Price,
};
