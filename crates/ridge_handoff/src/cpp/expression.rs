//! Elements as expressions of their index.

use super::code::{Code, type_name};
use crate::program::{Each, Gather, Node, NodeId, Number, Op, Program};
use ridge_hlo::ElementType;
use std::fmt;

/// A place along one dimension.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Index {
    /// A known one.
    At(i64),
    /// An expression.
    Text(String),
}

impl fmt::Display for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Index::At(at) => write!(f, "{at}"),
            Index::Text(text) => f.write_str(text),
        }
    }
}

impl Index {
    fn scaled(&self, by: i64, more: i64) -> Index {
        match self {
            Index::At(at) => Index::At(at * by + more),
            Index::Text(text) => match (by, more) {
                (1, 0) => self.clone(),
                (1, more) => Index::Text(format!("({text}{more:+})")),
                (by, 0) => Index::Text(format!("({text}*{by})")),
                (by, more) => Index::Text(format!("({text}*{by}{more:+})")),
            },
        }
    }
}

/// The position of an index.
pub(crate) fn linear(index: &[Index], dims: &[usize]) -> Index {
    let mut all = Index::At(0);
    for (at, extent) in index.iter().zip(dims) {
        all = match (all.scaled(*extent as i64, 0), at) {
            (Index::At(a), Index::At(b)) => Index::At(a + b),
            (Index::At(0), at) => at.clone(),
            (all, Index::At(b)) => all.scaled(1, *b),
            (all, at) => Index::Text(format!("({all}+{at})")),
        };
    }
    all
}

/// Whether an operation only says where elements come from.
pub(crate) fn only_moves(op: &Op) -> bool {
    matches!(op, Op::Broadcast(_) | Op::Reshape | Op::Transpose(_) | Op::Slice(_) | Op::Reverse(_))
}

/// Whether a value costs nothing to make again.
pub(crate) fn is_cheap(program: &Program, at: NodeId) -> bool {
    let node = &program.nodes[at];
    match &node.op {
        Op::Iota(_) => true,
        Op::Constant(values) => values.len() == 1,
        op if only_moves(op) => is_cheap(program, node.of[0]),
        _ => false,
    }
}

/// Nothing, of this type.
pub(crate) fn zero(ty: ElementType) -> String {
    literal(if ty.is_float() { Number::Real(0.0) } else { Number::Whole(0) }, ty)
}

/// A number, exactly.
pub(crate) fn literal(number: Number, ty: ElementType) -> String {
    let name = type_name(ty);
    match number {
        Number::Whole(value) if ty == ElementType::Pred => (value != 0).to_string(),
        Number::Whole(i64::MIN) => format!("{name}(INT64_MIN)"),
        Number::Whole(value) => format!("{name}({value}LL)"),
        Number::Real(value) if value.is_nan() => format!("{name}(__builtin_nan(\"\"))"),
        Number::Real(value) if value.is_infinite() => {
            format!("{name}({}__builtin_inf())", if value < 0.0 { "-" } else { "" })
        }
        Number::Real(value) => format!("{name}({})", hexadecimal(value)),
    }
}

/// A double as C++ writes it without rounding, `0x1.8p+1`.
fn hexadecimal(value: f64) -> String {
    let bits = value.to_bits();
    let (sign, exponent, mantissa) = (bits >> 63, (bits >> 52 & 0x7ff) as i64, bits & ((1 << 52) - 1));
    let sign = if sign == 1 { "-" } else { "" };
    match exponent {
        0 if mantissa == 0 => format!("{sign}0.0"),
        0 => format!("{sign}0x0.{mantissa:013x}p-1022"),
        _ => format!("{sign}0x1.{mantissa:013x}p{:+}", exponent - 1023),
    }
}

