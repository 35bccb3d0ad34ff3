//! One instruction: `ROOT %name = shape opcode(operands), attribute=value, …`.

use super::computation::Scope;
use super::cursor::Cursor;
use super::lists::{names, split_list, strip_comments};
use super::{Loading, excerpt, literal, shape};
use crate::ids::instruction_id;
use crate::{Instruction, Opcode};

impl<'t> Loading<'t> {
    /// Reads the instruction here and leaves the cursor after it; `None` with a note if the line is none.
    pub(super) fn instruction(
        &mut self,
        scope: &mut Scope<'t>,
        cursor: &mut Cursor<'t>,
    ) -> Option<(&'t str, Instruction)> {
        let (start, line) = (cursor.at(), cursor.peek_line());
        let is_root = cursor.take("ROOT ");
        cursor.skip_space_in_line();
        cursor.take("%");
        let name = cursor.take_name();
        cursor.skip_space_in_line();
        let mut instruction = Instruction { name: name.to_owned(), ..Instruction::default() };
        let operands = (!name.is_empty() && cursor.take("=")).then(|| self.right_side(&mut instruction, cursor));
        let Some(operands) = operands.flatten() else {
            self.notes.add(start, || format!("expected an instruction, found `{}`", excerpt(line)));
            // Only ever forward, and past this line at least.
            while cursor.at() < start + line.len() {
                cursor.skip_line();
            }
            return None;
        };
        let before = scope.references.len();
        self.operands(&mut instruction, operands, scope);
        let operand_count = scope.references.len() - before;
        self.attributes(&mut instruction, scope, cursor);
        let control_count = scope.references.len() - before - operand_count;
        scope.counts.push([operand_count as u32, control_count as u32]);
        if is_root {
            scope.root = Some(instruction_id(self.module.instructions.len()));
        }
        Some((name, instruction))
    }

    /// Reads shape and opcode, and gives what stands between the parentheses.
    fn right_side(&mut self, instruction: &mut Instruction, cursor: &mut Cursor<'t>) -> Option<&'t str> {
        cursor.skip_space_in_line();
        let line = cursor.peek_line();
        let (shape, rest) = shape::parse(line)?;
        instruction.shape = shape;
        cursor.take(&line[..line.len() - rest.len()]);
        cursor.skip_space_in_line();
        let opcode = cursor.take_name();
        if opcode.is_empty() {
            return None;
        }
        instruction.opcode = Opcode::new(opcode);
        cursor.take_brackets()
    }

    fn operands(&mut self, instruction: &mut Instruction, text: &'t str, scope: &mut Scope<'t>) {
        match &*instruction.opcode {
            "constant" => instruction.literal = Some(Box::new(literal::parse(text, &instruction.shape))),
            "parameter" => instruction.parameter_number = Some(text.trim().parse().unwrap_or(0)),
            _ => {
                for operand in split_list(text) {
                    // Long text gives each operand's shape before its name.
                    let name = strip_comments(operand).rsplit([' ', '\t', '\n']).next().unwrap_or_default();
                    let name = name.trim_start_matches('%');
                    if !name.is_empty() {
                        scope.references.push(name);
                    }
                }
            }
        }
    }

    fn attributes(&mut self, instruction: &mut Instruction, scope: &mut Scope<'t>, cursor: &mut Cursor<'t>) {
        let mut calls = Vec::new();
        loop {
            cursor.skip_space_in_line();
            let start = cursor.at();
            if !cursor.take(",") {
                if !cursor.peek_line().trim().is_empty() {
                    let line = cursor.peek_line();
                    self.notes.add(start, || format!("expected `,` and an attribute, found `{}`", excerpt(line)));
                }
                cursor.skip_line();
                break;
            }
            cursor.skip_space_in_line();
            let name = cursor.take_name();
            let value = cursor.take("=").then(|| cursor.take_value()).flatten();
            match value {
                Some(value) if name == "control-predecessors" => scope.references.extend(names(value)),
                Some(value) => self.attribute(instruction, name, value.trim(), &mut calls),
                None => {
                    let line = cursor.peek_line();
                    self.notes.add(start, || format!("expected `{name}=` and a value, found `{}`", excerpt(line)));
                    cursor.skip_line();
                    break;
                }
            }
        }
        if !calls.is_empty() {
            calls.sort_by_key(|&(order, _)| order);
            let position = instruction_id(self.module.instructions.len());
            self.calls.push((position.0, calls.into_iter().map(|(_, name)| name).collect()));
        }
    }
}
