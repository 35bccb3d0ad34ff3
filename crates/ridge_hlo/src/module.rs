//! A module: every computation and instruction of one compiled program, and the indexes over them.

use crate::error::HloNote;
use crate::ids::{computation_id, instruction_id};
use crate::names::{NameTable, hash_bytes, hash_of_kernel};
use crate::{
    BufferAssignment, Computation, ComputationId, ElementType, Instruction, InstructionId, SourceFrame, StackFrames,
};

/// One compiled program.
///
/// Positions in it are dense and stable: every [`InstructionId`] and [`ComputationId`] found in a module leads to an
/// entry of that module, whatever the file said.
#[derive(Debug, Clone, Default)]
pub struct HloModule {
    /// Its name, `jit_train_step`.
    pub name: String,
    /// Its number in the proto; 0 where the module was read from text.
    pub id: u64,
    /// The computation the program starts with.
    pub entry: Option<ComputationId>,
    /// All computations, in file order.
    pub computations: Vec<Computation>,
    /// All instructions, computation by computation.
    pub instructions: Vec<Instruction>,
    /// Where in the source instructions came from.
    pub frames: StackFrames,
    /// Which memory each value was given; absent before buffer assignment and in text.
    pub buffers: Option<BufferAssignment>,
    /// Whether instructions are in the order they run.
    pub is_scheduled: bool,
    /// Outputs that share a buffer with a parameter.
    pub input_output_aliases: Vec<InputOutputAlias>,
    /// Parameters whose buffers may be reused without being an output.
    pub buffer_donors: Vec<BufferDonor>,
    /// Key and value of each frontend attribute of the module.
    pub frontend_attributes: Vec<(String, String)>,
    /// Other attributes of the header line by name, as text; only the text reader fills it.
    pub header: Vec<(String, String)>,
    /// What could not be read.
    pub notes: Vec<HloNote>,
    pub(crate) by_name: NameTable,
    pub(crate) by_kernel_name: NameTable,
}

/// One output that shares a buffer with a parameter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InputOutputAlias {
    /// Path of tuple positions in the output.
    pub output_index: Vec<i64>,
    /// Which parameter of the entry computation.
    pub parameter: i64,
    /// Path of tuple positions in the parameter.
    pub parameter_index: Vec<i64>,
    /// Whether they must or only may share.
    pub kind: AliasKind,
}

/// How binding an alias is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AliasKind {
    /// Not said.
    #[default]
    Unsaid,
    /// The caller may give the buffer away.
    May,
    /// The caller must give the buffer away.
    Must,
}

/// A parameter whose buffer the program may reuse.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BufferDonor {
    /// Which parameter of the entry computation.
    pub parameter: i64,
    /// Path of tuple positions in it.
    pub parameter_index: Vec<i64>,
}

impl HloModule {
    /// The instruction of this name, with or without a leading `%`.
    pub fn instruction_named(&self, name: &str) -> Option<InstructionId> {
        let name = name.strip_prefix('%').unwrap_or(name);
        self.by_name
            .candidates(hash_bytes(name.bytes()))
            .find(|&position| self.instructions[position].name == name)
            .map(instruction_id)
    }

    /// The computation of this name, with or without a leading `%`.
    pub fn computation_named(&self, name: &str) -> Option<ComputationId> {
        let name = name.strip_prefix('%').unwrap_or(name);
        self.computations.iter().position(|computation| computation.name == name).map(computation_id)
    }

    /// The instruction at `id`.
    ///
    /// # Panics
    /// If `id` is from another, larger module.
    pub fn instruction(&self, id: InstructionId) -> &Instruction {
        &self.instructions[id.0 as usize]
    }

    /// The computation at `id`.
    ///
    /// # Panics
    /// If `id` is from another, larger module.
    pub fn computation(&self, id: ComputationId) -> &Computation {
        &self.computations[id.0 as usize]
    }

