//! The part of a compiled program around one instruction, as nodes and edges.

use crate::error::{Details, OpenError};
use crate::hlo::{module_hlo, module_row};
use crate::session::Session;
use ridge_hlo::{HloModule, InstructionId, Users};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// Which part.
#[derive(Debug, Clone, Copy)]
pub struct GraphAsked<'q> {
    /// The module, by name or program id.
    pub module: &'q str,
    /// The instruction in the middle; where none is named, the one with the most time, else the root of the entry computation.
    pub op: Option<&'q str>,
    /// How many edges away from it.
    pub depth: usize,
    /// Most nodes; those nearest stay.
    pub most: usize,
}

/// A part of a module.
#[derive(Debug, Clone, Default)]
pub struct HloGraph {
    /// The module's name.
    pub module: String,
    /// The computation that it is of.
    pub computation: String,
    /// Instructions of it, nearest to the middle first.
    pub nodes: Vec<GraphNode>,
    /// From operand to user, positions of nodes.
    pub edges: Vec<(usize, usize)>,
    /// Whether there are more nodes within the depth than were asked for.
    pub is_cut: bool,
    /// Edges that lead to what is not shown.
    pub omitted: usize,
}

/// One instruction.
#[derive(Debug, Clone, Default)]
pub struct GraphNode {
    /// Its name.
    pub name: String,
    /// Its opcode.
    pub opcode: String,
    /// What kind of work it is.
    pub category: String,
    /// Its shape.
    pub shape: String,
    /// Its text in HLO.
    pub text: String,
    /// Edges from the middle.
    pub distance: usize,
    /// Computations that it calls, which can be looked into by the name of their root.
    pub inside: Vec<(String, Option<String>)>,
    /// The instruction that calls its computation, where it is not the entry's.
    pub caller: Option<String>,
    /// File and line, where known.
    pub source: Option<(String, u32)>,
    /// Scope path.
    pub scope: String,
    /// Operands and users that are not shown.
    pub hidden: usize,
    /// Row of the operation in the trace.
    pub op: Option<u32>,
    /// Measured self time of its events, nanoseconds, where it ran.
    pub self_ns: Option<i64>,
    /// That as a part of the module's.
    pub share: Option<f64>,
    /// Events.
    pub events: u64,
}

impl Session {
    /// What is around one instruction of a module, within its computation.
    ///
    /// # Errors
    /// [`OpenError`] where the module or the instruction is not there.
    pub fn hlo_graph(&self, asked: GraphAsked<'_>) -> Result<HloGraph, OpenError> {
        let row = module_row(self.imported(), asked.module)?;
        let hlo = module_hlo(self.imported(), row)?;
        let times = self.times_of(row);
        let most = times.iter().max_by_key(|(at, (_, ns, _))| (*ns, std::cmp::Reverse(**at)));
        let middle = match (asked.op, most) {
            (None, Some((&at, _))) if (at as usize) < hlo.instructions.len() => InstructionId(at),
            (op, _) => middle(hlo, op)?,
        };
        let all_ns: i64 = times.values().fold(0, |all: i64, (_, ns, _)| all.saturating_add(*ns));
        let users = Users::new(hlo);
        let (near, is_cut) = near(hlo, &users, middle, asked);
        let places: FxHashMap<InstructionId, usize> = near.iter().enumerate().map(|(at, (id, _))| (*id, at)).collect();
        let nodes = near.iter().map(|(id, distance)| {
            let mut node = node(hlo, *id, *distance);
            let around = hlo.instruction(*id).operands.iter().chain(users.of(*id));
            node.hidden =
                around.collect::<FxHashSet<_>>().into_iter().filter(|other| !places.contains_key(other)).count();
            if let Some((op, self_ns, events)) = times.get(&id.0) {
                (node.op, node.self_ns, node.events) = (Some(*op), Some(*self_ns), *events);
                node.share = (all_ns > 0).then(|| *self_ns as f64 / all_ns as f64);
            }
            node
        });
        let edges = near.iter().enumerate().flat_map(|(at, (id, _))| {
            let operands = hlo.instruction(*id).operands.iter();
            operands.filter_map(|operand| places.get(operand)).map(move |from| (*from, at)).collect::<Vec<_>>()
        });
        let mut edges: Vec<(usize, usize)> = edges.collect();
        edges.sort_unstable();
        edges.dedup();
        let computation = hlo.computation(hlo.instruction(middle).computation).name.clone();
        let nodes: Vec<GraphNode> = nodes.collect();
        let omitted = nodes.iter().map(|node| node.hidden).sum();
        Ok(HloGraph { module: hlo.name.clone(), computation, nodes, edges, is_cut, omitted })
    }

