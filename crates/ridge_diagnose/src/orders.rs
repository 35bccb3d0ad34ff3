//! The order of an array's elements in memory, and the passes that change it.

use ridge_hlo::{Elementwise, HloModule, InstructionId, OpcodeClass};

/// Whether an operation changes the order of elements in memory and does nothing else.
pub(crate) fn only_moves(module: &HloModule, id: InstructionId) -> bool {
    let instruction = module.instruction(id);
    let is_move = |id: &InstructionId| matches!(&*module.instruction(*id).opcode, "copy" | "transpose");
    if !instruction.is_fusion() {
        return is_move(&id) && changes_order(module, id);
    }
    let Some(body) = instruction.called.first() else { return false };
    let inside = || module.computation(*body).instruction_ids();
    // A transpose is often followed by the copy into the layout that makes it one.
    let moves_only = inside().all(|id| {
        let opcode = &*module.instruction(id).opcode;
        is_move(&id) || matches!(opcode, "parameter" | "bitcast" | "tuple" | "get-tuple-element")
    });
    moves_only && inside().filter(is_move).any(|id| changes_order(module, id))
}

/// Whether the elements of a copy or transpose lie in another order than its operand's, extents of one aside.
fn changes_order(module: &HloModule, id: InstructionId) -> bool {
    let instruction = module.instruction(id);
    let Some(&operand) = instruction.operands.first() else { return false };
    let order = |id: InstructionId| -> Option<Vec<i64>> {
        let shape = &module.instruction(id).shape;
        let order = shape.layout.as_ref()?.minor_to_major.iter().copied();
        let is_wide = |dimension: &i64| {
            usize::try_from(*dimension).ok().and_then(|at| shape.dimensions.get(at)).is_some_and(|extent| *extent > 1)
        };
        Some(order.filter(is_wide).collect())
    };
    let Some((from, to)) = order(operand).zip(order(id)) else { return false };
    if instruction.opcode != "transpose" {
        return from != to;
    }
    // Dimension i of the result is dimension `dimensions[i]` of the operand.
    let origin = |at: &i64| usize::try_from(*at).ok().and_then(|at| instruction.dimensions.get(at)).copied();
    to.iter().map(origin).collect::<Option<Vec<i64>>>().is_some_and(|to| to != from)
}

/// Whether a fusion changes the order of what it reads or writes, and beside that does so little to each element that moving
/// them is what it takes time for.
pub(crate) fn moves_and_computes(module: &HloModule, id: InstructionId) -> bool {
    let instruction = module.instruction(id);
    let Some(body) = instruction.called.first().filter(|_| instruction.is_fusion()) else { return false };
    let (mut moved, mut computes) = (0, false);
    for inner in module.computation(*body).instruction_ids() {
        let of = module.instruction(inner);
        match of.opcode.class() {
            OpcodeClass::Elementwise(
                Elementwise::Add
                | Elementwise::Multiply
                | Elementwise::Compare
                | Elementwise::Convert
                | Elementwise::Logic,
            ) => computes = true,
            OpcodeClass::PassesBy | OpcodeClass::Makes => {}
            _ if matches!(&*of.opcode, "copy" | "transpose") => {
                if changes_order(module, inner) {
                    moved = of.shape.byte_size().unwrap_or(0).max(moved);
                }
            }
            _ if of.opcode == "broadcast" => {}
            _ => return false,
        }
    }
    computes && instruction.shape.byte_size().is_ok_and(|bytes| bytes > 0 && 2 * moved >= bytes)
}
