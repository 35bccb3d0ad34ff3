//! A compiled kernel updates memory by atomic operations.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::CannotTell;
use crate::rule::{Find, Group, Rule};
use crate::seen::seen;

pub(crate) static RULE: Rule = Rule {
    id: "atomics",
    group: Group::Compute,
    summary: "Atomic updates in a kernel",
    document: include_str!("atomics.md"),
    asks: &[],
    explains: &[],
    needs: &[],
    find: Find::Causes(find),
};

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    Ok(seen(case, RULE.id).into_iter().collect())
}
