//! A model is given all that came before again for each new element: its inputs grow by the same amount from call to call.

use crate::case::{Case, Framework};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::operator_calls::{NEEDS, OperatorCall};
use crate::rule::{Find, Group, Rule};
use crate::words::{distinct, list, percent};
use ridge_table::{Basis, Quantity, Subject, Unit};
use ridge_trace::{EventRow, NONE, StringId};
use rustc_hash::FxHashMap;

pub(crate) static RULE: Rule = Rule {
    id: "grown-input",
    group: Group::Compute,
    summary: "Whole sequence recomputed for each new element",
    document: include_str!("grown_input.md"),
    asks: &[Question::Device],
    explains: &["hot-line", "kernel-hotspot", "host-bound-dispatch", "unfused-eager", "unfused-attention"],
    needs: NEEDS,
    find: Find::Causes(find),
};

/// Below this part of the time it is not worth a change.
const LEAST: f64 = 0.10;
/// Fewer calls may grow by chance.
const FEWEST: usize = 12;
/// The part of the calls, one after the other, that grow by the same amount.
const MOST_GROW: f64 = 0.7;
/// What is computed for the new element alone costs more than its part, because small work has overheads.
const SLOWER: f64 = 4.0;

/// The operator and its sizes without the one that grows, which is the last.
type Site = (StringId, Vec<i64>, usize);

/// One size of the calls of one site.
#[derive(Debug, Default)]
struct Sizes {
    /// Positions of the calls with that size.
    calls: Vec<(usize, i64)>,
}

/// Distances to a set that grows less than so many times in what was recorded are no loop over its elements.
const MOST_PAIRS_GROWTH: f64 = 1.5;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    if case.framework() != Framework::Torch {
        return Ok(Vec::new());
    }
    if case.trace().operator_shapes.is_empty() {
        return Err(CannotTell::because(
            "the capture has no operator shapes",
            "ridgeline record -- python PROGRAM.py",
        ));
    }
    let all = &case.operator_calls().calls;
    let mut grown: Vec<(usize, i64, i64)> = Vec::new();
    let mut weighed = Vec::new();
    for ((name, ..), sizes) in sites(case, all) {
        let Some(by) = growth(&sizes.calls) else { continue };
        let word = case.trace().strings.get(name);
        if has_weights(word) || is_of_pairs(word) || is_of_all(word) {
            weighed.push(name);
        }
        grown.extend(sizes.calls.iter().map(|(at, size)| (*at, *size, by)));
    }
    if weighed.is_empty() {
        return Ok(Vec::new());
    }
    grown.sort_unstable();
    grown.dedup_by_key(|(at, ..)| *at);
    let claim = case.claim_of_calls(grown.iter().map(|(at, ..)| *at), 1.0);
    let share = case.share_of(claim.iter().copied());
    if share < LEAST {
        return Ok(Vec::new());
    }
    let calls = case.operator_calls();
    let ns = |at: usize| calls.work_of(at).map(|(_, ns)| ns).sum::<i64>() as f64;
    let whole: f64 = grown.iter().map(|(at, ..)| ns(*at)).sum();
    let new: f64 = grown.iter().map(|(at, size, by)| ns(*at) * (*by as f64 / *size.max(by) as f64)).sum();
    let left = if whole > 0.0 { new / whole } else { 1.0 };
    let rows: Vec<u32> = grown.iter().map(|(at, ..)| all[*at].row).collect();
    let longest =
        grown.iter().max_by(|one, other| ns(one.0).total_cmp(&ns(other.0))).map_or(NONE, |(at, ..)| all[*at].row);
    let seen = case.seen_during(rows.iter().copied());
    let sizes = grown.iter().map(|(_, size, _)| *size);
    let names = distinct(weighed.iter().map(|name| case.trace().strings.get(*name)));
    let of_all = names.iter().all(|name| is_of_all(name));
    let of_pairs = names.iter().all(|name| is_of_pairs(name));
    let (again, instead) = if of_all {
        ("a statistic of the whole history (a sort) in each step", "running counts, or one sort at the end,")
    } else if of_pairs {
        ("the distances to all earlier rows for each new one", "those to the new row")
    } else {
        ("a whole sequence for each new element", "the kept state, or cached keys and values,")
    };
    // A set that hardly grows has to be compared as a whole now and then.
    let (least, most) = (sizes.clone().min().unwrap_or(0), sizes.clone().max().unwrap_or(0));
    if of_pairs && (most as f64) < MOST_PAIRS_GROWTH * least as f64 {
        return Ok(Vec::new());
    }
    let finding = Finding::new(format!(
        "{} of the time recomputes {again}: inputs grow from {} to {}; {instead} would suffice",
        percent(share),
        least,
        most,
    ))
    .at(case.line_of_row(longest))
    .about(EventRow::known(longest).map(Subject::Event))
    .seen(seen.as_ref())
    .number("calls with growing inputs", case.count_per_unit(grown.len() as u64))
    .number("of their work is for new elements", Quantity::new(left, Unit::Share, Basis::Counted))
    .fact(format!("computed by {}", list(&names, 3)))
    .why("results for earlier elements are discarded and recomputed, so the work grows with the square of the length")
    .help(if of_all {
        "compute it once at the end or every N steps, on a part of the history, or keep what can be updated (counts, a histogram, running sums)"
    } else if of_pairs {
        "compute the distances to the new row only and combine them with the result so far: `nearest = torch.minimum(nearest, torch.cdist(x, new).squeeze(-1))`"
    } else {
        "keep the state and pass the model only new elements: the hidden state of a recurrent network, or a cache of attention keys and values; or compute all positions in one call"
    })
    .claims(claim)
    .priced(share * (1.0 - (SLOWER * left).min(0.9)), share * (1.0 - left));
    Ok(vec![finding])
}

