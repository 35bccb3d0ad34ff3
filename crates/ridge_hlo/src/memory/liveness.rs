//! When each value of a program lives, from the schedule alone.
//!
//! A *value* is one array that needs memory. Tuples, tuple elements, bitcasts and barriers hand values on;
//! a loop's result, its operand and its body's result are one value, as XLA's buffer assignment demands
//! (`HloDataflowAnalysis`, `CopyInsertion`). No other sharing is assumed except where an update or elementwise work
//! ends an operand of its own size (`HloDataflowAnalysis::CanShareOperandBufferWithUser`).
//!
//! It decides no addresses; how much memory follows from it is for those who ask.

use super::schedule::{Schedule, runs_inside};
use crate::{HloModule, Instruction, InstructionId, Opcode, OpcodeClass, Phase};
use rustc_hash::FxHashMap;

/// No value: a token, or what a damaged file does not say.
const NO_VALUE: u32 = u32::MAX;

/// One array that needs memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Value {
    /// The instruction that makes it.
    pub at: InstructionId,
    /// Which array of that instruction's shape, nested tuples flattened.
    pub leaf: u32,
    /// Bytes, padding of its tiles included.
    pub bytes: u64,
    /// Position that makes it.
    pub from: u32,
    /// Last position that needs it.
    pub to: u32,
    /// Whether it is a part of the program's result.
    pub is_output: bool,
}

/// The values of one program and which of them every instruction hands on.
#[derive(Debug, Clone, Default)]
pub struct Liveness {
    values: Vec<Value>,
    /// The value each value is merged into; itself if none.
    merged: Vec<u32>,
    /// First place in `leaves` and number of leaves, by instruction.
    spans: FxHashMap<InstructionId, (u32, u32)>,
    leaves: Vec<u32>,
}

impl Liveness {
    /// Follows the values of `module` along `schedule`.
    pub fn new(module: &HloModule, schedule: &Schedule) -> Liveness {
        let mut liveness = Liveness::default();
        for (position, &id) in schedule.order.iter().enumerate() {
            liveness.define(module, schedule, id, position as u32);
        }
        liveness.keep_results(module, schedule);
        liveness.share_inputs(module);
        liveness.overwrite_in_place(module, schedule);
        liveness
    }

    /// Values that stand for themselves.
    pub fn values(&self) -> impl Iterator<Item = &Value> {
        self.values.iter().zip(&self.merged).zip(0..).filter(|((_, into), at)| *into == at).map(|((value, _), _)| value)
    }

    /// The value that array `leaf` of `id` holds.
    pub fn value(&self, id: InstructionId, leaf: usize) -> Option<&Value> {
        let value = *self.leaves_of(id).get(leaf)?;
        (value != NO_VALUE).then(|| &self.values[self.root(value) as usize])
    }

    /// The value that array `leaf` of `id` holds, as it was made: before it was found to share another's memory.
    pub fn made(&self, id: InstructionId, leaf: usize) -> Option<&Value> {
        self.values.get(*self.leaves_of(id).get(leaf)? as usize)
    }

    /// The value at path `index` of `id`.
    pub fn value_at(&self, module: &HloModule, id: InstructionId, index: &[i64]) -> Option<&Value> {
        self.value(id, module.instruction(id).shape.leaf_at(index)?)
    }

    fn leaves_of(&self, id: InstructionId) -> &[u32] {
        let (first, count) = self.spans.get(&id).copied().unwrap_or((0, 0));
        &self.leaves[first as usize..(first + count) as usize]
    }

    fn root(&self, mut value: u32) -> u32 {
        while self.merged[value as usize] != value {
            value = self.merged[value as usize];
        }
        value
    }

    /// Makes two values one that lives as long as both.
    fn merge(&mut self, into: u32, other: u32) {
        if into == NO_VALUE || other == NO_VALUE {
            return;
        }
        // The older value stands for both: merges point backwards only, so chains end.
        let (into, other) = (self.root(into), self.root(other));
        let (into, other) = (into.min(other), into.max(other));
        if into == other {
            return;
        }
        let merged = self.values[other as usize];
        let value = &mut self.values[into as usize];
        value.bytes = value.bytes.max(merged.bytes);
        value.from = value.from.min(merged.from);
        value.to = value.to.max(merged.to);
        value.is_output |= merged.is_output;
        self.merged[other as usize] = into;
    }

