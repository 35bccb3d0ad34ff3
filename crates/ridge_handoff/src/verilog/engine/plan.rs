//! A program as stages that run one after the other: each makes one array in memory from others.
//!
//! Every stage is a nest of loops that begins an element a clock. A sum runs in the order of its index, and updates of a scatter
//! in theirs, so the bits are those of the interpreter. What a loop of the program changes stays on the chip from trip to trip.

use super::element::{Function, Maker, Tables, constant, wires};
use super::path::{At, Holds, Item, Ix, Path, linear};
use crate::arithmetic::{Arithmetic as _, Fixed};
use crate::program::{Each, Loop, Node, NodeId, Op, Order, Program, Reducer, Relation};
use crate::{Refusal, cpp};
use ridge_hlo::ElementType;
use rustc_hash::FxHashMap;

/// Stages of an engine.
const MOST_STAGES: usize = 600;

/// Bits of a function's argument: its table has 2 to the power of this many values.
const WIDEST_TABLE: u32 = 16;

/// Arrays that are joined as they are read; more of them are put into one array first.
const JOINED: usize = 4;

/// A memory on the chip.
#[derive(Debug)]
pub(super) struct Memory {
    pub(super) width: usize,
    pub(super) words: usize,
    /// The name and the words of a table that is never written.
    pub(super) table: Option<(String, Vec<i64>)>,
    /// What it holds, in words.
    pub(super) about: String,
}

/// What a stage does with the value of each of its steps.
#[derive(Debug)]
pub(super) enum Kind {
    /// Writes it, where that holds, joined to what is there if an operation is given.
    Write { inside: Option<At>, joined: Option<Each> },
    /// Joins it, where that holds, to the values since the step that is the first, and writes what comes out at the last.
    Fold { first: At, last: At, begin: At, inside: Option<At>, each: Each },
}

/// One stage.
#[derive(Debug)]
pub(super) struct Stage {
    /// What it makes, in words.
    pub(super) about: String,
    /// The extents of its loops, the last fastest.
    pub(super) dims: Vec<usize>,
    pub(super) path: Path,
    pub(super) value: At,
    pub(super) place: At,
    pub(super) target: usize,
    pub(super) ty: ElementType,
    pub(super) kind: Kind,
}

/// An array that comes in or goes out.
#[derive(Debug)]
pub(super) struct Moved {
    pub(super) memory: usize,
    pub(super) words: usize,
    pub(super) ty: ElementType,
}

/// All of an engine.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) memories: Vec<Memory>,
    pub(super) stages: Vec<Stage>,
    /// First and last stage of each loop, and its trips; those inside before those around them.
    pub(super) loops: Vec<(usize, usize, usize)>,
    pub(super) inputs: Vec<Moved>,
    pub(super) outputs: Vec<Moved>,
}

fn refuse<R>(why: impl Into<String>) -> Result<R, Refusal> {
    Err(Refusal(why.into()))
}

/// The plan of a program.
///
/// # Errors
/// [`Refusal`] where an operation has no design.
pub(super) fn plan(program: &Program, format: Fixed) -> Result<Plan, Refusal> {
    let mut planner = Planner {
        format,
        memories: Vec::new(),
        stages: Vec::new(),
        loops: Vec::new(),
        functions: FxHashMap::default(),
    };
    if program.inputs.is_empty() {
        return refuse("it has no inputs");
    }
    let mut inputs = Vec::with_capacity(program.inputs.len());
    for (number, port) in program.inputs.iter().enumerate() {
        let words: usize = port.dims.iter().product();
        let memory = planner.memory(words, port.element_type, format!("input {number}, {}", port.name))?;
        inputs.push(Moved { memory, words, ty: port.element_type });
    }
    let held: Vec<Held> = inputs.iter().map(|one| Held { memory: one.memory, may_change: true }).collect();
    let made = planner.program(program, &held)?;
    let outputs = program.outputs.iter().map(|output| {
        let node = &program.nodes[*output];
        let memory = made[*output].ok_or_else(|| Refusal(format!("`{}` is nowhere", node.name)))?;
        Ok(Moved { memory, words: node.elements(), ty: node.element_type })
    });
    let outputs = outputs.collect::<Result<_, Refusal>>()?;
    let Planner { memories, stages, loops, .. } = planner;
    Ok(Plan { memories, stages, loops, inputs, outputs })
}

