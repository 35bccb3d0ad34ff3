//! Layers applied to rows that were repeated before: features of nodes expanded to all pairs, put side by side, and multiplied.

use super::calls::{Form, LeftBy, Match, Nodes, WIDTH, elements, later};
use crate::operator_calls::extents;
use crate::pricing::Work;

/// Copies of a row from which on its own product is worth keeping.
const OFTEN: f64 = 4.0;
/// Elements of an array that costs little.
const SMALL: f64 = 65_536.0;

/// The join `rest[0]` of arrays of which some repeat their rows, and the layer that alone reads it.
pub(super) fn find(rest: &Nodes<'_>) -> Option<Match> {
    let (at, first) = rest.first()?;
    if first.name != "cat" && first.name != "concat" {
        return None;
    }
    let (dims, strides) = (list(first.dims)?, list(first.strides)?);
    let width: i64 = dims.iter().filter_map(|array| array.last()).sum();
    let rows = elements(dims.first()?.split_last()?.1);
    let all = rows * width as f64;
    let (layer, next) = later(rest).find(|(_, next)| next.reads(all))?;
    let [input, weights, ..] = next.arrays else { return None };
    let is_layer = next.name == "linear" && input.last() == Some(&width) && weights.last() == Some(&width);
    if !is_layer || all < SMALL || dims.len() != strides.len() {
        return None;
    }
    let outputs = *weights.first()? as f64;
    let (mut matrix, mut sums) = (0.0, 0.0);
    let mut is_repeated = false;
    for (extents, strides) in dims.iter().zip(&strides) {
        let copies: f64 =
            extents.iter().zip(strides).filter(|(_, stride)| **stride == 0).map(|(extent, _)| *extent as f64).product();
        is_repeated |= copies >= OFTEN;
        matrix += 2.0 * rows / copies * *extents.last()? as f64 * outputs;
        sums += rows * outputs;
    }
    let better = Work {
        matrix,
        plain: sums,
        bytes: WIDTH * (rows * outputs * 2.0 + matrix / (2.0 * outputs)),
        ..Work::default()
    };
    let now = Work { bytes: 2.0 * WIDTH * all, ..Work::default() };
    is_repeated.then(|| Match { form: SPLIT, calls: vec![*at, *layer], better, now, large: input.clone() })
}

/// The arrays of a list that is an operator's first argument.
fn list(text: &str) -> Option<Vec<Vec<i64>>> {
    let inner = text.trim().strip_prefix('[').filter(|inner| inner.trim_start().starts_with("[["))?;
    let end = inner.find("]]")?;
    Some(extents(inner.get(..end + 2)?)).filter(|arrays| !arrays.is_empty())
}

const SPLIT: Form = Form {
    does: "goes to a linear layer on repeated rows, which are expanded and joined into {} first",
    instead: "applying the layer to each part before expanding it",
    why: "a layer is linear, so each row's product is the same in all of its copies, and the products of joined parts add up",
    help: "split the weight by its input columns: `wa, wb, wc = layer.weight.split([d, d, r], dim=1)`, then `(x @ wa.T)[:, :, None] + (x @ wb.T)[:, None] + pairs @ wc.T + layer.bias`, which broadcasts small products instead of copying rows",
    left: LeftBy::Price,
};
