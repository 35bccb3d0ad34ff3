//! Graphviz text of a module or of one computation.
//!
//! It lays nothing out and colors little: `dot` and its relatives do that.

use std::fmt::Write as _;

use crate::{ComputationId, HloModule, Instruction, InstructionId};

impl HloModule {
    /// The data flow as a Graphviz `digraph`: of one computation, or of every computation with its callers.
    ///
    /// Edges run from operand to user; dashed edges are control dependencies, dotted ones lead from a caller to the
    /// result of what it calls. Names are escaped.
    pub fn to_dot(&self, computation: Option<ComputationId>) -> String {
        let mut out = String::from("digraph ");
        quote(&mut out, &self.name);
        out.push_str(
            " {\n  rankdir=TB;\n  node [shape=box, style=filled, fillcolor=white, fontname=\"sans-serif\"];\n",
        );
        match computation {
            Some(id) => self.dot_cluster(&mut out, id, false),
            None => self.computation_ids().for_each(|id| self.dot_cluster(&mut out, id, true)),
        }
        out.push_str("}\n");
        out
    }

    fn dot_cluster(&self, out: &mut String, id: ComputationId, with_calls: bool) {
        let computation = self.computation(id);
        let entry = if self.entry == Some(id) { "ENTRY " } else { "" };
        let _ = write!(out, "  subgraph cluster_{} {{\n    label=", id.0);
        quote(out, &format!("{entry}{}", computation.name));
        out.push_str(";\n");
        for instruction in computation.instruction_ids() {
            self.dot_node(out, instruction);
        }
        out.push_str("  }\n");
        for user in computation.instruction_ids() {
            let instruction = self.instruction(user);
            for operand in &instruction.operands {
                let _ = writeln!(out, "  i{} -> i{};", operand.0, user.0);
            }
            for before in &instruction.control_predecessors {
                let _ = writeln!(out, "  i{} -> i{} [style=dashed];", before.0, user.0);
            }
            for root in instruction.called.iter().filter(|_| with_calls).filter_map(|id| self.computation(*id).root) {
                let _ = writeln!(out, "  i{} -> i{} [style=dotted];", user.0, root.0);
            }
        }
    }

    fn dot_node(&self, out: &mut String, id: InstructionId) {
        let instruction = self.instruction(id);
        let mut label = format!("{}\n{} {}", instruction.name, instruction.opcode, instruction.shape);
        if !instruction.metadata.op_name.is_empty() {
            let _ = write!(label, "\n{}", instruction.metadata.op_name);
        }
        if let Some(literal) = &instruction.literal {
            label.push('\n');
            let _ = literal.write(&mut label, instruction.shape.element_type);
        }
        let _ = write!(out, "    i{} [label=", id.0);
        quote(out, &label);
        let _ = write!(out, ", fillcolor={}", fill(instruction));
        out.push_str(if self.is_root(id) { ", penwidth=2];\n" } else { "];\n" });
    }
}

fn fill(instruction: &Instruction) -> &'static str {
    match &*instruction.opcode {
        "parameter" | "constant" => "gray90",
        "fusion" => "lightblue",
        "dot" | "convolution" | "custom-call" => "lightsalmon",
        "while" | "conditional" | "call" => "khaki",
        _ if instruction.opcode.is_collective() => "plum",
        _ => "white",
    }
}

/// A Graphviz string: quotes and backslashes escaped, newlines as centered line breaks.
fn quote(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            character if character.is_control() => out.push(' '),
            character => out.push(character),
        }
    }
    out.push('"');
}