/// An array that a program finds in memory, and whether it may write there.
#[derive(Debug, Clone, Copy)]
struct Held {
    memory: usize,
    may_change: bool,
}

struct Planner {
    format: Fixed,
    memories: Vec<Memory>,
    stages: Vec<Stage>,
    loops: Vec<(usize, usize, usize)>,
    functions: FxHashMap<Function, usize>,
}

impl Tables for Planner {
    fn table(&mut self, function: Function) -> Result<usize, Refusal> {
        if let Some(&memory) = self.functions.get(&function) {
            return Ok(memory);
        }
        let (each, known) = function;
        let (format, ty) = (self.format, ElementType::F32);
        if format.width > WIDEST_TABLE {
            return refuse(format!(
                "{} is made by a table, which takes a format of at most {WIDEST_TABLE} bits",
                each.name()
            ));
        }
        // By the bits of the argument: those below zero are in the second half.
        let half = 1_i64 << (format.width - 1);
        let value = |bits: i64| match known {
            None => format.one(each, bits, ty),
            Some((0, other)) => format.two(each, other, bits, ty),
            Some((_, other)) => format.two(each, bits, other, ty),
        };
        let words = (0..half).chain(-half..0).map(value).collect();
        let name = format!("table_{}_{}", each.name().trim_end_matches('_'), self.functions.len());
        self.memories.push(Memory {
            width: format.width as usize,
            words: 1 << format.width,
            about: format!("{} of every number of the format", each.name().trim_end_matches('_')),
            table: Some((name, words)),
        });
        self.functions.insert(function, self.memories.len() - 1);
        Ok(self.memories.len() - 1)
    }
}

/// A program whose values are placed one after the other.
struct Placed<'a> {
    program: &'a Program,
    is_kept: Vec<bool>,
    reads: Vec<usize>,
    memories: Vec<Option<usize>>,
    may_change: Vec<bool>,
    /// The state of each loop.
    states: FxHashMap<NodeId, Vec<usize>>,
}

impl Placed<'_> {
    /// The memory of a value that nobody reads but once, so that its reader may change it where it lies.
    fn taken(&self, at: NodeId) -> Option<usize> {
        self.memories[at].filter(|_| self.may_change[at] && self.reads[at] == 1)
    }
}

impl Planner {
    fn memory(&mut self, words: usize, ty: ElementType, about: String) -> Result<usize, Refusal> {
        if words == 0 {
            return refuse(format!("{about} has no elements"));
        }
        self.memories.push(Memory { width: wires(ty, self.format).width, words, table: None, about });
        Ok(self.memories.len() - 1)
    }

    /// The memory of each value of a program that is in one.
    fn program(&mut self, program: &Program, inputs: &[Held]) -> Result<Vec<Option<usize>>, Refusal> {
        let mut is_kept = cpp::in_memory(program);
        let mut reads = vec![0; program.nodes.len()];
        for (at, node) in program.nodes.iter().enumerate() {
            is_kept[at] |= matches!(node.op, Op::Concatenate(_)) && node.of.len() > JOINED;
            node.of.iter().for_each(|operand| reads[*operand] += 1);
        }
        program.outputs.iter().for_each(|output| reads[*output] += 1);
        let count = program.nodes.len();
        let mut placed = Placed {
            program,
            is_kept,
            reads,
            memories: vec![None; count],
            may_change: vec![true; count],
            states: FxHashMap::default(),
        };
        for (at, node) in program.nodes.iter().enumerate() {
            if !placed.is_kept[at] {
                continue;
            }
            placed.memories[at] = match &node.op {
                Op::Constant(_) => {
                    placed.may_change[at] = false;
                    Some(self.node(&placed, at, node)?)
                }
                Op::Input(number) => {
                    placed.may_change[at] = inputs[*number].may_change;
                    Some(inputs[*number].memory)
                }
                Op::State(number) => placed.states.get(&node.of[0]).map(|state| state[*number]),
                Op::Loop(inner) => {
                    let state = self.repeated(&placed, node, inner)?;
                    placed.states.insert(at, state);
                    None
                }
                _ => Some(self.node(&placed, at, node)?),
            };
        }
        Ok(placed.memories)
    }

