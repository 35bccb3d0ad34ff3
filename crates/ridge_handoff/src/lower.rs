//! From a computation of a module to a [`Program`], or the reason why there is none.
//!
//! Calls and fusions are opened, tuples taken apart, bitcasts become what they do to the logical order. What is not
//! exactly known is refused with its name: a specification that is nearly right is worse than none.

mod attributes;
mod comparator;
mod loops;

use crate::program::{Each, Node, NodeId, Number, Op, Port, Program, Relation};
use crate::refusal::{Refusal, refuse};
use attributes::{dims_of, gather, reducer, scatter, sizes, slice, windows};
use ridge_hlo::{ComputationId, ElementType, HloModule, Instruction, InstructionId, Scalar, Shape};
use rustc_hash::FxHashMap;

/// Calls inside one another that are opened.
const DEEPEST: usize = 64;

/// Operations of a program.
const MOST_NODES: usize = 20_000;

/// Elements of one value: its vectors have to be held in memory.
const MOST_ELEMENTS: usize = 1 << 26;

/// Elements that are read to compute a program once: what takes longer cannot be checked.
const MOST_WORK: u64 = 1 << 31;

/// Elements that are read to find how often all loops run.
const MOST_COUNTED: u64 = 1 << 22;

/// The program of a computation.
///
/// # Errors
/// [`Refusal`] where something in it has no specification: dynamic shapes, opaque calls, loops that run as often as data
/// say, values that the capture does not hold, operations and types that the generator does not know.
pub fn lower(module: &HloModule, computation: ComputationId) -> Result<Program, Refusal> {
    let mut lowering = Lowering::new(module);
    let mut parameters: Vec<InstructionId> = module
        .computation(computation)
        .instruction_ids()
        .filter(|id| module.instruction(*id).opcode == "parameter")
        .collect();
    parameters.sort_by_key(|id| module.instruction(*id).parameter_number);
    let mut arguments = Vec::new();
    for id in parameters {
        let instruction = module.instruction(id);
        arguments.push(lowering.port(instruction, &instruction.shape, &instruction.name)?);
    }
    let outputs = lowering.computation(computation, &arguments, 0)?;
    if outputs.is_empty() {
        return refuse("it has no result");
    }
    let name = module.computation(computation).name.clone();
    let Lowering { nodes, inputs, .. } = lowering;
    let program = Program { name, inputs, outputs, nodes }.pruned();
    if work(&program) > MOST_WORK {
        return refuse(format!("computing it once reads more than {MOST_WORK} elements; record a smaller size"));
    }
    Ok(program)
}

/// Elements that a program reads.
fn work(program: &Program) -> u64 {
    program.nodes.iter().fold(0, |all, node| all.saturating_add(work_of(program, node)))
}

/// Elements that a node reads.
fn work_of(program: &Program, node: &Node) -> u64 {
    let each = |extents: &mut dyn Iterator<Item = usize>| {
        extents.fold(1, |all: u64, extent| all.saturating_mul(extent as u64))
    };
    let inner = match &node.op {
        Op::Dot { contract, .. } => each(&mut contract.0.iter().map(|dim| program.nodes[node.of[0]].dims[*dim])),
        Op::ReduceWindow(windows, _) => each(&mut windows.iter().map(|window| window.size)),
        Op::Reduce(gone, _) => each(&mut gone.iter().map(|dim| program.nodes[node.of[0]].dims[*dim])),
        Op::Sort(dim, _) => node.dims[*dim].min(64) as u64,
        Op::Scatter(..) => {
            return (node.elements() as u64).saturating_add(program.nodes[node.of[2]].elements() as u64);
        }
        Op::Loop(inner) => return work(&inner.body).saturating_add(1).saturating_mul(inner.trips as u64),
        _ => 1,
    };
    inner.saturating_mul(node.elements() as u64)
}

struct Lowering<'a> {
    module: &'a HloModule,
    nodes: Vec<Node>,
    inputs: Vec<Port>,
    /// Nodes that may still be made, here and in the loops inside.
    left: usize,
    /// Elements that may still be read to find how often loops run.
    to_count: u64,
}

/// The arrays that a value is made of.
type Leaves = Vec<NodeId>;

