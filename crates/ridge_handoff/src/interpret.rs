//! Computes a program, in any [`Arithmetic`], in the order of operations that the generated code has.

mod movement;

use crate::arithmetic::{Arithmetic, Cell, related, whole, wrapped};
use crate::program::{Each, Gather, Node, Number, Op, Order, Program, Reducer, Relation};
use movement::{Walk, along, places, position, strides};
use ridge_hlo::ElementType;
use ridge_hlo::sorting_network::exchanges;

/// Why a program could not be computed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CannotCompute(pub String);

/// The cells of an array, in logical order.
pub type Cells<A> = Vec<Cell<<A as Arithmetic>::Real>>;

/// The outputs for these inputs.
///
/// # Errors
/// [`CannotCompute`] where the inputs do not fit, or an operation has no meaning in this arithmetic.
pub fn interpret<A: Arithmetic>(
    program: &Program,
    inputs: &[Cells<A>],
    by: &A,
) -> Result<Vec<Cells<A>>, CannotCompute> {
    if inputs.len() != program.inputs.len() {
        return cannot(format!("expected {} inputs, found {}", program.inputs.len(), inputs.len()));
    }
    let mut last_use = vec![0; program.nodes.len()];
    for (at, node) in program.nodes.iter().enumerate() {
        node.of.iter().for_each(|operand| last_use[*operand] = at);
    }
    program.outputs.iter().for_each(|output| last_use[*output] = usize::MAX);
    let mut values: Vec<Cells<A>> = Vec::with_capacity(program.nodes.len());
    for (at, node) in program.nodes.iter().enumerate() {
        let cells = compute(program, node, inputs, &values, by)?;
        values.push(cells);
        for operand in &node.of {
            if last_use[*operand] == at {
                values[*operand] = Vec::new();
            }
        }
    }
    Ok(program.outputs.iter().map(|output| values[*output].clone()).collect())
}

fn cannot<T>(why: impl Into<String>) -> Result<T, CannotCompute> {
    Err(CannotCompute(why.into()))
}

