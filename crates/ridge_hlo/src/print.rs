//! HLO text of a module, a computation or an instruction.
//!
//! It follows XLA's notation closely enough that [`HloModule::from_text`] reads it back, and two modules are the same
//! to this crate exactly if their texts are. It is not byte for byte what XLA prints: attributes have one fixed order
//! and long constants are cut.

use std::fmt::{self, Write as _};

use crate::shape::write_joined;
use crate::{ComputationId, HloModule, Instruction, InstructionId, SourceFrame};

mod attributes;
mod nameless;
mod quoted;

pub(crate) use quoted::write_quoted;

impl HloModule {
    /// The whole module as HLO text, computations in file order.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        self.write_module(&mut out).expect("writing to a string does not fail");
        out
    }

    /// One computation as HLO text.
    pub fn computation_text(&self, id: ComputationId) -> String {
        let mut out = String::new();
        self.write_computation(&mut out, id).expect("writing to a string does not fail");
        out
    }

    /// One instruction as HLO text, `%add.1 = f32[8]{0} add(%x, %y), metadata={…}`.
    pub fn instruction_text(&self, id: InstructionId) -> String {
        let mut out = String::new();
        self.write_instruction(&mut out, id).expect("writing to a string does not fail");
        out
    }

    fn write_module(&self, out: &mut String) -> fmt::Result {
        write!(out, "HloModule {}", self.name)?;
        out.push_str(if self.is_scheduled { ", is_scheduled=true" } else { "" });
        if !self.input_output_aliases.is_empty() {
            out.push_str(", input_output_alias={ ");
            for (position, alias) in self.input_output_aliases.iter().enumerate() {
                out.push_str(if position == 0 { "{" } else { ", {" });
                write_joined(out, &alias.output_index)?;
                write!(out, "}}: ({}, {{", alias.parameter)?;
                write_joined(out, &alias.parameter_index)?;
                out.push_str(match alias.kind {
                    crate::AliasKind::Unsaid => "})",
                    crate::AliasKind::May => "}, may-alias)",
                    crate::AliasKind::Must => "}, must-alias)",
                });
            }
            out.push_str(" }");
        }
        if !self.buffer_donors.is_empty() {
            out.push_str(", buffer_donor={ ");
            for (position, donor) in self.buffer_donors.iter().enumerate() {
                write!(out, "{}({}, {{", if position == 0 { "" } else { ", " }, donor.parameter)?;
                write_joined(out, &donor.parameter_index)?;
                out.push_str("})");
            }
            out.push_str(" }");
        }
        for (name, value) in &self.header {
            write!(out, ", {name}={value}")?;
        }
        attributes::write_frontend(out, &self.frontend_attributes)?;
        out.push('\n');
        self.write_frames(out)?;
        for id in self.computation_ids() {
            out.push('\n');
            self.write_computation(out, id)?;
        }
        Ok(())
    }

    /// The tables XLA prints at the head of a module; parents are printed one too high, as XLA does.
    fn write_frames(&self, out: &mut String) -> fmt::Result {
        let frames = &self.frames;
        if frames.is_empty() {
            return Ok(());
        }
        for (title, names) in [("FileNames", &frames.files), ("FunctionNames", &frames.functions)] {
            writeln!(out, "\n{title}")?;
            for (position, name) in names.iter().enumerate() {
                write!(out, "{} ", position + 1)?;
                write_quoted(out, name)?;
                out.push('\n');
            }
        }
        out.push_str("\nFileLocations\n");
        for (position, place) in frames.locations.iter().enumerate() {
            writeln!(
                out,
                "{} {{file_name_id={} function_name_id={} line={} end_line={} column={} end_column={}}}",
                position + 1,
                place.file,
                place.function,
                place.line,
                place.end_line,
                place.column,
                place.end_column
            )?;
        }
        out.push_str("\nStackFrames\n");
        for (position, frame) in frames.frames.iter().enumerate() {
            let parent = u64::from(frame.parent) + 1;
            writeln!(out, "{} {{file_location_id={} parent_frame_id={parent}}}", position + 1, frame.location)?;
        }
        out.push('\n');
        Ok(())
    }

    fn write_computation(&self, out: &mut String, id: ComputationId) -> fmt::Result {
        let computation = self.computation(id);
        out.push_str(if self.entry == Some(id) { "ENTRY " } else { "" });
        write!(out, "%{} (", computation.name)?;
        let mut parameters: Vec<&Instruction> =
            self.instructions_of(id).iter().filter(|instruction| instruction.parameter_number.is_some()).collect();
        parameters.sort_by_key(|parameter| parameter.parameter_number);
        for (position, parameter) in parameters.iter().enumerate() {
            let comma = if position == 0 { "" } else { ", " };
            write!(out, "{comma}{}: {}", parameter.name, parameter.shape.without_layout())?;
        }
        out.push(')');
        if let Some(root) = computation.root {
            write!(out, " -> {}", self.instruction(root).shape.without_layout())?;
        }
        out.push_str(" {\n");
        for id in computation.in_order() {
            out.push_str(if computation.root == Some(id) { "  ROOT " } else { "  " });
            self.write_instruction(out, id)?;
            out.push('\n');
        }
        out.push('}');
        if !computation.execution_thread.is_empty() {
            write!(out, ", execution_thread=\"{}\"", computation.execution_thread)?;
        }
        out.push('\n');
        Ok(())
    }

    fn write_instruction(&self, out: &mut String, id: InstructionId) -> fmt::Result {
        let instruction = self.instruction(id);
        write!(out, "%{} = {} {}(", instruction.name, instruction.shape, instruction.opcode)?;
        if let Some(number) = instruction.parameter_number {
            write!(out, "{number}")?;
        } else if let Some(literal) = &instruction.literal {
            literal.write(out, instruction.shape.element_type)?;
        }
        for (position, operand) in instruction.operands.iter().enumerate() {
            write!(out, "{}%{}", if position == 0 { "" } else { ", " }, self.instruction(*operand).name)?;
        }
        out.push(')');
        self.write_attributes(out, instruction)
    }
}

impl fmt::Display for SourceFrame<'_> {
    /// `solver.py:41 in step`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        if self.function.is_empty() { Ok(()) } else { write!(f, " in {}", self.function) }
    }
}
