//! Generated code in the making: which program, and where its values are.

use crate::program::{NodeId, Program};
use ridge_hlo::ElementType;
use rustc_hash::FxHashMap;

/// Code of a program, or of a trip of one of its loops.
pub(crate) struct Code<'a> {
    pub(crate) program: &'a Program,
    pub(crate) in_memory: Vec<bool>,
    /// The arrays that its inputs are.
    pub(crate) inputs: Vec<String>,
    /// What names of its arrays begin with: the loops that it is in.
    pub(crate) scope: String,
    /// Of a trip, the updates that are done where the state lies, with the number of that.
    pub(crate) in_place: FxHashMap<NodeId, usize>,
}

/// The name of a type in the generated code.
pub(crate) fn type_name(ty: ElementType) -> &'static str {
    match ty {
        ElementType::F32 => "F32",
        ElementType::F64 => "F64",
        ElementType::Pred => "bool",
        ElementType::S8 => "int8_t",
        ElementType::S16 => "int16_t",
        ElementType::S32 => "int32_t",
        ElementType::S64 => "int64_t",
        ElementType::U8 => "uint8_t",
        ElementType::U16 => "uint16_t",
        ElementType::U32 => "uint32_t",
        _ => "uint64_t",
    }
}