    /// Uses the operands of `id` at its position and says what its own leaves hold.
    fn define(&mut self, module: &HloModule, schedule: &Schedule, id: InstructionId, position: u32) {
        let instruction = module.instruction(id);
        // What only passes values by reads nothing: who takes them on does.
        if !passes_by(instruction) {
            instruction.operands.iter().for_each(|operand| self.use_at(*operand, position));
        }
        let shapes = instruction.shape.leaves();
        let mut held = self.handed_on(module, schedule, id);
        // The shape in the file bounds how many leaves there are, whatever the operands claim.
        held.resize(shapes.len(), NO_VALUE);
        let makes = !hands_on(instruction) && !is_inner_parameter(module, schedule, instruction);
        for (leaf, shape) in shapes.iter().enumerate() {
            let bytes = shape.padded_bytes();
            if held[leaf] == NO_VALUE && makes && bytes > 0 {
                held[leaf] = self.values.len() as u32;
                let (from, to) = (position, position);
                self.merged.push(held[leaf]);
                self.values.push(Value { at: id, leaf: leaf as u32, bytes, from, to, is_output: false });
            }
        }
        self.spans.insert(id, (self.leaves.len() as u32, held.len() as u32));
        self.leaves.append(&mut held);
        self.join_results(module, id, position);
    }

    fn use_at(&mut self, id: InstructionId, position: u32) {
        let (first, count) = self.spans.get(&id).copied().unwrap_or((0, 0));
        for at in first..first + count {
            let value = self.leaves[at as usize];
            if value != NO_VALUE {
                let root = self.root(value) as usize;
                self.values[root].to = self.values[root].to.max(position);
            }
        }
    }

    /// The values that the leaves of `id` share with what it reads, by leaf; shorter where the rest are new.
    fn handed_on(&self, module: &HloModule, schedule: &Schedule, id: InstructionId) -> Vec<u32> {
        let instruction = module.instruction(id);
        let operand = |number: usize| instruction.operands.get(number).map_or(&[][..], |id| self.leaves_of(*id));
        match &*instruction.opcode {
            "tuple" => instruction.operands.iter().flat_map(|id| self.leaves_of(*id)).copied().collect(),
            "get-tuple-element" => {
                let first = instruction.operands.first().zip(instruction.tuple_index);
                let first = first.and_then(|(id, index)| module.instruction(*id).shape.leaf_at(&[index]));
                first.and_then(|first| operand(0).get(first..)).unwrap_or_default().to_vec()
            }
            "while" | "async-update" => operand(0).to_vec(),
            "parameter" => self.argument(module, schedule, instruction),
            // A start holds its operands first, its results after them; the end takes the results.
            "async-start" => instruction.operands.iter().flat_map(|id| self.leaves_of(*id)).copied().collect(),
            "all-gather-start" | "collective-permute-start" => operand(0).to_vec(),
            "copy-start" => [&[NO_VALUE][..], operand(0)].concat(),
            "copy-done" => operand(0).to_vec(),
            "async-done" => {
                let start = instruction.operands.first().and_then(|id| module.instruction(*id).shape.tuple.first());
                operand(0).get(start.map_or(0, |operands| operands.leaves().len())..).unwrap_or_default().to_vec()
            }
            _ if instruction.opcode.phase() == Phase::End => {
                results_of_start(operand(0), instruction.shape.leaves().len())
            }
            _ if passes_by(instruction) => operand(0).to_vec(),
            _ => self.aliased_outputs(module, instruction),
        }
    }

