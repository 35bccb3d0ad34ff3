//! Loops that keep a result of each iteration, where keeping them takes much of the time.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::programs::{Program, of_loops};
use crate::rewrites::place_of;
use crate::rule::{Find, Group, Rule};
use crate::words::{count, list, percent};
use ridge_analysis::{Lines, Need};
use ridge_hlo::{Flow, HloModule, InstructionId, Users};
use ridge_table::{Basis, Quantity, Subject, Unit};

pub(crate) static RULE: Rule = Rule {
    id: "stacked-results",
    group: Group::Structure,
    summary: "Loop keeps a result of every iteration",
    document: include_str!("stacked_results.md"),
    asks: &[Question::Device, Question::Hlo],
    explains: &["defensive-copies"],
    needs: &[Need::of::<Lines>()],
    find: Find::Causes(find),
};

/// The least part of the judged time.
const LEAST: f64 = 0.30;
/// Results that are kept for each run of a loop, at least.
const MANY: i64 = 16;
/// Bytes of all of them, at least: less stays in a cache.
const LARGE: f64 = 1_048_576.0;
/// Copies before a loop, and readers behind it.
const MOST: usize = 64;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    case.needs_hlo()?;
    let mut found = of_loops(case, of_loop);
    // Of loops in loops the one that takes most.
    found.sort_by_key(|(ns, ..)| std::cmp::Reverse(*ns));
    found.truncate(1);
    Ok(found.into_iter().map(|(_, finding)| finding).collect())
}

/// Arrays that a loop writes, a row in each iteration.
#[derive(Default)]
struct Stacks {
    arrays: usize,
    rows: i64,
    bytes: f64,
    /// What ran to make and to fill them.
    ran: Vec<InstructionId>,
    at: Option<InstructionId>,
}

/// Who reads the rows that a loop keeps.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reader {
    /// They are results of the program, or slices of them are.
    Caller,
    /// A loop after it takes them one by one: the one that goes back through its iterations.
    Backward,
}

fn of_loop(case: &Case<'_>, program: &Program<'_>, flow: &Flow<'_>, around: InstructionId) -> Option<(i64, Finding)> {
    let written = all_written(program.module, flow, around);
    if written.is_empty() || flow.loop_around(around).is_some() {
        return None;
    }
    let users = Users::new(program.module);
    let found = [Reader::Caller, Reader::Backward].into_iter().filter_map(|reader| {
        let stacks = stacks(program, flow, &users, around, &written, reader)?;
        let ns = program.ns_of(&stacks.ran);
        (case.share(ns) >= LEAST).then(|| (ns, finding(case, program, &stacks, reader)))
    });
    found.max_by_key(|(ns, _)| *ns)
}

fn finding(case: &Case<'_>, program: &Program<'_>, stacks: &Stacks, reader: Reader) -> Finding {
    let ns = program.ns_of(&stacks.ran);
    let results = count(stacks.arrays as u64, "result", "results");
    let longest = program.longest_first(&stacks.ran);
    let share = percent(case.share(ns));
    let (message, why, help) = match reader {
        Reader::Caller => (
            format!(
                "{share} of the time goes to keeping {results} of each of up to {} iterations of a loop; if only the last one is read, return it in the carry instead of stacking them",
                stacks.rows
            ),
            "each call allocates an array for the results of all iterations and writes it once, at the speed of memory",
            "return `None` instead of the state as the second result of a `scan` body, and read the last state from the carry; to keep some, stack every k-th with an inner `fori_loop`; in `diffrax`, use `SaveAt(t1=True)` or `SaveAt(ts=…)` instead of `steps=True` or `dense=True`, and a `max_steps` near the real number of steps",
        ),
        Reader::Backward => (
            format!(
                "{share} of the time goes to storing {results} of each of up to {} iterations of a loop for differentiating through them; for a solver, implicit differentiation of its solution stores none",
                stacks.rows
            ),
            "reverse mode stores what every iteration computed and reads it again on the way back, at the speed of memory",
            "differentiate a solver implicitly (`implicit_diff=True` of `jaxopt`, `optimistix.ImplicitAdjoint`, `jax.lax.custom_root`, `jax.lax.custom_linear_solve`), differentiate fewer iterations, or recompute cheap intermediates with `jax.checkpoint` around the body of the loop",
        ),
    };
    let found = Finding::new(message)
        .at(stacks.at.and_then(|id| place_of(case, program, id)))
        .about(Subject::Module(program.row))
        .number(format!("in {}", list(&program.names(&longest), 3)), case.per_unit(ns))
        .number("in the arrays of results", Quantity::new(stacks.bytes, Unit::Bytes, Basis::Counted));
    let found = match reader {
        Reader::Caller => found.fact("the capture doesn't show which of the results the program reads"),
        Reader::Backward => found,
    };
    found.why(why).help(help).claims(program.claim(&stacks.ran, 1.0)).information()
}

/// An array of a loop's state that it writes row by row.
struct Written {
    /// Its place in the state, and how it begins.
    index: usize,
    first: InstructionId,
    /// The write of a row, and how many there are.
    write: InstructionId,
    rows: i64,
}

