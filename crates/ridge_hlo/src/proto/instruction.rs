//! `HloInstructionProto`: one instruction, its references still numbers of the file.

use super::attributes::integer;
use super::{Reader, extend, names, small, string};
use crate::wire::{self, Value};
use crate::{Attributes, Instruction, Metadata, Opcode};

/// Numbers an instruction refers to, to be resolved once all instructions are known.
#[derive(Default)]
pub(super) struct References {
    pub(super) operands: Vec<i64>,
    pub(super) control_predecessors: Vec<i64>,
    pub(super) called: Vec<i64>,
    /// Which of the module's shared payloads holds the backend configuration.
    pub(super) payload: Option<i64>,
}

impl Reader<'_> {
    /// Reads one instruction and leaves what it refers to in `references`, which must be empty.
    pub(super) fn instruction(&mut self, message: &[u8], references: &mut References) -> Instruction {
        let mut instruction = Instruction::default();
        let mut literal = None;
        self.each(message, "instruction", |reader, number, value| match (number, value) {
            (1, Value::Bytes(text)) => instruction.name = string(text),
            (2, Value::Bytes(text)) => instruction.opcode = Opcode::new(&wire::text(text)),
            (3, Value::Bytes(part)) => instruction.shape = reader.shape(part, 0),
            (7, Value::Bytes(part)) => reader.metadata(part, &mut instruction),
            (8, Value::Bytes(part)) => literal = Some(part),
            (9, value) => instruction.parameter_number = Some(integer(value)),
            (11, Value::Bytes(text)) if !text.is_empty() => instruction.fusion_kind = Some(string(text)),
            (13, value) => instruction.tuple_index = Some(integer(value)),
            (14, value) => extend(&mut instruction.dimensions, value),
            (26, value) => instruction.channel_id = Some(integer(value)).filter(|&channel| channel != 0),
            (28, Value::Bytes(text)) if !text.is_empty() => instruction.custom_call_target = Some(string(text)),
            (35, value) => instruction.id = integer(value),
            (36, value) => extend(&mut references.operands, value),
            (37, value) => extend(&mut references.control_predecessors, value),
            (38, value) => extend(&mut references.called, value),
            (43, Value::Bytes(text)) => instruction.backend_config.raw = string(text),
            (99, Value::Bytes(part)) => reader.payload(part, &mut instruction, references),
            (number, value) => reader.attribute(&mut instruction, number, value),
        });
        // Zero is not written on the wire, so presence follows from the opcode.
        if instruction.opcode == "parameter" {
            instruction.parameter_number.get_or_insert(0);
        } else {
            instruction.parameter_number = None;
        }
        if instruction.opcode == "get-tuple-element" {
            instruction.tuple_index.get_or_insert(0);
        } else {
            instruction.tuple_index = None;
        }
        if let Some(part) = literal {
            instruction.literal = Some(Box::new(self.literal(part, &instruction.shape)));
        }
        instruction
    }

    fn payload(&mut self, message: &[u8], instruction: &mut Instruction, references: &mut References) {
        references.payload = Some(0);
        self.each(message, "backend configuration payload", |_, number, value| match (number, value) {
            (1, Value::Bytes(text)) => {
                instruction.backend_config.raw = string(text);
                references.payload = None;
            }
            (2, value) => references.payload = Some(integer(value)),
            _ => {}
        });
    }

    fn metadata(&mut self, message: &[u8], instruction: &mut Instruction) {
        let mut metadata = Metadata::default();
        self.each(message, "metadata", |_, number, value| match (number, value) {
            (1, Value::Bytes(text)) => metadata.op_type = string(text),
            (2, Value::Bytes(text)) => metadata.op_name = string(text),
            (3, Value::Bytes(text)) => metadata.source_file = string(text),
            (4, value) => metadata.source_line = small(value),
            (12, Value::Bytes(name)) => instruction.attributes_mut().deduplicated_name = text(name),
            (15, value) => metadata.stack_frame_id = small(value),
            (16, Value::Bytes(name)) => instruction.attributes_mut().scheduling_name = text(name),
            (17, value) => metadata.source_end_line = small(value),
            (18, value) => metadata.source_column = small(value),
            (19, value) => metadata.source_end_column = small(value),
            _ => {}
        });
        instruction.metadata = metadata;
    }

    /// The less common fields; absent and default ones make no [`Attributes`].
    fn attribute(&mut self, instruction: &mut Instruction, number: u32, value: Value<'_>) {
        match value {
            Value::Bytes(part) => self.nested_attribute(instruction, number, part),
            value => {
                let bits = value;
                let value = integer(value);
                if value != 0 {
                    plain_attribute(instruction, number, value, bits);
                }
            }
        }
    }

    fn nested_attribute(&mut self, instruction: &mut Instruction, number: u32, part: &[u8]) {
        let known = matches!(
            number,
            15..=17 | 20 | 21 | 30 | 32..=34 | 40 | 48 | 49 | 51 | 52 | 57 | 59 | 62 | 63 | 68 | 72 | 74 | 79 | 87 | 90 | 92 | 93
        );
        if !known {
            return;
        }
        let attributes = instruction.attributes.get_or_insert_default();
        let Attributes { replica_groups: groups, .. } = &mut **attributes;
        match number {
            49 => self.replica_group(part, groups),
            87 => self.device_list(part, groups),
            92 => *groups = self.iota_groups(part),
            93 => *groups = self.mesh_groups(part),
            15 => attributes.window = Some(self.window(part)),
            16 => attributes.convolution = Some(self.convolution(part)),
            17 => attributes.slices.push(self.slice_bounds(part)),
            20 | 34 => extend(&mut attributes.slice_sizes, Value::Bytes(part)),
            21 => attributes.padding = self.padding(part),
            30 => attributes.dot = Some(self.dot(part)),
            32 => extend(&mut attributes.fft_length, Value::Bytes(part)),
            33 => attributes.gather = Some(self.gather(part)),
            40 => attributes.sharding = Some(self.sharding(part, 0)),
            48 => attributes.scatter = Some(self.scatter(part)),
            51 => attributes.precision = self.precision(part),
            52 => attributes.source_target_pairs.push(self.source_target(part)),
            57 => attributes.operand_layouts.push(self.shape(part, 0)),
            59 => attributes.triangular_solve = Some(self.triangular_solve(part)),
            62 => self.cholesky(part, attributes),
            63 => attributes.comparison_direction = text(part),
            68 => attributes.frontend_attributes = self.frontend_attributes(part),
            72 => attributes.comparison_type = text(part),
            74 => attributes.output_aliases.push(self.output_alias(part)),
            79 => attributes.async_execution_thread = text(part),
            90 => {
                let (ragged, dot) = self.ragged_dot(part);
                attributes.ragged_dot = Some(ragged);
                attributes.dot = dot;
            }
            _ => {}
        }
    }

    fn cholesky(&mut self, message: &[u8], attributes: &mut Attributes) {
        self.each(message, "cholesky options", |_, number, value| {
            if number == 1 {
                attributes.cholesky_lower = integer(value) != 0;
            }
        });
    }
}