/// The calls by everything but one size, for each size that differs between calls.
fn sites(case: &Case<'_>, all: &[OperatorCall]) -> FxHashMap<Site, Sizes> {
    let trace = case.trace();
    let mut sizes: FxHashMap<u32, Option<Vec<i64>>> = FxHashMap::default();
    let mut of_name: FxHashMap<(u32, StringId, usize), Vec<(usize, u32)>> = FxHashMap::default();
    for (at, call) in all.iter().enumerate().filter(|(_, call)| call.detail != NONE && !call.is_backward) {
        let known = sizes.entry(call.detail).or_insert_with(|| {
            let dims = trace.operator_shapes.get(call.detail as usize)?.dims;
            Some(flat(trace.strings.get(dims))).filter(|sizes| !sizes.is_empty())
        });
        if let Some(known) = known {
            of_name.entry((call.process, call.name, known.len())).or_default().push((at, call.detail));
        }
    }
    let mut found: FxHashMap<Site, Sizes> = FxHashMap::default();
    for ((_, name, count), calls) in of_name {
        let of = |detail: &u32| sizes.get(detail).and_then(Option::as_ref);
        let mut details: Vec<u32> = calls.iter().map(|(_, detail)| *detail).collect();
        details.sort_unstable();
        details.dedup();
        if details.len() < FEWEST {
            continue;
        }
        for position in 0..count {
            for (at, detail) in &calls {
                let Some(all) = of(detail) else { continue };
                let mut rest = all.clone();
                let size = rest.remove(position);
                found.entry((name, rest, position)).or_default().calls.push((*at, size));
            }
        }
    }
    found
}

/// The numbers of `[[8, 12, 48], [4]]`, with the ends of lists in their places.
fn flat(dims: &str) -> Vec<i64> {
    let mut found = Vec::new();
    for part in dims.split(',') {
        let number: String = part.chars().filter(char::is_ascii_digit).take(18).collect();
        found.extend(number.parse::<i64>());
        // Arrays of another rank are another site.
        found.extend(part.matches(']').map(|_| -1));
    }
    found
}

/// By how much a size grows from call to call; `None` where it does not.
pub(super) fn growth(calls: &[(usize, i64)]) -> Option<i64> {
    // Layers of one shape are calls of one size in a row.
    let mut sizes: Vec<i64> = calls.iter().map(|(_, size)| *size).collect();
    sizes.dedup();
    if sizes.len() < FEWEST {
        return None;
    }
    let mut counts: FxHashMap<i64, usize> = FxHashMap::default();
    for pair in sizes.windows(2).filter(|pair| pair[1] > pair[0]) {
        *counts.entry(pair[1] - pair[0]).or_default() += 1;
    }
    let (by, count) = counts.into_iter().max_by_key(|(by, count)| (*count, std::cmp::Reverse(*by)))?;
    let most = sizes.iter().max()?;
    // What grows by a large part of itself is of few sizes.
    (count as f64 >= MOST_GROW * (sizes.len() - 1) as f64 && by * FEWEST as i64 <= *most).then_some(by)
}

/// Whether an operator multiplies by weights, which work on each element anew: what only joins or reads a cache does not.
fn has_weights(name: &str) -> bool {
    let words = ["linear", "addmm", "gru", "lstm", "rnn_tanh", "rnn_relu", "conv1d", "conv2d", "conv3d"];
    name.strip_prefix("aten::").is_some_and(|name| words.contains(&name))
}

/// Whether an operator combines each row of one array with each of another.
fn is_of_pairs(name: &str) -> bool {
    matches!(name.strip_prefix("aten::"), Some("cdist" | "_cdist_forward"))
}

/// Whether an operator orders all elements, whatever was known of those before.
fn is_of_all(name: &str) -> bool {
    matches!(name.strip_prefix("aten::"), Some("sort" | "argsort" | "median" | "quantile" | "nanquantile" | "unique" | "_unique2"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_grow() {
        let calls = |sizes: &[i64]| sizes.iter().enumerate().map(|(at, size)| (at, *size)).collect::<Vec<_>>();
        let growing: Vec<i64> = (12..40).collect();
        assert_eq!(growth(&calls(&growing)), Some(1));
        // Two layers of one shape, and a second sequence.
        let twice: Vec<i64> = (12..40).chain(12..40).flat_map(|size| [size, size]).collect();
        assert_eq!(growth(&calls(&twice)), Some(1));
        let batches: Vec<i64> = (0..40).map(|at| if at % 9 == 8 { 17 } else { 32 }).collect();
        assert_eq!(growth(&calls(&batches)), None);
        let lengths: Vec<i64> = (0..40).map(|at| 20 + at * 7 % 31).collect();
        assert_eq!(growth(&calls(&lengths)), None);
    }

    #[test]
    fn sizes_of_arrays() {
        assert_eq!(flat("[[8, 12, 48], [4], []]"), [8, 12, 48, -1, 4, -1, -1, -1]);
        assert_eq!(flat(""), [] as [i64; 0]);
    }
}