impl Lowering<'_> {
    fn new(module: &HloModule) -> Lowering<'_> {
        Lowering { module, nodes: Vec::new(), inputs: Vec::new(), left: MOST_NODES, to_count: MOST_COUNTED }
    }

    fn port(&mut self, instruction: &Instruction, shape: &Shape, name: &str) -> Result<Leaves, Refusal> {
        if shape.is_tuple() {
            let parts = shape.tuple.iter().enumerate();
            let leaves = parts.map(|(at, part)| self.port(instruction, part, &format!("{name}.{at}")));
            return Ok(leaves.collect::<Result<Vec<_>, _>>()?.concat());
        }
        let (element_type, dims) = checked(instruction, shape)?;
        self.inputs.push(Port { name: name.to_owned(), element_type, dims: dims.clone() });
        let op = Op::Input(self.inputs.len() - 1);
        let node = Node { name: name.to_owned(), op, of: Vec::new(), element_type, dims, source: String::new() };
        Ok(vec![self.push(node)?])
    }

    fn push(&mut self, node: Node) -> Result<NodeId, Refusal> {
        let Some(left) = self.left.checked_sub(1) else {
            return refuse(format!("it has more than {MOST_NODES} operations"));
        };
        self.left = left;
        self.nodes.push(node);
        Ok(self.nodes.len() - 1)
    }

    fn computation(&mut self, id: ComputationId, arguments: &[Leaves], depth: usize) -> Result<Leaves, Refusal> {
        if depth > DEEPEST {
            return refuse(format!("calls are nested more than {DEEPEST} deep"));
        }
        let mut values: FxHashMap<InstructionId, Leaves> = FxHashMap::default();
        for at in self.module.computation(id).instruction_ids() {
            let leaves = self.instruction(at, arguments, &values, depth)?;
            values.insert(at, leaves);
        }
        let root = self.module.computation(id).root;
        let leaves = root.and_then(|root| values.remove(&root));
        leaves.map_or_else(|| refuse(format!("computation `{}` has no root", self.module.computation(id).name)), Ok)
    }

    fn instruction(
        &mut self,
        id: InstructionId,
        arguments: &[Leaves],
        values: &FxHashMap<InstructionId, Leaves>,
        depth: usize,
    ) -> Result<Leaves, Refusal> {
        let module = self.module;
        let instruction = module.instruction(id);
        let mut operands: Vec<&Leaves> = Vec::with_capacity(instruction.operands.len());
        for operand in &instruction.operands {
            match values.get(operand) {
                Some(leaves) => operands.push(leaves),
                None => return refuse(format!("`{}` reads a value that is not defined before it", instruction.name)),
            }
        }
        match &*instruction.opcode {
            "parameter" => {
                let number = instruction.parameter_number.and_then(|number| usize::try_from(number).ok());
                let found = number.and_then(|number| arguments.get(number)).cloned();
                return found.map_or_else(|| refuse(format!("`{}` has no argument", instruction.name)), Ok);
            }
            "tuple" => return Ok(operands.into_iter().flatten().copied().collect()),
            "get-tuple-element" => return self.element(instruction, &operands),
            "fusion" | "call" => {
                let Some(&called) = instruction.called.first() else {
                    return refuse(format!("`{}` calls nothing", instruction.name));
                };
                let given: Vec<Leaves> = operands.into_iter().cloned().collect();
                return self.computation(called, &given, depth + 1);
            }
            "while" => {
                let begin: Leaves = operands.into_iter().flatten().copied().collect();
                return self.repeated(instruction, begin, depth + 1);
            }
            "conditional" => return self.chosen(instruction, &operands, depth + 1),
            "optimization-barrier" | "opt-barrier" => return Ok(operands.into_iter().flatten().copied().collect()),
            _ => {}
        }
        let (element_type, dims) = checked(instruction, &instruction.shape)?;
        let of: Vec<NodeId> = operands.iter().map(|leaves| leaves[0]).collect();
        if operands.iter().any(|leaves| leaves.len() != 1) {
            return refuse(format!("`{}` is a {} of a tuple", instruction.name, instruction.opcode));
        }
        let made = Made { instruction, element_type, dims };
        self.array(made, of).map(|node| vec![node])
    }

    /// What one of several computations gives: all are computed, and one is chosen.
    fn chosen(&mut self, instruction: &Instruction, operands: &[&Leaves], depth: usize) -> Result<Leaves, Refusal> {
        let name = &instruction.name;
        let Some((&which, given)) = operands.split_first() else { return refuse(format!("`{name}` chooses nothing")) };
        let (&[which], true) = (which.as_slice(), given.len() == instruction.called.len() && !given.is_empty()) else {
            return refuse(format!("`{name}` does not match its operands"));
        };
        let ty = self.nodes[which].element_type;
        let is_truth = ty == ElementType::Pred && given.len() == 2;
        if self.nodes[which].elements() != 1 || !(is_truth || ty == ElementType::S32) {
            return refuse(format!("`{name}` does not match its operands"));
        }
        let mut branches = Vec::with_capacity(given.len());
        for (called, given) in instruction.called.iter().zip(given) {
            branches.push(self.computation(*called, &[(*given).clone()], depth)?);
        }
        // A number that is none of a branch chooses the last.
        let mut chosen = branches.pop().unwrap_or_default();
        for (number, branch) in branches.into_iter().enumerate().rev() {
            if branch.len() != chosen.len() {
                return refuse(format!("`{name}` has branches of different results"));
            }
            let holds = if is_truth { which } else { self.is_number(instruction, which, number)? };
            for (at, (one, other)) in branch.into_iter().zip(&mut chosen).enumerate() {
                let Node { element_type, dims, .. } = self.nodes[one].clone();
                let (op, of) = (Op::Each(Each::Select), vec![holds, one, *other]);
                let node =
                    Node { name: format!("{name}.{number}.{at}"), op, of, element_type, dims, source: String::new() };
                attributes::check(&node, &self.nodes)?;
                *other = self.push(node)?;
            }
        }
        Ok(chosen)
    }

    /// Whether a value is this number.
    fn is_number(&mut self, instruction: &Instruction, at: NodeId, number: usize) -> Result<NodeId, Refusal> {
        let Node { element_type, dims, .. } = self.nodes[at].clone();
        let named = |what: &str| format!("{}.{what}{number}", instruction.name);
        let values = Op::Constant(vec![Number::Whole(number as i64)]);
        let constant = Node {
            name: named("number"),
            op: values,
            of: Vec::new(),
            element_type,
            dims: dims.clone(),
            source: String::new(),
        };
        let constant = self.push(constant)?;
        let (op, of) = (Op::Each(Each::Compare(Relation::Eq)), vec![at, constant]);
        let element_type = ElementType::Pred;
        self.push(Node { name: named("is"), op, of, element_type, dims, source: String::new() })
    }

    /// The part of a tuple that an instruction takes.
    fn element(&self, instruction: &Instruction, operands: &[&Leaves]) -> Result<Leaves, Refusal> {
        let index = instruction.tuple_index.and_then(|index| usize::try_from(index).ok());
        let of = instruction.operands.first().map(|operand| &self.module.instruction(*operand).shape);
        let (Some(index), Some(shape), Some(leaves)) = (index, of, operands.first()) else {
            return refuse(format!("`{}` selects no tuple element", instruction.name));
        };
        let before: usize = shape.tuple.iter().take(index).map(leaf_count).sum();
        let count = shape.tuple.get(index).map_or(0, leaf_count);
        let part = leaves.get(before..before + count).filter(|part| !part.is_empty());
        part.map_or_else(
            || refuse(format!("`{}` selects a tuple element that does not exist", instruction.name)),
            |part| Ok(part.to_vec()),
        )
    }

    /// One operation on arrays.
    fn array(&mut self, made: Made<'_>, of: Vec<NodeId>) -> Result<NodeId, Refusal> {
        let instruction = made.instruction;
        let rank = made.dims.len();
        let of_rank = of.first().map_or(0, |node| self.nodes[*node].dims.len());
        let opcode: &str = &instruction.opcode;
        let op = match opcode {
            "constant" => Op::Constant(constant(instruction, made.element_type, &made.dims)?),
            "iota" => match dims_of(instruction, rank)?[..] {
                [dim] => Op::Iota(dim),
                _ => return refuse(format!("`{}` has no dimension to count along", instruction.name)),
            },
            "broadcast" => Op::Broadcast(dims_of(instruction, rank)?),
            "reshape" | "copy" => Op::Reshape,
            "bitcast" => return self.bitcast(&made, of),
            "transpose" => Op::Transpose(dims_of(instruction, of_rank)?),
            "slice" => Op::Slice(slice(instruction, rank)?),
            "pad" => Op::Pad(attributes::padding(instruction, rank)?),
            "concatenate" => match dims_of(instruction, rank)?[..] {
                [dim] => Op::Concatenate(dim),
                _ => return refuse(format!("`{}` has no dimension to join along", instruction.name)),
            },
            "reverse" => Op::Reverse(dims_of(instruction, rank)?),
            "reduce" if of.len() == 2 => Op::Reduce(dims_of(instruction, of_rank)?, reducer(self.module, instruction)?),
            "reduce-window" if of.len() == 2 => {
                Op::ReduceWindow(windows(instruction, rank)?, reducer(self.module, instruction)?)
            }
            "sort" if of.len() == 1 => match dims_of(instruction, rank)?[..] {
                [dim] => Op::Sort(dim, comparator::order(self.module, instruction)?),
                _ => return refuse(format!("`{}` has no dimension to sort along", instruction.name)),
            },
            "dot" => self.dot(instruction, &of)?,
            "gather" if of.len() == 2 => Op::Gather(gather(instruction, of_rank, rank)?),
            "scatter" if of.len() == 3 => {
                let numbers = scatter(instruction, of_rank, &self.nodes[of[2]].dims)?;
                Op::Scatter(numbers, attributes::scattered(self.module, instruction)?)
            }
            "dynamic-slice" => {
                sizes(instruction, rank)?;
                Op::DynamicSlice
            }
            "dynamic-update-slice" => Op::DynamicUpdateSlice,
            "compare" => Op::Each(Each::Compare(relation(instruction)?)),
            _ => match Each::of_opcode(opcode) {
                Some(each) => Op::Each(each),
                None => return refuse(unknown(instruction)),
            },
        };
        let node = made.node(self.module, op, of);
        attributes::check(&node, &self.nodes)?;
        self.push(node)
    }

    /// What a bitcast does to the logical order: it goes to the order in memory, and from that of the result back.
    fn bitcast(&mut self, made: &Made<'_>, of: Vec<NodeId>) -> Result<NodeId, Refusal> {
        let instruction = made.instruction;
        let Some((&operand, given)) = of.first().zip(instruction.operands.first()) else {
            return refuse(format!("`{}` has no operand", instruction.name));
        };
        let from = self.module.instruction(*given).shape.clone();
        if self.nodes[operand].element_type != made.element_type {
            if self.nodes[operand].dims != made.dims {
                return refuse(format!("`{}` changes type and shape at once", instruction.name));
            }
            let node = made.node(self.module, Op::Each(Each::Bits), of);
            attributes::check(&node, &self.nodes)?;
            return self.push(node);
        }
        let (to_memory, of_result) = (memory_order(&from), memory_order(&instruction.shape));
        let (Some(to_memory), Some(of_result)) = (to_memory, of_result) else {
            return refuse(format!("`{}` has a layout that is not a permutation", instruction.name));
        };
        let elements: usize = made.dims.iter().product();
        if self.nodes[operand].elements() != elements {
            return refuse(format!("`{}` changes the number of elements", instruction.name));
        }
        let permuted = |order: &[usize], dims: &[usize]| order.iter().map(|dim| dims[*dim]).collect::<Vec<_>>();
        let mut at = operand;
        if !to_memory.is_sorted() {
            let dims = permuted(&to_memory, &self.nodes[operand].dims);
            at = self.push(Node { dims, ..made.node(self.module, Op::Transpose(to_memory), vec![at]) })?;
        }
        let in_memory = permuted(&of_result, &made.dims);
        at = self.push(Node { dims: in_memory, ..made.node(self.module, Op::Reshape, vec![at]) })?;
        if !of_result.is_sorted() {
            let mut back = vec![0; of_result.len()];
            of_result.iter().enumerate().for_each(|(place, dim)| back[*dim] = place);
            at = self.push(made.node(self.module, Op::Transpose(back), vec![at]))?;
        }
        Ok(at)
    }

    fn dot(&self, instruction: &Instruction, of: &[NodeId]) -> Result<Op, Refusal> {
        let Some(numbers) = instruction.attributes().dot.as_ref().filter(|_| of.len() == 2) else {
            return refuse(format!("`{}` has no contracting dimensions", instruction.name));
        };
        let within = |dims: &[i64], of: NodeId| attributes::dims(dims, self.nodes[of].dims.len(), instruction);
        Ok(Op::Dot {
            contract: (within(&numbers.lhs_contracting, of[0])?, within(&numbers.rhs_contracting, of[1])?),
            batch: (within(&numbers.lhs_batch, of[0])?, within(&numbers.rhs_batch, of[1])?),
        })
    }
}

