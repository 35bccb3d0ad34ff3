//! Norms, softmaxes and activations that are written out operator by operator, where PyTorch has one operator.

use super::calls::{Form, LeftBy, Match, Node, Nodes, elements, later};

/// Smaller arrays cost what their calls cost.
const LARGE: f64 = 8192.0;
/// Calls after the first in which the others are looked for.
const NEAR: usize = 14;

pub(super) fn find(rest: &Nodes<'_>) -> Option<Match> {
    let (_, node) = rest.first()?;
    match node.name {
        "mean" | "var" | "var_mean" | "pow" | "square" | "mul" => normalized(rest),
        "max" | "amax" | "exp" => softmax(rest),
        _ => None,
    }
}

/// Calls near the first that work on arrays of `all` elements, or on what is left of them by a sum along the last axis.
fn chain<'n, 'a>(rest: &'n Nodes<'a>, all: f64) -> impl Iterator<Item = &'n (usize, Node<'a>)> {
    later(rest).take(NEAR).take_while(move |(_, node)| node.product.is_none() && node.largest() <= all)
}

/// An average, a variance or a mean of squares along the last axis, its root, and a division by that.
fn normalized(rest: &Nodes<'_>) -> Option<Match> {
    let (at, node) = rest.first()?;
    let array = node.arrays.first().filter(|array| array.len() > 1 && elements(array) >= LARGE)?;
    let all = elements(array);
    let is_square = matches!(node.name, "pow" | "square") || (node.name == "mul" && node.arrays.get(1) == Some(array));
    let averages = matches!(node.name, "mean" | "var" | "var_mean");
    if !(is_square || averages) {
        return None;
    }
    let is_whole = |node: &Node<'_>| node.arrays.iter().any(|array| elements(array) == all);
    let (mut calls, mut centers, mut squares, mut is_averaged, mut is_rooted) =
        (vec![*at], false, is_square, averages, false);
    squares |= matches!(node.name, "var" | "var_mean");
    for (at, next) in chain(rest, all) {
        match next.name {
            "sub" if is_whole(next) => centers = true,
            "pow" | "square" if is_whole(next) => squares = true,
            "mul" if is_whole(next) && next.arrays.first() == next.arrays.get(1) => squares = true,
            "var" if is_whole(next) => squares = true,
            "mean" if is_whole(next) => is_averaged = true,
            "sqrt" | "rsqrt" | "pow" if next.largest() < all => is_rooted = true,
            "add" | "clamp" | "reciprocal" if next.largest() < all => {}
            "div" | "mul" if is_whole(next) && is_rooted && squares && is_averaged => {
                calls.push(*at);
                // A norm over channels of a batch has running statistics and is no such thing.
                let form = if centers { LAYER } else { RMS };
                return is_last_axis(node).then(|| Match::by_form(form, calls, array.clone()));
            }
            _ => return None,
        }
        calls.push(*at);
    }
    None
}

/// Whether a sum goes along the last axis; what is squared first is summed later, and not asked.
fn is_last_axis(node: &Node<'_>) -> bool {
    !matches!(node.name, "mean" | "var" | "var_mean") || {
        let last = node.arrays.first().map_or(0, Vec::len) as i64 - 1;
        let axis = node.values.split('"').nth(3).unwrap_or_default();
        axis == "[-1]" || axis == format!("[{last}]")
    }
}

/// Exponentials that are divided by their sum, with the largest subtracted before or not.
fn softmax(rest: &Nodes<'_>) -> Option<Match> {
    let (at, node) = rest.first()?;
    let array = node.arrays.first().filter(|array| array.len() > 1 && elements(array) >= LARGE)?;
    let all = elements(array);
    let is_whole = |node: &Node<'_>| node.arrays.iter().any(|array| elements(array) == all);
    let (mut calls, mut exponentials, mut sums) = (vec![*at], node.name == "exp", false);
    for (at, next) in chain(rest, all) {
        match next.name {
            "sub" if is_whole(next) && !exponentials => {}
            "exp" if is_whole(next) && !exponentials => exponentials = true,
            "sum" if is_whole(next) && exponentials => sums = true,
            "add" | "clamp" if next.largest() < all => {}
            "div" if is_whole(next) && sums => {
                calls.push(*at);
                return Some(Match::by_form(SOFTMAX, calls, array.clone()));
            }
            _ => return None,
        }
        calls.push(*at);
    }
    None
}

const LAYER: Form = Form {
    does: "goes to a layer norm of {} that is written out operator by operator",
    instead: "one fused operator (`torch.nn.functional.layer_norm`)",
    why: "each operator (mean, difference, square, root, quotient) reads the whole array from memory and writes a new one, and so does each gradient",
    help: "use `torch.nn.LayerNorm` or `torch.nn.functional.layer_norm(x, x.shape[-1:], weight, bias, eps)`, which reads the array once",
    left: LeftBy::Parts(0.1, 0.6),
};

const RMS: Form = Form {
    does: "goes to an RMS norm of {} that is written out operator by operator",
    instead: "one fused operator (`torch.nn.functional.rms_norm`)",
    why: "each operator (square, mean, root, product) reads the whole array from memory and writes a new one, and so does each gradient",
    help: "use `torch.nn.RMSNorm` or `torch.nn.functional.rms_norm(x, x.shape[-1:], weight, eps)`; `torch.nn.functional.normalize` for a plain length",
    left: LeftBy::Parts(0.15, 0.8),
};

const SOFTMAX: Form = Form {
    does: "goes to a softmax of {} that is written out operator by operator",
    instead: "one fused operator (`torch.softmax`)",
    why: "each operator (maximum, difference, exponential, sum, quotient) reads the whole array from memory and writes a new one, and so does each gradient",
    help: "use `torch.softmax(x, dim)`, `torch.log_softmax` for its logarithm, `torch.nn.functional.cross_entropy` on the logits for a loss, and `scaled_dot_product_attention` for attention",
    left: LeftBy::Parts(0.1, 0.6),
};
