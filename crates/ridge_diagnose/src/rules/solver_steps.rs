//! A solver of differential equations takes very many small steps: of its own choice by an explicit method, or of a constant size.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::programs::{Program, is_from, of_loops, reached};
use crate::rewrites::place_of;
use crate::rule::{Find, Group, Rule};
use crate::words::{count, percent};
use ridge_analysis::{Lines, Need};
use ridge_hlo::{ComputationId, Flow, HloModule, InstructionId};
use ridge_table::{Basis, Quantity, Subject, Unit};
use rustc_hash::FxHashSet;

pub(crate) static RULE: Rule = Rule {
    id: "solver-steps",
    group: Group::Structure,
    summary: "ODE solver with very many steps",
    document: include_str!("solver_steps.md"),
    asks: &[Question::Device, Question::Hlo],
    explains: &[],
    needs: &[Need::of::<Lines>()],
    find: Find::Causes(find),
};

/// The least part of the judged time.
const LEAST: f64 = 0.10;
/// Steps of one solution that smooth equations need rarely.
const MANY: f64 = 200.0;
/// Files of libraries in which a solution goes on step by step.
const STEPPING: [&str; 2] = ["/diffrax/_integrate.py", "/jax/experimental/ode.py"];
/// Files of those that choose the size of a step by its error.
const CHOOSING: [&str; 3] = ["/diffrax/_step_size_controller/pid.py", "/diffrax/_step_size_controller/adaptive.py", "/jax/experimental/ode.py"];
/// Files of those that draw noise for each step, which has a size of its own.
const NOISE: [&str; 1] = ["/diffrax/_brownian/"];
/// Files and calls without which no implicit step is solved.
const SOLVING: [&str; 4] = ["/diffrax/_root_finder/", "/optimistix/_root_find", "/lineax/_solver/", "/lineax/_solve.py"];

/// Methods of diffrax of an order up to three, by their files.
const LOW: [&str; 5] = ["euler", "heun", "midpoint", "ralston", "bosh3"];

/// A loop over the steps of a solution.
struct Steps {
    finding: Finding,
    ns: i64,
    program: u32,
}

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    case.needs_hlo()?;
    let mut found = of_loops(case, steps);
    // Of loops in loops the one that holds most.
    found.sort_by_key(|steps| (steps.program, std::cmp::Reverse(steps.ns)));
    found.dedup_by_key(|steps| steps.program);
    Ok(found.into_iter().map(|steps| steps.finding).collect())
}

