//! Both branches of a condition are computed, and one of two results is kept.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::programs::{Program, programs};
use crate::rewrites::{longest_side, place_of};
use crate::rule::{Find, Group, Rule};
use crate::words::{count, list, percent};
use ridge_analysis::{Lines, Need};
use ridge_table::Subject;

pub(crate) static RULE: Rule = Rule {
    id: "both-branches",
    group: Group::Structure,
    summary: "Both branches of a condition computed",
    document: include_str!("both_branches.md"),
    asks: &[Question::Device, Question::Hlo],
    explains: &[],
    needs: &[Need::of::<Lines>()],
    find: Find::Causes(find),
};

/// The least part of the judged time.
const LEAST: f64 = 0.30;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    case.needs_hlo()?;
    Ok(programs(case).iter().filter_map(|program| finding(case, program)).collect())
}

fn finding(case: &Case<'_>, program: &Program<'_>) -> Option<Finding> {
    let all: Vec<_> = program.ran.keys().copied().collect();
    if case.share(program.ns_of(&all)) < LEAST {
        return None;
    }
    let side = longest_side(case, program)?;
    let ns = program.ns_of(&side.made);
    if case.share(ns) < LEAST {
        return None;
    }
    let whom = if side.members > 1 { format!("for each of {}", count(side.members, "member", "members")) } else { "at run time".to_owned() };
    let message = format!(
        "{} of the time goes to one branch of a condition that is decided {whom}, and both branches are always computed; computing it only where it is needed would suffice",
        percent(case.share(ns)),
    );
    let longest = program.longest_first(&side.made);
    let help = if side.members > 1 {
        "if the branch is rarely needed: take the condition out of `vmap`, with one `lax.cond` on `jnp.any(condition)` around the whole batch; collect the members that need it (`jnp.nonzero(condition, size=…)`) and compute only those; or reset all members together"
    } else {
        "if the branch is rarely needed: use `lax.cond`, which computes only the chosen branch, instead of `jnp.where`"
    };
    let finding = Finding::new(message)
        .at(place_of(case, program, side.select))
        .about(Subject::Module(program.row))
        .number(format!("in {}", list(&program.names(&longest), 3)), case.per_unit(ns))
        .fact("the capture doesn't show how often the result is kept")
        .why("`jnp.where`, and under `vmap` also `lax.cond` and `lax.switch` on a mapped value, compute every branch for every member and then select")
        .help(help)
        .claims(program.claim(&side.made, 1.0));
    Some(finding.information())
}
