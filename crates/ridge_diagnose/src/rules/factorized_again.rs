//! A program that is called again and again factorizes a matrix that some of its arguments alone decide.

use crate::arguments::{behind_each, name_of};
use crate::case::Case;
use crate::factors::{is_factor, kind_of_factor};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::programs::{Program, programs};
use crate::rewrites::place_of;
use crate::rule::{Find, Group, Rule};
use crate::words::{list, percent};
use ridge_analysis::{Lines, Need};
use ridge_hlo::InstructionId;
use ridge_table::Subject;

pub(crate) static RULE: Rule = Rule {
    id: "factorized-again",
    group: Group::Structure,
    summary: "Factorization repeated in every call",
    document: include_str!("factorized_again.md"),
    asks: &[Question::Device, Question::Hlo],
    explains: &[],
    needs: &[Need::of::<Lines>()],
    find: Find::Causes(find),
};

/// The least part of the judged time.
const LEAST: f64 = 0.10;
/// The same for a warning, where the arguments are known to stay.
const WORTH_A_WARNING: f64 = 0.25;
/// Calls from which on doing it once is worth it.
const RUNS: u64 = 5;
/// Arguments that are named, and instructions of a program that is looked at.
const NAMED: usize = 4;
const MOST: usize = 1 << 14;
fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    case.needs_hlo()?;
    Ok(programs(case).iter().filter_map(|program| finding(case, program)).collect())
}

fn finding(case: &Case<'_>, program: &Program<'_>) -> Option<Finding> {
    let module = program.module;
    let entry = module.entry?;
    let direct: Vec<InstructionId> =
        program.ran.keys().copied().filter(|id| module.instruction(*id).computation == entry).collect();
    let factor = direct.iter().copied().filter(|id| is_factor(module, *id)).max_by_key(|id| program.ns(*id))?;
    if program.events(factor) < RUNS || module.computation(entry).instruction_ids().len() > MOST {
        return None;
    }
    let arguments = behind_each(module, entry);
    // A matrix made of what changes has other factors.
    let own = arguments.get(&factor).filter(|own| !own.is_empty() && own.is_disjoint(&case.changing(program)))?;
    let is_large = |id: InstructionId| module.instruction(id).shape.element_count().is_ok_and(|count| count > 1);
    let parameters = module.computation(entry).instruction_ids();
    let mut others = parameters.filter(|id| module.instruction(*id).opcode == "parameter" && is_large(*id));
    // Where every argument goes in, something of it is new in every call.
    others.find(|id| !own.contains(id))?;
    let ran: Vec<InstructionId> = direct
        .into_iter()
        .filter(|id| arguments.get(id).is_some_and(|of| !of.is_empty() && of.is_subset(own)))
        .collect();
    let ns = program.ns_of(&ran);
    if case.share(ns) < LEAST {
        return None;
    }
    let names: Vec<String> = own.iter().take(NAMED).map(|id| format!("`{}`", name_of(module, *id))).collect();
    let more = if own.len() > NAMED { " and others" } else { "" };
    let function = program.function(case);
    let longest = program.longest_first(&ran);
    let steady = case.steady(program).filter(|(arguments, _)| own.is_subset(arguments));
    let looks = steady.map(|(_, looks)| looks);
    let kind = longest.iter().find_map(|id| kind_of_factor(module, *id)).map(|kind| format!(" ({kind})")).unwrap_or_default();
    let message = format!(
        "{} of the time factorizes a matrix{kind} again in every call of `{function}`, though it depends only on {}{more}{}; factorizing it once before the loop would suffice",
        percent(case.share(ns)),
        names.join(", "),
        if looks.is_some() { ", the same in every call" } else { "" },
    );
    let finding =
        Finding::new(message)
            .at(place_of(case, program, factor))
            .about(Subject::Module(program.row))
            .number(format!("in operations that depend only on those: {}", list(&program.names(&longest), 3)), case.per_unit(ns))
            .fact(match looks {
                Some(looks) => format!("called {} times; all {looks} looks at the program found the same arrays", program.events(factor)),
                None => format!("called {} times; the capture doesn't show whether those arguments were the same each time", program.events(factor)),
            })
            .why("a compiled function keeps nothing between calls, so it recomputes everything that depends on unchanged arguments")
            .help("if they stay the same, factorize once in a separate function and pass the factor in: `jax.scipy.linalg.cho_factor` or `lu_factor`, then `cho_solve` or `solve_triangular` in each call")
            .claims(program.claim(&ran, 1.0));
    Some(if looks.is_some() && case.share(ns) >= WORTH_A_WARNING { finding } else { finding.information() })
}
