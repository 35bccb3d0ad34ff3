//! An element of a value as operations of a stage: from memory, or as it is made.

use super::super::Wires;
use super::path::{At, Holds, Item, Ix, Path, linear};
use crate::Refusal;
use crate::arithmetic::{Fixed, is_signed, wrapped};
use crate::program::{Each, Gather, NodeId, Number, Op, Program};
use ridge_hlo::ElementType;
use rustc_hash::FxHashMap;

/// Operations inside one another.
const DEEPEST: usize = 2_000;

/// How values of a type lie in wires.
pub(super) fn wires(ty: ElementType, format: Fixed) -> Wires {
    match ty {
        ty if ty.is_float() => Wires { width: format.width as usize, is_signed: true },
        ElementType::Pred => Wires { width: 1, is_signed: false },
        ty => Wires { width: ty.bits().unwrap_or(64) as usize, is_signed: is_signed(ty) },
    }
}

/// A constant as its bits.
pub(super) fn constant(number: Number, ty: ElementType, format: Fixed) -> i64 {
    match number {
        Number::Real(value) => format.of(value),
        Number::Whole(value) => wrapped(value, ty),
    }
}

/// What is read of a function's values: the function, and the operand that is known, with its place.
pub(super) type Function = (Each, Option<(usize, i64)>);

/// Where the tables of functions lie.
pub(super) trait Tables {
    /// The memory with all values of a function of real numbers.
    fn table(&mut self, function: Function) -> Result<usize, Refusal>;
}

/// Writes the elements of a program into the datapath of a stage.
pub(super) struct Maker<'a, T> {
    pub(super) program: &'a Program,
    /// The memory of each value that is in one.
    pub(super) memories: &'a [Option<usize>],
    pub(super) format: Fixed,
    pub(super) tables: &'a mut T,
    pub(super) path: Path,
    pub(super) known: FxHashMap<(NodeId, Vec<Ix>), At>,
    pub(super) depth: usize,
}

fn refuse<R>(why: impl Into<String>) -> Result<R, Refusal> {
    Err(Refusal(why.into()))
}