/// An instruction with its shape.
struct Made<'a> {
    instruction: &'a Instruction,
    element_type: ElementType,
    dims: Vec<usize>,
}

impl Made<'_> {
    fn node(&self, module: &HloModule, op: Op, of: Vec<NodeId>) -> Node {
        let id = module.instruction_named(&self.instruction.name);
        let stack = id.map(|id| module.source_stack(id)).unwrap_or_default();
        let source = stack.first().map(|frame| format!("{}:{}", frame.file, frame.line)).unwrap_or_default();
        let (element_type, dims) = (self.element_type, self.dims.clone());
        Node { name: self.instruction.name.clone(), op, of, element_type, dims, source }
    }
}

/// Element type and extents, where the generator can hold them.
fn checked(instruction: &Instruction, shape: &Shape) -> Result<(ElementType, Vec<usize>), Refusal> {
    let name = &instruction.name;
    if shape.is_tuple() {
        return refuse(match &*instruction.opcode {
            "conditional" | "custom-call" => unknown(instruction),
            opcode => format!("`{name}` is a {opcode} with several results"),
        });
    }
    if shape.dynamic.contains(&true) {
        return refuse(format!("`{name}` has a dynamic shape"));
    }
    use ElementType::{F32, F64, Pred, S8, S16, S32, S64, U8, U16, U32, U64};
    if !matches!(shape.element_type, F32 | F64 | Pred | S8 | S16 | S32 | S64 | U8 | U16 | U32 | U64) {
        return refuse(format!("`{name}` is of type {}", shape.element_type));
    }
    let dims: Option<Vec<usize>> = shape.dimensions.iter().map(|extent| usize::try_from(*extent).ok()).collect();
    let elements =
        dims.as_ref().and_then(|dims| dims.iter().try_fold(1_usize, |product, dim| product.checked_mul(*dim)));
    match (dims, elements) {
        (Some(dims), Some(1..=MOST_ELEMENTS)) => Ok((shape.element_type, dims)),
        (Some(_), Some(0)) => refuse(format!("`{name}` has no elements")),
        _ => refuse(format!("`{name}` has more than {MOST_ELEMENTS} elements")),
    }
}

