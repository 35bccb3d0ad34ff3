//! A compiled program repeats one body again and again, because a loop of Python was unrolled into it: compiling it is what takes.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::programs::programs;
use crate::rewrites::place_of;
use crate::rule::{Find, Group, Rule};
use crate::words::{list, percent};
use ridge_analysis::{Life, Lines, Need};
use ridge_hlo::{Flow, HloModule, InstructionId};
use ridge_table::{Basis, Quantity, Subject, Unit};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

pub(crate) static RULE: Rule = Rule {
    id: "unrolled-loop",
    group: Group::Host,
    summary: "Python loop unrolled into a slow-compiling program",
    document: include_str!("unrolled_loop.md"),
    asks: &[Question::Device, Question::Hlo],
    explains: &[],
    needs: &[Need::of::<Lines>(), Need::of::<Life>()],
    find: Find::Causes(find),
};

/// Copies of a body below which unrolling is how one writes a few layers or stages.
const FEWEST: usize = 12;
/// The least part of a program's named instructions that the copies are.
const MOST_OF: f64 = 0.6;
/// Below this part of the recorded time, or this long, nobody waits for the compiler, nanoseconds.
const LEAST: f64 = 0.20;
const LEAST_NS: i64 = 3_000_000_000;
/// What one body in a loop leaves of the time in the compiler.
const LEFT: f64 = 0.15;
/// Kinds of products that are looked at for a chain.
const CHAINS: usize = 32;
/// Instructions of a program that are looked at.
const MOST: usize = 1 << 18;
/// Transformations in each other from which on a function stands in the program many times.
const DERIVED: usize = 3;

/// What a program repeats.
struct Unrolled {
    copies: usize,
    /// An instruction of the body: of the first copy, of those that take most.
    at: InstructionId,
    /// Whether a copy reads what the one before it made.
    is_chain: bool,
}

/// The programs of one name that repeat a body.
struct Programs {
    unrolled: Unrolled,
    row: ridge_trace::ModuleRow,
    place: Option<crate::finding::Place>,
    count: usize,
}

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    case.needs_hlo()?;
    let mut of_name: BTreeMap<&str, Programs> = BTreeMap::new();
    for program in programs(case) {
        let Some(unrolled) = unrolled(program.module) else { continue };
        let entry = of_name.entry(program.function(case)).or_insert_with(|| Programs {
            place: place_of(case, &program, unrolled.at),
            row: program.row,
            unrolled,
            count: 0,
        });
        entry.count += 1;
    }
    let compiled = |function: &str, programs: &Programs| {
        let of_it = case.known.compilations.iter();
        let of_it = of_it.filter(|compiled| crate::words::function_name(&compiled.module) == function);
        let (count, seconds) = of_it.fold((0, 0.0), |(count, sum), one| (count + one.count, sum + one.compile_s));
        (1e9 * seconds * (programs.count as f64 / count.max(1) as f64).min(1.0)) as i64
    };
    let found = of_name.iter().map(|(function, programs)| (*function, programs, compiled(function, programs)));
    let Some((function, programs, ns)) = found.max_by_key(|(_, _, ns)| *ns) else { return Ok(Vec::new()) };
    let life = case.analysis.get::<Life>().whole_ns.max(1);
    if ns < LEAST_NS || (ns as f64) < LEAST * life as f64 {
        return Ok(Vec::new());
    }
    Ok(vec![finding(function, programs, ns, (ns as f64 / life as f64).min(1.0))])
}

