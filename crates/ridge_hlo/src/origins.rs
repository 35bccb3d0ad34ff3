//! Whose work it is: for instructions that no line of the program made, the one whose need made them.
//!
//! XLA inserts copies, changes of layout, conversions and broadcasts without saying for whom. The data flow tells: a copy
//! that is written over is made for who writes, a change of layout for who reads. All of it is inferred, never stated.

use std::collections::VecDeque;

use crate::users::Users;
use crate::{HloModule, Instruction, InstructionId, OpcodeClass, Shape};

/// Instructions that one search looks at: origins are near.
const NEARBY: usize = 64;

/// Operands of one user that are looked at.
const OPERANDS: usize = 64;

/// Steps that are followed through the body of a fusion.
const CHAIN: usize = 64;

/// The instruction that an unnamed one is owed to; always inferred.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// An instruction with a line of its own.
    pub at: InstructionId,
    /// Why it is its owner.
    pub why: AttributedBy,
}

/// Why an instruction is owed to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AttributedBy {
    /// The owner writes over it, and may not write over what it was copied from.
    InPlaceUpdate,
    /// It becomes the state of the owner, a loop, which writes over it.
    LoopState,
    /// The owner reads it in another layout than it was made in.
    Layout,
    /// The owner reads it.
    Consumer,
    /// The owner made what it hands on; nobody with a line of its own reads it.
    Producer,
}

impl AttributedBy {
    /// It as a sentence's part, `made because it is written over there`.
    pub fn text(self) -> &'static str {
        match self {
            AttributedBy::InPlaceUpdate => "made because it is written over there",
            AttributedBy::LoopState => "made because it becomes the state of a loop there",
            AttributedBy::Layout => "moved because it is read in another layout there",
            AttributedBy::Consumer => "made because it is read there",
            AttributedBy::Producer => "hands on what is made there",
        }
    }
}

/// The origins of a module's instructions.
pub struct Origins<'m> {
    module: &'m HloModule,
    users: Users,
}

