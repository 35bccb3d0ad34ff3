//! What is inside a region: what one call has to do, its parts for a cut, and what flows between them.
//!
//! A loop is looked at twice: as a whole, which keeps its state on the board, and opened, where a part of its body is called
//! in each iteration.

use super::{Flow, Module, Node, Opened, Piece, Specification};
use crate::flow::{self, Value, Way, boundary};
use crate::loop_state::{LoopState, Next};
use crate::specification::workload;
use ridge_hlo::{ComputationId, InstructionId};
use rustc_hash::{FxHashMap, FxHashSet};

impl Module<'_, '_> {
    pub(super) fn specification(
        &self,
        piece: &Piece,
        times: &FxHashMap<InstructionId, f64>,
        calls: f64,
    ) -> Specification {
        let set: FxHashSet<InstructionId> = piece.members.iter().copied().collect();
        let flows = boundary(self.module, self.users, &set);
        let costs = || piece.members.iter().map(|&id| self.costs.of(id));
        let (nodes, values) = self.nodes(piece, times, calls);
        let mut all = workload(self.source(), &piece.members, &flows);
        if let Some(around) = self.state_of(piece.inside) {
            let (sent, sent_back) = crossing(&self.flows(&piece.members, Some(&around)), piece.members.len());
            let less = |all: (f64, f64), sent: (f64, f64)| ((all.0 - sent.0).max(0.0), (all.1 - sent.1).max(0.0));
            (all.kept_input, all.kept_output) = (less(all.input, sent), less(all.output, sent_back));
        }
        Specification {
            workload: all,
            opened: piece.of_loop.and_then(|id| self.opened(id)),
            compulsory_bytes: costs().map(|cost| cost.compulsory.total()).sum(),
            xla_bytes: costs().map(|cost| cost.bytes_accessed.total()).sum(),
            nodes,
            values,
        }
    }

    fn state_of(&self, id: Option<InstructionId>) -> Option<LoopState> {
        LoopState::of(self.module, self.costs, id?)
    }

    fn opened(&self, id: InstructionId) -> Option<Opened> {
        let &body = self.module.instruction(id).called.first()?;
        let members = self.timed_members(body);
        let moved = self.costs.boundary(body);
        let flows = flow::Boundary { input: (moved.read, 1.0), output: (moved.written, 1.0) };
        Some(Opened { trips: self.costs.trips(id), workload: workload(self.source(), &members, &flows) })
    }

    fn timed_members(&self, computation: ComputationId) -> Vec<InstructionId> {
        let all = self.module.computation(computation).instruction_ids();
        all.filter(|&id| !flow::is_silent(self.module, id)).collect()
    }

    /// The parts that a cut may take apart: the members, or of a loop what is in its body.
    fn nodes(&self, piece: &Piece, times: &FxHashMap<InstructionId, f64>, calls: f64) -> (Vec<Node>, Vec<Flow>) {
        let body = piece.of_loop.and_then(|id| self.module.instruction(id).called.first().copied());
        let state = self.state_of(piece.of_loop.or(piece.inside));
        let mut members = body.map_or_else(|| piece.members.clone(), |body| self.timed_members(body));
        if let Some(state) = &state {
            members.retain(|id| !state.counts((*id, None)));
        }
        let times = self.times_inside(times);
        let calls = calls * piece.of_loop.map_or(1.0, |id| self.costs.trips(id)).max(1.0);
        let node = |id: &InstructionId| Node {
            name: self.module.instruction(*id).name.clone(),
            self_ns: times.get(id).copied().unwrap_or(0.0) / calls,
            workload: workload(self.source(), &[*id], &flow::Boundary::default()),
        };
        (members.iter().map(node).collect(), self.flows(&members, state.as_ref()))
    }

    /// What flows between `members` of one computation, which is the body of the loop of `state` where there is one.
    fn flows(&self, members: &[InstructionId], state: Option<&LoopState>) -> Vec<Flow> {
        let mut flowing = Flowing {
            places: members.iter().enumerate().map(|(at, id)| (*id, at)).collect(),
            outside: members.len(),
            state,
            readers: FxHashMap::default(),
        };
        let set: FxHashSet<InstructionId> = members.iter().copied().collect();
        for (at, &id) in members.iter().enumerate() {
            self.operands(id).into_iter().for_each(|value| flowing.read(value, at));
            for (value, way) in flow::leaving(self.module, self.users, &set, id) {
                flowing.leave(value, way);
            }
        }
        // Others in the body may ask for what the members made in the iteration before.
        if let (Some(state), Some(&first)) = (state, members.first()) {
            let others = self.timed_members(self.module.instruction(first).computation);
            for id in others.into_iter().filter(|id| !set.contains(id) && !state.counts((*id, None))) {
                self.operands(id).into_iter().for_each(|value| flowing.ask(value));
            }
        }
        flowing.flows(|value| (!flow::is_made(self.module, value.0)).then(|| flow::value_bytes(self.module, value)))
    }

