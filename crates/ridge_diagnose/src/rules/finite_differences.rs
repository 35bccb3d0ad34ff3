//! An optimizer of SciPy calls a compiled function again and again only to estimate its derivatives.

use crate::case::Case;
use crate::finding::{Finding, Place};
use crate::fitness::{CannotTell, Question};
use crate::programs::{Program, programs};
use crate::rule::{Find, Group, Rule};
use crate::words::percent;
use ridge_analysis::{Activity, Cause, Looks, Need, PythonLooks};
use ridge_hlo::HloModule;
use ridge_table::{Basis, Quantity, Subject, Unit};
use ridge_trace::PythonStack;

pub(crate) static RULE: Rule = Rule {
    id: "finite-differences",
    group: Group::Host,
    summary: "SciPy optimizer without gradient: finite differences",
    document: include_str!("finite_differences.md"),
    asks: &[Question::Device, Question::Idle, Question::Host],
    explains: &["blocking-call", "host-bound-dispatch", "host-pause", "converted-again", "results-on-host"],
    needs: &[Need::of::<PythonLooks>()],
    find: Find::Causes(find),
};

/// Functions of SciPy that follow derivatives, and estimate them where they are given none.
const FOLLOWING: [&str; 14] = [
    "minimize",
    "least_squares",
    "curve_fit",
    "root",
    "fsolve",
    "leastsq",
    "basinhopping",
    "fmin_bfgs",
    "fmin_cg",
    "fmin_l_bfgs_b",
    "fmin_tnc",
    "fmin_slsqp",
    "fmin_ncg",
    "newton_krylov",
];
/// Where SciPy is in a method that follows derivatives, or estimates them.
const METHODS: [&str; 11] = [
    "_numdiff",
    "_lbfgsb",
    "_slsqp",
    "_tnc",
    "_minimize_bfgs",
    "_minimize_cg",
    "_trustregion",
    "optimize/_lsq/",
    "_minpack",
    "_differentiable_functions",
    "_linesearch",
];
/// Where it is in one that needs none.
const WITHOUT: [&str; 6] = ["neldermead", "powell", "cobyla", "_differentialevolution", "_dual_annealing", "brent"];
/// The least part of the looks in the judged time that find SciPy.
const MOST_OF_LOOKS: f64 = 0.5;
/// Calls of a function that make a loop.
const FEWEST_CALLS: u64 = 8;
/// Variables below which differences cost little, and gradients that are estimated before it is worth a word.
const FEWEST_VARIABLES: f64 = 4.0;
const FEWEST_GRADIENTS: f64 = 3.0;
/// A gradient and the value with it take about so many times as long as the value.
const GRADIENT: f64 = 4.0;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    Ok(finding(case).into_iter().collect())
}

