//! A program computes what another one computes as well, each time that both run.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::programs::{Program, programs, take_turns};
use crate::rule::{Find, Group, Rule};
use crate::words::{list, percent};
use ridge_analysis::{Lines, Need};
use ridge_hlo::{Elementwise, Flow, HloModule, InstructionId, OpcodeClass};
use ridge_table::Subject;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};

pub(crate) static RULE: Rule = Rule {
    id: "work-done-twice",
    group: Group::Structure,
    summary: "Same work in two programs",
    document: include_str!("work_done_twice.md"),
    asks: &[Question::Device, Question::Hlo],
    explains: &[],
    needs: &[Need::of::<Lines>()],
    find: Find::Causes(find),
};

/// The least part of the judged time.
const LEAST: f64 = 0.05;
/// The least part of a program that another has, too.
const COVERED: f64 = 0.5;
/// Runs from which on it is no chance that both run as often.
const RUNS: u64 = 8;

/// A program with the hashes of what it computes.
struct Hashed<'a> {
    program: Program<'a>,
    runs: u64,
    ns: i64,
    /// What each instruction that ran computes that is worth a word.
    computes: FxHashMap<InstructionId, Vec<u64>>,
}

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    case.needs_hlo()?;
    let all: Vec<Hashed<'_>> = programs(case).into_iter().filter_map(|program| hashed(case, program)).collect();
    let mut found = Vec::new();
    for one in &all {
        let covers = |other: &&Hashed<'_>| other.program.row != one.program.row && take_turns(one.runs, other.runs) && other.ns >= one.ns;
        let best = all.iter().filter(covers).map(|other| (covered(one, other), other)).max_by_key(|(ids, _)| one.program.ns_of(ids));
        // Two compilations of one function take turns, too, but never on the same arguments.
        let is_other = |other: &Hashed<'_>| one.program.function(case) != other.program.function(case) || covered(other, one).len() < other.computes.len();
        if let Some((ids, other)) = best.filter(|(_, other)| is_other(other)) {
            found.extend(finding(case, one, other, &ids));
        }
    }
    Ok(found)
}

/// The instructions of `one` all of whose work `other` does as well.
fn covered(one: &Hashed<'_>, other: &Hashed<'_>) -> Vec<InstructionId> {
    let known: FxHashSet<u64> = other.computes.values().flatten().copied().collect();
    let is_covered = |(id, hashes): (&InstructionId, &Vec<u64>)| hashes.iter().all(|hash| known.contains(hash)).then_some(*id);
    one.computes.iter().filter_map(is_covered).collect()
}

fn finding(case: &Case<'_>, one: &Hashed<'_>, other: &Hashed<'_>, ids: &[InstructionId]) -> Option<Finding> {
    let ns = one.program.ns_of(ids);
    if case.share(ns) < LEAST || (ns as f64) < COVERED * one.ns as f64 {
        return None;
    }
    let (own, others) = (one.program.function(case), other.program.function(case));
    let ids = one.program.longest_first(ids);
    let message = format!("{} of the time, `{own}` repeats work that `{others}` also does; one program for both would compute it once", percent(case.share(ns)));
    let found = one.program.located(case, Finding::new(message), ids.first().copied());
    // Both are mended where they are called.
    let place = case.line_of_calls(own).or_else(|| found.place.clone());
    Some(
        found
            .at(place)
            .about(Subject::Module(other.program.row))
            .number(format!("in both: {}", list(&one.program.names(&ids), 3)), case.per_unit(ns))
            .fact(format!("both ran {} times, on arguments of the same names and shapes; the capture doesn't show whether their values are the same", one.runs))
            .why("each program starts from its arguments, so both compute the work they have in common")
            .help("if both get the same arguments, compile them as one program: `jax.value_and_grad(f)` returns the value with the gradient, and `has_aux=True` returns other results of the forward pass")
            .information(),
    )
}

fn hashed<'a>(case: &Case<'a>, program: Program<'a>) -> Option<Hashed<'a>> {
    let module = program.module;
    let entry = module.entry?;
    let direct: Vec<InstructionId> = program.ran.keys().copied().filter(|id| module.instruction(*id).computation == entry).collect();
    let all: Vec<InstructionId> = program.ran.keys().copied().collect();
    let (runs, ns) = (program.runs(), program.ns_of(&all));
    if runs < RUNS || case.share(ns) < LEAST {
        return None;
    }
    let flow = Flow::new(module);
    let mut hashes = Hashes { module, flow: &flow, known: FxHashMap::default() };
    let mut computes = FxHashMap::default();
    for id in direct {
        let worth: Vec<InstructionId> = inside(module, id).into_iter().filter(|id| is_worth(module, *id)).collect();
        if !worth.is_empty() {
            computes.insert(id, worth.into_iter().map(|id| hashes.of(id)).collect());
        }
    }
    Some(Hashed { program, runs, ns, computes })
}

/// An instruction, or those of the fusion that it is.
fn inside(module: &HloModule, id: InstructionId) -> Vec<InstructionId> {
    let instruction = module.instruction(id);
    match instruction.called.first().filter(|_| instruction.is_fusion()) {
        Some(body) => module.computation(*body).instruction_ids().collect(),
        None => vec![id],
    }
}

/// Whether an instruction is more than moving and adding up.
fn is_worth(module: &HloModule, id: InstructionId) -> bool {
    let class = module.instruction(id).opcode.class();
    matches!(class, OpcodeClass::Computes | OpcodeClass::Elementwise(Elementwise::Transcendental | Elementwise::DivideSqrt))
}

/// What values are made of, as numbers that are equal where they are made alike from arguments of the same names and shapes.
struct Hashes<'m> {
    module: &'m HloModule,
    flow: &'m Flow<'m>,
    known: FxHashMap<InstructionId, u64>,
}

impl Hashes<'_> {
    fn of(&mut self, id: InstructionId) -> u64 {
        let mut open = vec![self.flow.source(id)];
        while let Some(at) = open.last().copied() {
            if self.known.contains_key(&at) {
                open.pop();
                continue;
            }
            let inputs: Vec<InstructionId> = self.flow.inputs(at).collect();
            let missing: Vec<InstructionId> =
                inputs.iter().copied().filter(|id| !self.known.contains_key(id) && !open.contains(id)).collect();
            if missing.is_empty() {
                let hash = self.one(at, &inputs);
                self.known.insert(at, hash);
                open.pop();
            } else {
                open.extend(missing);
            }
        }
        self.known.get(&self.flow.source(id)).copied().unwrap_or_default()
    }

    fn one(&self, id: InstructionId, inputs: &[InstructionId]) -> u64 {
        let instruction = self.module.instruction(id);
        let mut hasher = FxHasher::default();
        instruction.opcode.hash(&mut hasher);
        instruction.shape.dimensions.hash(&mut hasher);
        instruction.shape.element_type.hash(&mut hasher);
        instruction.dimensions.hash(&mut hasher);
        instruction.custom_call_target.hash(&mut hasher);
        match &*instruction.opcode {
            "parameter" => instruction.metadata.op_name.hash(&mut hasher),
            "constant" => format!("{:?}", instruction.literal).hash(&mut hasher),
            // What a loop makes is its own.
            "while" | "get-tuple-element" | "conditional" => (id, &self.module.name).hash(&mut hasher),
            _ => format!("{:?}", instruction.attributes().dot).hash(&mut hasher),
        }
        inputs.iter().map(|input| self.known.get(input).copied().unwrap_or_default()).for_each(|input| input.hash(&mut hasher));
        hasher.finish()
    }
}
