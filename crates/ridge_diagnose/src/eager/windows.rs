//! Windows that are cut out of an array to add them up or to multiply them.

use super::calls::{Form, LeftBy, Match, Nodes, elements, later};
use crate::pricing::Work;

/// Elements of a window from which on another form is worth it.
const WIDE: i64 = 24;

pub(super) fn find(rest: &Nodes<'_>) -> Option<Match> {
    let (_, node) = rest.first()?;
    match node.name {
        "unfold" => sums(rest),
        "im2col" => patches(rest),
        _ => None,
    }
}

/// Windows along one axis that are only added up.
fn sums(rest: &Nodes<'_>) -> Option<Match> {
    let (_, node) = rest.first()?;
    let array = node.arrays.first()?;
    let (at, next) = later(rest).next()?;
    let windows = next.arrays.first()?;
    let width = *windows.last().filter(|width| **width >= WIDE)?;
    let is_of_it = windows.len() == array.len() + 1 && elements(windows) > 8.0 * elements(array);
    let is_sum = matches!(next.name, "sum" | "mean") && next.values.split('"').nth(3).is_some_and(|axis| axis == "[-1]");
    (is_sum && is_of_it).then(|| Match {
        form: SUMS,
        calls: vec![*at],
        better: Work::default(),
        now: Work::default(),
        large: vec![width],
    })
}

/// Patches of an image that are written out for a product of matrices.
fn patches(rest: &Nodes<'_>) -> Option<Match> {
    let (at, node) = rest.first()?;
    let image = elements(node.arrays.first()?);
    let (product_at, next) = later(rest).find(|(_, next)| next.name != "contiguous" && next.name != "clone")?;
    let product = next.product?;
    let written = (product.batch * product.m * product.k).max(product.batch * product.k * product.n);
    (written >= 4.0 * image).then(|| Match {
        form: PATCHES,
        calls: vec![*at, *product_at],
        better: Work::default(),
        now: Work::default(),
        large: vec![written as i64],
    })
}

const SUMS: Form = Form {
    does: "adds up every window of {} elements by itself",
    instead: "differences of a running sum",
    why: "neighboring windows share all but two elements, and each window adds all of its own again",
    help: "take differences of `torch.cumsum(x, -1)`, in double precision where sums are long, or `torch.nn.functional.avg_pool1d(x, k, stride=1)` for narrow windows",
    left: LeftBy::Parts(0.05, 0.5),
};

const PATCHES: Form = Form {
    does: "writes out all patches of an image ({} elements) to multiply them by a matrix",
    instead: "a convolution",
    why: "each element is written as often as there are patches with it, and a convolution reads it where it is",
    help: "use `torch.nn.functional.conv2d` with the matrix reshaped to filters",
    left: LeftBy::Parts(0.1, 0.7),
};
