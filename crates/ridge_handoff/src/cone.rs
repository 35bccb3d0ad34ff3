//! What one element of the result is made of: straight-line code over a few elements of the inputs.
//!
//! A region is a window where that code is the same all over the result. It is compared at a sample of places: every
//! combination of first, second, middle, last but one and last along each dimension, and others drawn from a fixed seed.

mod bound;
mod unrolled;

pub(crate) use bound::{Bound, Places};

use crate::arithmetic::{real_of_whole, whole, wrapped};
use crate::interpret::clampable;
use crate::program::{Each, Node, NodeId, Number, Op, Order, Program, Relation};
use crate::{Refusal, cpp};
use ridge_hlo::ElementType;
use ridge_hlo::sorting_network::{LARGEST, exchanges};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// Operations of one element.
const MOST: usize = 20_000;

/// The same where loops are unrolled: what needs more wants one trip as hardware, and the loop around it.
const MOST_UNROLLED: usize = 500;

/// Calls of the walk inside one another: each node is visited once on a path.
const DEEPEST: usize = 4_000;

/// Places besides those at the borders.
const DRAWN: usize = 200;

/// Position in [`Cone::nodes`].
pub(crate) type At = usize;

/// An operation on scalars.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Scalar {
    /// The element of this number, in order of first use: the input that it is of.
    Tap(usize, usize),
    /// A real constant by its bits.
    Real(u64),
    /// A whole constant.
    Whole(i64),
    /// An operation.
    Each(Each, Vec<At>),
    /// Whether the first of two numbers is sorted before the second, what is no number last.
    Before([At; 2]),
}

impl Scalar {
    /// What it reads of other operations.
    pub(crate) fn reads(&self) -> &[At] {
        match self {
            Scalar::Tap(..) | Scalar::Real(_) | Scalar::Whole(_) => &[],
            Scalar::Each(_, of) => of,
            Scalar::Before(of) => of,
        }
    }
}

/// What real numbers are in the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reals {
    /// Fixed point: each is a number, equal to itself and finite.
    Fixed,
    /// As typed, with infinities and what is no number.
    Typed,
}

/// The code of one element.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cone {
    /// Operations with their types, each after what it reads.
    pub(crate) nodes: Vec<(Scalar, ElementType)>,
    /// The result.
    pub(crate) root: At,
    /// Input and position of each tap.
    pub(crate) taps: Vec<(usize, usize)>,
}

/// A window: one cone that holds at many places.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WindowCode {
    /// The code.
    pub(crate) cone: Cone,
    /// Places of the first output where it holds, by position, with the positions of the taps.
    pub(crate) places: Vec<(usize, Vec<(usize, usize)>)>,
    /// Places that were looked at.
    pub(crate) looked_at: usize,
    /// Whether the taps lie alike around every place: then line buffers feed it.
    pub(crate) is_stream: bool,
}

/// The window code of the first output.
pub(crate) fn window(program: &Program, reals: Reals) -> Result<WindowCode, Refusal> {
    let refuse = |why: &str| Err(Refusal(why.to_owned()));
    if program.outputs.len() != 1 {
        return refuse("it has several results");
    }
    let unrolled = unrolled::unrolled(program)?;
    let (program, has_loops) = (&*unrolled, matches!(unrolled, Cow::Owned(_)));
    let dims = &program.nodes[program.outputs[0]].dims;
    let middle: Vec<usize> = dims.iter().map(|extent| extent / 2).collect();
    let cone = Walk::cone(program, reals, &middle)?;
    if has_loops && cone.nodes.len() > MOST_UNROLLED {
        let count = cone.nodes.len();
        return refuse(&format!(
            "one element takes {count} operations with its loops unrolled, more than {MOST_UNROLLED}"
        ));
    }
    if cone.taps.is_empty() {
        return refuse("its result does not depend on its inputs");
    }
    let (mut places, mut looked_at) = (Vec::new(), 0);
    for index in sample(dims) {
        looked_at += 1;
        let here = Walk::cone(program, reals, &index)?;
        if here.nodes == cone.nodes && here.root == cone.root {
            let at = index.iter().zip(dims).fold(0, |at, (here, extent)| at * extent + here);
            places.push((at, here.taps));
        }
    }
    let around = |taps: &[(usize, usize)]| -> Vec<i64> {
        taps.iter()
            .map(|(input, at)| {
                let first = taps.iter().find(|(other, _)| other == input).map_or(0, |(_, at)| *at);
                *at as i64 - first as i64
            })
            .collect()
    };
    let usual = around(&cone.taps);
    let is_stream = places.iter().all(|(_, taps)| around(taps) == usual);
    Ok(WindowCode { cone, places, looked_at, is_stream })
}