impl<T: Tables> Maker<'_, T> {
    /// A read of a memory.
    pub(super) fn load(&mut self, memory: usize, place: &Ix, ty: ElementType) -> Result<At, Refusal> {
        let address = match place.known() {
            Some(at) => self.path.put(Item::Literal(at), ElementType::S64, Wires { width: 40, is_signed: true })?,
            None => self.path.sum(place)?,
        };
        self.path.put(Item::Load(memory, address), ty, wires(ty, self.format))
    }

    /// An element of a value: from memory, or as it is made.
    pub(super) fn value(&mut self, at: NodeId, index: &[Ix]) -> Result<At, Refusal> {
        let node = &self.program.nodes[at];
        if let Some(memory) = self.memories[at] {
            return self.load(memory, &linear(index, &node.dims), node.element_type);
        }
        self.made(at, index)
    }

    /// An element as it is made.
    pub(super) fn made(&mut self, at: NodeId, index: &[Ix]) -> Result<At, Refusal> {
        let key = (at, index.to_vec());
        if let Some(&made) = self.known.get(&key) {
            return Ok(made);
        }
        self.depth += 1;
        if self.depth > DEEPEST {
            return refuse("operations follow one another too deeply");
        }
        let made = self.made_of(at, index)?;
        self.depth -= 1;
        self.known.insert(key, made);
        Ok(made)
    }

    fn literal(&mut self, bits: i64, ty: ElementType) -> Result<At, Refusal> {
        self.path.put(Item::Literal(bits), ty, wires(ty, self.format))
    }

    fn made_of(&mut self, at: NodeId, index: &[Ix]) -> Result<At, Refusal> {
        let program = self.program;
        let node = &program.nodes[at];
        let ty = node.element_type;
        let of = |number: usize| &program.nodes[node.of[number]];
        let place: Vec<Ix> = match &node.op {
            Op::Constant(values) if values.len() == 1 => {
                return self.literal(constant(values[0], ty, self.format), ty);
            }
            Op::Iota(dim) => return self.count(&index[*dim], ty),
            Op::Each(each) => {
                let mut operands = Vec::with_capacity(node.of.len());
                for operand in &node.of {
                    let dims = &program.nodes[*operand].dims;
                    let own = if *dims == node.dims { index.to_vec() } else { vec![Ix::default(); dims.len()] };
                    operands.push(self.value(*operand, &own)?);
                }
                return self.each(*each, operands, ty);
            }
            Op::Broadcast(to) => to.iter().map(|dim| index[*dim].clone()).collect(),
            Op::Reshape => self.reshaped(index, &node.dims, &of(0).dims)?,
            Op::Transpose(from) => {
                let mut place = vec![Ix::default(); from.len()];
                from.iter().zip(index).for_each(|(dim, at)| place[*dim] = at.clone());
                place
            }
            Op::Slice(starts) => {
                let pairs = starts.iter().zip(index);
                pairs.map(|((start, stride), at)| at.scaled(*stride as i64, *start as i64)).collect()
            }
            Op::Reverse(turned) => {
                let turn = |dim: usize| match turned.contains(&dim) {
                    true => index[dim].scaled(-1, of(0).dims[dim] as i64 - 1),
                    false => index[dim].clone(),
                };
                (0..index.len()).map(turn).collect()
            }
            Op::Pad(edges) => {
                let (mut place, mut holds) = (Vec::new(), Vec::new());
                for ((at, (low, interior)), extent) in index.iter().zip(edges).zip(&of(0).dims) {
                    let (here, more) = self.stepped(&at.scaled(1, -low), *interior as i64 + 1, *extent as i64)?;
                    place.push(here);
                    holds.extend(more);
                }
                let fill = vec![Ix::default(); of(1).dims.len()];
                let holds = self.path.all(&holds)?;
                return match holds {
                    Holds::Always => self.value(node.of[0], &place),
                    Holds::Never => self.value(node.of[1], &fill),
                    Holds::Where(holds) => {
                        let (value, fill) = (self.value(node.of[0], &place)?, self.value(node.of[1], &fill)?);
                        self.each(Each::Select, vec![holds, value, fill], ty)
                    }
                };
            }
            Op::Concatenate(dim) => return self.joined(at, *dim, index),
            Op::DynamicSlice => {
                let mut place = Vec::with_capacity(index.len());
                for (dim, here) in index.iter().enumerate() {
                    let start = self.start(node.of[1 + dim], of(0).dims[dim] - node.dims[dim])?;
                    place.push(here.plus(&start));
                }
                place
            }
            Op::Gather(gather) => self.placed(at, gather, index, &mut None)?,
            op => return refuse(format!("`{}` is a {}, which the engine has no design for", node.name, op.name())),
        };
        self.value(node.of[0], &place)
    }

    /// A position as a number of the program.
    fn count(&mut self, ix: &Ix, ty: ElementType) -> Result<At, Refusal> {
        if let Some(count) = ix.known() {
            let number = if ty.is_float() { Number::Real(count as f64) } else { Number::Whole(count) };
            return self.literal(constant(number, ty, self.format), ty);
        }
        let sum = self.path.sum(ix)?;
        let wide = self.path.put(Item::Number(sum), ElementType::S32, wires(ElementType::S32, self.format))?;
        if ty == ElementType::S32 { Ok(wide) } else { self.each(Each::Convert, vec![wide], ty) }
    }

    /// Where elements lie of which only every so many are there, and where they are.
    pub(super) fn stepped(&mut self, ix: &Ix, step: i64, extent: i64) -> Result<(Ix, [Holds; 2]), Refusal> {
        let (place, left) = self.path.divided(ix, step)?;
        Ok((place.clone(), [self.path.within(&place, 0, extent - 1)?, self.path.within(&left, 0, 0)?]))
    }

    /// A start, held within an array.
    pub(super) fn start(&mut self, at: NodeId, most: usize) -> Result<Ix, Refusal> {
        if most == 0 {
            return Ok(Ix::default());
        }
        let rank = self.program.nodes[at].dims.len();
        let value = self.value(at, &vec![Ix::default(); rank])?;
        self.path.clamped(value, most)
    }

    /// Where an element of a gather comes from, or one of a scatter goes; with `outside`, whether it lies inside the array.
    pub(super) fn placed(
        &mut self,
        at: NodeId,
        gather: &Gather,
        index: &[Ix],
        inside: &mut Option<Vec<Holds>>,
    ) -> Result<Vec<Ix>, Refusal> {
        let program = self.program;
        let node = &program.nodes[at];
        let (operand, indices) = (&program.nodes[node.of[0]].dims, &program.nodes[node.of[1]].dims);
        let outer: Vec<Ix> =
            (0..index.len()).filter(|dim| !gather.offset.contains(dim)).map(|dim| index[dim].clone()).collect();
        let mut place = vec![Ix::default(); operand.len()];
        for (component, dim) in gather.starts.iter().enumerate() {
            let mut rest = outer.iter();
            let one = |dim: usize| match dim == gather.index_dim {
                true => Ix::number(component as i64),
                false => rest.next().cloned().unwrap_or_default(),
            };
            let full: Vec<Ix> = (0..indices.len()).map(one).collect();
            let most = operand[*dim] - gather.sizes[*dim];
            place[*dim] = match inside {
                Some(holds) => {
                    let start = self.value(node.of[1], &full)?;
                    let (place, one) = self.path.inside(start, most)?;
                    holds.push(one);
                    place
                }
                None if most == 0 => Ix::default(),
                None => {
                    let start = self.value(node.of[1], &full)?;
                    self.path.clamped(start, most)?
                }
            };
        }
        for (of_operand, of_indices) in gather.operand_batch.iter().zip(&gather.index_batch) {
            let at = (0..indices.len()).filter(|dim| *dim != gather.index_dim).position(|dim| dim == *of_indices);
            place[*of_operand] = at.map_or(Ix::default(), |at| outer[at].clone());
        }
        let windowed =
            (0..operand.len()).filter(|dim| !gather.collapsed.contains(dim) && !gather.operand_batch.contains(dim));
        for (of_result, dim) in gather.offset.iter().zip(windowed) {
            place[dim] = place[dim].plus(&index[*of_result]);
        }
        Ok(place)
    }

    fn joined(&mut self, at: NodeId, dim: usize, index: &[Ix]) -> Result<At, Refusal> {
        let program = self.program;
        let node = &program.nodes[at];
        let mut parts = Vec::new();
        let mut before = 0;
        for &operand in &node.of {
            let extent = program.nodes[operand].dims[dim] as i64;
            let here = self.path.within(&index[dim], before, before + extent - 1)?;
            if here != Holds::Never {
                let mut inside = index.to_vec();
                inside[dim] = index[dim].scaled(1, -before);
                parts.push((here, self.value(operand, &inside)?));
            }
            before += extent;
        }
        let Some((_, mut value)) = parts.pop() else { return refuse(format!("`{}` joins nothing", node.name)) };
        while let Some((here, other)) = parts.pop() {
            value = match here {
                Holds::Where(here) => self.each(Each::Select, vec![here, other, value], node.element_type)?,
                _ => other,
            };
        }
        Ok(value)
    }

    /// The index of the same element in an array of other dimensions.
    fn reshaped(&mut self, index: &[Ix], from: &[usize], to: &[usize]) -> Result<Vec<Ix>, Refusal> {
        let mut all = linear(index, from);
        let mut place = vec![Ix::default(); to.len()];
        for (dim, extent) in to.iter().enumerate().rev() {
            // What is in front of the first dimension that counts is nothing.
            if to[..dim].iter().all(|extent| *extent == 1) {
                place[dim] = all;
                break;
            }
            (all, place[dim]) = self.path.divided(&all, *extent as i64)?;
        }
        Ok(place)
    }

    /// An operation of the program.
    pub(super) fn each(&mut self, each: Each, of: Vec<At>, ty: ElementType) -> Result<At, Refusal> {
        let from = of.first().map_or(ty, |at| self.path.nodes[*at].ty);
        match (each, &of[..]) {
            (Each::Clamp, &[low, value, high]) => {
                let least = self.each(Each::Maximum, vec![value, low], ty)?;
                return self.each(Each::Minimum, vec![least, high], ty);
            }
            (Each::IsFinite, _) if from.is_float() => return self.literal(1, ty),
            (Each::Convert, &[at]) if from == ty || from.is_float() && ty.is_float() => return Ok(at),
            (Each::Bits, _) if from.is_float() || ty.is_float() => {
                return refuse("it reads the bits of real numbers, which fixed point does not have");
            }
            (Each::Bits, &[at]) if from == ty => return Ok(at),
            _ => {}
        }
        if from.is_float() && ty.is_float() && is_function(each) {
            return self.function(each, &of, ty);
        }
        if matches!(each, Each::Power | Each::Atan2) {
            return refuse(format!("{} of whole numbers has no design here", each.name()));
        }
        self.path.put(Item::Each(each, of), ty, wires(ty, self.format))
    }

    /// A function by the table of its values.
    fn function(&mut self, each: Each, of: &[At], ty: ElementType) -> Result<At, Refusal> {
        let known = |at: At| if let Item::Literal(bits) = self.path.nodes[at].item { Some(bits) } else { None };
        let (operand, function) = match *of {
            [a] => (a, (each, None)),
            [a, b] => match (known(a), known(b)) {
                (_, Some(bits)) => (a, (each, Some((1, bits)))),
                (Some(bits), _) => (b, (each, Some((0, bits)))),
                _ => return refuse(format!("{} of two variables has no design here", each.name())),
            },
            _ => return refuse(format!("{} has no design here", each.name())),
        };
        let memory = self.tables.table(function)?;
        self.path.put(Item::Load(memory, operand), ty, wires(ty, self.format))
    }
}

/// Whether a function of fixed point is made by a table.
fn is_function(each: Each) -> bool {
    each.is_transcendental() || matches!(each, Each::RoundAway | Each::RoundEven)
}