fn finding(case: &Case<'_>) -> Option<Finding> {
    let looks = case.analysis.get::<PythonLooks>().all();
    let all: u64 = looks.values().sum();
    let stack = |row: u32| case.trace().python.stacks.get(row as usize);
    let within: Looks = looks
        .iter()
        .filter(|(row, _)| stack(**row).is_some_and(|stack| optimizer(case, stack).is_some()))
        .map(|(row, count)| (*row, *count))
        .collect();
    let found: u64 = within.values().sum();
    let part = found as f64 / all.max(1) as f64;
    if part < MOST_OF_LOOKS {
        return None;
    }
    let text = |id| case.trace().strings.get(id);
    let is_in = |stack: &PythonStack, names: &[&str]| {
        let inside = [text(stack.calls), text(stack.innermost)];
        inside.iter().any(|inside| names.iter().any(|name| inside.contains(name)))
    };
    let stacks = || within.keys().filter_map(|row| stack(*row));
    if stacks().any(|stack| is_in(stack, &WITHOUT)) || !stacks().any(|stack| is_in(stack, &METHODS)) {
        return None;
    }
    let calls = case.recurring_calls(FEWEST_CALLS, |_| true);
    let names: Vec<&str> = crate::words::distinct(calls.iter().map(|call| call.function));
    let all_programs = programs(case);
    let of_name = |name: &&str| all_programs.iter().find(|program| program.function(case) == *name);
    let called: Vec<&Program<'_>> = names.iter().filter_map(of_name).collect();
    // A program that derives is the gradient, or has one inside of which a difference is wanted.
    if called.is_empty() || called.len() < names.len() || called.iter().any(|program| derives(program.module)) {
        return None;
    }
    let count = |program: &Program<'_>| calls.iter().filter(|call| call.function == program.function(case)).count();
    let program = called.into_iter().max_by_key(|program| count(program))?;
    let (variables, evaluations) = (variables(program.module)?, count(program) as f64);
    let each = variables + 1.0;
    if variables < FEWEST_VARIABLES || evaluations < FEWEST_GRADIENTS * each || GRADIENT >= each {
        return None;
    }
    let saved = (1.0 - GRADIENT / each) as f32;
    let ran: Vec<_> = program.ran.keys().copied().collect();
    let by_host = |cause: Cause| matches!(cause, Cause::HostLate | Cause::LaunchCall | Cause::LaunchLatency | Cause::Run);
    let idle = case.idle().filter(|idle| by_host(idle.cause) && idle.activity != Activity::Compiling);
    let mut claim = program.claim(&ran, saved);
    claim.extend(idle.map(|idle| (idle.at, saved * part as f32)));
    let share = case.share_of(claim.iter().copied());
    let (place, call) = stacks().find_map(|stack| optimizer(case, stack))?;
    let function = program.function(case);
    let (name, how) = (call.rsplit('.').next().unwrap_or(call), advice(program.module));
    Some(
        Finding::new(format!(
            "{} of the time goes to estimating derivatives by finite differences: `{name}` has no gradient and calls `{function}` once per variable; `jax.grad` would give an exact one",
            percent(share),
        ))
        .at(Some(place))
        .about(Subject::Module(program.row))
        .number(format!("calls to `{function}`, none to its derivative"), Quantity::new(evaluations, Unit::Count, Basis::Counted))
        .number("variables, from the size of its first argument", Quantity::new(variables, Unit::Count, Basis::Counted))
        .fact(format!("{found} of {all} Python stack samples were in `{name}`"))
        .why("without `jac`, SciPy perturbs one variable at a time and calls the function again for each; an exact gradient costs only a few calls")
        .help(how)
        .claims(claim),
    )
}

/// Where the program calls an optimizer of SciPy that follows derivatives in `stack`, and its name.
fn optimizer<'a>(case: &Case<'a>, stack: &PythonStack) -> Option<(Place, &'a str)> {
    let trace = case.trace();
    let places = stack.places.iter().filter_map(|row| trace.python.places.get(*row as usize));
    let mut found = places.map(|place| (place, trace.strings.get(place.call)));
    let (place, call) = found.find(|(_, call)| {
        call.starts_with("scipy.optimize.") && call.rsplit('.').next().is_some_and(|name| FOLLOWING.contains(&name))
    })?;
    Some((case.place_of_python(place), call))
}

/// Whether a derivative is part of a program: JAX names what it makes of one.
fn derives(module: &HloModule) -> bool {
    module.instructions.iter().any(|instruction| {
        let name = &instruction.metadata.op_name;
        name.contains("transpose(") && name.contains("jvp(") || name.contains("vmap(jvp(")
    })
}

/// The elements of the first argument that is a vector of real numbers, as the optimizers of SciPy pass their variables.
fn variables(module: &HloModule) -> Option<f64> {
    let entry = module.computation(module.entry?);
    let parameters = entry.instruction_ids().map(|id| module.instruction(id));
    let mut vectors: Vec<(i64, i64)> = parameters
        .filter(|parameter| parameter.shape.element_type.is_float())
        .filter_map(|parameter| match parameter.shape.dimensions[..] {
            [extent] => Some((parameter.parameter_number?, extent)),
            _ => None,
        })
        .collect();
    vectors.sort_unstable();
    vectors.first().map(|(_, extent)| *extent as f64)
}

fn advice(module: &HloModule) -> &'static str {
    let root = module.entry.and_then(|entry| module.computation(entry).root).map(|root| module.instruction(root));
    let is_scalar = root.is_some_and(|root| root.shape.leaves().iter().all(|shape| shape.dimensions.is_empty()));
    if is_scalar {
        "pass the gradient: `jax.jit(jax.value_and_grad(f))` with `jac=True` returns value and gradient in one call; or optimize on the device (`jax.scipy.optimize.minimize`, `optax.lbfgs`)"
    } else {
        "pass the Jacobian: `jac=jax.jit(jax.jacfwd(f))` if there are fewer variables than residuals, else `jax.jacrev`; or fit on the device (`optimistix.least_squares`, `jaxopt`)"
    }
}
