//! Sorts of which only the first or last elements are read.

use super::calls::{Form, LeftBy, Match, Nodes, elements};

/// Shorter rows are sorted as fast as anything is found in them.
const SHORTEST: i64 = 64;

/// A larger part is no selection.
const MOST: f64 = 0.25;

pub(super) fn find(rest: &Nodes<'_>) -> Option<Match> {
    let (at, node) = rest.first()?;
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

const FIRST: Form = Form {
    does: "goes to sorting {} numbers to read only some of them",
    instead: "a selection",
    why: "a sort orders all elements, but finding the first few needs only one pass",
    help: "use `torch.topk(x, k)` (`largest=False` for the smallest), `torch.kthvalue`, or `x.median()` and `torch.quantile` for a single rank",
    left: LeftBy::Parts(0.1, 0.6),
};