fn compute<A: Arithmetic>(
    program: &Program,
    node: &Node,
    inputs: &[Cells<A>],
    values: &[Cells<A>],
    by: &A,
) -> Result<Cells<A>, CannotCompute> {
    let of = |at: usize| &values[node.of[at]];
    let dims = |at: usize| program.nodes[node.of[at]].dims.as_slice();
    let moved = |steps: Vec<isize>, first: isize| -> Cells<A> {
        let (from, mut walk) = (of(0), Walk::new(&node.dims, steps, first));
        (0..node.elements()).map(|_| from[walk.step()]).collect()
    };
    let all_along = |of: usize| along(&(0..dims(of).len()).collect::<Vec<_>>(), dims(of));
    Ok(match &node.op {
        Op::Input(number) => match inputs[*number].len() == node.elements() {
            true => inputs[*number].clone(),
            false => return cannot(format!("input `{}` has {} elements", node.name, inputs[*number].len())),
        },
        Op::Constant(numbers) => numbers.iter().map(|number| cell(*number, node.element_type, by)).collect(),
        Op::Iota(dim) => {
            let one = |index: Vec<usize>| {
                let count = index[*dim] as i64;
                match node.element_type.is_float() {
                    true => Cell::Real(by.of_whole(count, true, ElementType::S64, node.element_type)),
                    false => Cell::Whole(wrapped(count, node.element_type), true),
                }
            };
            places(&node.dims).map(one).collect()
        }
        Op::Each(each) => return elementwise(program, node, *each, values, by),
        Op::Broadcast(to) => {
            let mut steps = vec![0; node.dims.len()];
            to.iter().zip(all_along(0)).for_each(|(dim, step)| steps[*dim] += step);
            moved(steps, 0)
        }
        Op::Reshape => of(0).clone(),
        Op::Transpose(from) => moved(along(from, dims(0)), 0),
        Op::Slice(starts) => {
            let steps = all_along(0);
            let first = starts.iter().zip(&steps).map(|((start, _), step)| start.cast_signed() * step).sum();
            moved(starts.iter().zip(&steps).map(|((_, stride), step)| stride.cast_signed() * step).collect(), first)
        }
        Op::Reverse(turned) => {
            let (mut steps, mut first) = (all_along(0), 0);
            for dim in turned {
                first += (dims(0)[*dim].cast_signed() - 1) * steps[*dim];
                steps[*dim] = -steps[*dim];
            }
            moved(steps, first)
        }
        Op::Pad(edges) => {
            let (from, fill, all) = (of(0), of(1)[0], dims(0));
            places(&node.dims).map(|index| movement::padded(&index, edges, all).map_or(fill, |at| from[at])).collect()
        }
        Op::Concatenate(dim) => {
            let inside: usize = node.dims[dim + 1..].iter().product();
            let mut cells = Vec::with_capacity(node.elements());
            for outside in 0..node.dims[..*dim].iter().product() {
                for at in 0..node.of.len() {
                    let run = dims(at)[*dim] * inside;
                    cells.extend_from_slice(&of(at)[outside * run..][..run]);
                }
            }
            cells
        }
        Op::Reduce(gone, reducer) => {
            let kept: Vec<usize> = (0..dims(0).len()).filter(|dim| !gone.contains(dim)).collect();
            let inner: Vec<usize> = gone.iter().map(|dim| dims(0)[*dim]).collect();
            let mut outer = Walk::new(&node.dims, along(&kept, dims(0)), 0);
            let mut within = Walk::new(&inner, along(gone, dims(0)), 0);
            let (from, count) = (of(0), inner.iter().product());
            let mut cells = Vec::with_capacity(node.elements());
            for _ in 0..node.elements() {
                let base = outer.step();
                let read = (0..count).map(|_: usize| from[base + within.step()]);
                cells.push(folded(of(1)[0], read, reducer.each(), node.element_type, by)?);
            }
            cells
        }
        Op::ReduceWindow(windows, reducer) => {
            let (from, all) = (of(0), dims(0));
            let inner: Vec<usize> = windows.iter().map(|window| window.size).collect();
            let mut cells = Vec::with_capacity(node.elements());
            for index in places(&node.dims) {
                let read = places(&inner)
                    .filter_map(|inner| movement::in_window(&index, &inner, windows, all))
                    .map(|at| from[at]);
                cells.push(folded(of(1)[0], read, reducer.each(), node.element_type, by)?);
            }
            cells
        }
        Op::Sort(dim, order) => sorted(of(0).clone(), &node.dims, *dim, *order, by),
        Op::Dot { contract, batch } => {
            let mut map = movement::Contraction::new(dims(0), dims(1), contract, batch, &node.dims);
            let (left, right) = (of(0), of(1));
            let zero = cell(zero(node.element_type), node.element_type, by);
            let mut cells = Vec::with_capacity(node.elements());
            for _ in 0..node.elements() {
                let mut products = Vec::new();
                for (at, to) in map.pairs() {
                    products.push(binary(Each::Multiply, left[at], right[to], node.element_type, by)?);
                }
                cells.push(folded(zero, products.into_iter(), Each::Add, node.element_type, by)?);
            }
            cells
        }
        Op::Gather(gather) => {
            let map = movement::Gathering::new(gather, dims(0), dims(1), &node.dims);
            let (from, indices) = (of(0), of(1));
            let one = |index: Vec<usize>| {
                let mut is_sure = true;
                let at = map.position(&index, |at| match indices[at] {
                    Cell::Whole(start, sure) => {
                        is_sure &= sure;
                        clampable(start, program.nodes[node.of[1]].element_type)
                    }
                    Cell::Real(_) => 0,
                });
                doubted(from[at], is_sure, by)
            };
            places(&node.dims).map(one).collect()
        }
        Op::Scatter(gather, joined) => scattered(program, node, gather, *joined, values, by)?,
        Op::DynamicSlice => {
            let (starts, is_sure) = starts(program, node, values, 1, &node.dims);
            let steps = all_along(0);
            let first = starts.iter().zip(&steps).map(|(start, step)| start.cast_signed() * step).sum();
            let cells = moved(steps, first);
            cells.into_iter().map(|cell| doubted(cell, is_sure, by)).collect()
        }
        Op::DynamicUpdateSlice => {
            let (starts, is_sure) = starts(program, node, values, 2, dims(1));
            let mut cells = of(0).clone();
            for (cell, index) in of(1).iter().zip(places(dims(1))) {
                cells[position(index.iter().zip(&starts).map(|(at, start)| at + start), &node.dims)] = *cell;
            }
            cells.into_iter().map(|cell| doubted(cell, is_sure, by)).collect()
        }
        Op::Loop(inner) => {
            let mut state: Vec<Cells<A>> = (0..node.of.len()).map(|at| of(at).clone()).collect();
            for _ in 0..inner.trips {
                state = interpret(&inner.body, &state, by)?;
            }
            state.concat()
        }
        Op::State(number) => match &program.nodes[node.of[0]].op {
            Op::Loop(inner) => of(0)[inner.before(*number)..][..node.elements()].to_vec(),
            _ => return cannot(format!("`{}` belongs to no loop", node.name)),
        },
    })
}

