//! Copies that a processor's code makes of what it may not write over, before it sorts.
//!
//! XLA's CPU backend sorts in place: what lies elsewhere than the result is copied there first, by copies that carry the
//! sort's name (`ThunkEmitter::EmitSortThunk`).

use super::{Liveness, Schedule, Value};
use crate::{BufferAssignment, HloModule, InstructionId};
use rustc_hash::FxHashMap;

/// Where a value lies: allocation and offset.
type Slice = (i64, i64);

/// How many operands of each `sort` of `module` a CPU copies before it sorts, for those where it copies any.
///
/// By the buffer assignment where the module has one; else what lives on, and what is the caller's, is copied.
pub fn copies_before_sorts(module: &HloModule) -> Vec<(InstructionId, u32)> {
    let sorts: Vec<InstructionId> =
        module.instruction_ids().filter(|id| module.instruction(*id).opcode == "sort").collect();
    if sorts.is_empty() {
        return Vec::new();
    }
    let schedule = Schedule::new(module);
    let liveness = Liveness::new(module, &schedule);
    let slices = module.buffers.as_ref().map(Slices::new);
    let copies = |id: InstructionId| {
        let position = schedule.position(id)?;
        let operands = module.instruction(id).operands.iter().enumerate();
        let copied = operands.filter(|(leaf, operand)| {
            let Some(read) = liveness.made(**operand, 0) else { return false };
            let Some(made) = liveness.made(id, *leaf) else { return false };
            match slices.as_ref().and_then(|slices| slices.of(module, read).zip(slices.of(module, made))) {
                Some((read, made)) => read != made,
                None => lives_on(module, &liveness, **operand, position),
            }
        });
        let copied = copied.count() as u32;
        (copied > 0).then_some((id, copied))
    };
    sorts.into_iter().filter_map(copies).collect()
}

fn lives_on(module: &HloModule, liveness: &Liveness, operand: InstructionId, position: u32) -> bool {
    let Some(value) = liveness.value(operand, 0) else { return false };
    value.to > position || matches!(&*module.instruction(value.at).opcode, "parameter" | "constant")
}

/// Where the values of a module lie.
struct Slices<'a> {
    /// The buffer of each value, by its instruction and the path in it.
    buffers: FxHashMap<(InstructionId, &'a [i64]), i64>,
    /// By buffer.
    places: FxHashMap<i64, Slice>,
}

impl<'a> Slices<'a> {
    fn new(assignment: &'a BufferAssignment) -> Slices<'a> {
        let mut slices = Slices { buffers: FxHashMap::default(), places: FxHashMap::default() };
        for buffer in &assignment.buffers {
            let at = &buffer.defined_at;
            if let Some(instruction) = at.instruction {
                slices.buffers.entry((instruction, &at.shape_index[..])).or_insert(buffer.id);
            }
        }
        for allocation in &assignment.allocations {
            for place in &allocation.assigned {
                slices.places.entry(place.buffer).or_insert((allocation.index, place.offset));
            }
        }
        slices
    }

    fn of(&self, module: &HloModule, value: &Value) -> Option<Slice> {
        let index = module.instruction(value.at).shape.path_of(value.leaf as usize);
        let buffer = self.buffers.get(&(value.at, &index[..]))?;
        self.places.get(buffer).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_not_be_written_over_is_copied() {
        let text = "HloModule m, is_scheduled=true
            %less (p: f32[], q: f32[]) -> pred[] {
              %p = f32[] parameter(0)
              %q = f32[] parameter(1)
              ROOT %l = pred[] compare(%p, %q), direction=LT
            }
            ENTRY %main (x: f32[8]) -> (f32[8], f32[8], f32[8]) {
              %x = f32[8]{0} parameter(0)
              %argument = f32[8]{0} sort(%x), dimensions={0}, to_apply=%less
              %n = f32[8]{0} negate(%x)
              %own = f32[8]{0} sort(%n), dimensions={0}, to_apply=%less
              %m = f32[8]{0} cosine(%x)
              %kept = f32[8]{0} sort(%m), dimensions={0}, to_apply=%less
              %s = f32[8]{0} add(%m, %kept)
              ROOT %t = (f32[8]{0}, f32[8]{0}, f32[8]{0}) tuple(%argument, %own, %s)
            }";
        let module = HloModule::from_text(text).expect("HLO text of the test");
        let name = |(id, copies): (InstructionId, u32)| (module.instruction(id).name.clone(), copies);
        let found: Vec<(String, u32)> = copies_before_sorts(&module).into_iter().map(name).collect();
        assert_eq!(found, [("argument".to_owned(), 1), ("kept".to_owned(), 1)]);
    }
}
