//! Attributes of instructions as positions that are known to be there.

use crate::program::{Each, Gather, Node, Op, Reducer, WindowOf};
use crate::refusal::{Refusal, refuse};
use ridge_hlo::{ElementType, HloModule, Instruction};

/// Positions below `rank`.
pub(super) fn dims(all: &[i64], rank: usize, instruction: &Instruction) -> Result<Vec<usize>, Refusal> {
    let found: Option<Vec<usize>> =
        all.iter().map(|dim| usize::try_from(*dim).ok().filter(|dim| *dim < rank)).collect();
    let is_once = |dims: &Vec<usize>| dims.iter().enumerate().all(|(at, dim)| !dims[..at].contains(dim));
    found
        .filter(is_once)
        .map_or_else(|| refuse(format!("`{}` names a dimension that does not exist", instruction.name)), Ok)
}

pub(super) fn dims_of(instruction: &Instruction, rank: usize) -> Result<Vec<usize>, Refusal> {
    dims(&instruction.dimensions, rank, instruction)
}

/// Extents and steps beyond this are none of a program that anybody runs, and products of them would overflow.
const MOST: i64 = 1 << 30;

fn whole(value: i64, instruction: &Instruction) -> Result<usize, Refusal> {
    match usize::try_from(value) {
        Ok(found) if value <= MOST => Ok(found),
        _ => refuse(format!("`{}` has a negative or too large extent", instruction.name)),
    }
}

/// Padding before the first element.
fn low(value: i64, instruction: &Instruction) -> Result<i64, Refusal> {
    whole(value.saturating_abs(), instruction)?;
    Ok(value)
}

fn count<T>(all: &[T], rank: usize, instruction: &Instruction) -> Result<(), Refusal> {
    if all.len() == rank { Ok(()) } else { refuse(format!("`{}` lacks some of its dimensions", instruction.name)) }
}

pub(super) fn slice(instruction: &Instruction, rank: usize) -> Result<Vec<(usize, usize)>, Refusal> {
    let bounds = &instruction.attributes().slices;
    count(bounds, rank, instruction)?;
    bounds.iter().map(|one| Ok((whole(one.start, instruction)?, whole(one.stride.max(1), instruction)?))).collect()
}

pub(super) fn padding(instruction: &Instruction, rank: usize) -> Result<Vec<(i64, usize)>, Refusal> {
    let edges = &instruction.attributes().padding;
    count(edges, rank, instruction)?;
    edges.iter().map(|one| Ok((low(one.low, instruction)?, whole(one.interior, instruction)?))).collect()
}

pub(super) fn sizes(instruction: &Instruction, rank: usize) -> Result<Vec<usize>, Refusal> {
    let all = &instruction.attributes().slice_sizes;
    count(all, rank, instruction)?;
    all.iter().map(|size| whole(*size, instruction)).collect()
}

pub(super) fn windows(instruction: &Instruction, rank: usize) -> Result<Vec<WindowOf>, Refusal> {
    let window = instruction.attributes().window.as_ref();
    let all = window.map(|window| window.dimensions.as_slice()).unwrap_or_default();
    count(all, rank, instruction)?;
    let one = |dim: &ridge_hlo::WindowDimension| {
        if dim.reversal {
            return refuse(format!("`{}` has a reversed window", instruction.name));
        }
        Ok(WindowOf {
            size: whole(dim.size, instruction)?,
            stride: whole(dim.stride.max(1), instruction)?,
            low: low(dim.padding_low, instruction)?,
            dilation: whole(dim.window_dilation.max(1), instruction)?,
            base: whole(dim.base_dilation.max(1), instruction)?,
        })
    };
    all.iter().map(one).collect()
}