/// The array with its updates, which come in their own order.
fn scattered<A: Arithmetic>(
    program: &Program,
    node: &Node,
    gather: &Gather,
    reducer: Option<Reducer>,
    values: &[Cells<A>],
    by: &A,
) -> Result<Cells<A>, CannotCompute> {
    let of = |at: usize| (&values[node.of[at]], program.nodes[node.of[at]].dims.as_slice());
    let ((array, dims), (indices, of_indices), (updates, of_updates)) = (of(0), of(1), of(2));
    let map = movement::Gathering::new(gather, dims, of_indices, of_updates);
    let size = |cell: Cell<A::Real>| if let Cell::Real(real) = cell { by.value(real).abs() } else { 0.0 };
    let mut cells = array.clone();
    // How many values an element is made of, and the sum of their magnitudes.
    let mut made_of: Vec<(usize, f64)> = array.iter().map(|cell| (0, size(*cell))).collect();
    let mut is_sure = true;
    for (update, index) in updates.iter().zip(places(of_updates)) {
        let place = map.inside(&index, |at| match indices[at] {
            Cell::Whole(start, sure) => {
                is_sure &= sure;
                clampable(start, program.nodes[node.of[1]].element_type)
            }
            Cell::Real(_) => 0,
        });
        let Some(at) = place else { continue };
        made_of[at] = (made_of[at].0 + 1, made_of[at].1 + size(*update));
        cells[at] = match reducer {
            Some(reducer) => binary(reducer.each(), cells[at], *update, node.element_type, by)?,
            // Other machines may write the other one last.
            None if made_of[at].0 > 1 => joined(*update, cells[at], by),
            None => *update,
        };
    }
    let sums = matches!(reducer, Some(Reducer::Add | Reducer::Multiply));
    let one = |(cell, (count, magnitude)): (Cell<A::Real>, (usize, f64))| match cell {
        Cell::Real(sum) if sums && count > 0 => {
            let magnitude = if reducer == Some(Reducer::Add) { magnitude } else { by.value(sum).abs() };
            Cell::Real(by.after_sum(sum, count, magnitude, node.element_type))
        }
        cell => cell,
    };
    Ok(cells.into_iter().zip(made_of).map(one).map(|cell| doubted(cell, is_sure, by)).collect())
}