fn finding(function: &str, programs: &Programs, ns: i64, share: f64) -> Finding {
    let Programs { unrolled, row, place, count } = programs;
    let message = format!(
        "the compiler takes {} of the recorded time for {} with an unrolled Python loop: one body is repeated {} times",
        percent(share),
        list(&[function], 1),
        unrolled.copies,
    );
    let help = match unrolled.is_chain {
        true => {
            "write the loop as `jax.lax.scan` (`hk.dynamic_unroll`, `nnx.scan`, `nn.RNN`), or as `fori_loop` if you keep nothing per step, and the body is compiled once; for layers of one shape, scan over their stacked weights"
        }
        false => {
            "the copies are independent: stack their inputs and use `jax.vmap`, or `jax.lax.map` if memory is short, and the body is compiled once"
        }
    };
    let saved = (ns as f64 * (1.0 - LEFT)) as i64;
    Finding::new(message)
        .at(place.clone())
        .about(Subject::Module(*row))
        .number("compilation time", Quantity::nanos(ns, Basis::Measured))
        .number("programs with this name", Quantity::new(*count as f64, Unit::Count, Basis::Counted))
        .number("copies of the loop body", Quantity::new(unrolled.copies as f64, Unit::Count, Basis::Counted))
        .why("`jax.jit` traces a Python loop step by step, so the program contains every step, and compile time grows at least linearly with its length")
        .help(help)
        .beside(saved)
}

/// Where in the source an instruction was made, and what it is.
type Kind<'m> = (&'m str, &'m [i64], &'m str, u32, u32);

/// Whether most of a program is one body again and again: instructions of one kind from one place in the source, of kinds that the
/// compiler does not copy itself.
fn unrolled(module: &HloModule) -> Option<Unrolled> {
    if module.instructions.len() > MOST {
        return None;
    }
    let mut of_kind: FxHashMap<Kind<'_>, Vec<InstructionId>> = FxHashMap::default();
    let mut named = 0_usize;
    for id in module.instruction_ids() {
        let instruction = module.instruction(id);
        let metadata = &instruction.metadata;
        let is_placed = metadata.stack_frame_id != 0 || metadata.source_line != 0;
        // Derivatives of derivatives are copies that no loop made.
        let is_derived = metadata.op_name.matches("jvp(").count() >= DERIVED;
        if metadata.op_name.is_empty() || !is_placed || is_derived {
            continue;
        }
        named += 1;
        let kind = (
            &*instruction.opcode,
            instruction.shape.dimensions.as_slice(),
            metadata.op_name.as_str(),
            metadata.stack_frame_id,
            metadata.source_line,
        );
        of_kind.entry(kind).or_default().push(id);
    }
    let once = ["dot", "convolution", "custom-call", "fft", "sort", "scatter"];
    let bodies = of_kind.iter().filter(|((opcode, ..), ids)| once.contains(opcode) && ids.len() >= FEWEST);
    let mut bodies: Vec<_> = bodies.collect();
    bodies.sort_by_key(|(kind, ids)| (ids.len(), **kind));
    // Of a body of several layers from one line, the least common product is the one that counts.
    let (_, ids) = bodies.first()?;
    let copies = ids.len();
    let repeated: usize = of_kind.values().map(Vec::len).filter(|count| *count * 2 > copies).sum();
    if (repeated as f64) < MOST_OF * named as f64 {
        return None;
    }
    let flow = Flow::new(module);
    // Gradients of weights are sums of products that each step makes for itself.
    let is_chain = bodies.iter().take(CHAINS).any(|(_, ids)| is_chain(&flow, ids));
    Some(Unrolled { copies, at: *ids.first()?, is_chain })
}

/// Whether some of `ids` read, through others, what other ones of them made.
fn is_chain(flow: &Flow<'_>, ids: &[InstructionId]) -> bool {
    // Which of them comes last is not in the order of instructions: fusions stand in any.
    let wanted: FxHashSet<InstructionId> = ids.iter().copied().collect();
    let (mut open, mut seen) = (ids.to_vec(), FxHashSet::default());
    let mut met = 0;
    while let Some(at) = open.pop() {
        for input in flow.inputs(at).filter(|input| seen.insert(*input)) {
            met += usize::from(wanted.contains(&input));
            open.push(input);
        }
        if seen.len() > MOST {
            break;
        }
    }
    met * 2 >= ids.len()
}