pub(super) fn gather(instruction: &Instruction, operand_rank: usize, rank: usize) -> Result<Gather, Refusal> {
    let Some(numbers) = &instruction.attributes().gather else {
        return refuse(format!("`{}` does not describe its gather", instruction.name));
    };
    let of_operand = |all: &[i64]| dims(all, operand_rank, instruction);
    let found = Gather {
        offset: dims(&numbers.offset_dims, rank, instruction)?,
        collapsed: of_operand(&numbers.collapsed_slice_dims)?,
        starts: of_operand(&numbers.start_index_map)?,
        index_dim: whole(numbers.index_vector_dim, instruction)?,
        sizes: sizes(instruction, operand_rank)?,
        operand_batch: of_operand(&numbers.operand_batching_dims)?,
        index_batch: numbers
            .start_indices_batching_dims
            .iter()
            .map(|dim| whole(*dim, instruction))
            .collect::<Result<_, _>>()?,
    };
    Ok(found)
}

/// Where the windows of a scatter lie, as those of the gather that would read the updates.
pub(super) fn scatter(instruction: &Instruction, operand_rank: usize, updates: &[usize]) -> Result<Gather, Refusal> {
    let Some(numbers) = &instruction.attributes().scatter else {
        return refuse(format!("`{}` does not describe its scatter", instruction.name));
    };
    let of_operand = |all: &[i64]| dims(all, operand_rank, instruction);
    let offset = dims(&numbers.update_window_dims, updates.len(), instruction)?;
    let (collapsed, operand_batch) =
        (of_operand(&numbers.inserted_window_dims)?, of_operand(&numbers.input_batching_dims)?);
    let mut windows = offset.iter().map(|dim| updates[*dim]);
    let sizes = (0..operand_rank)
        .map(|dim| if collapsed.contains(&dim) || operand_batch.contains(&dim) { Some(1) } else { windows.next() });
    let Some(sizes) = sizes.collect::<Option<Vec<usize>>>() else {
        return refuse(format!("`{}` lacks some of its dimensions", instruction.name));
    };
    let index_batch = numbers.scatter_indices_batching_dims.iter().map(|dim| whole(*dim, instruction));
    Ok(Gather {
        sizes,
        starts: of_operand(&numbers.scatter_dims_to_operand_dims)?,
        index_dim: whole(numbers.index_vector_dim, instruction)?,
        index_batch: index_batch.collect::<Result<_, _>>()?,
        offset,
        collapsed,
        operand_batch,
    })
}

/// How a scatter joins what is there with the update; `None` where the update takes its place.
pub(super) fn scattered(module: &HloModule, instruction: &Instruction) -> Result<Option<Reducer>, Refusal> {
    let root = instruction.called.first().and_then(|called| module.computation(*called).root);
    let root = root.map(|root| module.instruction(root));
    match root.and_then(|root| (root.opcode == "parameter").then_some(root.parameter_number)) {
        Some(Some(1)) => Ok(None),
        _ => reducer(module, instruction).map(Some),
    }
}

/// How a called computation of two parameters joins them.
pub(super) fn reducer(module: &HloModule, instruction: &Instruction) -> Result<Reducer, Refusal> {
    let root = instruction.called.first().and_then(|called| module.computation(*called).root);
    let known = root.map(|root| module.instruction(root)).filter(|root| {
        let mut read: Vec<Option<i64>> =
            root.operands.iter().map(|operand| module.instruction(*operand).parameter_number).collect();
        read.sort_unstable();
        read == [Some(0), Some(1)]
    });
    Ok(match known.map(|root| &*root.opcode) {
        Some("add") => Reducer::Add,
        Some("multiply") => Reducer::Multiply,
        Some("maximum") => Reducer::Maximum,
        Some("minimum") => Reducer::Minimum,
        Some("and") => Reducer::And,
        Some("or") => Reducer::Or,
        _ => return refuse(format!("`{}` combines values in an unsupported way", instruction.name)),
    })
}