fn zero(ty: ElementType) -> Number {
    if ty.is_float() { Number::Real(0.0) } else { Number::Whole(0) }
}

fn cell<A: Arithmetic>(number: Number, ty: ElementType, by: &A) -> Cell<A::Real> {
    match number {
        Number::Real(value) => Cell::Real(by.real(value, ty)),
        Number::Whole(value) => Cell::Whole(wrapped(value, ty), true),
    }
}

/// A start that is unsigned and large is beyond every array.
pub(crate) fn clampable(start: i64, ty: ElementType) -> i64 {
    if ty == ElementType::U64 && start < 0 { i64::MAX } else { start }
}

/// Starts of a dynamic slice, held so that all of it lies inside, and whether they are sure.
fn starts<R>(
    program: &Program,
    node: &Node,
    values: &[Vec<Cell<R>>],
    first: usize,
    part: &[usize],
) -> (Vec<usize>, bool) {
    let all = &program.nodes[node.of[0]].dims;
    let mut is_sure = true;
    let mut starts = Vec::with_capacity(all.len());
    for ((at, whole), part) in node.of[first..].iter().copied().zip(all).zip(part) {
        let most = (whole - part) as i64;
        starts.push(match values[at].first() {
            Some(Cell::Whole(start, sure)) => {
                is_sure &= sure;
                clampable(*start, program.nodes[at].element_type).clamp(0, most) as usize
            }
            _ => 0,
        });
    }
    (starts, is_sure)
}

fn doubted<A: Arithmetic>(cell: Cell<A::Real>, is_sure: bool, by: &A) -> Cell<A::Real> {
    match cell {
        Cell::Real(real) if !is_sure => Cell::Real(by.unsure(real)),
        Cell::Whole(value, _) if !is_sure => Cell::Whole(value, false),
        cell => cell,
    }
}

/// The first value and all others joined, from front to back.
fn folded<A: Arithmetic>(
    first: Cell<A::Real>,
    others: impl Iterator<Item = Cell<A::Real>>,
    each: Each,
    ty: ElementType,
    by: &A,
) -> Result<Cell<A::Real>, CannotCompute> {
    let (mut all, mut count, mut magnitude) = (first, 0, 0.0);
    for other in others {
        if let Cell::Real(real) = other {
            magnitude += by.value(real).abs();
        }
        all = binary(each, all, other, ty, by)?;
        count += 1;
    }
    Ok(match all {
        Cell::Real(sum) if matches!(each, Each::Add | Each::Multiply) => {
            let magnitude = if each == Each::Add { magnitude } else { by.value(sum).abs() };
            Cell::Real(by.after_sum(sum, count, magnitude, ty))
        }
        all => all,
    })
}

fn sorted<A: Arithmetic>(mut cells: Cells<A>, dims: &[usize], dim: usize, order: Order, by: &A) -> Cells<A> {
    let (extent, step) = (dims[dim], strides(dims)[dim]);
    let network = exchanges(extent, None);
    let mut outer = dims.to_vec();
    outer[dim] = 1;
    for index in places(&outer) {
        let base = position(index.into_iter(), dims);
        let Some(network) = &network else {
            let column: Cells<A> = (0..extent).map(|at| cells[base + at * step]).collect();
            for (at, cell) in merged::<A>(column, order, by).into_iter().enumerate() {
                cells[base + at * step] = cell;
            }
            continue;
        };
        for &(low, high) in network {
            let (low, high) = (base + low * step, base + high * step);
            let (is_before, is_sure) = before(order, cells[high], cells[low], by);
            if is_before {
                cells.swap(low, high);
            }
            if !is_sure {
                // Either may stand in either place.
                let (one, other) = (cells[low], cells[high]);
                (cells[low], cells[high]) = (joined(one, other, by), joined(other, one, by));
            }
        }
    }
    cells
}

