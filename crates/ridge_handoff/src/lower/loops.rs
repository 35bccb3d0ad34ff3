//! Loops that run a known number of times.
//!
//! How often is not believed but counted: the condition, and all of the body that it depends on, are computed from the constants
//! that they begin with.

use super::{Leaves, Lowering, MOST_ELEMENTS, Refusal, refuse, work};
use crate::Cell;
use crate::arithmetic::Strict;
use crate::interpret::{Cells, interpret};
use crate::program::{Loop, Node, NodeId, Op, Program, part};
use ridge_hlo::{ComputationId, ElementType, HloModule, Instruction};

impl Lowering<'_> {
    /// The state after a loop that begins with these arrays.
    pub(super) fn repeated(
        &mut self,
        instruction: &Instruction,
        begin: Leaves,
        depth: usize,
    ) -> Result<Leaves, Refusal> {
        let name = &instruction.name;
        let &[body, condition] = instruction.called.as_slice() else {
            return refuse(format!("`{name}` is a loop without a body or a condition"));
        };
        let stays = passed_on(self.module, body);
        let condition = self.trip(condition, &begin, &stays, depth)?;
        let body = self.trip(body, &begin, &stays, depth)?;
        let is_alike = |(output, first): (&NodeId, &NodeId)| {
            let (after, before) = (&body.nodes[*output], &self.nodes[*first]);
            after.element_type == before.element_type && after.dims == before.dims
        };
        let ends_by_truth = matches!(condition.outputs[..], [end] if condition.nodes[end].element_type == ElementType::Pred
            && condition.nodes[end].elements() == 1);
        if begin.is_empty()
            || body.outputs.len() != begin.len()
            || !body.outputs.iter().zip(&begin).all(is_alike)
            || !ends_by_truth
        {
            return refuse(format!("`{name}` does not match its operands"));
        }
        let trips = self.trips(instruction, &begin, &body, &condition)?;
        if trips == 0 {
            return Ok(begin);
        }
        let elements = body.outputs.iter().map(|output| body.nodes[*output].elements()).sum();
        if elements > MOST_ELEMENTS {
            return refuse(format!("`{name}` has more than {MOST_ELEMENTS} elements"));
        }
        let states: Vec<Node> = body.outputs.iter().map(|output| body.nodes[*output].clone()).collect();
        let inner = Loop { body, trips };
        let kept: Vec<bool> = (0..states.len()).map(|number| inner.keeps(number)).collect();
        let (element_type, source) = (states[0].element_type, String::new());
        let op = Op::Loop(Box::new(inner));
        let whole = Node { name: name.clone(), op, of: begin.clone(), element_type, dims: vec![elements], source };
        let at = self.push(whole)?;
        let state = |(number, node): (usize, Node)| {
            if kept[number] {
                return Ok(begin[number]);
            }
            let name = format!("{name}.{number}");
            self.push(Node { name, op: Op::State(number), of: vec![at], source: String::new(), ..node })
        };
        states.into_iter().enumerate().map(state).collect()
    }

    /// The body or the condition of a loop, as a program of its own.
    fn trip(&mut self, id: ComputationId, begin: &Leaves, stays: &[bool], depth: usize) -> Result<Program, Refusal> {
        let module = self.module;
        let name = &module.computation(id).name;
        let mut parameters = module.instructions_of(id).iter().filter(|one| one.opcode == "parameter");
        let (Some(parameter), None) = (parameters.next(), parameters.next()) else {
            return refuse(format!("computation `{name}` does not have exactly one parameter"));
        };
        let mut inner = Lowering { left: self.left, to_count: self.to_count, ..Lowering::new(module) };
        let mut state = inner.port(parameter, &parameter.shape, &parameter.name)?;
        let is_alike = |(inside, outside): (&NodeId, &NodeId)| {
            let (inside, outside) = (&inner.nodes[*inside], &self.nodes[*outside]);
            inside.element_type == outside.element_type && inside.dims == outside.dims
        };
        if state.len() != begin.len() || !state.iter().zip(begin).all(is_alike) {
            return refuse(format!("computation `{name}` does not match its operands"));
        }
        // A number that is known and stays is one in the body, too: it may say how often a loop inside runs.
        for (number, stays) in stays.iter().enumerate().filter(|_| stays.len() == begin.len()) {
            if let Some(known) = known(&self.nodes, begin[number]).filter(|_| *stays) {
                state[number] = inner.push(known.clone())?;
            }
        }
        let outputs = inner.computation(id, &[state], depth)?;
        (self.left, self.to_count) = (inner.left, inner.to_count);
        Ok(Program { name: name.clone(), inputs: inner.inputs, outputs, nodes: inner.nodes }.pruned())
    }

    /// How often a loop runs.
    fn trips(
        &mut self,
        instruction: &Instruction,
        begin: &Leaves,
        body: &Program,
        condition: &Program,
    ) -> Result<usize, Refusal> {
        let name = &instruction.name;
        let (end, of_end) = part(&condition.nodes, &condition.outputs);
        // What decides, and what decides that.
        let mut deciding = of_end.clone();
        let (step, of_step) = loop {
            let next: Vec<NodeId> = deciding.iter().map(|number| body.outputs[*number]).collect();
            let (step, reads) = part(&body.nodes, &next);
            if reads.iter().all(|number| deciding.contains(number)) {
                break (step, reads);
            }
            deciding.extend(reads);
            deciding.sort_unstable();
            deciding.dedup();
        };
        let first: Vec<NodeId> = deciding.iter().map(|number| begin[*number]).collect();
        let (start, free) = part(&self.nodes, &first);
        if !free.is_empty() {
            return refuse(format!(
                "`{name}` is a loop with a data-dependent trip count; hand over its body with `--op {name}`"
            ));
        }
        let by = Strict::default();
        let mut pay = |program: &Program| match self.to_count.checked_sub(work(program).saturating_add(1)) {
            Some(left) => {
                self.to_count = left;
                Ok(())
            }
            None => refuse(format!(
                "counting the iterations of `{name}` takes too long; hand over its body with `--op {name}`"
            )),
        };
        let refused = |error: crate::CannotCompute| Refusal(error.to_string());
        let of = |state: &[Cells<Strict>], numbers: &[usize]| -> Vec<Cells<Strict>> {
            let place = |number: &usize| deciding.iter().position(|one| one == number).unwrap_or(0);
            numbers.iter().map(|number| state[place(number)].clone()).collect()
        };
        pay(&start)?;
        let mut state = interpret(&start, &[], &by).map_err(refused)?;
        let mut trips = 0;
        loop {
            pay(&end)?;
            let goes_on = interpret(&end, &of(&state, &of_end), &by).map_err(refused)?;
            if !matches!(goes_on[0][..], [Cell::Whole(1, _)]) {
                return Ok(trips);
            }
            trips += 1;
            pay(&step)?;
            state = interpret(&step, &of(&state, &of_step), &by).map_err(refused)?;
        }
    }
}

/// Which parts of the state the body gives on as they are.
fn passed_on(module: &HloModule, body: ComputationId) -> Vec<bool> {
    let root = module.computation(body).root.map(|root| module.instruction(root));
    let is_flat = |root: &&Instruction| root.operands.iter().all(|part| !module.instruction(*part).shape.is_tuple());
    let Some(root) = root.filter(|root| root.opcode == "tuple").filter(is_flat) else { return Vec::new() };
    let is_passed = |(number, operand): (usize, &ridge_hlo::InstructionId)| {
        let part = module.instruction(*operand);
        let of = part.operands.first().map(|of| &*module.instruction(*of).opcode);
        part.opcode == "get-tuple-element" && part.tuple_index == Some(number as i64) && of == Some("parameter")
    };
    root.operands.iter().enumerate().map(is_passed).collect()
}

/// The constant that a value of one element is.
fn known(nodes: &[Node], mut at: NodeId) -> Option<&Node> {
    while nodes[at].op == Op::Reshape {
        at = nodes[at].of[0];
    }
    Some(&nodes[at]).filter(|node| matches!(&node.op, Op::Constant(values) if values.len() == 1))
}