    /// What a parameter of a called computation holds.
    fn argument(&self, module: &HloModule, schedule: &Schedule, parameter: &Instruction) -> Vec<u32> {
        let computation = parameter.computation;
        let Some(caller) = schedule.caller.get(computation.0 as usize).copied().flatten() else { return Vec::new() };
        let calling = module.instruction(caller);
        let number = parameter.parameter_number.and_then(|number| usize::try_from(number).ok()).unwrap_or(0);
        let operand = match &*calling.opcode {
            "while" => 0,
            "conditional" => 1 + calling.called.iter().position(|called| *called == computation).unwrap_or(0),
            _ => number,
        };
        calling.operands.get(operand).map_or(Vec::new(), |id| self.leaves_of(*id).to_vec())
    }

    /// Outputs of fusions and custom calls that are written over an operand.
    fn aliased_outputs(&self, module: &HloModule, instruction: &Instruction) -> Vec<u32> {
        let aliases = &instruction.attributes().output_aliases;
        let mut held = if aliases.is_empty() { Vec::new() } else { vec![NO_VALUE; instruction.shape.leaves().len()] };
        for alias in aliases {
            let operand = usize::try_from(alias.operand).ok().and_then(|number| instruction.operands.get(number));
            let Some(&operand) = operand else { continue };
            let source = module.instruction(operand).shape.leaf_at(&alias.operand_index);
            let value = source.and_then(|leaf| self.leaves_of(operand).get(leaf)).copied();
            let target = instruction.shape.leaf_at(&alias.output_index).and_then(|leaf| held.get_mut(leaf));
            if let (Some(target), Some(value)) = (target, value) {
                *target = value;
            }
        }
        held
    }

    /// Results of the computations that `id` runs share its memory.
    fn join_results(&mut self, module: &HloModule, id: InstructionId, position: u32) {
        let called = runs_inside(module, id);
        let is_loop = module.instruction(id).opcode == "while";
        let skip = if module.instruction(id).opcode == "async-start" { self.operand_leaves(module, id) } else { 0 };
        // A loop runs its body first and its condition second; a condition's result is no part of the loop's.
        for computation in called.iter().take(if is_loop { 1 } else { called.len() }) {
            let Some(root) = module.computation(*computation).root else { continue };
            self.use_at(root, position);
            let own = self.leaves_of(id).get(skip..).unwrap_or_default();
            let pairs: Vec<(u32, u32)> = own.iter().copied().zip(self.leaves_of(root).iter().copied()).collect();
            pairs.into_iter().for_each(|(own, result)| self.merge(own, result));
        }
    }

    fn operand_leaves(&self, module: &HloModule, id: InstructionId) -> usize {
        module.instruction(id).operands.iter().map(|id| self.leaves_of(*id).len()).sum()
    }

    /// The program's results live to its end.
    fn keep_results(&mut self, module: &HloModule, schedule: &Schedule) {
        let Some(root) = module.entry.and_then(|entry| module.computation(entry).root) else { return };
        let end = schedule.len().saturating_sub(1);
        self.use_at(root, end);
        for value in self.leaves_of(root).to_vec() {
            if value != NO_VALUE {
                let value = self.root(value) as usize;
                self.values[value].is_output = true;
            }
        }
    }

    /// Outputs that the module's header lets share a parameter's buffer.
    fn share_inputs(&mut self, module: &HloModule) {
        let Some(root) = module.entry.and_then(|entry| module.computation(entry).root) else { return };
        for alias in &module.input_output_aliases {
            let Some(parameter) = module.parameter(alias.parameter) else { continue };
            let leaf = |id: InstructionId, index: &[i64]| {
                let leaf = module.instruction(id).shape.leaf_at(index)?;
                self.leaves_of(id).get(leaf).copied()
            };
            let (input, output) = (leaf(parameter, &alias.parameter_index), leaf(root, &alias.output_index));
            if let (Some(input), Some(output)) = (input, output) {
                self.merge(input, output);
            }
        }
    }

