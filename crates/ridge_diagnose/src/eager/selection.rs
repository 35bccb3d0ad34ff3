//! Sorts of which only the first or last elements are read.

use super::calls::{Form, LeftBy, Match, Nodes, elements};

/// Shorter rows are sorted as fast as anything is found in them.
const SHORTEST: i64 = 64;

/// A larger part is no selection.
const MOST: f64 = 0.25;

pub(super) fn find(rest: &Nodes<'_>) -> Option<Match> {
    let (at, node) = rest.first()?;
    if node.name == "randperm" {
        return permuted(rest);
    }
    if !matches!(node.name, "sort" | "argsort" | "msort") {
        return None;
    }
    let array = node.arrays.first().filter(|array| array.iter().max() >= Some(&SHORTEST))?;
    let all = elements(array);
    let mut is_cut = false;
    for (_, next) in rest.iter().skip(1) {
        match next.name {
            "sort" | "argsort" | "msort" => break,
            "slice" | "select" | "narrow" if next.arrays.first() == Some(array) => is_cut = true,
            _ if !next.is_view && next.reads(all) => return None,
            // What is cut out is read next, and may be nearly all of it.
            _ if !next.is_view && is_cut => {
                if next.largest() > MOST * all {
                    return None;
                }
                break;
            }
            _ => {}
        }
    }
    is_cut.then(|| Match::by_form(FIRST, vec![*at], array.clone()))
}

/// A permutation of which only a part is read: what selects by it has far fewer indices than there are.
fn permuted(rest: &Nodes<'_>) -> Option<Match> {
    let (at, node) = rest.first()?;
    let all: f64 = node.values.trim_start_matches('[').split(',').next()?.trim().trim_matches('"').parse().ok()?;
    let (_, cut) = rest.iter().skip(1).take(NEAR).find(|(_, next)| matches!(next.name, "slice" | "narrow"))?;
    let is_cut = cut.arrays.first().is_some_and(|array| elements(array) == all);
    // Of `x[start:end]`, which PyTorch is given as `["", "0", "start", "end", "1"]`.
    let bounds: Vec<f64> = cut.values.split('"').skip(1).step_by(2).filter_map(|number| number.parse().ok()).collect();
    let [_, start, end, ..] = bounds[..] else { return None };
    let read = end - start;
    (is_cut && all >= MANY && read > 0.0 && read <= MOST_DRAWN * all)
        .then(|| Match::by_form(PERMUTED, vec![*at], vec![all as i64]))
}

/// Calls between a permutation and what reads it.
const NEAR: usize = 4;
/// Shorter permutations cost no more than their call.
const MANY: f64 = 4096.0;
/// A larger part of a permutation is an epoch.
const MOST_DRAWN: f64 = 0.1;

const PERMUTED: Form = Form {
    does: "goes to random permutations of {} numbers (`torch.randperm`) to read only a few of them",
    instead: "drawing random indices",
    why: "a permutation shuffles all indices, no matter how few are used",
    help: "draw indices with replacement, `torch.randint(n, (batch,))`, or make one permutation per epoch and slice it for each batch",
    left: LeftBy::Parts(0.0, 0.2),
};

const FIRST: Form = Form {
    does: "goes to sorting {} numbers to read only some of them",
    instead: "a selection",
    why: "a sort orders all elements, but finding the first few needs only one pass",
    help: "use `torch.topk(x, k)` (`largest=False` for the smallest), `torch.kthvalue`, or `x.median()` and `torch.quantile` for a single rank",
    left: LeftBy::Parts(0.1, 0.6),
};