fn all_written(module: &HloModule, flow: &Flow<'_>, around: InstructionId) -> Vec<Written> {
    let instruction = module.instruction(around);
    let start = instruction.operands.first().map(|start| module.instruction(*start));
    let root = instruction.called.first().and_then(|body| module.computation(*body).root).map(|root| module.instruction(root));
    let (Some(start), Some(root)) = (start, root) else { return Vec::new() };
    if start.opcode != "tuple" || root.opcode != "tuple" {
        return Vec::new();
    }
    let elements = start.operands.iter().zip(&root.operands).enumerate();
    let written = elements.filter_map(|(index, (first, next))| {
        let (write, rows) = written(module, flow, *next, index)?;
        (rows >= MANY).then_some(Written { index, first: *first, write, rows })
    });
    written.collect()
}

fn stacks(
    program: &Program<'_>,
    flow: &Flow<'_>,
    users: &Users,
    around: InstructionId,
    written: &[Written],
    reader: Reader,
) -> Option<Stacks> {
    let module = program.module;
    let mut stacks = Stacks::default();
    for array in written.iter().filter(|array| readers(module, users, around, array.index) == Some(reader)) {
        stacks.arrays += 1;
        stacks.rows = stacks.rows.max(array.rows);
        stacks.bytes += module.instruction(array.write).shape.byte_size().unwrap_or(0) as f64;
        stacks.ran.push(flow.carrier(array.write));
        stacks.ran.extend(made_by(module, flow, array.first));
        // The line of what is kept says more than the line of the loop.
        stacks.at = stacks.at.or(Some(array.write));
    }
    stacks.ran.sort_unstable();
    stacks.ran.dedup();
    stacks.ran.retain(|id| program.ran.contains_key(id));
    (stacks.bytes >= LARGE).then_some(stacks)
}

/// The write of one row, where the next value of the element `index` of a loop's state is its last value with that row, and its rows.
fn written(module: &HloModule, flow: &Flow<'_>, next: InstructionId, index: usize) -> Option<(InstructionId, i64)> {
    let write = flow.source(next);
    let update = module.instruction(write);
    let [array, part, ..] = update.operands[..] else { return None };
    let state = module.instruction(flow.source(array));
    let is_own = state.opcode == "get-tuple-element" && state.tuple_index == i64::try_from(index).ok();
    let (whole, one) = (&update.shape.dimensions, &module.instruction(part).shape.dimensions);
    let is_row = one.first() == Some(&1) && whole.len() == one.len() && whole.get(1..) == one.get(1..);
    (update.opcode == "dynamic-update-slice" && is_own && is_row).then(|| Some((write, *whole.first()?)))?
}

/// Who reads an element of a loop's last state: the program's caller, or another loop; `None` where it is computed with.
fn readers(module: &HloModule, users: &Users, around: InstructionId, index: usize) -> Option<Reader> {
    let is_it = |user: &&InstructionId| module.instruction(**user).tuple_index == i64::try_from(index).ok();
    let mut open: Vec<InstructionId> = users.of(around).iter().filter(is_it).copied().collect();
    let (mut found, mut seen) = (Reader::Caller, 0);
    while let Some(at) = open.pop() {
        for user in users.of(at) {
            seen += 1;
            let instruction = module.instruction(*user);
            match &*instruction.opcode {
                "copy" | "bitcast" | "transpose" | "reshape" => open.push(*user),
                "slice" | "dynamic-slice" | "gather" => {}
                "fusion" => open.extend(inside(module, *user, at)),
                "tuple" if users.of(*user).iter().any(|user| module.instruction(*user).opcode == "while") => {
                    found = Reader::Backward;
                }
                "tuple" if module.is_root(*user) => {}
                // A check hands on what it got.
                "tuple" => open.extend(behind_choice(module, users, *user, at)?),
                _ => return None,
            }
            if seen > MOST {
                return None;
            }
        }
    }
    Some(found)
}

/// The results of a condition of the shape of `id`, where nothing else takes the tuple with it.
fn behind_choice(module: &HloModule, users: &Users, tuple: InstructionId, id: InstructionId) -> Option<Vec<InstructionId>> {
    let mut found = Vec::new();
    for user in users.of(tuple) {
        if module.instruction(*user).opcode != "conditional" {
            return None;
        }
        let is_alike = |result: &&InstructionId| module.instruction(**result).shape.dimensions == module.instruction(id).shape.dimensions;
        found.extend(users.of(*user).iter().filter(is_alike));
    }
    Some(found)
}

/// The parameters inside of a fusion that are the value `id`.
fn inside(module: &HloModule, fusion: InstructionId, id: InstructionId) -> Vec<InstructionId> {
    let instruction = module.instruction(fusion);
    let Some(body) = instruction.called.first().map(|body| module.computation(*body)) else { return Vec::new() };
    let is_it = |parameter: &InstructionId| {
        let number = module.instruction(*parameter).parameter_number.and_then(|number| usize::try_from(number).ok());
        number.is_some_and(|number| instruction.operands.get(number) == Some(&id))
    };
    body.instruction_ids().filter(is_it).collect()
}

/// What ran to make the array that a loop begins with, and its copies.
fn made_by(module: &HloModule, flow: &Flow<'_>, first: InstructionId) -> Vec<InstructionId> {
    let mut found = vec![first];
    let mut at = first;
    while let ("copy" | "bitcast", Some(of)) = (&*module.instruction(at).opcode, module.instruction(at).operands.first()) {
        at = *of;
        found.push(at);
        if found.len() > MOST {
            break;
        }
    }
    // An array that comes in as an argument is not made here.
    if module.instruction(flow.source(at)).opcode == "broadcast" { found } else { found.into_iter().take(1).collect() }
}
