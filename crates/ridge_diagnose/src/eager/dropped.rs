//! Layers applied to all rows although only some of the results are read, and rows of an embedding that are gathered to be averaged.

use super::calls::{Form, LeftBy, Match, Node, Nodes, WIDTH, elements};
use crate::pricing::Work;

/// The largest part of the results that may be read for the rest to be worth leaving out.
const MOST_READ: f64 = 0.6;
/// Elements of a result that costs little.
const SMALL: f64 = 16_384.0;

pub(super) fn find(rest: &Nodes<'_>) -> Option<Match> {
    let (at, first) = rest.first()?;
    match first.name {
        "linear" => selected(rest, *at, &linear(first)?),
        "conv1d" | "conv2d" | "conv3d" => selected(rest, *at, &convolved(rest)?),
        "embedding" => averaged(rest),
        _ => None,
    }
}

/// The sizes of a linear layer's result.
fn linear(node: &Node<'_>) -> Option<Vec<i64>> {
    let [input, weights, ..] = node.arrays else { return None };
    let [outputs, _] = weights[..] else { return None };
    let mut sizes = input.clone();
    *sizes.last_mut()? = outputs;
    Some(sizes)
}

/// The sizes of a convolution's result, as the slice after it has them.
fn convolved(rest: &Nodes<'_>) -> Option<Vec<i64>> {
    let ([input, weights, ..], next) = (rest.first()?.1.arrays, &rest.get(1)?.1) else { return None };
    let sizes = next.arrays.first().filter(|_| takes_part(next.name))?;
    let is_it = sizes.len() == input.len() && sizes.first() == input.first() && sizes.get(1) == weights.first();
    is_it.then(|| sizes.clone())
}

fn takes_part(name: &str) -> bool {
    matches!(name, "slice" | "select" | "narrow" | "index" | "index_select")
}

/// The layer `rest[0]` with a result of these sizes, of which only a part is read.
fn selected(rest: &Nodes<'_>, at: usize, sizes: &[i64]) -> Option<Match> {
    let (all, first) = (elements(sizes), &rest.first()?.1);
    let own = |node: &Node<'_>| node.arrays.first().is_some_and(|array| array[..] == *sizes);
    let mut is_cut = false;
    for (_, next) in rest.iter().skip(1) {
        let is_part = takes_part(next.name);
        if !is_cut {
            match () {
                () if is_part && own(next) => is_cut = true,
                () if next.reads(all) => return None,
                () => {}
            }
            continue;
        }
        if own(next) && !is_part && !next.is_view {
            return None;
        }
        // The next to compute reads what was cut out.
        if !next.is_view && !is_part {
            let read = next.arrays.iter().map(|array| elements(array)).fold(0.0, f64::max) / all;
            let is_of_it = next.arrays.iter().any(|array| is_part_of(array, sizes));
            return (is_of_it && all >= SMALL && read > 0.0 && read <= MOST_READ).then(|| {
                let inputs: f64 = first.arrays.iter().take(2).map(|array| elements(array)).sum();
                let each = first.arrays.get(1).and_then(|weights| weights.get(1..)).map_or(1.0, elements);
                let better =
                    Work { matrix: 2.0 * all * read * each, bytes: WIDTH * (inputs + all * read), ..Work::default() };
                Match { form: SELECTED, calls: vec![at], better, now: Work::default(), large: sizes.to_vec() }
            });
        }
    }
    None
}

/// Whether an array may be some rows of one with these sizes: its last extent is the same, or each extent is smaller.
fn is_part_of(array: &[i64], sizes: &[i64]) -> bool {
    let is_smaller = array.len() == sizes.len() && array.iter().zip(sizes).all(|(part, whole)| part <= whole);
    !array.is_empty() && (array.last() == sizes.last() || is_smaller)
}

const SELECTED: Form = Form {
    does: "goes to computing {} results of a layer, of which only a part is read afterwards",
    instead: "selecting that part first",
    why: "a layer applied to every row or position computes all of its results, even those that the next line drops",
    help: "select before computing: `head(hidden[:, -1])` instead of `head(hidden)[:, -1]`, `head(hidden[mask])` for masked positions, `stride=` instead of `[::2]` after a convolution, and crop before filtering",
    left: LeftBy::Price,
};

/// Rows of an embedding that the next to read them averages or sums.
fn averaged(rest: &Nodes<'_>) -> Option<Match> {
    let (at, first) = rest.first()?;
    let [table, indices, ..] = first.arrays else { return None };
    let [_, width] = table[..] else { return None };
    let all = elements(indices) * width as f64;
    // Up to the same call of the next step.
    let is_same = |next: &Node<'_>| next.name == first.name && next.arrays == first.arrays;
    let mut readers =
        rest.iter().skip(1).take_while(|(_, next)| !is_same(next)).filter(|(_, next)| next.reads(all) && !next.is_view);
    let (sum, next) = readers.next()?;
    // Who reads the rows for something else as well needs them.
    let is_alone = readers.next().is_none();
    let is_sum = matches!(next.name, "mean" | "sum") && next.arrays.first()?.last() == Some(&width);
    let mut sizes = indices.clone();
    sizes.push(width);
    (is_sum && is_alone && indices.len() >= 2 && all >= SMALL).then(|| Match::by_form(AVERAGED, vec![*at, *sum], sizes))
}

const AVERAGED: Form = Form {
    does: "goes to gathering the rows of an embedding into {} and then averaging or summing them",
    instead: "`nn.EmbeddingBag`",
    why: "the gathered rows are written and read once more, though only their sums are used",
    help: "use `torch.nn.EmbeddingBag(n, dim, mode=\"mean\")` (or `\"sum\"`, with `per_sample_weights=` and `padding_idx=` for masks) on the same weights, which adds the rows while it reads them",
    left: LeftBy::Parts(0.2, 0.75),
};
