//! The bytes memory has to carry at least.
//!
//! Each distinct region of each operand is read once and each result is written once. Values inside a fusion stay in
//! registers and caches. An update in place writes the update alone; whether the rest is read depends on the combiner.
//! What only renames a value, such as `bitcast` and `get-tuple-element`, moves nothing.

use rustc_hash::{FxHashMap, FxHashSet};

use super::body::{Body, Read};
use super::demand::Demand;
use super::module_costs::Costing;
use super::reach::{self, Update, operand_demand};
use super::work::CEILING;
use super::{Traffic, sizes};
use crate::{ComputationId, ElementType, HloModule, Instruction, InstructionId, OpcodeClass, Phase, Shape};

/// Constants of at most this many elements are part of a fusion's code; XLA's `immediate_constant_max_elements`.
pub(super) const IMMEDIATE_ELEMENTS: f64 = 8.0;

/// Updates of one buffer followed in one fusion; XLA makes one or two.
const CHAIN: usize = 64;

impl Costing<'_> {
    /// The traffic of an instruction that is neither a fusion nor what it calls.
    pub(super) fn compulsory_traffic(&self, instruction: &Instruction) -> Traffic {
        if is_free(self.module, instruction) {
            return Traffic::default();
        }
        let mut demands: Vec<(InstructionId, Demand)> = Vec::with_capacity(instruction.operands.len());
        for (position, &operand) in instruction.operands.iter().enumerate() {
            let demand = operand_demand(self.module, instruction, &Demand::full(), position, Update::InPlace);
            // Few instructions use one operand at several places, and those that do have few operands.
            match demands.iter_mut().rev().take(16).find(|(known, _)| *known == operand) {
                Some((_, known)) => known.add(demand),
                None => demands.push((operand, demand)),
            }
        }
        let read = demands.iter().map(|(id, demand)| demand.bytes(&self.module.instruction(*id).shape)).sum::<f64>();
        Traffic::new(read.min(CEILING), self.written(instruction))
    }

    /// Bytes an instruction outside of fusions writes.
    fn written(&self, instruction: &Instruction) -> f64 {
        let bytes_of = |position: usize| self.operand_shape(instruction, position).map_or(0.0, sizes::bytes);
        let leaf = |position: usize| instruction.shape.tuple.get(position).map_or(0.0, sizes::bytes);
        match &*instruction.opcode {
            "dynamic-update-slice" => bytes_of(1),
            "scatter" => {
                let arrays = instruction.operands.len().saturating_sub(1) / 2;
                (0..arrays).map(|at| bytes_of(at).min(bytes_of(arrays + 1 + at))).sum()
            }
            // Their results begin with their operands, which stay where they are.
            "all-gather-start" | "collective-permute-start" if instruction.shape.is_tuple() => leaf(1),
            "copy-start" | "recv" | "send" if instruction.shape.is_tuple() => leaf(0),
            "custom-call" => result_bytes(&instruction.shape),
            _ => sizes::bytes(&instruction.shape),
        }
    }

    /// The traffic of a fusion: its computation's, where an array passed twice is read once.
    pub(super) fn fusion_compulsory(&self, instruction: &Instruction) -> Option<Traffic> {
        let body = self.bodies.get(instruction.called.first()?)?;
        let mut traffic = body.compulsory();
        let mut passed: FxHashMap<InstructionId, Vec<&Read>> = FxHashMap::default();
        for read in &body.reads {
            let number = self.module.instruction(read.parameter).parameter_number.unwrap_or(0);
            let operand = usize::try_from(number).ok().and_then(|number| instruction.operands.get(number));
            operand.into_iter().for_each(|&operand| passed.entry(operand).or_default().push(read));
        }
        for reads in passed.values().filter(|reads| reads.len() > 1) {
            let mut together = Demand::default();
            reads.iter().for_each(|read| together.add(read.demand.clone()));
            let apart = reads.iter().map(|read| read.bytes).sum::<f64>();
            let united = together.bytes(&self.module.instruction(reads[0].parameter).shape).min(apart);
            traffic.read = (traffic.read - apart + united).max(0.0);
        }
        Some(traffic)
    }

    /// Looks through a fusion's computation, from its results to its parameters.
    pub(super) fn fusion_body(&self, id: ComputationId) -> Body {
        let computation = self.module.computation(id);
        let first = computation.instructions.start;
        let mut demands = vec![Demand::default(); computation.instructions.len()];
        let mut results = Results { module: self.module, in_place: FxHashSet::default() };
        let written = computation.root.map_or(0.0, |root| results.written(root));
        if let Some(demand) = computation.root.and_then(|root| demands.get_mut(root.0.checked_sub(first)? as usize)) {
            *demand = Demand::full();
        }
        for user in computation.instruction_ids().rev() {
            let instruction = self.module.instruction(user);
            let wanted = std::mem::take(&mut demands[(user.0 - first) as usize]);
            let update = if results.in_place.contains(&user) { Update::InPlace } else { Update::Fresh };
            for (position, &operand) in instruction.operands.iter().enumerate() {
                let demand = self.demand_inside(instruction, &wanted, position, update);
                // A file whose operands come after their users has had its turn: it is broken and costs nothing more.
                if let Some(known) = operand.0.checked_sub(first).filter(|_| operand < user) {
                    demands[known as usize].add(demand);
                }
            }
            demands[(user.0 - first) as usize] = wanted;
        }
        let mut body = Body { written, by_number: vec![None; demands.len()], ..Body::default() };
        for id in computation.instruction_ids() {
            self.note_demand(id, first, &demands, &mut body);
        }
        let parameters = body.reads.iter().map(|read| read.bytes_accessed).sum::<f64>();
        body.bytes_accessed = self.xla_fusion_traffic(id, parameters);
        body
    }

    /// As [`operand_demand`]; an inner fusion needs what its own computation does.
    pub(super) fn demand_inside(
        &self,
        instruction: &Instruction,
        wanted: &Demand,
        position: usize,
        update: Update,
    ) -> Demand {
        let inner = instruction.called.first().filter(|_| instruction.is_fusion() && !wanted.is_none());
        let Some(body) = inner.and_then(|inner| self.bodies.get(inner)) else {
            return operand_demand(self.module, instruction, wanted, position, update);
        };
        body.read_of(position).map_or_else(Demand::default, |read| read.demand.clone())
    }

    fn note_demand(&self, id: InstructionId, first: u32, demands: &[Demand], body: &mut Body) {
        let (instruction, demand) = (self.module.instruction(id), &demands[(id.0 - first) as usize]);
        let elements = sizes::elements(&instruction.shape);
        let is_whole = demand.is_full() || elements == 0.0;
        body.shares.push(if is_whole { 1.0 } else { demand.elements(&instruction.shape) / elements });
        match &*instruction.opcode {
            "parameter" => {
                let bytes = match instruction.shape.is_tuple() {
                    true => self.tuple_bytes(id, first, demands),
                    false => demand.bytes(&instruction.shape),
                };
                let bytes_accessed = self.xla_parameter(id);
                let read = Read { parameter: id, demand: demand.clone(), bytes, bytes_accessed };
                body.add_read(instruction.parameter_number, read);
            }
            "constant" if elements > IMMEDIATE_ELEMENTS => body.constants += demand.bytes(&instruction.shape),
            _ => {}
        }
    }

    /// Bytes read of a tuple passed to a fusion: what is needed of the elements taken out of it.
    fn tuple_bytes(&self, parameter: InstructionId, first: u32, demands: &[Demand]) -> f64 {
        let whole = sizes::bytes(&self.module.instruction(parameter).shape);
        let of_user = |&user: &InstructionId| {
            let shape = &self.module.instruction(user).shape;
            let demand = user.0.checked_sub(first).and_then(|at| demands.get(at as usize));
            demand.map_or(whole, |demand| demand.bytes(shape))
        };
        self.users.of(parameter).iter().map(of_user).sum::<f64>().min(whole)
    }
}