/// Sorted by merging, equal ones in their order.
fn merged<A: Arithmetic>(mut cells: Cells<A>, order: Order, by: &A) -> Cells<A> {
    if cells.len() < 2 {
        return cells;
    }
    let right = merged::<A>(cells.split_off(cells.len() / 2), order, by);
    let left = merged::<A>(cells, order, by);
    let (mut at, mut to) = (0, 0);
    let mut all = Vec::with_capacity(left.len() + right.len());
    while at < left.len() && to < right.len() {
        if before(order, right[to], left[at], by).0 {
            all.push(right[to]);
            to += 1;
        } else {
            all.push(left[at]);
            at += 1;
        }
    }
    all.extend_from_slice(&left[at..]);
    all.extend_from_slice(&right[to..]);
    all
}

/// Whether `a` comes before `b`, and whether that is sure.
fn before<A: Arithmetic>(order: Order, a: Cell<A::Real>, b: Cell<A::Real>, by: &A) -> (bool, bool) {
    match (a, b) {
        (Cell::Whole(a, sure), Cell::Whole(b, sure_too)) => {
            (if order == Order::Greater { a > b } else { a < b }, sure && sure_too)
        }
        (Cell::Real(a), Cell::Real(b)) => match order {
            Order::Less => by.compare(Relation::Lt, a, b),
            Order::Greater => by.compare(Relation::Gt, a, b),
            Order::Total => {
                let (a_is_none, b_is_none) = (by.value(a).is_nan(), by.value(b).is_nan());
                if a_is_none || b_is_none { (b_is_none && !a_is_none, true) } else { by.compare(Relation::Lt, a, b) }
            }
        },
        _ => (false, true),
    }
}

fn joined<A: Arithmetic>(chosen: Cell<A::Real>, other: Cell<A::Real>, by: &A) -> Cell<A::Real> {
    match (chosen, other) {
        (Cell::Real(chosen), Cell::Real(other)) => Cell::Real(by.join(chosen, other)),
        (Cell::Whole(chosen, sure), Cell::Whole(other, sure_too)) => {
            Cell::Whole(chosen, sure && sure_too && chosen == other)
        }
        _ => chosen,
    }
}

fn elementwise<A: Arithmetic>(
    program: &Program,
    node: &Node,
    each: Each,
    values: &[Cells<A>],
    by: &A,
) -> Result<Cells<A>, CannotCompute> {
    let types: Vec<ElementType> = node.of.iter().map(|at| program.nodes[*at].element_type).collect();
    let operand = |at: usize, place: usize| {
        let cells = &values[node.of[at]];
        if cells.len() == 1 { cells[0] } else { cells[place] }
    };
    let mut cells = Vec::with_capacity(node.elements());
    for place in 0..node.elements() {
        let of: [Cell<A::Real>; 3] =
            std::array::from_fn(|at| if at < types.len() { operand(at, place) } else { operand(0, place) });
        cells.push(apply(each, &of[..types.len()], types[0], node.element_type, by)?);
    }
    Ok(cells)
}

