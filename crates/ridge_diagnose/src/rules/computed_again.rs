//! A variable is given a new array with the same numbers again and again: it could be computed once.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::rule::{Find, Group, Rule};
use crate::words::{list, percent};
use ridge_analysis::{Need, PythonLooks};
use ridge_table::{Basis, Quantity, Unit};
use ridge_trace::{PythonPlace, RecomputedValue};

pub(crate) static RULE: Rule = Rule {
    id: "computed-again",
    group: Group::Structure,
    summary: "Arrays computed again with the same numbers",
    document: include_str!("computed_again.md"),
    asks: &[Question::Device],
    explains: &[
        "kernel-hotspot",
        "unfused-eager",
        "small-operators",
        "small-calls-in-loop",
        "library-part",
        "python-loop-of-eager-ops",
        "host-bound-dispatch",
        "converted-again",
        "results-on-host",
        "cheaper-form",
        "strided-gather",
        "unexplained-work",
    ],
    needs: &[Need::of::<PythonLooks>()],
    find: Find::Causes(find),
};

/// Below this part of the time it is not worth a change.
const LEAST: f64 = 0.10;
/// Variables that are named.
const NAMED: usize = 3;

/// A variable, and the lines that compute it.
struct Value<'a> {
    known: &'a RecomputedValue,
    place: PythonPlace,
}

impl Value<'_> {
    fn has(&self, found: &PythonPlace) -> bool {
        found.file == self.place.file && (self.place.line..=self.known.until).contains(&found.line)
    }
}

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let all = case.trace().python.watched.iter().flat_map(|watched| &watched.recomputed);
    let values: Vec<Value<'_>> = all.filter_map(|known| Some(Value { known, place: known.place? })).collect();
    Ok(finding(case, &values).into_iter().collect())
}

fn finding(case: &Case<'_>, values: &[Value<'_>]) -> Option<Finding> {
    // One of them may be computed within another's lines.
    let share = case.part_where(|found| values.iter().any(|value| value.has(found)))?;
    let mut by_share: Vec<(f64, &Value<'_>)> = values
        .iter()
        .filter_map(|value| Some((case.part_where(|found| value.has(found))?, value)))
        .filter(|(share, _)| *share > 0.0)
        .collect();
    by_share.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (_, first) = by_share.first().filter(|_| share >= LEAST)?;
    let mut names: Vec<&str> = by_share.iter().map(|(_, value)| value.known.name.as_str()).collect();
    names.dedup();
    let sizes: Vec<String> = first.known.extents.iter().map(i64::to_string).collect();
    let claim = case.claim_of_all(share);
    let seen = case.seen(&case.looks_where(|found| values.iter().any(|value| value.has(found))));
    let (words, them) = if names.len() == 1 { ("an array that has", "it") } else { ("arrays that have", "them") };
    let message = format!("{} of the time computes {words} the same numbers every time: {}; computing {them} once before the loop would suffice", percent(share), list(&names, NAMED));
    let again = by_share.iter().map(|(_, value)| value.known.again).max().unwrap_or_default();
    let finding = Finding::new(message).seen(seen.as_ref());
    let place = finding.place.clone().unwrap_or_else(|| case.place_of_python(&first.place));
    let finding = finding
        .at(Some(place))
        .number("new arrays with the numbers of the one before, in samples", Quantity::new(again as f64, Unit::Count, Basis::Counted))
        .fact(format!("`{}` has the size {}; other variables changed in that time", first.known.name, sizes.join(" × ")))
        .why("nothing that it is computed from changes between steps, so the result doesn't either")
        .help("compute it once before the loop (in `__init__`, as a buffer, or cached by its size) and use the kept array; compute it again only when its inputs change")
        .claims(claim)
        .priced(share * 0.8, (share * 1.1).min(1.0));
    Some(finding)
}