    /// Row of the operation, self time and events by instruction of a module.
    fn times_of(&self, module: u32) -> FxHashMap<u32, (u32, i64, u64)> {
        let mut times: FxHashMap<u32, (u32, i64, u64)> = FxHashMap::default();
        for group in &self.analysis().groups().groups {
            let Some(op) = self.trace().operations.get(group.op as usize).filter(|op| op.module == module) else {
                continue;
            };
            let sum = times.entry(op.instruction).or_insert((group.op, 0, 0));
            sum.1 = sum.1.saturating_add(group.self_ns);
            sum.2 += group.count();
        }
        times
    }
}

fn middle(hlo: &HloModule, op: Option<&str>) -> Result<InstructionId, OpenError> {
    let absent = |message: String| OpenError::UnknownName(Details::new(message));
    match op {
        Some(name) => hlo
            .instruction_named(name)
            .ok_or_else(|| absent(format!("module `{}` has no instruction `{name}`", hlo.name))),
        None => {
            let root = hlo
                .entry
                .and_then(|entry| hlo.computation(entry).root.or(hlo.computation(entry).instruction_ids().last()));
            root.ok_or_else(|| absent(format!("module `{}` has no instructions", hlo.name)))
        }
    }
}

/// The instructions within the depth, nearest first, and whether there were more than may be shown.
fn near(
    hlo: &HloModule,
    users: &Users,
    middle: InstructionId,
    asked: GraphAsked<'_>,
) -> (Vec<(InstructionId, usize)>, bool) {
    let mut seen: FxHashSet<InstructionId> = FxHashSet::from_iter([middle]);
    let (mut found, mut open) = (Vec::new(), VecDeque::from([(middle, 0)]));
    while let Some((id, distance)) = open.pop_front() {
        if found.len() >= asked.most {
            return (found, true);
        }
        found.push((id, distance));
        if distance < asked.depth {
            let around = hlo.instruction(id).operands.iter().chain(users.of(id));
            open.extend(around.filter(|other| seen.insert(**other)).map(|other| (*other, distance + 1)));
        }
    }
    (found, false)
}

/// Texts of constants may be megabytes.
const MOST_TEXT: usize = 2_000;

fn node(hlo: &HloModule, id: InstructionId, distance: usize) -> GraphNode {
    let instruction = hlo.instruction(id);
    let computation = hlo.computation(instruction.computation);
    let name_of = |id: InstructionId| hlo.instruction(id).name.clone();
    let mut text = hlo.instruction_text(id);
    if let Some((end, _)) = text.char_indices().nth(MOST_TEXT) {
        text.truncate(end);
        text.push('…');
    }
    let inside = instruction.called.iter().map(|called| {
        let called = hlo.computation(*called);
        (called.name.clone(), called.root.map(name_of))
    });
    let line = hlo.source_in_fusion(id).first().map(|frame| (frame.file.to_string(), frame.line));
    GraphNode {
        name: instruction.name.clone(),
        opcode: instruction.opcode.as_str().to_owned(),
        category: hlo.category(id).into_owned(),
        shape: instruction.shape.to_string(),
        text,
        distance,
        inside: inside.collect(),
        caller: computation.callers.first().copied().map(name_of),
        source: line,
        scope: hlo.op_name_in_fusion(id).to_owned(),
        ..GraphNode::default()
    }
}