/// One operation on one element.
pub(crate) fn apply<A: Arithmetic>(
    each: Each,
    of: &[Cell<A::Real>],
    from: ElementType,
    ty: ElementType,
    by: &A,
) -> Result<Cell<A::Real>, CannotCompute> {
    match (each, of) {
        (Each::Select, [Cell::Whole(choice, is_sure), yes, no]) => {
            let (chosen, other) = if *choice != 0 { (*yes, *no) } else { (*no, *yes) };
            Ok(if *is_sure { chosen } else { joined(chosen, other, by) })
        }
        (Each::Clamp, [low, value, high]) => {
            let least = binary(Each::Maximum, *value, *low, ty, by)?;
            binary(Each::Minimum, least, *high, ty, by)
        }
        (Each::Convert, [Cell::Real(real)]) if ty.is_float() => Ok(Cell::Real(match (from, ty) {
            (ElementType::F64, ElementType::F32) => by.narrowed(*real),
            _ => *real,
        })),
        (Each::Convert, [Cell::Real(real)]) if ty == ElementType::Pred => {
            let (is_other, is_sure) = by.compare(Relation::Ne, *real, by.real(0.0, from));
            Ok(Cell::Whole(i64::from(is_other), is_sure))
        }
        (Each::Convert, [Cell::Real(real)]) => {
            let (value, is_sure) = by.to_whole(*real, ty);
            Ok(Cell::Whole(value, is_sure))
        }
        (Each::Convert, [Cell::Whole(value, is_sure)]) => Ok(match ty.is_float() {
            true => Cell::Real(by.of_whole(*value, *is_sure, from, ty)),
            false => Cell::Whole(wrapped(*value, ty), *is_sure),
        }),
        (Each::Bits, [Cell::Real(real)]) if !ty.is_float() => match by.bits(*real, from) {
            Some((bits, is_sure)) => Ok(Cell::Whole(wrapped(bits, ty), is_sure)),
            None => cannot("it reads the bits of real numbers, which fixed point does not have"),
        },
        (Each::Bits, [Cell::Whole(bits, is_sure)]) if ty.is_float() => {
            let value = match ty {
                ElementType::F32 => f64::from(f32::from_bits(*bits as u32)),
                _ => f64::from_bits(bits.cast_unsigned()),
            };
            Ok(doubted(Cell::Real(by.real(value, ty)), *is_sure, by))
        }
        (Each::Bits, [Cell::Whole(bits, is_sure)]) => Ok(Cell::Whole(wrapped(*bits, ty), *is_sure)),
        (Each::Bits, [cell]) => Ok(*cell),
        (Each::IsFinite, [Cell::Real(real)]) => Ok(Cell::Whole(i64::from(by.value(*real).is_finite()), true)),
        (_, [Cell::Real(real)]) => Ok(Cell::Real(by.one(each, *real, ty))),
        (_, [Cell::Whole(value, is_sure)]) => match whole(each, *value, 0, ty) {
            Some(found) => Ok(Cell::Whole(found, *is_sure)),
            None => cannot(format!("{} of whole numbers", each.name())),
        },
        (_, [a, b]) => binary(each, *a, *b, if matches!(each, Each::Compare(_)) { from } else { ty }, by),
        _ => cannot(format!("{} of {} operands", each.name(), of.len())),
    }
}

fn binary<A: Arithmetic>(
    each: Each,
    a: Cell<A::Real>,
    b: Cell<A::Real>,
    ty: ElementType,
    by: &A,
) -> Result<Cell<A::Real>, CannotCompute> {
    match (a, b) {
        (Cell::Real(a), Cell::Real(b)) => Ok(match each {
            Each::Compare(relation) => {
                let (holds, is_sure) = by.compare(relation, a, b);
                Cell::Whole(i64::from(holds), is_sure)
            }
            _ => Cell::Real(by.two(each, a, b, ty)),
        }),
        (Cell::Whole(a, sure), Cell::Whole(b, sure_too)) => {
            let decided = |value: i64, sure: bool| {
                sure && matches!((each, value), (Each::And, 0) | (Each::Or, 1)) && ty == ElementType::Pred
            };
            let is_sure = sure && sure_too || decided(a, sure) || decided(b, sure_too);
            whole(each, a, b, ty).map_or_else(
                || cannot(format!("{} of whole numbers", each.name())),
                |found| Ok(Cell::Whole(found, is_sure)),
            )
        }
        _ => cannot(format!("{} of a real and a whole number", each.name())),
    }
}

/// Whether two doubles that came out of two engines are the same: bit by bit, but for what is no number.
pub fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

/// Whether two doubles are equal as numbers: zeros of both signs, and all that is no number.
pub fn equal(a: f64, b: f64) -> bool {
    related(Relation::Eq, a, b) || a.is_nan() && b.is_nan()
}
