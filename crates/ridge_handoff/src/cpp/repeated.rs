//! A loop of the region as a loop of the code: its state lies in buffers, what stays the same is read where it is.

use super::expression::linear;
use super::{Code, close, in_memory, loops, type_name};
use crate::program::{Loop, Node, NodeId, Op};
use std::fmt::Write as _;

impl Code<'_> {
    /// The array that a part of a loop's state is.
    pub(super) fn state(&self, at: NodeId, number: usize) -> String {
        let node = &self.program.nodes[at];
        match &node.op {
            Op::Loop(inner) if inner.keeps(number) => self.array(node.of[number]),
            _ => format!("s{}{at}_{number}", self.scope),
        }
    }

    /// Fills the state, and makes the next of it as often as the loop runs.
    pub(super) fn repeated(&self, at: NodeId, node: &Node, inner: &Loop, text: &mut String) {
        for (number, state) in inner.changing() {
            let (ty, name) = (type_name(state.element_type), self.state(at, number));
            let _ = writeln!(text, "  static {ty} {name}[{}];", state.elements());
            let index = loops(&state.dims, "i", 1, text);
            let first = self.value(node.of[number], &index);
            let _ = writeln!(text, "    {name}[{}] = {first};", linear(&index, &state.dims));
            close(text);
        }
        let code = Code {
            program: &inner.body,
            in_memory: in_memory(&inner.body),
            inputs: (0..node.of.len()).map(|number| self.state(at, number)).collect(),
            scope: format!("{}{at}_", self.scope),
            in_place: inner.changing().filter_map(|(number, _)| Some((in_place(inner, number)?, number))).collect(),
        };
        let mut trip = String::new();
        code.arrays(&mut trip);
        code.next(inner, &mut trip);
        let (count, trips) = (format!("t{}{at}", self.scope), inner.trips);
        let _ = writeln!(text, "  // Each trip reads what the one before it left.");
        let _ = writeln!(text, "  for (int64_t {count} = 0; {count} < {trips}; ++{count}) {{");
        if code.is_of_scalars() {
            // The interval is what the dependence from trip to trip allows.
            text.push_str("#pragma HLS PIPELINE\n");
        }
        for line in trip.lines() {
            let _ = writeln!(text, "{}{line}", if line.starts_with('#') { "" } else { "  " });
        }
        close(text);
    }

    /// Puts what a trip made in the place of the state; nothing is overwritten that is still to be read.
    fn next(&self, inner: &Loop, text: &mut String) {
        let outputs = &self.program.outputs;
        let moved = || inner.changing().filter(|(number, _)| !self.in_place.contains_key(&outputs[*number]));
        for (number, state) in moved() {
            let (ty, count, name) = (type_name(state.element_type), state.elements(), self.array(outputs[number]));
            if matches!(state.op, Op::Input(_)) {
                let _ = writeln!(text, "  static {ty} n{}{number}[{count}];", self.scope);
                let _ =
                    writeln!(text, "  for (int64_t i = 0; i < {count}; ++i) n{}{number}[i] = {name}[i];", self.scope);
            }
        }
        for (number, state) in moved() {
            let name = match state.op {
                Op::Input(_) => format!("n{}{number}", self.scope),
                _ => self.array(outputs[number]),
            };
            let (count, to) = (state.elements(), &self.inputs[number]);
            let _ = writeln!(text, "  for (int64_t i = 0; i < {count}; ++i) {to}[i] = {name}[i];");
        }
    }

    /// Whether all that it makes is of one element each.
    fn is_of_scalars(&self) -> bool {
        self.program.nodes.iter().all(|node| node.elements() == 1 && !matches!(node.op, Op::Loop(_)))
    }
}

/// The update that makes the next of an array of the state, where nothing else reads what was there before.
fn in_place(inner: &Loop, number: usize) -> Option<NodeId> {
    let (nodes, outputs) = (&inner.body.nodes, &inner.body.outputs);
    let update = outputs[number];
    let is_update = matches!(nodes[update].op, Op::DynamicUpdateSlice | Op::Scatter(..));
    let before = *nodes[update].of.first().filter(|_| is_update)?;
    let reads = nodes.iter().flat_map(|node| &node.of).chain(outputs).filter(|read| **read == before).count();
    let gives = outputs.iter().filter(|output| **output == update).count();
    (nodes[before].op == Op::Input(number) && reads == 1 && gives == 1).then_some(update)
}
