//! What a loop hands from one iteration to the next: what it leaves alone, what it computes anew, and who asks for it.
//!
//! Whoever takes a part of a loop's body to other hardware sends what changes in each iteration; what the loop leaves alone
//! is sent once, and what the part hands to itself stays there.

use crate::flow::{self, Value};
use crate::shapes;
use ridge_hlo::cost::ModuleCosts;
use ridge_hlo::{ComputationId, HloModule, InstructionId};
use rustc_hash::{FxHashMap, FxHashSet};

/// What an element of a loop's state is in the next iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// The same: the loop reads it and leaves it alone.
    Same,
    /// This value of the body.
    Made(Value),
    /// It cannot be told from outside the body.
    Unknown,
}

/// The state of one loop.
#[derive(Debug)]
pub(crate) struct LoopState {
    /// Iterations of one call, at least one.
    pub(crate) trips: f64,
    parameter: InstructionId,
    next: FxHashMap<Option<i64>, Next>,
    /// Elements that the condition asks for.
    asked: FxHashSet<Option<i64>>,
    /// Instructions of the body that only count iterations: both sides do that for themselves.
    counting: FxHashSet<InstructionId>,
}

impl LoopState {
    /// That of the loop `id`; `None` where it has no body.
    pub(crate) fn of(module: &HloModule, costs: &ModuleCosts, id: InstructionId) -> Option<LoopState> {
        let called = &module.instruction(id).called;
        let body = *called.first()?;
        let parameter = parameter(module, body)?;
        let mut state = LoopState {
            trips: costs.trips(id).max(1.0),
            parameter,
            next: FxHashMap::default(),
            asked: called.get(1).map_or_else(FxHashSet::default, |condition| read_in(module, *condition)),
            counting: FxHashSet::default(),
        };
        state.next = next_elements(module, body, parameter);
        state.counting = state.counting_in(module, body);
        Some(state)
    }

    /// What `value` is in the next iteration; `None` for what is no element of the state.
    pub(crate) fn next(&self, (id, element): Value) -> Option<Next> {
        (id == self.parameter).then(|| self.next.get(&element).copied().unwrap_or(Next::Unknown))
    }

    /// The elements of the state that `value` of the body is in the next iteration.
    pub(crate) fn becomes(&self, value: Value) -> impl Iterator<Item = Value> {
        let parameter = self.parameter;
        let is_it = move |next: &Next| matches!(next, Next::Made(made) if *made == value);
        self.next.iter().filter(move |(_, next)| is_it(next)).map(move |(element, _)| (parameter, *element))
    }

    /// Whether the condition asks for an element.
    pub(crate) fn is_asked(&self, (_, element): Value) -> bool {
        self.asked.contains(&element) || (self.asked.contains(&None) && element.is_some())
    }

    /// Whether an instruction of the body, or an element of the state, only counts iterations.
    pub(crate) fn counts(&self, value: Value) -> bool {
        match self.next(value) {
            Some(Next::Made((maker, _))) => self.counting.contains(&maker),
            Some(_) => false,
            None => self.counting.contains(&value.0),
        }
    }

    /// Whole numbers that are made of nothing but other such and what the loop leaves alone.
    fn counting_in(&self, module: &HloModule, body: ComputationId) -> FxHashSet<InstructionId> {
        let is_whole = |id: &InstructionId| {
            let shape = &module.instruction(*id).shape;
            let leaves = shape.leaves();
            leaves.len() == 1 && shapes::elements(shape) == 1.0 && !leaves[0].element_type.is_float()
        };
        let mut counting: FxHashSet<InstructionId> = module
            .computation(body)
            .instruction_ids()
            .filter(|id| *id != self.parameter && is_whole(id) && !flow::is_silent(module, *id))
            .collect();
        loop {
            let before = counting.len();
            let is_known = |counting: &FxHashSet<InstructionId>, value: Value| match self.next(value) {
                Some(Next::Same) => flow::value_bytes(module, value) <= 8.0,
                Some(Next::Made((maker, _))) => counting.contains(&maker),
                Some(Next::Unknown) => false,
                None => counting.contains(&value.0) || flow::is_made(module, value.0),
            };
            let kept: FxHashSet<InstructionId> = counting
                .iter()
                .copied()
                .filter(|id| {
                    let operands = &module.instruction(*id).operands;
                    let mut values = operands.iter().flat_map(|&operand| flow::sources(module, operand));
                    values.all(|value| is_known(&counting, value))
                })
                .collect();
            counting = kept;
            if counting.len() == before {
                return counting;
            }
        }
    }
}

fn parameter(module: &HloModule, computation: ComputationId) -> Option<InstructionId> {
    module.computation(computation).instruction_ids().find(|id| module.instruction(*id).parameter_number.is_some())
}

