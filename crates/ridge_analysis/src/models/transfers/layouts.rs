//! Copies that never leave the device: copy and transpose instructions of modules, copy kernels of runtimes, copies
//! within a device.

use super::Transfers;
use crate::context::partition::partition;
use crate::{Analysis, Group, WorkRow, kernel_category};
use ridge_hlo::{HloModule, InstructionId};
use ridge_table::Subject;
use ridge_trace::{EventKind, OpRow, StringId};

/// What moves bytes without computing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Moves {
    /// An HLO `copy`: XLA changes a layout or keeps a value from being overwritten.
    Copy,
    /// An HLO `transpose`.
    Transpose,
    /// A fusion of copies and changes of shape.
    CopyFusion,
    /// A fusion of transposes and changes of shape.
    TransposeFusion,
    /// A kernel that the runtime copies with.
    CopyKernel,
    /// A copy within the device.
    WithinDevice,
}

impl Moves {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Moves::Copy => "copy",
            Moves::Transpose => "transpose",
            Moves::CopyFusion => "copy fusion",
            Moves::TransposeFusion => "transpose fusion",
            Moves::CopyKernel => "copy kernel",
            Moves::WithinDevice => "device to device",
        }
    }
}

/// What moves bytes, and the operation that it is; kernels of one operation are one, what has none goes by its own name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MoveKey {
    /// How the bytes are moved.
    pub moves: Moves,
    op: u32,
    name: u32,
}

impl MoveKey {
    /// The instruction, or the kernel's own name.
    pub fn label<'a>(&self, analysis: &Analysis<'a>) -> &'a str {
        let named = analysis.operation(self.op).map(|op| op.name).filter(|name| *name != StringId(0));
        analysis.text(named.unwrap_or(StringId(self.name)))
    }

    /// The operation's module.
    pub fn module<'a>(&self, analysis: &Analysis<'a>) -> Option<&'a str> {
        let found = analysis.trace.modules.get(analysis.operation(self.op)?.module as usize)?;
        Some(analysis.text(found.name))
    }

    /// Size of the instruction's result, from its shape, bytes.
    pub fn result_bytes(&self, analysis: &Analysis<'_>) -> Option<u64> {
        let (module, instruction) = analysis.instruction(self.op)?;
        module.instruction(instruction).shape.byte_size().ok()
    }

    /// The file and line that it came from.
    pub fn line<'a>(&self, analysis: &Analysis<'a>) -> Option<(&'a str, u32)> {
        analysis.line_of(self.op)
    }

    /// The operation, or all that have its name.
    pub fn subject(&self, analysis: &Analysis<'_>) -> Subject {
        let named = || Subject::Named(StringId(self.name));
        analysis.operation(self.op).map_or_else(named, |_| Subject::Op(OpRow(self.op)))
    }
}

impl Transfers {
    /// By operation, most time first.
    pub fn layouts(&self, analysis: &Analysis<'_>) -> Vec<WorkRow<MoveKey>> {
        let asked = |group: &Group| self.devices.iter().any(|device| device.device == group.device);
        partition(analysis, |group| {
            let moves = moves(analysis, group).filter(|_| asked(group))?;
            let name = if analysis.operation(group.op).is_some() { 0 } else { group.name };
            Some(MoveKey { moves, op: group.op, name })
        })
    }
}

/// How a group moves bytes, where that is all it does.
fn moves(analysis: &Analysis<'_>, group: &Group) -> Option<Moves> {
    match group.kind {
        EventKind::CopyDeviceToDevice => return Some(Moves::WithinDevice),
        EventKind::Kernel | EventKind::DeviceOp => {}
        _ => return None,
    }
    if let Some((module, instruction)) = analysis.instruction(group.op) {
        return instruction_moves(module, instruction);
    }
    (kernel_category(analysis.text(StringId(group.name))) == "copy kernel").then_some(Moves::CopyKernel)
}

fn instruction_moves(module: &HloModule, id: InstructionId) -> Option<Moves> {
    let instruction = module.instruction(id);
    match &*instruction.opcode {
        "copy" | "copy-start" | "copy-done" => Some(Moves::Copy),
        "transpose" => Some(Moves::Transpose),
        "fusion" => {
            let body = module.computation(*instruction.called.first()?);
            fusion_moves(body.instruction_ids().map(|inside| &*module.instruction(inside).opcode))
        }
        _ => None,
    }
}

/// How a fusion of `opcodes` moves bytes; `None` where one of them computes, or none of them moves.
fn fusion_moves<'o>(opcodes: impl Iterator<Item = &'o str>) -> Option<Moves> {
    let mut found = None;
    for opcode in opcodes {
        match opcode {
            "transpose" => found = Some(Moves::TransposeFusion),
            "copy" => found = found.or(Some(Moves::CopyFusion)),
            "parameter" | "bitcast" | "reshape" | "tuple" | "get-tuple-element" => {}
            _ => return None,
        }
    }
    found
}
