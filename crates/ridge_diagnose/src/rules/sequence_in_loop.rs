//! Layers in a loop over a sequence that need only its inputs, step by step.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::programs::{Program, programs};
use crate::rewrites::{place_of, sequence_layers};
use crate::rule::{Find, Group, Rule};
use crate::words::{list, percent};
use ridge_analysis::{Lines, Need};
use ridge_table::Subject;

pub(crate) static RULE: Rule = Rule {
    id: "sequence-in-loop",
    group: Group::Structure,
    summary: "Input layers applied step by step in a loop",
    document: include_str!("sequence_in_loop.md"),
    asks: &[Question::Device, Question::Hlo],
    explains: &["hot-line", "tiny-operations"],
    needs: &[Need::of::<Lines>()],
    find: Find::Causes(find),
};

/// The least part of the judged time.
const LEAST: f64 = 0.20;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    case.needs_hlo()?;
    Ok(programs(case).iter().filter_map(|program| finding(case, program)).collect())
}

fn finding(case: &Case<'_>, program: &Program<'_>) -> Option<Finding> {
    let layers = sequence_layers(case, program).into_iter().max_by_key(|layers| program.ns_of(&layers.ran))?;
    let ns = program.ns_of(&layers.ran);
    if case.share(ns) < LEAST {
        return None;
    }
    let message = format!(
        "{} of the time goes to input layers that are applied step by step in a loop of {} iterations, although they don't need its state; one product for the whole sequence before the loop would do",
        percent(case.share(ns)),
        layers.iterations,
    );
    let (products, ran) = (program.longest_first(&layers.products), program.longest_first(&layers.ran));
    // What a library of small products ran has no line.
    let at = products.iter().chain(&ran).find_map(|id| place_of(case, program, *id));
    Some(
        Finding::new(message)
            .at(at)
            .about(Subject::Module(program.row))
            .number(format!("in {}", list(&program.names(&ran), 3)), case.per_unit(ns))
            .why("each iteration reads all of the weights for a few rows, although only the part that reads the state has to wait for the iteration before")
            .help("apply the input layer to the whole sequence (`xs @ w_in`, or the layer under `vmap`) before `scan`, and scan over its result; only the product with the state stays in the loop")
            .claims(program.claim(&layers.ran, 1.0))
            .information(),
    )
}
