//! Reference C++ of a program: loops in the order of the interpreter, a value in memory only where it is read more than once.
//!
//! What only moves elements becomes an index; what is read once becomes a part of the expression that reads it.

mod code;
mod expression;
mod repeated;
mod test_bench;
mod xla_call;

pub use test_bench::test_bench;
pub use xla_call::{XLA_CALL, xla_call};

use crate::program::{Gather, Node, NodeId, Op, Order, Program, Reducer};
use crate::vectors;
pub(crate) use code::{Code, type_name};
use expression::{Index, linear};
use ridge_hlo::sorting_network::{LARGEST, exchanges};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// What the generated code includes.
pub const NUMBERS: &str = include_str!("cpp/numbers.h");

/// Operations inside one expression.
const DEEPEST: usize = 40;

/// Letters of an expression that is written once for each value of a sort.
const UNROLLED: usize = 1 << 12;

/// The kernel's head, `void kernel(const F32* in0, …)`.
pub(crate) fn signature(program: &Program) -> String {
    let inputs = program.inputs.iter().enumerate();
    let inputs = inputs.map(|(at, port)| format!("const {}* in{at}", type_name(port.element_type)));
    let outputs = program.outputs.iter().enumerate();
    let outputs = outputs.map(|(at, node)| format!("{}* out{at}", type_name(program.nodes[*node].element_type)));
    format!("void kernel({})", inputs.chain(outputs).collect::<Vec<_>>().join(", "))
}

/// The header that declares the kernel.
pub fn header(program: &Program) -> String {
    format!(
        "// The region's function: arrays in logical order, the last dimension fastest.\n#pragma once\n#include \"numbers.h\"\n\n{};\n",
        signature(program)
    )
}

/// The kernel.
pub fn kernel(program: &Program) -> String {
    let mut text = String::from(
        "// Reference of the region, made from its HLO; the order of operations is part of it.\n#include \"kernel.h\"\n\n",
    );
    let inputs = (0..program.inputs.len()).map(|number| format!("in{number}")).collect();
    let code =
        Code { program, in_memory: in_memory(program), inputs, scope: String::new(), in_place: FxHashMap::default() };
    let _ = writeln!(text, "{} {{", signature(program));
    code.arrays(&mut text);
    for (number, &output) in program.outputs.iter().enumerate() {
        let node = &program.nodes[output];
        let count = node.elements();
        let name = code.array(output);
        let _ = writeln!(text, "  for (int64_t i = 0; i < {count}; ++i) out{number}[i] = {name}[i];");
    }
    text.push_str("}\n");
    text
}

/// Arrays that the kernel keeps between its loops, in bytes.
pub(crate) fn kept_bytes(program: &Program) -> usize {
    let kept = in_memory(program);
    let bytes = |node: &Node| node.elements() * vectors::width(node.element_type);
    let arrays = program.nodes.iter().enumerate().filter(|(at, _)| kept[*at]);
    arrays
        .map(|(_, node)| match &node.op {
            Op::Input(_) | Op::State(_) => 0,
            Op::Loop(inner) => inner.changing().map(|state| bytes(state.1)).sum::<usize>() + kept_bytes(&inner.body),
            _ => bytes(node),
        })
        .sum()
}

/// Which values are arrays in memory.
pub(crate) fn in_memory(program: &Program) -> Vec<bool> {
    let mut reads = vec![0_usize; program.nodes.len()];
    let mut is_kept = vec![false; program.nodes.len()];
    let mut depth = vec![0_usize; program.nodes.len()];
    program.outputs.iter().for_each(|output| is_kept[*output] = true);
    for at in (0..program.nodes.len()).rev() {
        let node = &program.nodes[at];
        let passes_on = if expression::only_moves(&node.op) && !is_kept[at] { reads[at].max(1) } else { 1 };
        for (place, operand) in node.of.iter().enumerate() {
            reads[*operand] += passes_on;
            let random = match node.op {
                Op::ReduceWindow(..) | Op::Dot { .. } => true,
                Op::Gather(_) | Op::DynamicSlice | Op::DynamicUpdateSlice => place == 0,
                Op::Scatter(..) => place == 1,
                Op::Broadcast(_) => node.elements() > program.nodes[*operand].elements(),
                _ => false,
            };
            // What stays the same in a loop is read there where it is.
            let stays = matches!(&node.op, Op::Loop(inner) if inner.keeps(place));
            is_kept[*operand] |= stays || random && !expression::is_cheap(program, *operand);
        }
    }
    for (at, node) in program.nodes.iter().enumerate() {
        let is_leaf = expression::is_cheap(program, at);
        let is_loop = matches!(
            node.op,
            Op::Reduce(..)
                | Op::ReduceWindow(..)
                | Op::Sort(..)
                | Op::Dot { .. }
                | Op::DynamicUpdateSlice
                | Op::Scatter(..)
                | Op::Loop(_)
                | Op::State(_)
                | Op::Input(_)
        );
        let is_table = matches!(&node.op, Op::Constant(values) if values.len() > 1);
        depth[at] =
            1 + node.of.iter().map(|operand| if is_kept[*operand] { 0 } else { depth[*operand] }).max().unwrap_or(0);
        let is_shared = reads[at] > 1 && !expression::only_moves(&node.op);
        is_kept[at] |= is_loop || is_table || !is_leaf && (is_shared || depth[at] > DEEPEST);
        if is_kept[at] {
            depth[at] = 0;
        }
    }
    is_kept
}

