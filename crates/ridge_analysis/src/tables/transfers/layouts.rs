//! Copies that never leave the device: copy and transpose instructions of modules, copy kernels of runtimes, copies
//! within a device.

use crate::context::partition::{partition, ratio};
use crate::models::transfers::Transfers;
use crate::tables::time::table as build;
use crate::{Analysis, Group, kernel_category};
use ridge_hlo::{HloModule, InstructionId};
use ridge_table::{Basis, Column, Rank, Subject, Table, Unit};
use ridge_trace::{EventKind, OpRow, StringId};

/// What moves bytes without computing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Moves {
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
    fn name(self) -> &'static str {
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

impl Transfers {
    /// By operation, most time first.
    pub(crate) fn layouts(&self, analysis: &Analysis<'_>) -> Table {
        let asked = |group: &Group| self.devices.iter().any(|device| device.device == group.device);
        let key = |group: &Group| {
            let moves = moves(analysis, group).filter(|_| asked(group))?;
            // Kernels of one operation are one row; what has no operation goes by its own name.
            let name = if analysis.operation(group.op).is_some() { 0 } else { group.name };
            Some((moves, group.op, name))
        };
        let rows = partition(&analysis.groups().groups, key);
        let module = |op: u32| {
            let found = analysis.trace.modules.get(analysis.operation(op)?.module as usize)?;
            Some(analysis.text(found.name).to_owned())
        };
        let name = |op: u32, name: u32| match analysis.operation(op) {
            Some(found) if found.name != StringId(0) => analysis.text(found.name).to_owned(),
            _ => analysis.text(StringId(name)).to_owned(),
        };
        let line = |op: u32| {
            let (module, instruction) = analysis.instruction(op)?;
            let frames = module.source_in_fusion(instruction);
            frames.first().map(|frame| format!("{}:{}", frame.file, frame.line))
        };
        let result_bytes = |op: u32| {
            let (module, instruction) = analysis.instruction(op)?;
            module.instruction(instruction).shape.byte_size().ok()
        };
        let all = analysis.groups().total_self_ns();
        build(
            "layout",
            "Copies and layout changes on the device",
            vec![
                Column::text(
                    "op",
                    "Operation",
                    "instruction, or the kernel's own name",
                    rows.iter().map(|row| name(row.key.1, row.key.2)),
                )
                .ranked(Rank::Key),
                Column::text("module", "Module", "its module", rows.iter().map(|row| module(row.key.1))),
                Column::text(
                    "what",
                    "What",
                    "how the bytes are moved",
                    rows.iter().map(|row| row.key.0.name().to_owned()),
                )
                .ranked(Rank::Key),
                Column::nanos("self_ns", "Self", "sum of self times", rows.iter().map(|row| row.self_ns))
                    .basis(Basis::Measured)
                    .ranked(Rank::Key),
                Column::real(
                    "self_share",
                    "Share",
                    "part of all device work of the capture",
                    Unit::Share,
                    rows.iter().map(|row| ratio(row.self_ns, all)),
                )
                .basis(Basis::Measured)
                .ranked(Rank::Key),
                Column::whole("events", "Events", "kernels and copies", Unit::Count, rows.iter().map(|row| row.events))
                    .basis(Basis::Counted),
                Column::whole(
                    "result_bytes",
                    "Result",
                    "size of the instruction's result, which each execution writes once; from its shape",
                    Unit::Bytes,
                    rows.iter().map(|row| result_bytes(row.key.1)),
                )
                .basis(Basis::Counted),
                Column::text("source", "Source", "source line it came from", rows.iter().map(|row| line(row.key.1))),
            ],
        )
        .about(rows.iter().map(|row| {
            let named = || Subject::Named(StringId(row.key.2));
            Some(analysis.operation(row.key.1).map_or_else(named, |_| Subject::Op(OpRow(row.key.1))))
        }))
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