    /// Updates and elementwise operations that end an operand of their own size write over it.
    fn overwrite_in_place(&mut self, module: &HloModule, schedule: &Schedule) {
        for (position, &id) in schedule.order.iter().enumerate() {
            let Some(&[result]) = self.leaves_of(id).first_chunk::<1>() else { continue };
            let ends_here = overwritable(module, id).iter().find_map(|operand| {
                let value = *self.leaves_of(*operand).first().filter(|value| **value != NO_VALUE)?;
                self.may_be_overwritten(module, value, result, position as u32).then_some(value)
            });
            if let Some(value) = ends_here {
                self.merge(value, result);
            }
        }
    }

    fn may_be_overwritten(&self, module: &HloModule, value: u32, result: u32, position: u32) -> bool {
        if result == NO_VALUE || self.root(value) == self.root(result) {
            return false;
        }
        let (value, result) = (&self.values[self.root(value) as usize], &self.values[self.root(result) as usize]);
        let maker = module.instruction(value.at);
        value.to == position
            && value.bytes == result.bytes
            && !value.is_output
            && maker.opcode != "parameter"
            && maker.opcode != "constant"
    }
}

/// The operands that `id` may write over: of an update the one that is updated, of elementwise work all.
fn overwritable(module: &HloModule, id: InstructionId) -> &[InstructionId] {
    let instruction = module.instruction(id);
    match &*instruction.opcode {
        "dynamic-update-slice" | "scatter" => instruction.operands.get(..1).unwrap_or_default(),
        "fusion" if is_elementwise_fusion(module, instruction) => &instruction.operands,
        _ if ends_operands(&instruction.opcode) => &instruction.operands,
        _ => &[],
    }
}

fn is_elementwise_fusion(module: &HloModule, fusion: &Instruction) -> bool {
    let inside = fusion.called.first().map_or(&[][..], |body| module.instructions_of(*body));
    let is_plain = |inside: &Instruction| {
        matches!(&*inside.opcode, "parameter" | "constant" | "broadcast") || ends_operands(&inside.opcode)
    };
    fusion.fusion_kind.as_deref() == Some("kLoop") && inside.iter().all(is_plain)
}

/// `HloInstruction::IsElementwise` of XLA, which counts copies.
fn ends_operands(opcode: &Opcode) -> bool {
    opcode.is_elementwise() || *opcode == "copy"
}

/// Whether an instruction names values without touching them.
fn passes_by(instruction: &Instruction) -> bool {
    instruction.opcode.class() == OpcodeClass::PassesBy
}

/// Whether no leaf of an instruction is new.
fn hands_on(instruction: &Instruction) -> bool {
    passes_by(instruction) || matches!(&*instruction.opcode, "while" | "async-update" | "async-done" | "copy-done")
}

fn is_inner_parameter(module: &HloModule, schedule: &Schedule, instruction: &Instruction) -> bool {
    instruction.opcode == "parameter"
        && module.entry != Some(instruction.computation)
        && schedule.caller.get(instruction.computation.0 as usize).copied().flatten().is_some()
}

