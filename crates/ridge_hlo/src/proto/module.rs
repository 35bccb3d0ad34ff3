//! `HloProto` and `HloModuleProto`: the whole module, references resolved.

use rustc_hash::FxHashMap;

use super::attributes::integer;
use super::instruction::References;
use super::{Reader, extend, small, string};
use crate::error::Notes;
use crate::ids::{computation_id, instruction_id};
use crate::literal::WHOLE_IN_A_MODULE;
use crate::wire::{Fields, Value};
use crate::{
    AliasKind, BufferDonor, Computation, ComputationId, FileLocation, Frame, HloError, HloModule, InputOutputAlias,
    InstructionId, StackFrames,
};

/// Positions are 32 bits, and half of them are plenty.
const INSTRUCTION_LIMIT: usize = 1 << 31;

/// Reads a module; see [`HloModule::from_proto`].
pub(crate) fn read(bytes: &[u8]) -> Result<HloModule, HloError> {
    let mut reader = Reader { base: bytes, notes: Notes::default(), elements_left: WHOLE_IN_A_MODULE };
    let mut loading = Loading::default();
    let mut assignment = None;
    if is_bare_module(bytes) {
        reader.module(bytes, &mut loading);
    } else {
        reader.each(bytes, "HLO proto", |reader, number, value| match (number, value) {
            (1, Value::Bytes(part)) => reader.module(part, &mut loading),
            (3, Value::Bytes(part)) => assignment = Some(part),
            _ => {}
        });
    }
    if loading.module.computations.is_empty() && loading.module.name.is_empty() {
        return Err(not_a_proto(bytes));
    }
    if loading.module.instructions.len() >= INSTRUCTION_LIMIT {
        return Err(HloError::TooLarge { limit: INSTRUCTION_LIMIT, offset: 0 });
    }
    loading.resolve(&mut reader);
    loading.module.index();
    if let Some(part) = assignment {
        let Loading { module, ids, .. } = &loading;
        let buffers = crate::buffers::read(&mut reader, part, &|id, name| match ids.instruction(id) {
            Some(found) if id != 0 => Some(found),
            _ => module.instruction_named(std::str::from_utf8(name).ok()?),
        });
        loading.module.buffers = Some(buffers);
    }
    loading.module.notes = reader.notes.finish();
    Ok(loading.module)
}

/// Whether the top-level message is a module and not an `HloProto` around one.
///
/// An `HloProto` has fields 1 and 3 alone and its field 1 is a message; a module's field 1 is its name, and it has
/// numbers (ids) or a second string, which an `HloProto` never has.
fn is_bare_module(bytes: &[u8]) -> bool {
    let mut has_name = false;
    for (number, value) in Fields::new(bytes).map_while(Result::ok) {
        match (number, value) {
            (1, Value::Bytes(part)) if looks_like_module(part) => return false,
            (1, Value::Bytes(_)) => has_name = true,
            (3, Value::Bytes(_)) if has_name => return true,
            (2 | 17, Value::Bytes(_)) | (5 | 6, Value::Varint(_)) => return true,
            _ => {}
        }
    }
    false
}

/// Whether field 1 of the message in `bytes` begins like a module: a name, or a computation.
fn looks_like_module(bytes: &[u8]) -> bool {
    match Fields::new(bytes).next() {
        Some(Ok((1 | 2, Value::Bytes(name)))) => std::str::from_utf8(name).is_ok(),
        Some(Ok((3, Value::Bytes(_)))) => true,
        _ => false,
    }
}

fn not_a_proto(bytes: &[u8]) -> HloError {
    let (offset, found) = match Fields::new(bytes).next() {
        None => (0, "the end".to_owned()),
        Some(Ok((number, _))) => (0, format!("field {number} and nothing of a module")),
        Some(Err(error)) => (error.offset, error.what.to_owned()),
    };
    HloError::NotProto { found, offset }
}

/// Positions by the numbers the file uses.
#[derive(Default)]
struct Ids {
    instructions: FxHashMap<i64, u32>,
    computations: FxHashMap<i64, u32>,
}

impl Ids {
    fn instruction(&self, id: i64) -> Option<InstructionId> {
        self.instructions.get(&id).map(|&position| InstructionId(position))
    }

    fn computation(&self, id: i64) -> Option<ComputationId> {
        self.computations.get(&id).map(|&position| ComputationId(position))
    }

    /// An instruction a computation refers to: by its full number, or by its number within the computation.
    fn instruction_in(&self, computation: i64, id: i64) -> Option<InstructionId> {
        self.instruction(id).or_else(|| self.instruction(computation.checked_shl(32)? | id))
    }
}