    /// Every instruction's id, computation by computation.
    pub fn instruction_ids(&self) -> impl DoubleEndedIterator<Item = InstructionId> + ExactSizeIterator + use<> {
        (0..self.instructions.len() as u32).map(InstructionId)
    }

    /// Every computation's id, in file order.
    pub fn computation_ids(&self) -> impl DoubleEndedIterator<Item = ComputationId> + ExactSizeIterator + use<> {
        (0..self.computations.len() as u32).map(ComputationId)
    }

    /// The instructions of a computation, in file order.
    pub fn instructions_of(&self, id: ComputationId) -> &[Instruction] {
        let range = self.computation(id).instructions.clone();
        &self.instructions[range.start as usize..range.end as usize]
    }

    /// The parameter of this number of the entry computation.
    pub fn parameter(&self, number: i64) -> Option<InstructionId> {
        let mut all = self.computation(self.entry?).instruction_ids();
        all.find(|id| self.instruction(*id).parameter_number == Some(number))
    }

    /// Whether the instruction is its computation's result.
    pub fn is_root(&self, id: InstructionId) -> bool {
        self.computation(self.instruction(id).computation).root == Some(id)
    }

    /// The lines of the program that made an instruction, innermost first.
    ///
    /// From the stack frame table where the instruction names a frame of it, else the one line its metadata says,
    /// else nothing. A fusion without either is answered by [`HloModule::source_in_fusion`].
    pub fn source_stack(&self, id: InstructionId) -> Vec<SourceFrame<'_>> {
        let metadata = &self.instruction(id).metadata;
        let stack = self.frames.stack(metadata.stack_frame_id);
        if !stack.is_empty() || metadata.source_file.is_empty() {
            return stack;
        }
        vec![SourceFrame {
            file: &metadata.source_file,
            function: "",
            line: metadata.source_line,
            end_line: metadata.source_end_line,
            column: metadata.source_column,
            end_column: metadata.source_end_column,
        }]
    }

    /// Says what one of the two forms leaves unsaid, so that readers need not know the defaults.
    fn say_defaults(&mut self) {
        for position in 0..self.instructions.len() {
            let instruction = &self.instructions[position];
            match &*instruction.opcode {
                "compare" if instruction.attributes().comparison_type.is_none() => {
                    let compared = instruction.operands.first().map(|&id| self.instruction(id).shape.element_type);
                    if let Some(kind) = compared.and_then(default_comparison) {
                        self.instructions[position].attributes_mut().comparison_type = Some(kind.to_owned());
                    }
                }
                "fft" if instruction.attributes().fft_type.is_none() => {
                    self.instructions[position].attributes_mut().fft_type = Some("FFT".to_owned());
                }
                _ => {}
            }
        }
    }

    /// Fills the indexes; both readers end with it.
    pub(crate) fn index(&mut self) {
        self.say_defaults();
        let instructions = &self.instructions;
        self.by_name = NameTable::build(instructions.len(), |position| hash_bytes(instructions[position].name.bytes()));
        self.by_kernel_name =
            NameTable::build(instructions.len(), |position| hash_of_kernel(&instructions[position].name));
        for position in 0..self.instructions.len() {
            let id = instruction_id(position);
            for called in &self.instructions[position].called {
                let callers = &mut self.computations[called.0 as usize].callers;
                if callers.last() != Some(&id) {
                    callers.push(id);
                }
            }
        }
    }
}

/// How XLA compares elements of this type unless told otherwise.
fn default_comparison(element_type: ElementType) -> Option<&'static str> {
    Some(match element_type {
        ElementType::Pred => "UNSIGNED",
        _ if element_type.is_integer() && element_type.name().starts_with('s') => "SIGNED",
        _ if element_type.is_integer() => "UNSIGNED",
        _ if element_type.is_float() || element_type.is_complex() => "FLOAT",
        _ => return None,
    })
}
