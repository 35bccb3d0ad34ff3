//! The blocks of a compiled kernel do not fill the last wave.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::CannotTell;
use crate::rule::{Find, Group, Rule};
use crate::seen::seen;

pub(crate) static RULE: Rule = Rule {
    id: "tail-wave",
    group: Group::Compute,
    summary: "Last wave of blocks mostly empty",
    document: include_str!("tail_wave.md"),
    asks: &[],
    explains: &[],
    needs: &[],
    find: Find::Causes(find),
};

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    Ok(seen(case, RULE.id).into_iter().collect())
}