/// A module being read, with references as numbers.
#[derive(Default)]
struct Loading {
    module: HloModule,
    ids: Ids,
    /// Per instruction, how many of `numbers` are operands, control predecessors and called computations.
    counts: Vec<[u32; 3]>,
    numbers: Vec<i64>,
    /// Root number of each computation.
    roots: Vec<i64>,
    entry_name: String,
    entry_id: i64,
    schedule: Vec<(i64, Vec<i64>)>,
    payloads: Vec<String>,
    /// Instructions whose backend configuration is a shared payload, and which.
    wants_payload: Vec<(u32, i64)>,
}

impl Reader<'_> {
    fn module(&mut self, message: &[u8], loading: &mut Loading) {
        let mut references = References::default();
        self.each(message, "module", |reader, number, value| match (number, value) {
            (1, Value::Bytes(text)) => loading.module.name = string(text),
            (2, Value::Bytes(text)) => loading.entry_name = string(text),
            (3, Value::Bytes(part)) => reader.computation(part, loading, &mut references),
            (5, value) => loading.module.id = integer(value) as u64,
            (6, value) => loading.entry_id = integer(value),
            (7, Value::Bytes(part)) => {
                loading.module.is_scheduled = true;
                reader.schedule(part, &mut loading.schedule);
            }
            (8, Value::Bytes(part)) => reader.aliases(part, &mut loading.module.input_output_aliases),
            (17, Value::Bytes(part)) => reader.frames(part, &mut loading.module.frames),
            (18, Value::Bytes(part)) => reader.donors(part, &mut loading.module.buffer_donors),
            (19, Value::Bytes(part)) => loading.module.frontend_attributes = reader.frontend_attributes(part),
            (22, Value::Bytes(text)) => loading.payloads.push(string(text)),
            _ => {}
        });
    }

    fn computation(&mut self, message: &[u8], loading: &mut Loading, references: &mut References) {
        let position = loading.module.computations.len();
        let first = loading.module.instructions.len() as u32;
        let mut computation = Computation::default();
        let mut root = 0;
        self.each(message, "computation", |reader, number, value| match (number, value) {
            (1, Value::Bytes(text)) => computation.name = string(text),
            (2, Value::Bytes(part)) if loading.module.instructions.len() < INSTRUCTION_LIMIT => {
                let instruction = reader.instruction(part, references);
                loading.add(instruction, position, references);
            }
            (5, value) => computation.id = integer(value),
            (6, value) => root = integer(value),
            (7, value) => computation.is_fusion = integer(value) != 0,
            (8, Value::Bytes(text)) if text != b"main" => computation.execution_thread = string(text),
            _ => {}
        });
        computation.instructions = first..loading.module.instructions.len() as u32;
        if loading.ids.computations.insert(computation.id, position as u32).is_some() {
            self.note(message, || {
                format!("two computations have the number {}; the later one is used", computation.id)
            });
        }
        loading.module.computations.push(computation);
        loading.roots.push(root);
    }

    fn schedule(&mut self, message: &[u8], schedule: &mut Vec<(i64, Vec<i64>)>) {
        self.each(message, "schedule", |reader, number, value| {
            let (1, Value::Bytes(part)) = (number, value) else { return };
            let mut entry = (0, Vec::new());
            reader.each(part, "schedule entry", |reader, number, value| match (number, value) {
                (1, value) => entry.0 = integer(value),
                (2, Value::Bytes(part)) => reader.each(part, "instruction sequence", |_, number, value| {
                    if number == 1 {
                        extend(&mut entry.1, value);
                    }
                }),
                _ => {}
            });
            schedule.push(entry);
        });
    }

    fn aliases(&mut self, message: &[u8], aliases: &mut Vec<InputOutputAlias>) {
        self.each(message, "input and output aliases", |reader, number, value| {
            let (1, Value::Bytes(part)) = (number, value) else { return };
            let mut alias = InputOutputAlias::default();
            reader.each(part, "alias", |_, number, value| match number {
                1 => extend(&mut alias.output_index, value),
                2 => alias.parameter = integer(value),
                3 => extend(&mut alias.parameter_index, value),
                4 => {
                    alias.kind = match integer(value) {
                        1 => AliasKind::May,
                        2 => AliasKind::Must,
                        _ => AliasKind::Unsaid,
                    }
                }
                _ => {}
            });
            aliases.push(alias);
        });
    }

    fn donors(&mut self, message: &[u8], donors: &mut Vec<BufferDonor>) {
        self.each(message, "buffer donors", |reader, number, value| {
            let (1, Value::Bytes(part)) = (number, value) else { return };
            let mut donor = BufferDonor::default();
            reader.each(part, "buffer donor", |_, number, value| match number {
                1 => donor.parameter = integer(value),
                2 => extend(&mut donor.parameter_index, value),
                _ => {}
            });
            donors.push(donor);
        });
    }

    fn frames(&mut self, message: &[u8], frames: &mut StackFrames) {
        self.each(message, "stack frame index", |reader, number, value| match (number, value) {
            (1, Value::Bytes(text)) => frames.files.push(string(text)),
            (2, Value::Bytes(text)) => frames.functions.push(string(text)),
            (3, Value::Bytes(part)) => frames.locations.push(reader.location(part)),
            (4, Value::Bytes(part)) => {
                let mut frame = Frame::default();
                reader.each(part, "stack frame", |_, number, value| match number {
                    1 => frame.location = small(value),
                    2 => frame.parent = small(value),
                    _ => {}
                });
                frames.frames.push(frame);
            }
            _ => {}
        });
    }

    fn location(&mut self, message: &[u8]) -> FileLocation {
        let mut location = FileLocation::default();
        self.each(message, "file location", |_, number, value| match number {
            1 => location.file = small(value),
            2 => location.function = small(value),
            3 => location.line = small(value),
            4 => location.column = small(value),
            5 => location.end_line = small(value),
            6 => location.end_column = small(value),
            _ => {}
        });
        location
    }
}

