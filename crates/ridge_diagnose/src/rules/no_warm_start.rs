//! An iterative solver begins every time with the same constant guess.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::programs::{Program, is_from, of_loops, reached};
use crate::rewrites::{independent_loop, place_of};
use crate::rule::{Find, Group, Rule};
use crate::words::{count, percent};
use ridge_analysis::{Lines, Need};
use ridge_hlo::{Flow, HloModule, InstructionId};
use ridge_table::{Basis, Quantity, Subject, Unit};

pub(crate) static RULE: Rule = Rule {
    id: "no-warm-start",
    group: Group::Structure,
    summary: "Iterative solver always starts from the same guess",
    document: include_str!("no_warm_start.md"),
    asks: &[Question::Device, Question::Hlo],
    explains: &[],
    needs: &[Need::of::<Lines>()],
    find: Find::Causes(find),
};

/// The least part of the judged time.
const LEAST: f64 = 0.30;
/// Iterations of one solution from which on a better guess is worth it.
const MANY: f64 = 20.0;
/// Solutions from which on one is like the one before.
const RUNS: u64 = 8;
/// Loops in loops.
const DEEPEST: usize = 8;
/// Files of libraries whose loops go on through time or from draw to draw: their steps are no iterations.
const STEPPING: [&str; 4] = ["/diffrax/", "/jax/experimental/ode.py", "/numpyro/", "/blackjax/"];
/// Elements of an unknown: fewer are counters, norms and flags.
const FEWEST: u64 = 2;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    case.needs_hlo()?;
    let mut found = of_loops(case, solver);
    // Of loops in loops the one that holds most.
    found.sort_by_key(|(ns, ..)| std::cmp::Reverse(*ns));
    found.truncate(1);
    Ok(found.into_iter().map(|(_, finding)| finding).collect())
}

fn solver(case: &Case<'_>, program: &Program<'_>, flow: &Flow<'_>, id: InstructionId) -> Option<(i64, Finding)> {
    let module = program.module;
    let around = module.instruction(id);
    let body = *around.called.first()?;
    // It ends when it is near enough, which is not known before it runs.
    if around.known_trip_count().is_some() || program.events(id) < RUNS {
        return None;
    }
    let inside = reached(module, body);
    let mut all = inside.iter().flat_map(|inside| module.computation(*inside).instruction_ids());
    if is_from(module, id, &STEPPING) || !has_unknown(module, flow, id) || all.any(|id| is_random(module, id)) {
        return None;
    }
    let mut ran = program.ran_in(&inside);
    let own = module.computation(body).instruction_ids().map(|id| program.events(id)).max().unwrap_or(0);
    let trips = own as f64 / program.events(id) as f64;
    ran.push(id);
    let ns = program.ns_of(&ran);
    // A loop over independent problems has no solution of the one before.
    if trips < MANY || case.share(ns) < LEAST || independent_loop(case, program, id).is_some() {
        return None;
    }
    let message = format!(
        "{} of the time goes to an iterative solver that always starts from the same constant guess, and takes {} each time; a warm start from the previous solution takes fewer if the problem changes little",
        percent(case.share(ns)),
        count(trips as u64, "iteration", "iterations"),
    );
    let finding = Finding::new(message)
        .at(place_of(case, program, id))
        .about(Subject::Module(program.row))
        .number("in its iterations", case.per_unit(ns))
        .number("solutions", Quantity::new(program.events(id) as f64, Unit::Count, Basis::Counted))
        .fact("the capture doesn't show how much the problem changes from one solution to the next")
        .why("an iteration reduces the error of the guess by a factor, so a guess that is near the solution saves most of the iterations")
        .help("keep the last solution and pass it as the initial guess: `x0=` of `jax.scipy.sparse.linalg.cg`, `init=(out.f, out.g)` of `ott`'s Sinkhorn, `options={\"y0\": …}` of `lineax`, the `y0` of `optimistix`, `init_params` of `jaxopt`; in a `scan`, carry it")
        .claims(program.claim(&ran, 1.0))
        .information();
    Some((ns, finding))
}

/// Whether the loop's state has an array that begins with one constant everywhere and that an iteration replaces as a whole.
fn has_unknown(module: &HloModule, flow: &Flow<'_>, around: InstructionId) -> bool {
    let around = module.instruction(around);
    let body = around.called.first().map(|body| module.computation(*body));
    let start = around.operands.first().map(|start| module.instruction(*start));
    let (Some(start), Some(root)) = (start, body.and_then(|body| body.root)) else { return false };
    let root = module.instruction(root);
    let is_guess = |(first, next): (&InstructionId, &InstructionId)| {
        is_constant_array(module, flow, flow.content(*first)) && is_replaced(module, flow, flow.source(*next))
    };
    start.opcode == "tuple" && root.opcode == "tuple" && start.operands.iter().zip(&root.operands).any(is_guess)
}

fn is_constant_array(module: &HloModule, flow: &Flow<'_>, id: InstructionId) -> bool {
    let value = module.instruction(id);
    let is_constant = match &*value.opcode {
        "constant" => true,
        "broadcast" => value.operands.first().is_some_and(|of| module.instruction(flow.content(*of)).opcode == "constant"),
        _ => false,
    };
    is_constant
        && value.shape.element_count().is_ok_and(|count| count >= FEWEST)
        && value.shape.leaves().first().is_some_and(|shape| shape.element_type.is_float())
}

/// What is filled element by element is a list of results, and what is handed on is no unknown.
fn is_replaced(module: &HloModule, flow: &Flow<'_>, next: InstructionId) -> bool {
    made_by(module, flow, next).is_some_and(|next| {
        let opcode = &*module.instruction(next).opcode;
        !matches!(opcode, "dynamic-update-slice" | "scatter" | "get-tuple-element" | "parameter")
    })
}

/// What makes the last value of an element of a loop's state, where `id` is one of a loop: its iterations.
fn made_by(module: &HloModule, flow: &Flow<'_>, id: InstructionId) -> Option<InstructionId> {
    let mut at = id;
    for _ in 0..DEEPEST {
        let value = module.instruction(at);
        let of = value.operands.first().map(|of| module.instruction(*of));
        let Some(inner) = of.filter(|of| value.opcode == "get-tuple-element" && of.opcode == "while") else { return Some(at) };
        let root = module.instruction(module.computation(*inner.called.first()?).root?);
        at = flow.source(*root.operands.get(usize::try_from(value.tuple_index?).ok()?)?);
    }
    None
}

/// Whether an instruction draws random numbers: a loop that draws until it accepts has no guess.
fn is_random(module: &HloModule, id: InstructionId) -> bool {
    let instruction = module.instruction(id);
    let name = module.op_name_in_fusion(id);
    matches!(&*instruction.opcode, "rng" | "rng-bit-generator" | "rng-get-and-update-state")
        || name.contains("threefry")
        || name.contains("random_bits")
}