/// Elements of its parameter that a computation reads.
fn read_in(module: &HloModule, computation: ComputationId) -> FxHashSet<Option<i64>> {
    let Some(parameter) = parameter(module, computation) else { return FxHashSet::default() };
    let ids = module.computation(computation).instruction_ids().filter(|id| !flow::is_silent(module, *id));
    let values = ids.flat_map(|id| {
        let operands = &module.instruction(id).operands;
        operands.iter().flat_map(|&operand| flow::sources(module, operand)).collect::<Vec<_>>()
    });
    values.filter(|(id, _)| *id == parameter).map(|(_, element)| element).collect()
}

/// Where the elements of a body's state are from in the next iteration.
fn next_elements(module: &HloModule, body: ComputationId, parameter: InstructionId) -> FxHashMap<Option<i64>, Next> {
    let Some(root) = module.computation(body).root else {
        return FxHashMap::default();
    };
    let instruction = module.instruction(root);
    let elements = instruction.shape.tuple.len();
    let mut from: FxHashMap<Option<i64>, Value> = FxHashMap::default();
    if instruction.opcode == "tuple" {
        for (at, &operand) in (0..).zip(&instruction.operands) {
            // An element that is a tuple itself stays unknown.
            if let [value] = flow::sources(module, operand)[..] {
                from.insert(Some(at), value);
            }
        }
    } else if elements > 0 {
        from.extend((0..elements as i64).map(|at| (Some(at), (root, Some(at)))));
    } else if let [value] = flow::sources(module, root)[..] {
        from.insert(None, value);
    }
    from.keys().map(|element| (*element, followed(&from, parameter, *element))).collect()
}

/// An element that is another one of the iteration before is what that one is; a ring of such changes places only.
fn followed(from: &FxHashMap<Option<i64>, Value>, parameter: InstructionId, element: Option<i64>) -> Next {
    let mut at = element;
    for _ in 0..=from.len() {
        match from.get(&at) {
            Some((id, other)) if *id == parameter && *other == element => return Next::Same,
            Some((id, other)) if *id == parameter => at = *other,
            Some(value) => return Next::Made(*value),
            None => return Next::Unknown,
        }
    }
    // A chain that ends in a ring: it is handed on unchanged.
    Next::Same
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_is_left_alone_made_anew_counted_or_handed_on() {
        let module = HloModule::from_text(
            "HloModule m

%body (s: (s32[], f32[8], f32[8], f32[8], f32[8])) -> (s32[], f32[8], f32[8], f32[8], f32[8]) {
  %s = (s32[], f32[8], f32[8], f32[8], f32[8]) parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %table = f32[8]{0} get-tuple-element(%s), index=1
  %x = f32[8]{0} get-tuple-element(%s), index=2
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %sum = f32[8]{0} add(%x, %table)
  ROOT %t = (s32[], f32[8], f32[8], f32[8], f32[8]) tuple(%next, %table, %sum, %x, %sum)
}

%cond (s: (s32[], f32[8], f32[8], f32[8], f32[8])) -> pred[] {
  %s = (s32[], f32[8], f32[8], f32[8], f32[8]) parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %ten = s32[] constant(10)
  ROOT %less = pred[] compare(%i, %ten), direction=LT
}

ENTRY %main (a: f32[8]) -> (s32[], f32[8], f32[8], f32[8], f32[8]) {
  %a = f32[8]{0} parameter(0)
  %zero = s32[] constant(0)
  %init = (s32[], f32[8], f32[8], f32[8], f32[8]) tuple(%zero, %a, %a, %a, %a)
  ROOT %w = (s32[], f32[8], f32[8], f32[8], f32[8]) while(%init), condition=%cond, body=%body
}
",
        )
        .expect("HLO text of the test");
        let id = |name: &str| module.instruction_named(name).expect(name);
        let state = LoopState::of(&module, &ModuleCosts::new(&module), id("w")).expect("a body");
        assert_eq!(state.trips, 10.0);
        let next: Vec<Option<Next>> = (0..5).map(|at| state.next((state.parameter, Some(at)))).collect();
        let made = |name: &str| Some(Next::Made((id(name), None)));
        // The fourth is the third of the iteration before, which `sum` made.
        assert_eq!(next, [made("next"), Some(Next::Same), made("sum"), made("sum"), made("sum")]);
        let mut becomes: Vec<Value> = state.becomes((id("sum"), None)).collect();
        becomes.sort_unstable();
        assert_eq!(becomes.iter().map(|value| value.1).collect::<Vec<_>>(), [Some(2), Some(3), Some(4)]);
        assert!(state.is_asked((state.parameter, Some(0))) && !state.is_asked((state.parameter, Some(2))));
        assert!(state.counts((id("next"), None)) && state.counts((state.parameter, Some(0))));
        assert!(!state.counts((id("sum"), None)) && !state.counts((state.parameter, Some(2))));
    }
}