/// The results among the leaves of an asynchronous start: the ones after as many operands.
fn results_of_start(start: &[u32], results: usize) -> Vec<u32> {
    let first = if start.len() >= 2 * results { results } else { 0 };
    start.iter().skip(first).take(results).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// Every value: who makes it, bytes, first and last position.
    #[track_caller]
    fn check(text: &str, expected: Expect) {
        let module = HloModule::from_text(text).expect("HLO text of the test");
        let schedule = Schedule::new(&module);
        let liveness = Liveness::new(&module, &schedule);
        let line = |value: &Value| {
            let end = if value.is_output { " output" } else { "" };
            let name = &module.instruction(value.at).name;
            format!("{name}.{}: {} B, {} to {}{end}\n", value.leaf, value.bytes, value.from, value.to)
        };
        expected.assert_eq(&liveness.values().map(line).collect::<String>());
    }

    #[test]
    fn tuples_and_bitcasts_hand_values_on() {
        check(
            "HloModule m, is_scheduled=true
             ENTRY %main (x: f32[4], y: f32[2]) -> f32[4] {
               %x = f32[4]{0} parameter(0)
               %y = f32[2]{0} parameter(1)
               %a = f32[4]{0} add(%x, %x)
               %t = (f32[2]{0}, f32[4]{0}) tuple(%y, %a)
               %g = f32[4]{0} get-tuple-element(%t), index=1
               %b = f32[2,2]{1,0} bitcast(%g)
               ROOT %r = f32[4]{0} reshape(%b)
             }",
            expect![[r#"
                x.0: 16 B, 0 to 2
                y.0: 8 B, 1 to 1
                a.0: 16 B, 2 to 6
                r.0: 16 B, 6 to 6 output
            "#]],
        );
    }

    #[test]
    fn a_loop_is_one_value_from_its_operand_to_its_last_use() {
        check(
            "HloModule m, is_scheduled=true
             %body (p: (f32[4], s32[])) -> (f32[4], s32[]) {
               %p = (f32[4]{0}, s32[]) parameter(0)
               %v = f32[4]{0} get-tuple-element(%p), index=0
               %i = s32[] get-tuple-element(%p), index=1
               %w = f32[4]{0} exponential(%v)
               %w2 = f32[4]{0} negate(%w)
               ROOT %o = (f32[4]{0}, s32[]) tuple(%w2, %i)
             }
             %cond (q: (f32[4], s32[])) -> pred[] {
               %q = (f32[4]{0}, s32[]) parameter(0)
               ROOT %c = pred[] constant(false)
             }
             ENTRY %main (x: f32[4], n: s32[]) -> f32[4] {
               %x = f32[4]{0} parameter(0)
               %n = s32[] parameter(1)
               %k = f32[4]{0} copy(%x)
               %t = (f32[4]{0}, s32[]) tuple(%k, %n)
               %l = (f32[4]{0}, s32[]) while(%t), condition=%cond, body=%body
               %g = f32[4]{0} get-tuple-element(%l), index=0
               ROOT %r = f32[4]{0} negate(%g)
             }",
            expect![[r#"
                x.0: 16 B, 0 to 2
                n.0: 4 B, 1 to 12
                k.0: 16 B, 2 to 14 output
                c.0: 1 B, 11 to 11
            "#]],
        );
    }

    #[test]
    fn donated_parameters_and_updates_share_memory() {
        check(
            "HloModule m, is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }
             ENTRY %main (x: f32[4], u: f32[1], i: s32[]) -> f32[4] {
               %x = f32[4]{0} parameter(0)
               %u = f32[1]{0} parameter(1)
               %i = s32[] parameter(2)
               %a = f32[4]{0} negate(%x)
               %d = f32[4]{0} dynamic-update-slice(%a, %u, %i)
               ROOT %r = f32[4]{0} negate(%d)
             }",
            expect![[r#"
                x.0: 16 B, 0 to 5 output
                u.0: 4 B, 1 to 4
                i.0: 4 B, 2 to 4
            "#]],
        );
    }

    #[test]
    fn elementwise_work_of_every_kind_writes_over_its_operand() {
        for opcode in ["sine", "sinh", "acosh", "atanh", "bitcast-convert", "copy", "map", "reduce-precision"] {
            let text = format!(
                "HloModule m, is_scheduled=true
                 ENTRY %main (x: f32[4]) -> f32[4] {{
                   %x = f32[4]{{0}} parameter(0)
                   %a = f32[4]{{0}} negate(%x)
                   %b = f32[4]{{0}} {opcode}(%a)
                   %c = f32[4]{{0}} reverse(%b), dimensions={{0}}
                   ROOT %r = f32[4]{{0}} negate(%c)
                 }}"
            );
            let module = HloModule::from_text(&text).expect("HLO text of the test");
            let liveness = Liveness::new(&module, &Schedule::new(&module));
            let made = |name: &str| liveness.value(module.instruction_named(name).expect("a name of the test"), 0);
            assert_eq!(made("b").map(|value| value.at), module.instruction_named("a"), "{opcode}");
            assert_eq!(made("c").map(|value| value.at), module.instruction_named("c"), "what is turned is no operand");
        }
    }
}