/// Places along each dimension that may differ, combined; and some that are drawn.
pub(crate) fn sample(dims: &[usize]) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = vec![Vec::new()];
    for extent in dims {
        let mut along = vec![0, 1, extent / 2, extent.saturating_sub(2), extent - 1];
        along.retain(|at| at < extent);
        along.sort_unstable();
        along.dedup();
        all = all
            .iter()
            .flat_map(|index| along.iter().map(move |at| [index.as_slice(), &[*at]].concat()))
            .take(4096)
            .collect();
    }
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..DRAWN {
        all.push(
            dims.iter()
                .map(|extent| {
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    (state % *extent as u64) as usize
                })
                .collect(),
        );
    }
    all.sort();
    all.dedup();
    all
}

/// A walk from one element of the result to the inputs.
struct Walk<'a> {
    program: &'a Program,
    reals: Reals,
    nodes: Vec<(Scalar, ElementType)>,
    known: FxHashMap<(Scalar, ElementType), At>,
    made: FxHashMap<(NodeId, Vec<usize>), At>,
    taps: Vec<(usize, usize)>,
}

impl Walk<'_> {
    fn cone(program: &Program, reals: Reals, index: &[usize]) -> Result<Cone, Refusal> {
        let mut walk = Walk {
            program,
            reals,
            nodes: Vec::new(),
            known: FxHashMap::default(),
            made: FxHashMap::default(),
            taps: Vec::new(),
        };
        let root = walk.element(program.outputs[0], index.to_vec(), 0)?;
        Ok(Cone { nodes: walk.nodes, root, taps: walk.taps })
    }

    fn put(&mut self, scalar: Scalar, ty: ElementType) -> Result<At, Refusal> {
        let key = (scalar, ty);
        if let Some(&at) = self.known.get(&key) {
            return Ok(at);
        }
        if self.nodes.len() >= MOST {
            return Err(Refusal(format!("one element takes more than {MOST} operations")));
        }
        self.nodes.push(key.clone());
        self.known.insert(key, self.nodes.len() - 1);
        Ok(self.nodes.len() - 1)
    }

    fn element(&mut self, at: NodeId, index: Vec<usize>, depth: usize) -> Result<At, Refusal> {
        let key = (at, index);
        if let Some(&made) = self.made.get(&key) {
            return Ok(made);
        }
        if depth > DEEPEST {
            return Err(Refusal("operations follow one another too deeply".to_owned()));
        }
        let program = self.program;
        let node = &program.nodes[at];
        let made = self.made_of(node, at, &key.1, depth + 1)?;
        self.made.insert(key, made);
        Ok(made)
    }

    fn made_of(&mut self, node: &Node, at: NodeId, index: &[usize], depth: usize) -> Result<At, Refusal> {
        let dims = |of: usize| -> &[usize] { &self.program.nodes[node.of[of]].dims };
        let ty = node.element_type;
        let place = match &node.op {
            Op::Input(input) => {
                let position = index.iter().zip(&node.dims).fold(0, |at, (here, extent)| at * extent + here);
                let number = self.taps.iter().position(|tap| *tap == (*input, position)).unwrap_or_else(|| {
                    self.taps.push((*input, position));
                    self.taps.len() - 1
                });
                return self.put(Scalar::Tap(number, *input), ty);
            }
            Op::Constant(values) => {
                let position = index.iter().zip(&node.dims).fold(0, |at, (here, extent)| at * extent + here);
                return self.constant(values[position.min(values.len() - 1)], ty);
            }
            Op::Iota(dim) => {
                let count = index[*dim] as i64;
                return self
                    .constant(if ty.is_float() { Number::Real(count as f64) } else { Number::Whole(count) }, ty);
            }
            Op::Each(each) => {
                let mut of = Vec::with_capacity(node.of.len());
                for (number, operand) in node.of.iter().enumerate() {
                    let own = if dims(number) == node.dims { index.to_vec() } else { vec![0; dims(number).len()] };
                    of.push(self.element(*operand, own, depth)?);
                }
                return self.each(*each, of, ty);
            }
            Op::Broadcast(to) => to.iter().map(|dim| index[*dim]).collect(),
            Op::Reshape => {
                let position = index.iter().zip(&node.dims).fold(0, |at, (here, extent)| at * extent + here);
                index_of(position, dims(0))
            }
            Op::Transpose(from) => {
                let mut place = vec![0; from.len()];
                from.iter().zip(index).for_each(|(dim, here)| place[*dim] = *here);
                place
            }
            Op::Slice(starts) => {
                starts.iter().zip(index).map(|((start, stride), here)| start + here * stride).collect()
            }
            Op::Reverse(turned) => (0..index.len())
                .map(|dim| if turned.contains(&dim) { dims(0)[dim] - 1 - index[dim] } else { index[dim] })
                .collect(),
            Op::Pad(edges) => {
                let mut place = Vec::with_capacity(index.len());
                for ((here, (low, interior)), extent) in index.iter().zip(edges).zip(dims(0)) {
                    let (inside, step) = (*here as i64 - low, *interior as i64 + 1);
                    if inside < 0 || inside % step != 0 || inside / step >= *extent as i64 {
                        let fill = vec![0; dims(1).len()];
                        return self.element(node.of[1], fill, depth);
                    }
                    place.push((inside / step) as usize);
                }
                place
            }
            Op::Concatenate(dim) => {
                let mut inside = index[*dim];
                for number in 0..node.of.len() {
                    let extent = dims(number)[*dim];
                    if inside < extent {
                        let mut place = index.to_vec();
                        place[*dim] = inside;
                        return self.element(node.of[number], place, depth);
                    }
                    inside -= extent;
                }
                return Err(Refusal(format!("`{}` joins fewer elements than its shape has", node.name)));
            }
            Op::Reduce(gone, reducer) => {
                let (all, gone, each) = (dims(0).to_vec(), gone.clone(), reducer.each());
                let inner: Vec<usize> = gone.iter().map(|dim| all[*dim]).collect();
                if inner.iter().product::<usize>() > MOST {
                    return Err(Refusal(format!("`{}` joins more than {MOST} elements", node.name)));
                }
                let mut joined = self.element(node.of[1], vec![0; dims(1).len()], depth)?;
                for count in 0..inner.iter().product() {
                    let within = index_of(count, &inner);
                    let mut outer = index.iter();
                    let place = (0..all.len()).map(|dim| match gone.iter().position(|one| *one == dim) {
                        Some(at) => within[at],
                        None => *outer.next().unwrap_or(&0),
                    });
                    let other = self.element(node.of[0], place.collect(), depth)?;
                    joined = self.each(each, vec![joined, other], ty)?;
                }
                return Ok(joined);
            }
            Op::Sort(dim, order) => return self.sorted(node, at, *dim, *order, index, depth),
            Op::DynamicSlice => match self.starts(node, 1, &node.dims, depth)? {
                Some(starts) => index.iter().zip(starts).map(|(here, start)| here + start).collect(),
                None => return Err(decided_by_data(node)),
            },
            Op::DynamicUpdateSlice => {
                let part = dims(1).to_vec();
                let Some(starts) = self.starts(node, 2, &part, depth)? else { return Err(decided_by_data(node)) };
                let inside = index.iter().zip(&starts).map(|(here, start)| here.checked_sub(*start));
                let inside: Option<Vec<usize>> = inside.collect();
                if let Some(inside) = inside.filter(|inside| inside.iter().zip(&part).all(|(at, extent)| at < extent)) {
                    return self.element(node.of[1], inside, depth);
                }
                index.to_vec()
            }
            Op::Gather(_) | Op::Scatter(..) => return Err(decided_by_data(node)),
            op => {
                return Err(Refusal(format!("`{}` is a {}, which is not unrolled here", node.name, op.name())));
            }
        };
        self.element(node.of[0], place, depth)
    }

    /// Where a part of an array begins, held so that all of it lies inside; `None` where data decide that.
    fn starts(
        &mut self,
        node: &Node,
        first: usize,
        part: &[usize],
        depth: usize,
    ) -> Result<Option<Vec<usize>>, Refusal> {
        let program = self.program;
        let all = &program.nodes[node.of[0]].dims;
        let mut starts = Vec::with_capacity(part.len());
        for ((&of, all), part) in node.of[first..].iter().zip(all).zip(part) {
            let at = self.element(of, vec![0; program.nodes[of].dims.len()], depth)?;
            let Scalar::Whole(start) = self.nodes[at].0 else { return Ok(None) };
            starts.push(clampable(start, program.nodes[of].element_type).clamp(0, (all - part) as i64) as usize);
        }
        Ok(Some(starts))
    }

    fn constant(&mut self, number: Number, ty: ElementType) -> Result<At, Refusal> {
        match number {
            Number::Real(value) => self.put(Scalar::Real(value.to_bits()), ty),
            Number::Whole(value) => self.put(Scalar::Whole(wrapped(value, ty)), ty),
        }
    }

    fn sorted(
        &mut self,
        node: &Node,
        at: NodeId,
        dim: usize,
        order: Order,
        index: &[usize],
        depth: usize,
    ) -> Result<At, Refusal> {
        let extent = node.dims[dim];
        let wanted = cpp::wanted(self.program, at, dim, extent);
        let Some(pairs) = exchanges(extent, Some(&wanted)) else {
            return Err(Refusal(format!("`{}` sorts more than {LARGEST} values", node.name)));
        };
        let mut column = Vec::with_capacity(extent);
        for place in 0..extent {
            let mut index = index.to_vec();
            index[dim] = place;
            column.push(self.element(node.of[0], index, depth)?);
        }
        let ty = node.element_type;
        let (first, last) =
            if order == Order::Greater { (Each::Maximum, Each::Minimum) } else { (Each::Minimum, Each::Maximum) };
        for (low, high) in pairs {
            let (a, b) = (column[low], column[high]);
            if self.reals == Reals::Typed && ty.is_float() {
                // Neither is lost where one of them is no number, or they are zeros of different signs.
                let turned = match order {
                    Order::Less => self.each(Each::Compare(Relation::Lt), vec![b, a], ElementType::Pred)?,
                    Order::Greater => self.each(Each::Compare(Relation::Gt), vec![b, a], ElementType::Pred)?,
                    Order::Total => self.put(Scalar::Before([b, a]), ElementType::Pred)?,
                };
                column[low] = self.each(Each::Select, vec![turned, b, a], ty)?;
                column[high] = self.each(Each::Select, vec![turned, a, b], ty)?;
                continue;
            }
            column[low] = self.each(first, vec![a, b], ty)?;
            column[high] = self.each(last, vec![a, b], ty)?;
        }
        Ok(column[index[dim]])
    }

    /// An operation, without what is known of it.
    fn each(&mut self, each: Each, of: Vec<At>, ty: ElementType) -> Result<At, Refusal> {
        let known = |at: At| match self.nodes[at].0 {
            Scalar::Whole(value) => Some(value),
            _ => None,
        };
        // Counters of loops, and what follows from them alone.
        let values: Option<Vec<i64>> = of.iter().map(|at| known(*at)).collect();
        if let Some(values) = values
            && let Some(folded) = folded(each, &values, self.nodes[of[0]].1, ty)
        {
            return self.constant(folded, ty);
        }
        match (each, of.as_slice()) {
            (Each::Compare(relation), [a, b])
                if a == b && (self.reals == Reals::Fixed || !self.nodes[*a].1.is_float()) =>
            {
                return self
                    .put(Scalar::Whole(i64::from(matches!(relation, Relation::Eq | Relation::Le | Relation::Ge))), ty);
            }
            (Each::IsFinite, _) if self.reals == Reals::Fixed => return self.put(Scalar::Whole(1), ty),
            (Each::Select, [choice, yes, no]) => match known(*choice) {
                Some(0) => return Ok(*no),
                Some(_) => return Ok(*yes),
                None if yes == no => return Ok(*yes),
                None => {}
            },
            (Each::Or | Each::And, [a, b]) if ty == ElementType::Pred => {
                let neutral = i64::from(each == Each::And);
                for (one, other) in [(a, b), (b, a)] {
                    match known(*one) {
                        Some(value) if value == neutral => return Ok(*other),
                        Some(value) => return self.put(Scalar::Whole(value), ty),
                        None => {}
                    }
                }
            }
            (Each::Convert, [a]) if ty.is_float() && self.nodes[*a].1.is_float() && self.reals == Reals::Fixed => {
                return Ok(*a);
            }
            (Each::Clamp, [low, value, high]) => {
                let least = self.each(Each::Maximum, vec![*value, *low], ty)?;
                return self.each(Each::Minimum, vec![least, *high], ty);
            }
            _ => {}
        }
        self.put(Scalar::Each(each, of), ty)
    }
}

fn decided_by_data(node: &Node) -> Refusal {
    Refusal(format!("`{}` is a {}, at data-dependent positions", node.name, node.op.name()))
}

/// What an operation on whole numbers that are known gives; `None` where it is none of two or one.
fn folded(each: Each, values: &[i64], from: ElementType, ty: ElementType) -> Option<Number> {
    match (each, values) {
        (Each::Convert, [value]) if ty.is_float() => Some(Number::Real(real_of_whole(*value, from, ty))),
        (Each::Convert, [value]) => Some(Number::Whole(*value)),
        (Each::Compare(_), [a, b]) => whole(each, *a, *b, from).map(Number::Whole),
        (_, [a]) if !ty.is_float() => whole(each, *a, 0, ty).map(Number::Whole),
        (_, [a, b]) if !ty.is_float() => whole(each, *a, *b, ty).map(Number::Whole),
        _ => None,
    }
}

/// The index of an element, by its position.
pub(crate) fn index_of(mut position: usize, dims: &[usize]) -> Vec<usize> {
    let mut index = vec![0; dims.len()];
    for dim in (0..dims.len()).rev() {
        index[dim] = position % dims[dim].max(1);
        position /= dims[dim].max(1);
    }
    index
}