/// A number field that is not zero; `bits` is the same number as it stands on the wire.
fn plain_attribute(instruction: &mut Instruction, number: u32, value: i64, bits: Value<'_>) {
    let known = matches!(
        number,
        18 | 19 | 20 | 23..=25 | 31 | 32 | 34 | 47 | 50 | 56 | 58 | 60 | 65..=67 | 69..=71 | 75..=77 | 80 | 81 | 85 | 89 | 94 | 95
    );
    if !known {
        return;
    }
    let unsigned = value as u64;
    let opcode = instruction.opcode.clone();
    let attributes = instruction.attributes_mut();
    match number {
        18 => attributes.exponent_bits = Some(value),
        19 => attributes.mantissa_bits = Some(value),
        20 | 34 => attributes.slice_sizes.push(value),
        23 => attributes.distribution = Some(names::distribution(unsigned)),
        24 => attributes.epsilon = if let Value::Fixed32(bits) = bits { Some(f32::from_bits(bits)) } else { None },
        25 => attributes.feature_index = Some(value),
        31 => attributes.fft_type = Some(names::fft_type(unsigned)),
        32 => attributes.fft_length.push(value),
        47 => attributes.is_host_transfer = true,
        50 => attributes.feature_group_count = value,
        56 => attributes.constrain_layout = true,
        58 => attributes.batch_group_count = value,
        60 => attributes.is_stable = true,
        65 => attributes.custom_call_has_side_effect = true,
        66 => attributes.delta = Some(value),
        67 => attributes.indices_are_sorted = true,
        69 => attributes.unique_indices = true,
        70 => attributes.rng_algorithm = Some(names::rng_algorithm(unsigned)),
        71 => attributes.use_global_device_ids = true,
        75 => attributes.padding_type = Some(names::padding_type(unsigned)),
        76 => attributes.custom_call_schedule = Some(names::call_schedule(unsigned)),
        // Version 1 is what an unsaid version means.
        77 if value != 1 => attributes.custom_call_api_version = Some(names::api_version(unsigned)),
        80 => attributes.cross_program_prefetch_index = Some(value),
        81 => attributes.k = Some(value),
        85 => attributes.largest = true,
        89 => attributes.is_composite = true,
        94 => attributes.is_reverse = true,
        95 => attributes.num_carries = Some(value).filter(|_| opcode == "scan"),
        _ => {}
    }
}

fn text(bytes: &[u8]) -> Option<String> {
    (!bytes.is_empty()).then(|| string(bytes))
}
