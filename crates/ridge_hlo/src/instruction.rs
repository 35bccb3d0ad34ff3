//! One instruction of a computation, and where in the user's program it came from.

use crate::{Attributes, BackendConfig, ComputationId, InstructionId, Literal, Opcode, Shape};

/// One instruction.
///
/// What most instructions have stands here; the rest is behind [`Instruction::attributes`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Instruction {
    /// Its name, unique in the module, without a leading `%`.
    pub name: String,
    /// Its number in the proto; 0 where the module was read from text.
    pub id: i64,
    /// What it does.
    pub opcode: Opcode,
    /// The shape of its value.
    pub shape: Shape,
    /// The computation it is in.
    pub computation: ComputationId,
    /// What it reads, in order.
    pub operands: Vec<InstructionId>,
    /// What it must wait for without reading it.
    pub control_predecessors: Vec<InstructionId>,
    /// Computations it runs: a fusion's body; a loop's body, then its condition; the branches of a conditional.
    pub called: Vec<ComputationId>,
    /// The framework's account of it: `op_name` and source position.
    pub metadata: Metadata,
    /// `kLoop`, `kInput`, `kOutput` or `kCustom` of a fusion.
    pub fusion_kind: Option<String>,
    /// What a custom call calls.
    pub custom_call_target: Option<String>,
    /// Which parameter of its computation it is.
    pub parameter_number: Option<i64>,
    /// Which element a `get-tuple-element` takes.
    pub tuple_index: Option<i64>,
    /// Dimensions a broadcast, reduce, transpose, concatenate, iota, sort or collective works on.
    pub dimensions: Vec<i64>,
    /// Channel a collective or transfer uses.
    pub channel_id: Option<i64>,
    /// What the backend decided for it.
    pub backend_config: BackendConfig,
    /// A constant's value, as far as it was kept.
    pub literal: Option<Box<Literal>>,
    pub(crate) attributes: Option<Box<Attributes>>,
}

/// What the framework said about an instruction: all of it may be empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Metadata {
    /// Scope path and primitive, `jit(f)/while/body/mul`.
    pub op_name: String,
    /// The primitive alone, as old frameworks wrote it.
    pub op_type: String,
    /// File of the line that made it, if told here rather than by a stack frame.
    pub source_file: String,
    /// Line of that file, from 1; 0 if unsaid.
    pub source_line: u32,
    /// Last line of the expression; 0 if unsaid.
    pub source_end_line: u32,
    /// Column, from 0.
    pub source_column: u32,
    /// Column after the expression; 0 if unsaid.
    pub source_end_column: u32,
    /// Frame in the module's stack frame table, from 1; 0 if none.
    pub stack_frame_id: u32,
}

static NO_ATTRIBUTES: std::sync::LazyLock<Attributes> = std::sync::LazyLock::new(Attributes::default);

impl Instruction {
    /// The less common attributes; the empty set where it has none.
    pub fn attributes(&self) -> &Attributes {
        self.attributes.as_deref().unwrap_or_else(|| &NO_ATTRIBUTES)
    }

    /// Iterations of a `while`, where the compiler knew them.
    pub fn known_trip_count(&self) -> Option<u64> {
        (self.opcode == "while").then(|| self.backend_config.integer("/known_trip_count/n")).flatten()
    }

    /// Whether it is a fusion.
    pub fn is_fusion(&self) -> bool {
        self.opcode == "fusion"
    }

    pub(crate) fn attributes_mut(&mut self) -> &mut Attributes {
        self.attributes.get_or_insert_default()
    }
}

impl Metadata {
    /// Whether nothing was said.
    pub fn is_empty(&self) -> bool {
        self.op_name.is_empty() && self.op_type.is_empty() && !self.has_source()
    }

    /// Whether it says where in the source it came from.
    pub fn has_source(&self) -> bool {
        self.stack_frame_id != 0 || !self.source_file.is_empty()
    }
}
