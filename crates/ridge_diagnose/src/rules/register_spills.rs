//! A compiled kernel needs more registers than it gets.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::CannotTell;
use crate::rule::{Find, Group, Rule};
use crate::seen::seen;

pub(crate) static RULE: Rule = Rule {
    id: "register-spills",
    group: Group::Compute,
    summary: "Registers spilled to memory",
    document: include_str!("register_spills.md"),
    asks: &[],
    explains: &[],
    needs: &[],
    find: Find::Causes(find),
};

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    Ok(seen(case, RULE.id).into_iter().collect())
}
