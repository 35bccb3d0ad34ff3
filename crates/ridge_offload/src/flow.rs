//! What flows between the instructions of one computation, seen through what only names and groups values.

use crate::shapes;
use ridge_hlo::{HloModule, InstructionId, OpcodeClass, Users};
use rustc_hash::{FxHashMap, FxHashSet};

/// A value: an instruction, and which element of its result where that is a tuple.
pub(crate) type Value = (InstructionId, Option<i64>);

/// Names looked through for one value; only broken files have more.
const NAMES: usize = 4096;

/// What enters and leaves a set of instructions.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Boundary {
    /// Bytes that enter, and of how many arrays.
    pub(crate) input: (f64, f64),
    /// Bytes that leave, and of how many arrays.
    pub(crate) output: (f64, f64),
}

/// The values that instruction `id` reads of its operand `operand`, seen through tuples and bitcasts.
pub(crate) fn sources(module: &HloModule, operand: InstructionId) -> Vec<Value> {
    let mut found = Vec::new();
    let mut open: Vec<(InstructionId, Vec<i64>)> = vec![(operand, Vec::new())];
    let mut left = NAMES;
    while let Some((id, mut path)) = open.pop() {
        if left == 0 {
            break;
        }
        left -= 1;
        let instruction = module.instruction(id);
        match &*instruction.opcode {
            "tuple" => match path.pop().and_then(|at| usize::try_from(at).ok()) {
                Some(at) => open.extend(instruction.operands.get(at).map(|&inner| (inner, path))),
                None => open.extend(instruction.operands.iter().map(|&inner| (inner, Vec::new()))),
            },
            "get-tuple-element" => {
                path.push(instruction.tuple_index.unwrap_or(0));
                open.extend(instruction.operands.first().map(|&inner| (inner, path)));
            }
            "bitcast" | "copy-done" | "opt-barrier" | "optimization-barrier" | "add-dependency"
                if !instruction.operands.is_empty() =>
            {
                open.push((instruction.operands[0], path));
            }
            _ => found.push((id, path.pop())),
        }
    }
    found
}

/// Bytes of a value.
pub(crate) fn value_bytes(module: &HloModule, (id, element): Value) -> f64 {
    let shape = &module.instruction(id).shape;
    let element = element.and_then(|at| usize::try_from(at).ok()).and_then(|at| shape.tuple.get(at));
    shapes::bytes(element.unwrap_or(shape))
}

/// Whether an instruction makes its value of nothing, or is small enough to be part of a design.
pub(crate) fn is_made(module: &HloModule, id: InstructionId) -> bool {
    matches!(&*module.instruction(id).opcode, "constant" | "iota" | "partition-id" | "replica-id")
}

/// Whether an instruction only names, groups or makes values.
pub(crate) fn is_silent(module: &HloModule, id: InstructionId) -> bool {
    matches!(module.instruction(id).opcode.class(), OpcodeClass::PassesBy | OpcodeClass::Makes)
}

/// What enters and leaves `members`, which are of one computation.
pub(crate) fn boundary(module: &HloModule, users: &Users, members: &FxHashSet<InstructionId>) -> Boundary {
    let mut inputs: FxHashSet<Value> = FxHashSet::default();
    let mut outputs: FxHashSet<Value> = FxHashSet::default();
    for &member in members {
        for &operand in &module.instruction(member).operands {
            let outside = |value: &Value| !members.contains(&value.0) && !is_made(module, value.0);
            inputs.extend(sources(module, operand).into_iter().filter(outside));
        }
        outputs.extend(leaving(module, users, members, member).into_iter().map(|(value, _)| value));
    }
    let sum = |values: &FxHashSet<Value>| {
        let mut sorted: Vec<&Value> = values.iter().collect();
        sorted.sort_unstable();
        (sorted.iter().map(|value| value_bytes(module, **value)).sum::<f64>(), values.len() as f64)
    };
    Boundary { input: sum(&inputs), output: sum(&outputs) }
}

/// How a value leaves a set of instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Way {
    /// Somebody else in the computation reads it.
    Read,
    /// It is the computation's result, or an element of it.
    Result,
}

/// The values of `member` that somebody outside reads, or that are the computation's result; each way once.
pub(crate) fn leaving(
    module: &HloModule,
    users: &Users,
    members: &FxHashSet<InstructionId>,
    member: InstructionId,
) -> Vec<(Value, Way)> {
    let mut found: Vec<(Value, Way)> = Vec::new();
    let mut open: Vec<Value> = vec![(member, None)];
    let mut seen: FxHashSet<Value> = FxHashSet::default();
    while let Some((id, element)) = open.pop() {
        if !seen.insert((id, element)) || seen.len() > NAMES {
            continue;
        }
        if module.is_root(id) {
            found.push(((member, element), Way::Result));
        }
        for &user in users.of(id) {
            let using = module.instruction(user);
            match &*using.opcode {
                "get-tuple-element" => open.push((user, element.or(using.tuple_index))),
                "tuple" | "bitcast" => open.push((user, element)),
                _ if !members.contains(&user) => found.push(((member, element), Way::Read)),
                _ => {}
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// `members` in connected sets: two are together where one reads what the other makes.
pub(crate) fn components(module: &HloModule, members: &[InstructionId]) -> Vec<Vec<InstructionId>> {
    let places: FxHashMap<InstructionId, usize> = members.iter().enumerate().map(|(at, id)| (*id, at)).collect();
    let mut group: Vec<usize> = (0..members.len()).collect();
    let root = |group: &mut Vec<usize>, mut at: usize| {
        while group[at] != at {
            group[at] = group[group[at]];
            at = group[at];
        }
        at
    };
    for (at, &member) in members.iter().enumerate() {
        for &operand in &module.instruction(member).operands {
            for (source, _) in sources(module, operand) {
                if let Some(&other) = places.get(&source) {
                    let (one, other) = (root(&mut group, at), root(&mut group, other));
                    group[one.max(other)] = one.min(other);
                }
            }
        }
    }
    let mut sets: Vec<Vec<InstructionId>> = vec![Vec::new(); members.len()];
    for (at, &member) in members.iter().enumerate() {
        let place = root(&mut group, at);
        sets[place].push(member);
    }
    sets.retain(|set| !set.is_empty());
    sets
}
