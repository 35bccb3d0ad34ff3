//! What operations are as collectives, by the HLO of their modules.

use crate::import::Import;
use ridge_hlo::InstructionId;
use ridge_trace::{Collective, NONE, StringId};

/// What an operation is as a collective; its calls are counted by instruction, as each has a channel of its own.
pub(crate) fn collective(op: u32, import: &mut Import) -> Option<Collective> {
    let operation = import.builder.operations.get(op as usize).filter(|operation| operation.instruction != NONE)?;
    let module = import.builder.modules.get(operation.module as usize)?;
    let hlo = import.hlo.get(module.hlo? as usize)?;
    let id = hlo.collective(InstructionId(operation.instruction))?;
    let instruction = hlo.instruction(id);
    let group_size = instruction.attributes().replica_groups.group_size().and_then(|size| u32::try_from(size).ok());
    let bytes = |id: &InstructionId| hlo.instruction(*id).shape.byte_size().ok();
    let bytes_in = instruction.operands.iter().map(bytes).try_fold(0_u64, |sum, bytes| sum.checked_add(bytes?));
    let strings = &mut import.builder.strings;
    let group = format!("{}: {}", strings.get(module.name), strings.get(operation.name));
    let kind = instruction.opcode.whole().to_owned();
    Some(Collective {
        event: NONE,
        name: strings.intern(&kind),
        group: strings.intern(&group),
        sequence: None,
        group_size,
        element_type: StringId::default(),
        bytes_in,
        bytes_out: None,
    })
}