    /// The state that a loop leaves, by its number.
    fn repeated(&mut self, placed: &Placed<'_>, node: &Node, inner: &Loop) -> Result<Vec<usize>, Refusal> {
        let mut held = Vec::with_capacity(node.of.len());
        for (number, &begin) in node.of.iter().enumerate() {
            let state = &inner.body.nodes[inner.body.outputs[number]];
            let memory = match placed.memories[begin] {
                Some(memory) if inner.keeps(number) => memory,
                _ => match placed.taken(begin) {
                    Some(memory) => memory,
                    None => {
                        let about = format!("state {number} of {}", node.name);
                        let memory = self.memory(state.elements(), state.element_type, about)?;
                        self.copied(placed, begin, memory)?;
                        memory
                    }
                },
            };
            held.push(Held { memory, may_change: !inner.keeps(number) });
        }
        let first = self.stages.len();
        let made = self.program(&inner.body, &held)?;
        let mut next = Vec::new();
        for (number, state) in inner.changing() {
            let from =
                made[inner.body.outputs[number]].ok_or_else(|| Refusal(format!("`{}` is nowhere", state.name)))?;
            if from == held[number].memory {
                continue;
            }
            // What another part of the state was is kept aside until all is read.
            let from = if matches!(state.op, Op::Input(_)) || held.iter().any(|one| one.memory == from) {
                let aside = self.memory(state.elements(), state.element_type, format!("{} aside", state.name))?;
                self.moved(from, aside, state)?;
                aside
            } else {
                from
            };
            next.push((from, held[number].memory, state));
        }
        for (from, to, state) in next {
            self.moved(from, to, state)?;
        }
        if self.stages.len() > first {
            self.loops.push((first, self.stages.len() - 1, inner.trips));
        }
        Ok(held.iter().map(|one| one.memory).collect())
    }

    /// A stage that copies an array.
    fn moved(&mut self, from: usize, to: usize, node: &Node) -> Result<(), Refusal> {
        let dims = vec![node.elements()];
        let mut path = Path::default();
        let place = path.counter(0, dims[0])?;
        let address = match place.known() {
            Some(at) => {
                path.put(Item::Literal(at), ElementType::S64, super::super::Wires { width: 40, is_signed: true })?
            }
            None => path.sum(&place)?,
        };
        let ty = node.element_type;
        let value = path.put(Item::Load(from, address), ty, wires(ty, self.format))?;
        let kind = Kind::Write { inside: None, joined: None };
        let about = format!("{} into the state", node.name);
        self.push(Stage { about, dims, path, value, place: address, target: to, ty, kind })
    }

    fn push(&mut self, stage: Stage) -> Result<(), Refusal> {
        if self.stages.len() >= MOST_STAGES {
            return refuse(format!("it takes more than {MOST_STAGES} stages"));
        }
        self.stages.push(stage);
        Ok(())
    }

