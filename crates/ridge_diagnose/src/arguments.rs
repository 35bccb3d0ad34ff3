//! Arguments of compiled programs: which of them a value goes back to, what they are called, whether their memory was given.

use crate::case::{Case, Work};
use crate::updates::behind_copies;
use ridge_hlo::{ComputationId, HloModule, InstructionId, Users};
use ridge_trace::ModuleRow;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// The entry parameter that `id` is a copy of, through other copies; updates in between make other copies necessary, which
/// giving the argument away does not spare.
pub(crate) fn argument_behind(module: &HloModule, id: InstructionId) -> Option<InstructionId> {
    let at = behind_copies(module, id, &mut Vec::new());
    let instruction = module.instruction(at);
    (instruction.opcode == "parameter" && module.entry == Some(instruction.computation)).then_some(at)
}

/// What the program calls an entry parameter: JAX writes the argument's name.
pub(crate) fn name_of(module: &HloModule, parameter: InstructionId) -> String {
    let instruction = module.instruction(parameter);
    match instruction.metadata.op_name.as_str() {
        "" => format!("argument {}", instruction.parameter_number.unwrap_or(0)),
        name => name.to_owned(),
    }
}

/// The entry parameters that each instruction of `entry` goes back to.
pub(crate) fn behind_each(
    module: &HloModule,
    entry: ComputationId,
) -> FxHashMap<InstructionId, BTreeSet<InstructionId>> {
    let mut found: FxHashMap<InstructionId, BTreeSet<InstructionId>> = FxHashMap::default();
    // Operands stand before those who read them.
    for id in module.computation(entry).instruction_ids() {
        let instruction = module.instruction(id);
        let mut of: BTreeSet<InstructionId> =
            instruction.operands.iter().filter_map(|operand| found.get(operand)).flatten().copied().collect();
        if instruction.opcode == "parameter" {
            of.insert(id);
        }
        found.insert(id, of);
    }
    found
}

/// Whether the memory of an entry parameter, or of a part of it, may be used for results.
pub(crate) fn is_donated(module: &HloModule, parameter: InstructionId) -> bool {
    let number = module.instruction(parameter).parameter_number.unwrap_or(-1);
    module.input_output_aliases.iter().any(|alias| alias.parameter == number)
        || module.buffer_donors.iter().any(|donor| donor.parameter == number)
}

/// Work that copies an argument because it may not be written over.
#[derive(Debug)]
pub(crate) struct DefensiveCopy<'a> {
    /// The copy.
    pub(crate) work: Work<'a>,
    /// Its module.
    pub(crate) module: ModuleRow,
    /// What the program calls the argument.
    pub(crate) argument: String,
    /// Bytes of one copy.
    pub(crate) bytes: u64,
}

/// Copies in the judged time of arguments that are not donated and that something writes over.
pub(crate) fn defensive_copies<'a>(case: &Case<'a>) -> Vec<DefensiveCopy<'a>> {
    let mut written_over: FxHashMap<u32, FxHashSet<InstructionId>> = FxHashMap::default();
    let copy = |work: Work<'a>| {
        let (module, id, instruction) = case.instruction(work.op)?;
        let row = case.analysis.operation(work.op)?.module;
        if instruction.opcode != "copy" || !written_over.entry(row).or_insert_with(|| updated(module)).contains(&id) {
            return None;
        }
        let argument = argument_behind(module, id).filter(|argument| !is_donated(module, *argument))?;
        if is_read_later(module, argument, id) {
            return None;
        }
        let bytes = instruction.shape.byte_size().unwrap_or(0);
        Some(DefensiveCopy { work, module: ModuleRow(row), argument: name_of(module, argument), bytes })
    };
    case.work().filter_map(copy).collect()
}

/// Whether something reads the argument itself that also reads what was made of its copy: then the old value is still wanted when the
/// new one is there, and the copy is made however the argument is given.
fn is_read_later(module: &HloModule, argument: InstructionId, copy: InstructionId) -> bool {
    let users = Users::new(module);
    let of = |first: InstructionId| {
        let (mut open, mut seen) = (vec![first], FxHashSet::default());
        while let Some(at) = open.pop() {
            open.extend(users.of(at).iter().filter(|user| seen.insert(**user)));
        }
        seen
    };
    let writers: FxHashSet<InstructionId> = users.of(copy).iter().copied().collect();
    let later: FxHashSet<InstructionId> = writers.iter().flat_map(|writer| of(*writer)).collect();
    users.of(argument).iter().any(|reader| *reader != copy && later.contains(reader))
}

/// What instructions read that write over what they read, as far as they themselves show.
fn updated(module: &HloModule) -> FxHashSet<InstructionId> {
    let updates = ["dynamic-update-slice", "scatter", "fusion", "while", "sort"];
    let users = module.instructions.iter().filter(|instruction| updates.contains(&&*instruction.opcode));
    users.flat_map(|user| user.operands.iter().copied()).collect()
}