/// Whether what a node reads fits what it does: files may say anything.
pub(super) fn check(node: &Node, nodes: &[Node]) -> Result<(), Refusal> {
    let of: Vec<&Node> = node.of.iter().map(|at| &nodes[*at]).collect();
    let fits = match &node.op {
        // Loops are looked at where they are made.
        Op::Input(_) | Op::Constant(_) | Op::Loop(_) | Op::State(_) => true,
        Op::Iota(dim) => *dim < node.dims.len(),
        Op::Each(each) => each_fits(*each, node, &of),
        Op::Broadcast(dims) => {
            of.len() == 1
                && dims.len() == of[0].dims.len()
                && dims.iter().zip(&of[0].dims).all(|(dim, extent)| node.dims[*dim] == *extent)
        }
        Op::Reshape => of.len() == 1 && of[0].elements() == node.elements(),
        Op::Transpose(dims) => {
            of.len() == 1
                && dims.len() == node.dims.len()
                && dims.len() == of[0].dims.len()
                && dims.iter().zip(&node.dims).all(|(dim, extent)| of[0].dims[*dim] == *extent)
        }
        Op::Slice(starts) => {
            of.len() == 1
                && of[0].dims.len() == node.dims.len()
                && starts.iter().zip(&node.dims).zip(&of[0].dims).all(|(((start, stride), extent), all)| {
                    extent
                        .checked_sub(1)
                        .and_then(|last| last.checked_mul(*stride)?.checked_add(*start))
                        .is_some_and(|last| last < *all)
                })
        }
        Op::Pad(_) => of.len() == 2 && of[0].dims.len() == node.dims.len() && of[1].elements() == 1,
        Op::Concatenate(dim) => {
            !of.is_empty()
                && of.iter().all(|one| {
                    one.dims.len() == node.dims.len()
                        && (0..node.dims.len()).all(|at| at == *dim || one.dims[at] == node.dims[at])
                })
                && of.iter().map(|one| one.dims[*dim]).sum::<usize>() == node.dims[*dim]
        }
        Op::Reverse(_) | Op::Sort(..) => of.len() == 1 && of[0].dims == node.dims,
        Op::Reduce(dims, _) => {
            let left: Vec<usize> =
                (0..of[0].dims.len()).filter(|dim| !dims.contains(dim)).map(|dim| of[0].dims[dim]).collect();
            of.len() == 2 && of[1].elements() == 1 && left == node.dims
        }
        Op::ReduceWindow(..) => of.len() == 2 && of[1].elements() == 1 && of[0].dims.len() == node.dims.len(),
        Op::Dot { contract, batch } => {
            let left = |at: usize, used: [&[usize]; 2]| -> Vec<usize> {
                let dims = &of[at].dims;
                (0..dims.len()).filter(|dim| !used.iter().any(|used| used.contains(dim))).map(|dim| dims[dim]).collect()
            };
            let alike = |a: &[usize], b: &[usize]| {
                a.len() == b.len() && a.iter().zip(b).all(|(x, y)| of[0].dims[*x] == of[1].dims[*y])
            };
            let mut dims: Vec<usize> = batch.0.iter().map(|dim| of[0].dims[*dim]).collect();
            dims.extend(left(0, [&contract.0, &batch.0]));
            dims.extend(left(1, [&contract.1, &batch.1]));
            alike(&contract.0, &contract.1) && alike(&batch.0, &batch.1) && dims == node.dims
        }
        Op::Gather(gather) => of.len() == 2 && gather_fits(gather, node, &of),
        Op::Scatter(gather, joined) => {
            of.len() == 3
                && of[0].dims == node.dims
                && of.iter().step_by(2).all(|one| one.element_type == node.element_type)
                && joined.is_none_or(|joined| each_fits(joined.each(), node, &[of[0], of[0]]))
                && gather_fits(gather, of[2], &of)
        }
        Op::DynamicSlice => {
            let rank = node.dims.len();
            of.len() == rank + 1
                && of[0].dims.len() == rank
                && of[0].dims.iter().zip(&node.dims).all(|(all, part)| part <= all)
                && of[1..].iter().all(|start| start.elements() == 1 && start.element_type.is_integer())
        }
        Op::DynamicUpdateSlice => {
            let rank = node.dims.len();
            of.len() == rank + 2
                && of[0].dims == node.dims
                && of[1].dims.len() == rank
                && of[1].dims.iter().zip(&node.dims).all(|(part, all)| part <= all)
                && of[2..].iter().all(|start| start.elements() == 1 && start.element_type.is_integer())
        }
    };
    if fits { Ok(()) } else { refuse(format!("`{}` does not match its operands", node.name)) }
}

