//! A program without loops: the trips of each written out, one behind the other.

use crate::Refusal;
use crate::program::{Node, NodeId, Op, Program};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// Operations and trips of an unrolled program: beyond them a design of it is none that anybody wants.
const MOST: usize = 20_000;

/// The same without loops.
///
/// # Errors
/// [`Refusal`] where it would be too long.
pub(super) fn unrolled(program: &Program) -> Result<Cow<'_, Program>, Refusal> {
    if !program.nodes.iter().any(|node| matches!(node.op, Op::Loop(_))) {
        return Ok(Cow::Borrowed(program));
    }
    let mut made = Made { nodes: Vec::new(), left: MOST };
    let outputs = made.copy(program, None)?;
    Ok(Cow::Owned(Program { outputs, nodes: made.nodes, ..program.clone() }))
}

struct Made {
    nodes: Vec<Node>,
    left: usize,
}

impl Made {
    fn pay(&mut self) -> Result<(), Refusal> {
        let left = self.left.checked_sub(1);
        self.left = left.ok_or_else(|| Refusal(format!("its loops take more than {MOST} operations, unrolled")))?;
        Ok(())
    }

    /// Copies the nodes of a program, whose inputs are these, or its own; gives where its outputs are.
    fn copy(&mut self, program: &Program, inputs: Option<&[NodeId]>) -> Result<Vec<NodeId>, Refusal> {
        let mut states: FxHashMap<NodeId, Vec<NodeId>> = FxHashMap::default();
        let mut places: Vec<NodeId> = Vec::with_capacity(program.nodes.len());
        for (at, node) in program.nodes.iter().enumerate() {
            let of: Vec<NodeId> = node.of.iter().map(|operand| places[*operand]).collect();
            let place = match (&node.op, inputs) {
                (Op::Input(number), Some(inputs)) => inputs[*number],
                (Op::Loop(inner), _) => {
                    let mut state = of;
                    for _ in 0..inner.trips {
                        self.pay()?;
                        state = self.copy(&inner.body, Some(&state))?;
                    }
                    let first = state[0];
                    states.insert(at, state);
                    first
                }
                (Op::State(number), _) => states[&node.of[0]][*number],
                _ => {
                    self.pay()?;
                    self.nodes.push(Node { of, ..node.clone() });
                    self.nodes.len() - 1
                }
            };
            places.push(place);
        }
        Ok(program.outputs.iter().map(|output| places[*output]).collect())
    }
}