impl Code<'_> {
    pub(crate) fn array(&self, at: NodeId) -> String {
        let node = &self.program.nodes[at];
        match node.op {
            Op::Input(number) => self.inputs[number].clone(),
            _ if self.in_place.contains_key(&at) => self.inputs[self.in_place[&at]].clone(),
            Op::State(number) => self.state(node.of[0], number),
            _ => format!("v{}{at}", self.scope),
        }
    }

    /// All that is in memory, in order.
    fn arrays(&self, text: &mut String) {
        for (at, node) in self.program.nodes.iter().enumerate() {
            if self.in_memory[at] && !matches!(node.op, Op::Input(_) | Op::State(_)) {
                self.node(at, node, text);
            }
        }
    }

    /// The loops that make one array.
    fn node(&self, at: NodeId, node: &Node, text: &mut String) {
        let (ty, name) = (type_name(node.element_type), self.array(at));
        let source = if node.source.is_empty() { String::new() } else { format!(" // {}", one_line(&node.source)) };
        let _ = writeln!(text, "  // {} = {}{source}", one_line(&node.name), node.op.name());
        if let Op::Constant(values) = &node.op
            && values.len() > 1
        {
            let all: Vec<String> = values.iter().map(|value| expression::literal(*value, node.element_type)).collect();
            let _ = writeln!(text, "  static const {ty} {name}[{}] = {{{}}};", values.len(), all.join(", "));
            return;
        }
        if let Op::Loop(inner) = &node.op {
            return self.repeated(at, node, inner, text);
        }
        if !self.in_place.contains_key(&at) {
            let _ = writeln!(text, "  static {ty} {name}[{}];", node.elements());
        }
        match &node.op {
            Op::Sort(dim, order) => self.sort(at, node, *dim, *order, text),
            Op::DynamicUpdateSlice => self.update(at, node, text),
            Op::Scatter(gather, joined) => self.scatter(at, node, gather, *joined, text),
            _ => {
                let index = loops(&node.dims, "i", 1, text);
                let place = linear(&index, &node.dims);
                let value = match &node.op {
                    Op::Reduce(..) | Op::ReduceWindow(..) | Op::Dot { .. } => {
                        self.fold(node, &index, text);
                        "a".to_owned()
                    }
                    _ => self.made(at, &index),
                };
                let _ = writeln!(text, "    {name}[{place}] = {value};");
                close(text);
            }
        }
    }

    /// A value that many are joined to, in `a`.
    fn fold(&self, node: &Node, index: &[Index], text: &mut String) {
        let ty = type_name(node.element_type);
        let dims = |at: usize| &self.program.nodes[node.of[at]].dims;
        let first = match node.op {
            Op::Dot { .. } => expression::zero(node.element_type),
            _ => self.value(node.of[1], &vec![Index::At(0); dims(1).len()]),
        };
        let _ = writeln!(text, "    {ty} a = {first};");
        match &node.op {
            Op::Reduce(gone, reducer) => {
                let inner: Vec<usize> = gone.iter().map(|dim| dims(0)[*dim]).collect();
                let within = loops(&inner, "j", 2, text);
                let mut outer = index.iter();
                let full: Vec<Index> = (0..dims(0).len())
                    .map(|dim| match gone.iter().position(|one| *one == dim) {
                        Some(place) => within[place].clone(),
                        None => outer.next().cloned().unwrap_or(Index::At(0)),
                    })
                    .collect();
                let _ =
                    writeln!(text, "      a = hlo::{}(a, {});", reducer.each().name(), self.value(node.of[0], &full));
                close(text);
            }
            Op::ReduceWindow(windows, reducer) => {
                let inner: Vec<usize> = windows.iter().map(|window| window.size).collect();
                let within = loops(&inner, "j", 2, text);
                let (mut full, mut inside) = (Vec::new(), Vec::new());
                for (dim, window) in windows.iter().enumerate() {
                    let place = format!(
                        "({}*{}+{}*{}-({}))",
                        index[dim], window.stride, within[dim], window.dilation, window.low
                    );
                    inside.push(format!(
                        "{place} >= 0 && {place} % {} == 0 && {place} / {} < {}",
                        window.base,
                        window.base,
                        dims(0)[dim]
                    ));
                    full.push(Index::Text(format!("({place}/{})", window.base)));
                }
                let _ = writeln!(
                    text,
                    "      if ({}) a = hlo::{}(a, {});",
                    inside.join(" && "),
                    reducer.each().name(),
                    self.value(node.of[0], &full)
                );
                close(text);
            }
            Op::Dot { contract, batch } => {
                let inner: Vec<usize> = contract.0.iter().map(|dim| dims(0)[*dim]).collect();
                let within = loops(&inner, "j", 2, text);
                let mut free = batch.0.len();
                let mut side = |at: usize, contract: &[usize], batch: &[usize]| -> String {
                    let full: Vec<Index> = (0..dims(at).len())
                        .map(|dim| {
                            if let Some(place) = contract.iter().position(|one| *one == dim) {
                                return within[place].clone();
                            }
                            if let Some(place) = batch.iter().position(|one| *one == dim) {
                                return index[place].clone();
                            }
                            free += 1;
                            index[free - 1].clone()
                        })
                        .collect();
                    self.value(node.of[at], &full)
                };
                let left = side(0, &contract.0, &batch.0);
                let right = side(1, &contract.1, &batch.1);
                let _ = writeln!(text, "      a = hlo::add(a, hlo::multiply({left}, {right}));");
                close(text);
            }
            _ => {}
        }
    }

    fn sort(&self, at: NodeId, node: &Node, dim: usize, order: Order, text: &mut String) {
        let (ty, name) = (type_name(node.element_type), self.array(at));
        let extent = node.dims[dim];
        let mut outer = node.dims.clone();
        outer[dim] = 1;
        let mut index = loops(&outer, "i", 1, text);
        let _ = writeln!(text, "    {ty} c[{extent}];");
        index[dim] = Index::Text("k".to_owned());
        let looped = self.value(node.of[0], &index);
        if looped.len() > UNROLLED || extent > LARGEST {
            let _ = writeln!(text, "    for (int64_t k = 0; k < {extent}; ++k) c[k] = {looped};");
        } else {
            for place in 0..extent {
                index[dim] = Index::At(place as i64);
                let _ = writeln!(text, "    c[{place}] = {};", self.value(node.of[0], &index));
            }
        }
        let wanted = self.wanted(at, dim, extent);
        let kind = match order {
            Order::Total => "total",
            Order::Less => "less",
            Order::Greater => "greater",
        };
        if let Some(pairs) = exchanges(extent, Some(&wanted)) {
            for (low, high) in pairs {
                let _ = writeln!(text, "    hlo::exchange_{kind}(c[{low}], c[{high}]);");
            }
        } else {
            let before = match order {
                Order::Total => "before(a, b)",
                Order::Less => "lt(a, b)",
                Order::Greater => "gt(a, b)",
            };
            let _ = writeln!(
                text,
                "    std::stable_sort(c, c + {extent}, [](const {ty}& a, const {ty}& b) {{ return hlo::{before}; }});"
            );
        }
        for place in wanted {
            index[dim] = Index::At(place as i64);
            let _ = writeln!(text, "    {name}[{}] = c[{place}];", linear(&index, &node.dims));
        }
        close(text);
    }

    /// Places along the sorted dimension that somebody reads.
    fn wanted(&self, sort: NodeId, dim: usize, extent: usize) -> Vec<usize> {
        wanted(self.program, sort, dim, extent)
    }

    /// What an update changes, as it was before.
    fn before(&self, at: NodeId, node: &Node, text: &mut String) {
        if !self.in_place.contains_key(&at) {
            let index = loops(&node.dims, "i", 1, text);
            let (name, place) = (self.array(at), linear(&index, &node.dims));
            let _ = writeln!(text, "    {name}[{place}] = {};", self.value(node.of[0], &index));
            close(text);
        }
    }

    /// Each update in its order, left out where a part of its window lies outside.
    fn scatter(&self, at: NodeId, node: &Node, gather: &Gather, joined: Option<Reducer>, text: &mut String) {
        self.before(at, node, text);
        let index = loops(&self.program.nodes[node.of[2]].dims, "i", 1, text);
        let mut inside = Vec::new();
        let place = self.placed(node, gather, &index, |number, start, most| {
            let name = format!("p{number}");
            inside.push(format!("{name} >= 0"));
            let _ = writeln!(text, "    const int64_t {name} = hlo::inside({start}, {most});");
            name
        });
        let (name, place, update) = (self.array(at), linear(&place, &node.dims), self.value(node.of[2], &index));
        let value = match joined {
            Some(reducer) => format!("hlo::{}({name}[{place}], {update})", reducer.each().name()),
            None => update,
        };
        let is_inside = if inside.is_empty() { "true".to_owned() } else { inside.join(" && ") };
        let _ = writeln!(text, "    if ({is_inside}) {name}[{place}] = {value};");
        close(text);
    }

    fn update(&self, at: NodeId, node: &Node, text: &mut String) {
        let name = self.array(at);
        self.before(at, node, text);
        let part = &self.program.nodes[node.of[1]].dims;
        let starts: Vec<String> =
            (0..part.len()).map(|dim| self.start(node.of[2 + dim], node.dims[dim] - part[dim])).collect();
        let index = loops(part, "i", 1, text);
        let place: Vec<Index> =
            index.iter().zip(&starts).map(|(at, start)| Index::Text(format!("({at}+{start})"))).collect();
        let _ = writeln!(text, "    {name}[{}] = {};", linear(&place, &node.dims), self.value(node.of[1], &index));
        close(text);
    }

    /// A start as an expression.
    pub(crate) fn start(&self, at: NodeId, most: usize) -> String {
        let rank = self.program.nodes[at].dims.len();
        format!("hlo::start({}, {most})", self.value(at, &vec![Index::At(0); rank]))
    }
}

