//! Loops on a processor over problems that have nothing to do with one another, each in operations on a few numbers.

use super::tiny_operations::tiny;
use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::programs::{Program, programs, reached};
use crate::rewrites::{independent_loop, place_of};
use crate::rule::{Find, Group, Rule};
use crate::words::{count, list, percent};
use ridge_analysis::{Lines, Need};
use ridge_table::{Basis, Quantity, Subject, Unit};

pub(crate) static RULE: Rule = Rule {
    id: "one-by-one",
    group: Group::Structure,
    summary: "Independent small problems solved one by one",
    document: include_str!("one_by_one.md"),
    asks: &[Question::Device, Question::Hlo],
    explains: &["no-warm-start", "hot-line", "serial-while-small-body"],
    needs: &[Need::of::<Lines>()],
    find: Find::Causes(find),
};

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    case.needs_hlo()?;
    if !case.is_on_processors() {
        return Ok(Vec::new());
    }
    Ok(programs(case).iter().filter_map(|program| finding(case, program)).collect())
}

fn finding(case: &Case<'_>, program: &Program<'_>) -> Option<Finding> {
    let (tiny, most) = tiny(case, program)?;
    let longest = program.longest_first(&tiny);
    let around = independent_loop(case, program, *longest.first()?)?;
    let instruction = program.module.instruction(around);
    let held = program.ran_in(&reached(program.module, *instruction.called.first()?));
    let message = format!(
        "{} of the time goes to a loop that takes {} one by one, in operations on at most {most} numbers each; `jax.vmap` would run them as a batch",
        percent(case.share(program.ns_of(&held))),
        count(instruction.known_trip_count()?, "independent problem", "independent problems"),
    );
    let operations = tiny.iter().map(|id| program.events(*id)).sum::<u64>();
    Some(
        Finding::new(message)
            .at(place_of(case, program, around))
            .about(Subject::Module(program.row))
            .number(format!("in operations on a few numbers: {}", list(&program.names(&longest), 3)), case.per_unit(program.ns_of(&tiny)))
            .number("operations in total", Quantity::new(operations as f64, Unit::Count, Basis::Measured))
            .fact("how many iterations each problem takes isn't compared: a batch runs until its slowest member is done")
            .why("an operation on a few numbers takes as long as one on a few hundred, because its launch takes longer than its arithmetic")
            .help("use `jax.vmap(f)(xs)` instead of `jax.lax.map(f, xs)` or a `scan` without carry, or `jax.lax.map(f, xs, batch_size=…)` to limit memory")
            .claims(program.claim(&held, 1.0))
            .information(),
    )
}