impl Loading {
    fn add(&mut self, mut instruction: crate::Instruction, computation: usize, references: &mut References) {
        let position = self.module.instructions.len() as u32;
        instruction.computation = computation_id(computation);
        self.ids.instructions.insert(instruction.id, position);
        let References { operands, control_predecessors, called, payload } = references;
        self.counts.push([operands.len() as u32, control_predecessors.len() as u32, called.len() as u32]);
        self.numbers.append(operands);
        self.numbers.append(control_predecessors);
        self.numbers.append(called);
        self.wants_payload.extend(payload.take().map(|payload| (position, payload)));
        self.module.instructions.push(instruction);
    }

    /// Turns every number into a position; numbers that lead nowhere are dropped with a note.
    fn resolve(&mut self, reader: &mut Reader<'_>) {
        let mut dangling = Dangling::default();
        let mut numbers = self.numbers.as_slice();
        for (position, counts) in self.counts.iter().enumerate() {
            let instruction = &mut self.module.instructions[position];
            let within = self.module.computations[instruction.computation.0 as usize].id;
            let mut next = |count: u32| {
                let (these, rest) = numbers.split_at((count as usize).min(numbers.len()));
                numbers = rest;
                these.iter()
            };
            let find = |id: &i64| self.ids.instruction_in(within, *id);
            let name = &instruction.name;
            instruction.operands = next(counts[0]).filter_map(|id| dangling.check(find(id), name, *id)).collect();
            instruction.control_predecessors =
                next(counts[1]).filter_map(|id| dangling.check(find(id), name, *id)).collect();
            instruction.called =
                next(counts[2]).filter_map(|id| dangling.check(self.ids.computation(*id), name, *id)).collect();
        }
        for (position, payload) in &self.wants_payload {
            if let Some(text) = usize::try_from(*payload).ok().and_then(|payload| self.payloads.get(payload)) {
                self.module.instructions[*position as usize].backend_config.raw.clone_from(text);
            }
        }
        self.resolve_roots();
        self.resolve_schedule(&mut dangling);
        self.module.entry = self
            .ids
            .computation(self.entry_id)
            .or_else(|| self.module.computations.iter().position(|c| c.name == self.entry_name).map(computation_id));
        dangling.report(reader);
    }

    fn resolve_roots(&mut self) {
        for (computation, &root) in self.module.computations.iter_mut().zip(&self.roots) {
            let found = self.ids.instruction_in(computation.id, root);
            // Old files leave the root out where it is the last instruction.
            let last = computation.instructions.clone().next_back().map(InstructionId);
            computation.root = found.filter(|id| computation.instructions.contains(&id.0)).or(last);
        }
    }

    fn resolve_schedule(&mut self, dangling: &mut Dangling) {
        for (computation, sequence) in &self.schedule {
            let Some(id) = self.ids.computation(*computation) else { continue };
            let order = sequence.iter().filter_map(|number| {
                dangling.check(self.ids.instruction_in(*computation, *number), "the schedule", *number)
            });
            self.module.computations[id.0 as usize].schedule = Some(order.collect());
        }
        for position in 0..self.module.instructions.len() {
            let instruction = self.module.instruction(instruction_id(position));
            if instruction.is_fusion() {
                for called in instruction.called.clone() {
                    self.module.computations[called.0 as usize].is_fusion = true;
                }
            }
        }
    }
}

/// Counts references that lead nowhere and remembers the first.
#[derive(Default)]
struct Dangling {
    count: usize,
    first: Option<String>,
}

impl Dangling {
    fn check<T>(&mut self, found: Option<T>, who: &str, id: i64) -> Option<T> {
        if found.is_none() {
            self.count += 1;
            self.first.get_or_insert_with(|| format!("{who} refers to {id}"));
        }
        found
    }

    fn report(self, reader: &mut Reader<'_>) {
        let Dangling { count, first: Some(first) } = self else { return };
        reader.note(reader.base, || format!("{count} references lead to nothing and were dropped; the first: {first}"));
    }
}