/// Places along the sorted dimension that somebody reads: all, unless only slices of one place each do.
pub(crate) fn wanted(program: &Program, sort: NodeId, dim: usize, extent: usize) -> Vec<usize> {
    let mut places = BTreeSet::new();
    for node in program.nodes.iter().filter(|node| node.of.contains(&sort)) {
        match &node.op {
            Op::Slice(starts) if node.dims[dim] == 1 => places.insert(starts[dim].0),
            _ => return (0..extent).collect(),
        };
    }
    if places.is_empty() || program.outputs.contains(&sort) {
        (0..extent).collect()
    } else {
        places.into_iter().collect()
    }
}

/// Opens a loop for each dimension; the innermost is the pipeline.
fn loops(dims: &[usize], letter: &str, depth: usize, text: &mut String) -> Vec<Index> {
    let pad = "  ".repeat(depth);
    if dims.is_empty() {
        let _ = writeln!(text, "{pad}{{");
    }
    let mut index = Vec::new();
    for (dim, extent) in dims.iter().enumerate() {
        let name = format!("{letter}{dim}");
        let end = if dim + 1 == dims.len() { " {" } else { "" };
        let _ = writeln!(text, "{pad}for (int64_t {name} = 0; {name} < {extent}; ++{name}){end}");
        index.push(if *extent == 1 { Index::At(0) } else { Index::Text(name) });
    }
    if !dims.is_empty() && depth == 1 {
        let _ = writeln!(text, "#pragma HLS PIPELINE II=1");
    }
    index
}