impl<'m> Origins<'m> {
    /// Looks through `module` once, to know who uses what.
    pub fn new(module: &'m HloModule) -> Origins<'m> {
        Origins { module, users: Users::new(module) }
    }

    /// Who `id` is owed to; `None` where it has a line of its own, or nobody near has one.
    pub fn of(&self, id: InstructionId) -> Option<Origin> {
        if self.has_line(id) {
            return None;
        }
        self.reader(id).or_else(|| self.maker(id))
    }

    /// The nearest instruction with a line that what `id` makes goes to, through others that have none.
    ///
    /// Of the nearest ones, one that writes over it comes before those that read it.
    fn reader(&self, id: InstructionId) -> Option<Origin> {
        let mut found: Option<Origin> = None;
        // Each entry is a value that holds what `id` made, and how far it is from it.
        let mut open = VecDeque::from([(id, 0)]);
        let mut seen = vec![id];
        let mut nearest = usize::MAX;
        while let Some((value, distance)) = open.pop_front().filter(|(_, distance)| *distance <= nearest) {
            for &user in self.users.of(value) {
                let passes = self.module.instruction(user).opcode.class() == OpcodeClass::PassesBy;
                if self.has_line(user) && !passes {
                    let why = self.why(id, value, user);
                    if found.is_none_or(|known| (why as u8) < (known.why as u8)) {
                        found = Some(Origin { at: user, why });
                    }
                    nearest = nearest.min(distance);
                } else if seen.len() < NEARBY && !seen.contains(&user) {
                    seen.push(user);
                    // What only passes a value by is no further away.
                    if passes { open.push_front((user, distance)) } else { open.push_back((user, distance + 1)) }
                }
            }
        }
        found
    }

    fn why(&self, id: InstructionId, value: InstructionId, user: InstructionId) -> AttributedBy {
        let instruction = self.module.instruction(user);
        let places = instruction.operands.iter().take(OPERANDS).enumerate();
        let mut places = places.filter(|(_, operand)| **operand == value).map(|(place, _)| place);
        if instruction.opcode == "while" {
            return AttributedBy::LoopState;
        }
        if places.any(|place| writes_over(self.module, instruction, place)) {
            return AttributedBy::InPlaceUpdate;
        }
        if self.changes_layout(id) { AttributedBy::Layout } else { AttributedBy::Consumer }
    }

    /// Whether an instruction moves the same elements into another order in memory.
    fn changes_layout(&self, id: InstructionId) -> bool {
        let instruction = self.module.instruction(id);
        let Some(&operand) = instruction.operands.first() else { return false };
        let order = |shape: &Shape| shape.layout.as_ref().map(|layout| layout.minor_to_major.clone());
        let (from, to) = (&self.module.instruction(operand).shape, &instruction.shape);
        let moves = matches!(&*instruction.opcode, "copy" | "copy-start" | "transpose" | "fusion");
        moves && from.element_count() == to.element_count() && order(from) != order(to)
    }

    /// The nearest instruction with a line that `id` has its value from.
    fn maker(&self, id: InstructionId) -> Option<Origin> {
        let mut open = VecDeque::from([id]);
        let mut seen = vec![id];
        while let Some(value) = open.pop_front() {
            for &operand in self.module.instruction(value).operands.iter().take(OPERANDS) {
                if self.has_line(operand) {
                    return Some(Origin { at: operand, why: AttributedBy::Producer });
                }
                if seen.len() < NEARBY && !seen.contains(&operand) {
                    seen.push(operand);
                    open.push_back(operand);
                }
            }
        }
        None
    }

    fn has_line(&self, id: InstructionId) -> bool {
        !self.module.source_in_fusion(id).is_empty()
    }
}

/// Whether an instruction writes its result over its operand at `place`.
fn writes_over(module: &HloModule, instruction: &Instruction, place: usize) -> bool {
    let aliases = &instruction.attributes().output_aliases;
    let is_aliased = aliases.iter().any(|alias| usize::try_from(alias.operand) == Ok(place));
    match &*instruction.opcode {
        "dynamic-update-slice" => place == 0,
        "scatter" => place < instruction.operands.len().saturating_sub(1) / 2,
        "sort" => true,
        "fusion" => is_aliased || updates_parameter(module, instruction, place),
        _ => is_aliased,
    }
}

/// Whether a result of a fusion is an update of the parameter at `place`.
fn updates_parameter(module: &HloModule, fusion: &Instruction, place: usize) -> bool {
    let Some(root) = fusion.called.first().and_then(|body| module.computation(*body).root) else { return false };
    let results = match module.instruction(root).opcode == "tuple" {
        true => &module.instruction(root).operands[..],
        false => std::slice::from_ref(&root),
    };
    results.iter().take(OPERANDS).any(|result| is_update_of(module, *result, place))
}

fn is_update_of(module: &HloModule, result: InstructionId, place: usize) -> bool {
    let (mut at, mut is_updated) = (result, false);
    for _ in 0..CHAIN {
        let instruction = module.instruction(at);
        match &*instruction.opcode {
            "parameter" => {
                let number = instruction.parameter_number.and_then(|number| usize::try_from(number).ok());
                return is_updated && number == Some(place);
            }
            "dynamic-update-slice" | "scatter" => is_updated = true,
            "bitcast" => {}
            _ => return false,
        }
        let Some(&base) = instruction.operands.first() else { return false };
        at = base;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    #[track_caller]
    fn check(text: &str, expected: Expect) {
        let module = HloModule::from_text(text).expect("HLO text of the test");
        let origins = Origins::new(&module);
        let line = |id: InstructionId| {
            let Origin { at, why } = origins.of(id)?;
            Some(format!("{} to {}: {}\n", module.instruction(id).name, module.instruction(at).name, why.text()))
        };
        expected.assert_eq(&module.instruction_ids().filter_map(line).collect::<String>());
    }

    #[test]
    fn copies_are_owed_to_who_needs_them() {
        check(
            r#"HloModule m, is_scheduled=true
            %fused (p: f32[8,8], q: f32[1,8]) -> f32[8,8] {
              %p = f32[8,8]{1,0} parameter(0)
              %q = f32[1,8]{1,0} parameter(1)
              %i = s32[] constant(0)
              ROOT %d = f32[8,8]{1,0} dynamic-update-slice(%p, %q, %i, %i), metadata={source_file="f.py" source_line=1}
            }
            ENTRY %main (x: f32[8,8], u: f32[1,8]) -> (f32[8,8], f32[8,8], f32[8,8]) {
              %x = f32[8,8]{1,0} parameter(0)
              %u = f32[1,8]{1,0} parameter(1)
              %before = f32[8,8]{1,0} copy(%x)
              %set = f32[8,8]{1,0} fusion(%before, %u), kind=kLoop, calls=%fused
              %turned = f32[8,8]{0,1} copy(%set)
              %named = f32[8,8]{0,1} bitcast(%turned)
              %read = f32[8,8]{0,1} negate(%named), metadata={source_file="f.py" source_line=2}
              %wide = f32[8,8]{1,0} copy(%x)
              %added = f32[8,8]{1,0} add(%wide, %set), metadata={source_file="f.py" source_line=3}
              %given = f32[8,8]{1,0} copy(%added)
              ROOT %all = (f32[8,8]{1,0}, f32[8,8]{0,1}, f32[8,8]{1,0}) tuple(%set, %read, %given)
            }"#,
            expect![[r#"
                p to d: made because it is written over there
                q to d: made because it is read there
                i to d: made because it is read there
                x to set: made because it is written over there
                u to set: made because it is read there
                before to set: made because it is written over there
                turned to read: moved because it is read in another layout there
                named to read: made because it is read there
                wide to added: made because it is read there
                given to added: hands on what is made there
                all to set: hands on what is made there
            "#]],
        );
    }

    #[test]
    fn a_damaged_module_has_no_origins() {
        check("HloModule m\nENTRY %main (x: f32[8]) -> f32[8] {\n  ROOT %x = f32[8]{0} copy(%x)\n}", expect![""]);
    }

    #[test]
    fn every_copy_between_updates_of_one_array_has_its_update() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/cost/panels.txt");
        let text = std::fs::read_to_string(path).expect("a fixture");
        let module = HloModule::from_text(&text).expect("text of a module");
        let origins = Origins::new(&module);
        let entry = module.computation(module.entry.expect("it has an entry")).instruction_ids();
        let copies: Vec<InstructionId> = entry.filter(|id| module.instruction(*id).opcode == "copy").collect();
        assert_eq!(copies.len(), 23);
        for copy in copies {
            let origin = origins.of(copy).expect("somebody needs it");
            assert_eq!(origin.why, AttributedBy::InPlaceUpdate, "{}", module.instruction(copy).name);
            assert_eq!(module.instruction(origin.at).metadata.op_name, "jit(step)/scatter");
            assert!(module.instruction(origin.at).operands.contains(&copy));
            assert_eq!(module.source_in_fusion(origin.at).last().map(|frame| frame.file), Some("panels.py"));
        }
    }
}