/// What a fusion writes, and which of its updates land in a parameter's buffer.
struct Results<'a> {
    module: &'a HloModule,
    in_place: FxHashSet<InstructionId>,
}

impl Results<'_> {
    fn written(&mut self, root: InstructionId) -> f64 {
        let instruction = self.module.instruction(root);
        if instruction.opcode != "tuple" {
            return self.result_written(root);
        }
        instruction.operands.iter().map(|&result| self.result_written(result)).sum::<f64>().min(CEILING)
    }

    /// One result: the updates of a chain of updates that begins at a parameter, else all of it.
    fn result_written(&mut self, result: InstructionId) -> f64 {
        let whole = sizes::bytes(&self.module.instruction(result).shape);
        let mut at = self.through_bitcasts(result);
        let (mut updates, mut chain) = (0.0, Vec::new());
        loop {
            let instruction = self.module.instruction(at);
            let update = match &*instruction.opcode {
                "dynamic-update-slice" => instruction.operands.get(1),
                "scatter" if instruction.operands.len() == 3 => instruction.operands.get(2),
                "parameter" if !chain.is_empty() => break,
                _ => return whole,
            };
            updates += update.map_or(0.0, |&update| sizes::bytes(&self.module.instruction(update).shape));
            chain.push(at);
            match instruction.operands.first().map(|&base| self.through_bitcasts(base)) {
                // Operands come before users, so the chain ends; a file that says otherwise ends it here.
                Some(base) if base < at && chain.len() < CHAIN => at = base,
                _ => return whole,
            }
        }
        self.in_place.extend(chain);
        updates.min(whole)
    }

    fn through_bitcasts(&self, id: InstructionId) -> InstructionId {
        let mut at = id;
        while let Some(&inner) = self.module.instruction(at).operands.first() {
            let is_name = matches!(&*self.module.instruction(at).opcode, "bitcast" | "get-tuple-element");
            if !is_name || inner >= at {
                break;
            }
            at = inner;
        }
        at
    }
}