fn unknown(instruction: &Instruction) -> String {
    let name = &instruction.name;
    match (&*instruction.opcode, &instruction.custom_call_target) {
        ("custom-call", Some(target)) => format!("`{name}` is an opaque custom call of `{target}`"),
        ("custom-call", None) => format!("`{name}` is an opaque custom call"),
        (opcode, _) => format!("`{name}` is an unsupported operation, `{opcode}`"),
    }
}

fn leaf_count(shape: &Shape) -> usize {
    if shape.is_tuple() { shape.tuple.iter().map(leaf_count).sum() } else { 1 }
}

/// Dimensions from the slowest to the fastest in memory.
fn memory_order(shape: &Shape) -> Option<Vec<usize>> {
    let rank = shape.dimensions.len();
    let Some(layout) = &shape.layout else { return Some((0..rank).collect()) };
    if !layout.tiles.is_empty() {
        return None;
    }
    let order: Vec<usize> =
        layout.minor_to_major.iter().rev().map(|dim| usize::try_from(*dim).ok()).collect::<Option<_>>()?;
    let mut sorted = order.clone();
    sorted.sort_unstable();
    sorted.into_iter().eq(0..rank).then_some(order)
}

fn relation(instruction: &Instruction) -> Result<Relation, Refusal> {
    if instruction.attributes().comparison_type.as_deref() == Some("TOTALORDER") {
        return refuse(format!("`{}` compares in total order", instruction.name));
    }
    Ok(match instruction.attributes().comparison_direction.as_deref() {
        Some("EQ") => Relation::Eq,
        Some("NE") => Relation::Ne,
        Some("LT") => Relation::Lt,
        Some("LE") => Relation::Le,
        Some("GT") => Relation::Gt,
        Some("GE") => Relation::Ge,
        _ => return refuse(format!("`{}` has no direction of comparison", instruction.name)),
    })
}

fn constant(instruction: &Instruction, element_type: ElementType, dims: &[usize]) -> Result<Vec<Number>, Refusal> {
    let literal = instruction.literal.as_deref();
    let elements: usize = dims.iter().product();
    let Some(literal) = literal.filter(|literal| !literal.is_cut && literal.values.len() == elements) else {
        return refuse(format!("the capture doesn't have the {elements} values of constant `{}`", instruction.name));
    };
    let number = |scalar: &Scalar| match *scalar {
        Scalar::Bool(value) => Some(Number::Whole(i64::from(value))),
        Scalar::Int(value) => Some(Number::Whole(value)),
        Scalar::Uint(value) => Some(Number::Whole(value.cast_signed())),
        Scalar::Float(value) if element_type.is_float() => Some(Number::Real(value)),
        Scalar::Float(_) | Scalar::Complex(..) => None,
    };
    let values: Option<Vec<Number>> = literal.values.iter().map(number).collect();
    values.map_or_else(|| refuse(format!("constant `{}` has another type", instruction.name)), Ok)
}