fn close(text: &mut String) {
    text.push_str("  }\n");
}

/// Text that cannot leave its comment.
fn one_line(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() || letter == '\\' { ' ' } else { letter }).take(160).collect()
}

/// Operations of the program by what they do, each as often as it is done.
pub(crate) fn counts(program: &Program) -> Vec<(String, u64)> {
    let mut all: std::collections::BTreeMap<String, u64> = std::collections::BTreeMap::new();
    for (at, node) in program.nodes.iter().enumerate() {
        let count = match &node.op {
            Op::Each(_) => node.elements() as u64,
            Op::Sort(dim, _) if node.dims[*dim] <= LARGEST => {
                let extent = node.dims[*dim];
                let pairs = exchanges(extent, Some(&wanted(program, at, *dim, extent))).map_or(0, |pairs| pairs.len());
                *all.entry("compare-exchange".to_owned()).or_default() += (node.elements() / extent * pairs) as u64;
                continue;
            }
            Op::Reduce(..) => program.nodes[node.of[0]].elements() as u64,
            Op::Gather(_) => node.elements() as u64,
            Op::Scatter(..) => program.nodes[node.of[2]].elements() as u64,
            Op::Loop(inner) => {
                for (name, count) in counts(&inner.body) {
                    *all.entry(name).or_default() += count.saturating_mul(inner.trips as u64);
                }
                continue;
            }
            _ => continue,
        };
        *all.entry(node.op.name().to_owned()).or_default() += count;
    }
    all.into_iter().collect()
}

/// Whether an operation is of real numbers that a designer cannot build from adders and multipliers alone.
pub(crate) fn transcendental(program: &Program) -> Vec<&'static str> {
    let named = program.nodes.iter().flat_map(|node| match &node.op {
        Op::Each(each) if each.is_transcendental() => vec![node.op.name()],
        Op::Loop(inner) => transcendental(&inner.body),
        _ => Vec::new(),
    });
    named.collect::<BTreeSet<_>>().into_iter().collect()
}