/// Whether an instruction only names, groups or orders values.
fn is_free(module: &HloModule, instruction: &Instruction) -> bool {
    match &*instruction.opcode {
        "constant" | "get-dimension-size" | "parameter" | "set-dimension-size" => true,
        "reshape" => {
            let operand = instruction.operands.first().map(|&id| &module.instruction(id).shape);
            reach::is_row_major(&instruction.shape) && operand.is_none_or(reach::is_row_major)
        }
        "transpose" => is_renaming_transpose(module, instruction),
        "custom-call" => super::custom_call::is_annotation(instruction),
        _ => {
            let opcode = &instruction.opcode;
            opcode.class() == OpcodeClass::PassesBy || matches!(opcode.phase(), Phase::Middle | Phase::End)
        }
    }
}

/// Whether a transpose leaves every element where it is, because the layout turns with it.
///
/// As XLA's `ShapeUtil::TransposeIsBitcast`.
pub(super) fn is_renaming_transpose(module: &HloModule, instruction: &Instruction) -> bool {
    let Some(operand) = instruction.operands.first().map(|&id| &module.instruction(id).shape) else { return false };
    let long = |shape: &Shape| {
        let order = minor_to_major(shape);
        order.into_iter().filter(|&at| sizes::extent_at(shape, at) != 1.0).collect::<Vec<i64>>()
    };
    let from = |at: i64| usize::try_from(at).ok().and_then(|at| instruction.dimensions.get(at)).copied();
    long(&instruction.shape).into_iter().map(from).eq(long(operand).into_iter().map(Some))
}

fn minor_to_major(shape: &Shape) -> Vec<i64> {
    match &shape.layout {
        Some(layout) if layout.minor_to_major.len() == shape.dimensions.len() => layout.minor_to_major.clone(),
        _ => (0..shape.dimensions.len() as i64).rev().collect(),
    }
}

/// Bytes of a library call's results, without the scratch space that comes last in its tuple.
pub(super) fn result_bytes(shape: &Shape) -> f64 {
    let is_scratch =
        |shape: &Shape| matches!(shape.element_type, ElementType::U8 | ElementType::S8) && shape.dimensions.len() == 1;
    match &shape.tuple[..] {
        [results @ .., last] if !results.is_empty() && is_scratch(last) => results.iter().map(sizes::bytes).sum(),
        _ => sizes::bytes(shape),
    }
}