    /// Begins a stage of these loops, and gives what makes its elements and its counters.
    fn begin<'a>(
        &'a mut self,
        placed: &'a Placed<'_>,
        dims: &[usize],
    ) -> Result<(Maker<'a, Planner>, Vec<Ix>), Refusal> {
        let mut path = Path::default();
        let counters = dims.iter().enumerate().map(|(dim, extent)| path.counter(dim, *extent));
        let counters = counters.collect::<Result<Vec<_>, _>>()?;
        let maker = Maker {
            program: placed.program,
            memories: &placed.memories,
            format: self.format,
            tables: self,
            path,
            known: FxHashMap::default(),
            depth: 0,
        };
        Ok((maker, counters))
    }

    /// A stage that copies a value into a memory.
    fn copied(&mut self, placed: &Placed<'_>, at: NodeId, target: usize) -> Result<(), Refusal> {
        let node = &placed.program.nodes[at];
        let (mut maker, index) = self.begin(placed, &node.dims)?;
        let value = maker.value(at, &index)?;
        let place = address(&mut maker.path, &linear(&index, &node.dims))?;
        let path = maker.path;
        let kind = Kind::Write { inside: None, joined: None };
        self.push(Stage {
            about: words(node),
            dims: node.dims.clone(),
            path,
            value,
            place,
            target,
            ty: node.element_type,
            kind,
        })
    }

    /// The stages that make a value, and the memory where it is then.
    fn node(&mut self, placed: &Placed<'_>, at: NodeId, node: &Node) -> Result<usize, Refusal> {
        let ty = node.element_type;
        if let Op::Constant(values) = &node.op
            && values.len() > 1
        {
            let words = values.iter().map(|value| constant(*value, ty, self.format)).collect();
            let name = format!("table_constant_{}", self.memories.len());
            let width = wires(ty, self.format).width;
            self.memories.push(Memory {
                width,
                words: values.len(),
                table: Some((name, words)),
                about: node.name.clone(),
            });
            return Ok(self.memories.len() - 1);
        }
        if let Op::DynamicUpdateSlice | Op::Scatter(..) = node.op {
            let target = match placed.taken(node.of[0]) {
                Some(memory) => memory,
                None => {
                    let memory = self.memory(node.elements(), ty, words(node))?;
                    self.copied(placed, node.of[0], memory)?;
                    memory
                }
            };
            self.updated(placed, at, node, target)?;
            return Ok(target);
        }
        let target = self.memory(node.elements(), ty, words(node))?;
        match &node.op {
            Op::Concatenate(dim) => {
                let mut before = 0;
                for &part in &node.of {
                    let dims = &placed.program.nodes[part].dims;
                    let (mut maker, mut index) = self.begin(placed, dims)?;
                    let value = maker.value(part, &index)?;
                    index[*dim] = index[*dim].scaled(1, before);
                    before += dims[*dim] as i64;
                    let place = address(&mut maker.path, &linear(&index, &node.dims))?;
                    let path = maker.path;
                    let kind = Kind::Write { inside: None, joined: None };
                    self.push(Stage { about: words(node), dims: dims.clone(), path, value, place, target, ty, kind })?;
                }
            }
            Op::Reduce(..) | Op::ReduceWindow(..) | Op::Dot { .. } => self.folded(placed, node, target)?,
            Op::Sort(dim, order) => self.sorted(placed, node, *dim, *order, target)?,
            _ => {
                let (mut maker, index) = self.begin(placed, &node.dims)?;
                let value = maker.made(at, &index)?;
                let place = address(&mut maker.path, &linear(&index, &node.dims))?;
                let path = maker.path;
                let kind = Kind::Write { inside: None, joined: None };
                self.push(Stage { about: words(node), dims: node.dims.clone(), path, value, place, target, ty, kind })?;
            }
        }
        Ok(target)
    }

    /// A stage that writes updates where they belong, in their order.
    fn updated(&mut self, placed: &Placed<'_>, at: NodeId, node: &Node, target: usize) -> Result<(), Refusal> {
        let of_updates = if matches!(node.op, Op::Scatter(..)) { node.of[2] } else { node.of[1] };
        let dims = placed.program.nodes[of_updates].dims.clone();
        let (mut maker, index) = self.begin(placed, &dims)?;
        let (place, holds, joined) = match &node.op {
            Op::Scatter(gather, joined) => {
                let mut holds = Some(Vec::new());
                let place = maker.placed(at, gather, &index, &mut holds)?;
                (place, holds.unwrap_or_default(), joined.map(Reducer::each))
            }
            _ => {
                let mut place = Vec::with_capacity(dims.len());
                for (dim, here) in index.iter().enumerate() {
                    let start = maker.start(node.of[2 + dim], node.dims[dim] - dims[dim])?;
                    place.push(here.plus(&start));
                }
                (place, Vec::new(), None)
            }
        };
        let value = maker.value(of_updates, &index)?;
        let inside = match maker.path.all(&holds)? {
            Holds::Where(at) => Some(at),
            _ => None,
        };
        let place = address(&mut maker.path, &linear(&place, &node.dims))?;
        let path = maker.path;
        let kind = Kind::Write { inside, joined };
        self.push(Stage { about: words(node), dims, path, value, place, target, ty: node.element_type, kind })
    }

    /// Two stages that sort: one counts for each element those that come before it, one puts it behind so many.
    fn sorted(
        &mut self,
        placed: &Placed<'_>,
        node: &Node,
        dim: usize,
        order: Order,
        target: usize,
    ) -> Result<(), Refusal> {
        const COUNT: ElementType = ElementType::S32;
        const TRUTH: ElementType = ElementType::Pred;
        let (ty, extent, format) = (node.element_type, node.dims[dim], self.format);
        if ty == ElementType::U64 {
            return refuse(format!("`{}` sorts unsigned numbers of 64 bits", node.name));
        }
        let array = match placed.memories[node.of[0]] {
            Some(memory) => memory,
            None => {
                let memory = self.memory(node.elements(), ty, format!("{}, before it is sorted", node.name))?;
                self.copied(placed, node.of[0], memory)?;
                memory
            }
        };
        let counts = self.memory(node.elements(), COUNT, format!("places of {}", node.name))?;
        let dims = [node.dims.as_slice(), &[extent]].concat();
        let (mut maker, counters) = self.begin(placed, &dims)?;
        let (index, other) = (&counters[..node.dims.len()], counters[node.dims.len()].clone());
        let mut beside = index.to_vec();
        beside[dim] = other.clone();
        let own = maker.load(array, &linear(index, &node.dims), ty)?;
        let theirs = maker.load(array, &linear(&beside, &node.dims), ty)?;
        let relation = if order == Order::Greater { Relation::Gt } else { Relation::Lt };
        let is_before = maker.each(Each::Compare(relation), vec![theirs, own], TRUTH)?;
        let is_same = maker.each(Each::Compare(Relation::Eq), vec![theirs, own], TRUTH)?;
        // Of equals the first stays first.
        let behind = index[dim].plus(&other.scaled(-1, 0));
        let is_first = maker.path.within(&behind, 1, extent as i64)?;
        let is_first = truth(&mut maker.path, is_first, format)?;
        let is_first = maker.each(Each::And, vec![is_same, is_first], TRUTH)?;
        let counts_for = maker.each(Each::Or, vec![is_before, is_first], TRUTH)?;
        let value = maker.each(Each::Convert, vec![counts_for], COUNT)?;
        let ends = [maker.path.within(&other, 0, 0)?, maker.path.within(&other, extent as i64 - 1, extent as i64 - 1)?];
        let (first, last) = (truth(&mut maker.path, ends[0], format)?, truth(&mut maker.path, ends[1], format)?);
        let begin = maker.path.put(Item::Literal(0), COUNT, wires(COUNT, format))?;
        let place = address(&mut maker.path, &linear(index, &node.dims))?;
        let path = maker.path;
        let kind = Kind::Fold { first, last, begin, inside: None, each: Each::Add };
        let about = format!("places of {}", words(node));
        self.push(Stage { about, dims, path, value, place, target: counts, ty: COUNT, kind })?;

        let (mut maker, mut index) = self.begin(placed, &node.dims)?;
        let value = maker.load(array, &linear(&index, &node.dims), ty)?;
        let count = maker.load(counts, &linear(&index, &node.dims), COUNT)?;
        index[dim] = maker.path.clamped(count, extent - 1)?;
        let place = address(&mut maker.path, &linear(&index, &node.dims))?;
        let path = maker.path;
        let kind = Kind::Write { inside: None, joined: None };
        self.push(Stage { about: words(node), dims: node.dims.clone(), path, value, place, target, ty, kind })
    }

    /// A stage that joins many values to one, for each element.
    fn folded(&mut self, placed: &Placed<'_>, node: &Node, target: usize) -> Result<(), Refusal> {
        let (program, ty, format) = (placed.program, node.element_type, self.format);
        let dims_of = |at: usize| &program.nodes[node.of[at]].dims;
        let inner: Vec<usize> = match &node.op {
            Op::Reduce(gone, _) => gone.iter().map(|dim| dims_of(0)[*dim]).collect(),
            Op::ReduceWindow(windows, _) => windows.iter().map(|window| window.size).collect(),
            Op::Dot { contract, .. } => contract.0.iter().map(|dim| dims_of(0)[*dim]).collect(),
            _ => Vec::new(),
        };
        if inner.contains(&0) {
            return refuse(format!("`{}` joins nothing", node.name));
        }
        let dims = [node.dims.as_slice(), &inner].concat();
        let (mut maker, counters) = self.begin(placed, &dims)?;
        let (index, within) = counters.split_at(node.dims.len());
        let (value, holds, each) = match &node.op {
            Op::Reduce(gone, reducer) => {
                let mut outer = index.iter();
                let one = |dim: usize| match gone.iter().position(|one| *one == dim) {
                    Some(place) => within[place].clone(),
                    None => outer.next().cloned().unwrap_or_default(),
                };
                let full: Vec<Ix> = (0..dims_of(0).len()).map(one).collect();
                (maker.value(node.of[0], &full)?, Vec::new(), reducer.each())
            }
            Op::ReduceWindow(windows, reducer) => {
                let (mut full, mut holds) = (Vec::new(), Vec::new());
                for (dim, window) in windows.iter().enumerate() {
                    let place = index[dim]
                        .scaled(window.stride as i64, -window.low)
                        .plus(&within[dim].scaled(window.dilation as i64, 0));
                    let (here, more) = maker.stepped(&place, window.base as i64, dims_of(0)[dim] as i64)?;
                    full.push(here);
                    holds.extend(more);
                }
                (maker.value(node.of[0], &full)?, holds, reducer.each())
            }
            Op::Dot { contract, batch } => {
                let mut free = batch.0.len();
                let mut side = |at: usize, contract: &[usize], batch: &[usize]| -> Vec<Ix> {
                    let one = |dim: usize| {
                        if let Some(place) = contract.iter().position(|one| *one == dim) {
                            return within[place].clone();
                        }
                        if let Some(place) = batch.iter().position(|one| *one == dim) {
                            return index[place].clone();
                        }
                        free += 1;
                        index[free - 1].clone()
                    };
                    (0..dims_of(at).len()).map(one).collect()
                };
                let (left, right) = (side(0, &contract.0, &batch.0), side(1, &contract.1, &batch.1));
                let (left, right) = (maker.value(node.of[0], &left)?, maker.value(node.of[1], &right)?);
                (maker.each(Each::Multiply, vec![left, right], ty)?, Vec::new(), Each::Add)
            }
            _ => return refuse(format!("`{}` joins nothing", node.name)),
        };
        let begin = match node.op {
            Op::Dot { .. } => maker.path.put(Item::Literal(0), ty, wires(ty, format))?,
            _ => maker.value(node.of[1], &vec![Ix::default(); dims_of(1).len()])?,
        };
        let count = within.iter().fold(Ix::default(), |all, one| all.plus(one));
        let most = inner.iter().map(|extent| *extent as i64 - 1).sum();
        let ends = [maker.path.within(&count, 0, 0)?, maker.path.within(&count, most, most)?];
        let [first, last] = ends.map(|end| truth(&mut maker.path, end, format));
        let (first, last) = (first?, last?);
        let inside = match maker.path.all(&holds)? {
            Holds::Always => None,
            holds => Some(truth(&mut maker.path, holds, format)?),
        };
        let place = address(&mut maker.path, &linear(index, &node.dims))?;
        let path = maker.path;
        let kind = Kind::Fold { first, last, begin, inside, each };
        self.push(Stage { about: words(node), dims, path, value, place, target, ty, kind })
    }
}

/// Whether something holds as a value.
fn truth(path: &mut Path, holds: Holds, format: Fixed) -> Result<At, Refusal> {
    let ty = ElementType::Pred;
    match holds {
        Holds::Where(at) => Ok(at),
        holds => path.put(Item::Literal(i64::from(holds == Holds::Always)), ty, wires(ty, format)),
    }
}

/// A position in wires, also where it is known.
fn address(path: &mut Path, place: &Ix) -> Result<At, Refusal> {
    match place.known() {
        Some(at) => path.put(Item::Literal(at), ElementType::S64, super::super::Wires { width: 40, is_signed: true }),
        None => path.sum(place),
    }
}

fn words(node: &Node) -> String {
    format!("{} = {}", node.name, node.words())
}