/// How many operands an operation has, and whether it is one for real numbers, for whole ones, or for both.
fn each_fits(each: Each, node: &Node, of: &[&Node]) -> bool {
    use Each::{Add, And, Atan2, Clamp, Compare, Divide, Maximum, Minimum, Multiply, Or, Power, Remainder, Select};
    use Each::{Bits, Convert, IsFinite, Not, ShiftLeft, ShiftRight, ShiftRightLogical, Subtract, Xor};
    let count = match each {
        Select | Clamp => 3,
        Add | Subtract | Multiply | Divide | Remainder | Maximum | Minimum | Power | Atan2 | And | Or | Xor
        | ShiftLeft | ShiftRight | ShiftRightLogical | Compare(_) => 2,
        _ => 1,
    };
    let own = node.element_type;
    let types = || of.iter().map(|one| one.element_type);
    let is_typed = match each {
        Select => of.len() == 3 && of[0].element_type == ElementType::Pred && types().skip(1).all(|other| other == own),
        Compare(_) => own == ElementType::Pred && of.len() == 2 && of[0].element_type == of[1].element_type,
        IsFinite => own == ElementType::Pred && types().all(ElementType::is_float),
        Convert => true,
        Bits => {
            types().all(|other| other.bits() == own.bits() && other != ElementType::Pred) && own != ElementType::Pred
        }
        And | Or | Xor | Not | ShiftLeft | ShiftRight | ShiftRightLogical => {
            !own.is_float() && types().all(|other| other == own)
        }
        Power | Atan2 => own.is_float() && types().all(|other| other == own),
        each if each.is_transcendental() => own.is_float() && types().all(|other| other == own),
        _ => {
            own != ElementType::Pred && types().all(|other| other == own)
                || matches!(each, Maximum | Minimum | Multiply | Add) && types().all(|other| other == own)
        }
    };
    // The ends of a clamp may be scalars.
    let is_shaped = of.iter().enumerate().all(|(at, one)| {
        one.dims == node.dims || one.elements() == 1 && (each == Clamp && at != 1 || each == Select && at == 0)
    });
    of.len() == count && is_typed && is_shaped
}

fn gather_fits(gather: &Gather, node: &Node, of: &[&Node]) -> bool {
    let (operand, indices) = (of[0], of[1]);
    let has_vector = gather.index_dim < indices.dims.len();
    let vector = if has_vector { indices.dims[gather.index_dim] } else { 1 };
    let windowed: Vec<usize> = (0..operand.dims.len())
        .filter(|dim| !gather.collapsed.contains(dim) && !gather.operand_batch.contains(dim))
        .map(|dim| gather.sizes[dim])
        .collect();
    let batches: Vec<usize> =
        (0..indices.dims.len()).filter(|dim| *dim != gather.index_dim).map(|dim| indices.dims[dim]).collect();
    let outer: Vec<usize> =
        (0..node.dims.len()).filter(|dim| !gather.offset.contains(dim)).map(|dim| node.dims[dim]).collect();
    let inner: Vec<usize> = gather.offset.iter().map(|dim| node.dims[*dim]).collect();
    gather.index_dim <= indices.dims.len()
        && vector == gather.starts.len()
        && gather.sizes.iter().zip(&operand.dims).all(|(size, all)| size <= all)
        && gather.collapsed.iter().chain(&gather.operand_batch).all(|dim| gather.sizes[*dim] == 1)
        && gather.operand_batch.len() == gather.index_batch.len()
        && gather.index_batch.iter().all(|dim| *dim < indices.dims.len() && *dim != gather.index_dim)
        && gather.offset.is_sorted()
        && inner == windowed
        && outer == batches
        && indices.element_type.is_integer()
        && indices.element_type != ElementType::Pred
}