    fn operands(&self, id: InstructionId) -> Vec<Value> {
        let operands = &self.module.instruction(id).operands;
        operands.iter().flat_map(|&operand| flow::sources(self.module, operand)).collect()
    }
}

/// What of `flows` is sent to all the nodes together, and back: bytes and buffers of a call.
fn crossing(flows: &[Flow], outside: usize) -> ((f64, f64), (f64, f64)) {
    let sum = |wanted: &dyn Fn(&Flow) -> bool| {
        let wanted = flows.iter().filter(|flow| wanted(flow));
        wanted.fold((0.0, 0.0), |(bytes, buffers), flow| (bytes + flow.bytes * flow.times, buffers + flow.times))
    };
    let enters = sum(&|flow| flow.maker == outside && flow.readers.iter().any(|at| *at < outside));
    let leaves = sum(&|flow| flow.maker < outside && flow.readers.contains(&outside));
    (enters, leaves)
}

/// When a value is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum When {
    /// In each iteration, or call.
    Always,
    /// Before the first iteration: the loop leaves it alone, or a member makes it anew from then on.
    AtFirst,
    /// After the last.
    AtLast,
}

/// Who reads what.
struct Flowing<'s> {
    places: FxHashMap<InstructionId, usize>,
    outside: usize,
    state: Option<&'s LoopState>,
    readers: FxHashMap<(Value, When), Vec<usize>>,
}

impl Flowing<'_> {
    fn add(&mut self, value: Value, when: When, reader: usize) {
        let known = self.readers.entry((value, when)).or_default();
        if !known.contains(&reader) {
            known.push(reader);
        }
    }

    /// The member at `reader` reads `value`.
    fn read(&mut self, value: Value, reader: usize) {
        let Some(state) = self.state else { return self.add(value, When::Always, reader) };
        if state.counts(value) {
            return;
        }
        match state.next(value) {
            Some(Next::Same) => self.add(value, When::AtFirst, reader),
            Some(Next::Made(made)) if self.places.contains_key(&made.0) => {
                self.add(value, When::AtFirst, reader);
                self.add(made, When::Always, reader);
            }
            _ => self.add(value, When::Always, reader),
        }
    }

    /// `value` of a member leaves them.
    fn leave(&mut self, value: Value, way: Way) {
        let Some(state) = self.state.filter(|_| way == Way::Result) else {
            return self.add(value, When::Always, self.outside);
        };
        let elements: Vec<Value> = state.becomes(value).collect();
        let is_asked = elements.iter().any(|element| state.is_asked(*element));
        // What nobody knows the way of is sent each time.
        let when = if elements.is_empty() || is_asked { When::Always } else { When::AtLast };
        self.add(value, when, self.outside);
    }

    /// Somebody else in the body reads `value`.
    fn ask(&mut self, value: Value) {
        if let Some(Next::Made(made)) = self.state.and_then(|state| state.next(value))
            && self.places.contains_key(&made.0)
        {
            self.add(made, When::Always, self.outside);
        }
    }

    /// The flows, in the order of their values; `bytes` is `None` for what each side makes for itself.
    fn flows(self, bytes: impl Fn(Value) -> Option<f64>) -> Vec<Flow> {
        let trips = self.state.map_or(1.0, |state| state.trips);
        let mut readers: Vec<((Value, When), Vec<usize>)> = self.readers.into_iter().collect();
        readers.sort_unstable();
        let flow = |((value, when), readers): ((Value, When), Vec<usize>)| {
            let maker = self.places.get(&value.0).copied().unwrap_or(self.outside);
            let times = if when == When::Always { 1.0 } else { 1.0 / trips };
            Some(Flow { maker, readers, bytes: bytes(value)?, times })
        };
        let flows = readers.into_iter().filter_map(flow);
        flows.filter(|flow| flow.readers.iter().any(|reader| *reader != flow.maker)).collect()
    }
}