fn steps(case: &Case<'_>, program: &Program<'_>, _: &Flow<'_>, id: InstructionId) -> Option<Steps> {
    let module = program.module;
    let body = *module.instruction(id).called.first()?;
    if !is_from(module, id, &STEPPING) {
        return None;
    }
    let inside = reached(module, body);
    let mut ran = program.ran_in(&inside);
    let own = module.computation(body).instruction_ids().map(|id| program.events(id)).max().unwrap_or(0);
    let iterations = ran.iter().map(|id| program.events(*id)).max()?.max(own);
    let trips = iterations as f64 / program.events(id).max(1) as f64;
    ran.push(id);
    let ns = program.ns_of(&ran);
    if trips < MANY || case.share(ns) < LEAST {
        return None;
    }
    let all = all_instructions(module, &inside);
    let is_of = |files: &[&str]| all.iter().any(|id| is_from(module, *id, files));
    let is_adaptive = is_of(&CHOOSING);
    if is_of(&NOISE) || all.iter().any(|id| solves(module, *id)) {
        return None;
    }
    let method = all.iter().find_map(|id| method(module, *id));
    let is_low = method.as_deref().is_none_or(|method| LOW.contains(&method));
    let method = method.as_deref().map(|method| format!(" (`{method}`)")).unwrap_or_default();
    let (share, steps) = (percent(case.share(ns)), count(trips as u64, "step", "steps"));
    let finding = if is_adaptive && is_low {
        Finding::new(format!("{share} of the time goes to an ODE solve that takes {steps} each time with an explicit solver{method}; one of higher order (`Tsit5`, `Dopri8`) takes far fewer at tight tolerances, and an implicit one if the equations are stiff"))
            .fact("the capture doesn't show the tolerances")
            .why("the error of a step shrinks with its length to the power of the method's order, so a method of low order needs many short steps for a small error")
            .help("use `diffrax.Tsit5()`, or `Dopri8()` for tolerances below 1e-6; if the equations are stiff, use an implicit solver (`diffrax.Kvaerno5()`); otherwise loosen `rtol` and `atol`")
    } else if is_adaptive {
        Finding::new(format!("{share} of the time goes to an ODE solve that takes {steps} each time with an explicit solver{method}; an implicit one takes far fewer if the equations are stiff, and an `Event` stops it when the result is known"))
            .fact("the capture doesn't show whether the equations are stiff: loosen the tolerances tenfold, and if the number of steps hardly changes, stability limits the step size, not accuracy")
            .why("an explicit method has to keep its steps as short as the fastest process in the equations, even long after that process has decayed")
            .help("if rates differ by orders of magnitude, use an implicit solver, which takes far fewer steps: `diffrax.Kvaerno5()` or `Kvaerno3()`, or `KenCarp4()` if only a part is stiff; otherwise loosen `rtol` and `atol`, and start with `dt0=None`")
    } else {
        Finding::new(format!("{share} of the time goes to an ODE solve that takes {steps} of constant size each time{method}; an adaptive step size takes far fewer if the solution is smooth"))
            .fact("the capture doesn't show how large the error is: double `dt0`, and compare the results")
            .why("a constant step has to be short enough for the fastest part of the solution, and is as short everywhere else")
            .help("let the solver choose its steps: `stepsize_controller=diffrax.PIDController(rtol=1e-5, atol=1e-5)` with `dt0=None`, and `SaveAt(ts=…)` for results at given times; or use a larger `dt0`")
    };
    let finding = finding
        .at(place_of(case, program, id))
        .about(Subject::Module(program.row))
        .number("in its steps", case.per_unit(ns))
        .number("steps per solve (slowest member of a batch)", Quantity::new(trips, Unit::Count, Basis::Measured))
        .claims(program.claim(&ran, 1.0))
        .information();
    Some(Steps { finding, ns, program: program.row.0 })
}

/// All instructions of some computations, those inside of their fusions as well.
fn all_instructions(module: &HloModule, computations: &[ComputationId]) -> Vec<InstructionId> {
    let mut open: Vec<ComputationId> = computations.to_vec();
    let mut seen: FxHashSet<ComputationId> = open.iter().copied().collect();
    let mut found = Vec::new();
    while let Some(at) = open.pop() {
        for id in module.computation(at).instruction_ids() {
            found.push(id);
            open.extend(module.instruction(id).called.iter().copied().filter(|called| seen.insert(*called)));
        }
    }
    found
}

/// Whether an instruction is part of solving equations for a step.
fn solves(module: &HloModule, id: InstructionId) -> bool {
    let instruction = module.instruction(id);
    let name = instruction.custom_call_target.as_deref().unwrap_or(&instruction.opcode);
    crate::factors::is_factor(module, id)
        || name.contains("trsm")
        || name == "triangular-solve"
        || is_from(module, id, &SOLVING)
}

/// The name of the method, by the file of diffrax that has its numbers.
fn method(module: &HloModule, id: InstructionId) -> Option<String> {
    let stack = module.source_stack(id);
    let file = stack.iter().find_map(|frame| frame.file.rsplit_once("/diffrax/_solver/").map(|(_, file)| file))?;
    let name = file.strip_suffix(".py").filter(|name| !matches!(*name, "base" | "runge_kutta"))?;
    Some(name.to_owned())
}