impl Code<'_> {
    /// An element of a value: from memory, or as it is made.
    pub(crate) fn value(&self, at: NodeId, index: &[Index]) -> String {
        if self.in_memory[at] {
            return format!("{}[{}]", self.array(at), linear(index, &self.program.nodes[at].dims));
        }
        self.made(at, index)
    }

    /// An element as it is made.
    pub(crate) fn made(&self, at: NodeId, index: &[Index]) -> String {
        let node = &self.program.nodes[at];
        let of = |at: usize| &self.program.nodes[node.of[at]];
        match &node.op {
            Op::Constant(values) if values.len() == 1 => literal(values[0], node.element_type),
            Op::Iota(dim) => format!("hlo::convert<{}>(int64_t({}))", type_name(node.element_type), index[*dim]),
            Op::Each(each) => self.each(at, *each, index),
            Op::Broadcast(to) => self.value(node.of[0], &to.iter().map(|dim| index[*dim].clone()).collect::<Vec<_>>()),
            Op::Reshape => self.value(node.of[0], &reshaped(index, &node.dims, &of(0).dims)),
            Op::Transpose(from) => {
                let mut place = vec![Index::At(0); from.len()];
                from.iter().zip(index).for_each(|(dim, at)| place[*dim] = at.clone());
                self.value(node.of[0], &place)
            }
            Op::Slice(starts) => {
                let place: Vec<Index> = starts
                    .iter()
                    .zip(index)
                    .map(|((start, stride), at)| at.scaled(*stride as i64, *start as i64))
                    .collect();
                self.value(node.of[0], &place)
            }
            Op::Reverse(turned) => {
                let dims = &of(0).dims;
                let place = |dim: usize| {
                    if turned.contains(&dim) { index[dim].scaled(-1, dims[dim] as i64 - 1) } else { index[dim].clone() }
                };
                self.value(node.of[0], &(0..index.len()).map(place).collect::<Vec<_>>())
            }
            Op::Pad(edges) => {
                let fill = self.value(node.of[1], &vec![Index::At(0); of(1).dims.len()]);
                let (mut place, mut inside) = (Vec::new(), Vec::new());
                for ((at, (low, interior)), extent) in index.iter().zip(edges).zip(&of(0).dims) {
                    let moved = at.scaled(1, -low);
                    let step = interior + 1;
                    match (&moved, step) {
                        (_, 1) => {
                            inside.push(format!("{moved} >= 0 && {moved} < {extent}"));
                            place.push(moved);
                        }
                        _ => {
                            inside
                                .push(format!("{moved} >= 0 && {moved} % {step} == 0 && {moved} / {step} < {extent}"));
                            place.push(Index::Text(format!("({moved}/{step})")));
                        }
                    }
                }
                format!("({} ? {} : {fill})", inside.join(" && "), self.value(node.of[0], &place))
            }
            Op::Concatenate(dim) => self.joined(at, *dim, index),
            Op::DynamicSlice => {
                let dims = &of(0).dims;
                let place = |dim: usize| {
                    let start = self.start(node.of[1 + dim], dims[dim] - node.dims[dim]);
                    Index::Text(format!("({}+{start})", index[dim]))
                };
                self.value(node.of[0], &(0..index.len()).map(place).collect::<Vec<_>>())
            }
            Op::Gather(gather) => {
                let place = self.placed(node, gather, index, |_, start, most| format!("hlo::start({start}, {most})"));
                self.value(node.of[0], &place)
            }
            _ => format!("{}[{}]", self.array(at), linear(index, &node.dims)),
        }
    }

    /// Where an element of a gather's result comes from, or where one of a scatter's updates goes; `held` makes an
    /// expression inside the array of each start, given its number and the greatest it may be.
    pub(super) fn placed(
        &self,
        node: &Node,
        gather: &Gather,
        index: &[Index],
        mut held: impl FnMut(usize, String, usize) -> String,
    ) -> Vec<Index> {
        let dims = |of: usize| &self.program.nodes[node.of[of]].dims;
        let (operand, indices) = (dims(0), dims(1));
        let outer: Vec<Index> =
            (0..index.len()).filter(|dim| !gather.offset.contains(dim)).map(|dim| index[dim].clone()).collect();
        let mut place = vec![Index::At(0); operand.len()];
        for (component, dim) in gather.starts.iter().enumerate() {
            let mut rest = outer.iter();
            let full: Vec<Index> = (0..indices.len())
                .map(|dim| {
                    if dim == gather.index_dim {
                        Index::At(component as i64)
                    } else {
                        rest.next().cloned().unwrap_or(Index::At(0))
                    }
                })
                .collect();
            let most = operand[*dim] - gather.sizes[*dim];
            place[*dim] = Index::Text(held(component, self.value(node.of[1], &full), most));
        }
        for (of_operand, of_indices) in gather.operand_batch.iter().zip(&gather.index_batch) {
            let at = (0..indices.len()).filter(|dim| *dim != gather.index_dim).position(|dim| dim == *of_indices);
            place[*of_operand] = at.map_or(Index::At(0), |at| outer[at].clone());
        }
        let windowed =
            (0..operand.len()).filter(|dim| !gather.collapsed.contains(dim) && !gather.operand_batch.contains(dim));
        for (of_result, dim) in gather.offset.iter().zip(windowed) {
            place[dim] = Index::Text(format!("({}+{})", place[dim], index[*of_result]));
        }
        place
    }

    fn each(&self, at: NodeId, each: Each, index: &[Index]) -> String {
        let node = &self.program.nodes[at];
        let operands: Vec<String> = node
            .of
            .iter()
            .map(|operand| {
                let dims = &self.program.nodes[*operand].dims;
                if *dims == node.dims {
                    self.value(*operand, index)
                } else {
                    self.value(*operand, &vec![Index::At(0); dims.len()])
                }
            })
            .collect();
        let kind = match each {
            Each::Convert => format!("convert<{}>", type_name(node.element_type)),
            Each::Bits => format!("bits<{}>", type_name(node.element_type)),
            each => each.name().to_owned(),
        };
        format!("hlo::{kind}({})", operands.join(", "))
    }

    fn joined(&self, at: NodeId, dim: usize, index: &[Index]) -> String {
        let node = &self.program.nodes[at];
        let mut before = 0;
        let mut text = String::new();
        let mut open = 0;
        for (place, &operand) in node.of.iter().enumerate() {
            let extent = self.program.nodes[operand].dims[dim] as i64;
            let mut inside = index.to_vec();
            inside[dim] = index[dim].scaled(1, -before);
            before += extent;
            match &index[dim] {
                Index::At(at) if *at < before => return self.value(operand, &inside),
                Index::At(_) => {}
                Index::Text(_) if place + 1 == node.of.len() => text.push_str(&self.value(operand, &inside)),
                Index::Text(here) => {
                    text.push_str(&format!("({here} < {before} ? {} : ", self.value(operand, &inside)));
                    open += 1;
                }
            }
        }
        text + &")".repeat(open)
    }
}

/// The index of the same element in an array of other dimensions.
fn reshaped(index: &[Index], from: &[usize], to: &[usize]) -> Vec<Index> {
    let long = |dims: &[usize]| dims.iter().copied().filter(|extent| *extent != 1).collect::<Vec<_>>();
    if long(from) == long(to) {
        let mut rest = index.iter().zip(from).filter(|(_, extent)| **extent != 1).map(|(at, _)| at.clone());
        return to
            .iter()
            .map(|extent| if *extent == 1 { Index::At(0) } else { rest.next().unwrap_or(Index::At(0)) })
            .collect();
    }
    let all = linear(index, from);
    let mut step: usize = to.iter().product();
    to.iter()
        .map(|extent| {
            step /= (*extent).max(1);
            match &all {
                Index::At(at) => Index::At(at / step as i64 % *extent as i64),
                Index::Text(text) => Index::Text(format!("(({text})/{step}%{extent})")),
            }
        })
        .collect()
}
