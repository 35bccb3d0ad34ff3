//! Where values come from and who reads them, seen through what only holds or passes them: fusions, calls, tuples, copies, and
//! the state that a loop hands on unchanged.
//!
//! It judges nothing: what a value means is for those who ask.

use rustc_hash::FxHashMap;

use crate::{ComputationId, HloModule, Instruction, InstructionId, Users};

/// Steps after which a value is taken as it is: real chains are far shorter, and broken files may have rings.
const MOST_STEPS: usize = 128;
/// Readers that are looked for before it is given up.
const MOST_READERS: usize = 512;

/// The data flow of one module.
#[derive(Debug)]
pub struct Flow<'m> {
    module: &'m HloModule,
    users: Users,
    /// The loop whose body or condition a computation is.
    loops: FxHashMap<ComputationId, InstructionId>,
}

impl<'m> Flow<'m> {
    /// Looks through `module` once.
    pub fn new(module: &'m HloModule) -> Flow<'m> {
        let mut loops = FxHashMap::default();
        for id in module.instruction_ids().filter(|id| module.instruction(*id).opcode == "while") {
            for called in &module.instruction(id).called {
                loops.insert(*called, id);
            }
        }
        Flow { module, users: Users::new(module), loops }
    }

    /// The instruction that makes the value of `id`, with the elements where they are in memory or copied as they are.
    pub fn source(&self, id: InstructionId) -> InstructionId {
        self.follow(id, |opcode| {
            matches!(opcode, "bitcast" | "copy" | "copy-done" | "copy-start" | "optimization-barrier")
        })
    }

    /// The instruction that `id` is a name of: the result of a fusion, or what a parameter in one stands for.
    pub fn through_fusions(&self, id: InstructionId) -> InstructionId {
        self.follow(id, |_| false)
    }

    /// The instruction that makes the numbers of `id`, wherever their order or type was changed on the way.
    pub fn content(&self, id: InstructionId) -> InstructionId {
        self.follow(id, |opcode| {
            matches!(
                opcode,
                "bitcast"
                    | "copy"
                    | "copy-done"
                    | "copy-start"
                    | "optimization-barrier"
                    | "transpose"
                    | "reshape"
                    | "convert"
            )
        })
    }

    /// The sources of the operands of `id`, in order.
    pub fn inputs(&self, id: InstructionId) -> impl Iterator<Item = InstructionId> + '_ {
        self.module.instruction(id).operands.iter().map(|operand| self.source(*operand))
    }

    /// The instruction that runs `id`: the outermost fusion around it, else itself.
    pub fn carrier(&self, id: InstructionId) -> InstructionId {
        let mut at = id;
        for _ in 0..MOST_STEPS {
            match self.only_caller(self.module.instruction(at).computation) {
                Some(caller) if self.module.instruction(caller).is_fusion() => at = caller,
                _ => break,
            }
        }
        at
    }

    /// The innermost loop whose body or condition runs `id`.
    pub fn loop_around(&self, id: InstructionId) -> Option<InstructionId> {
        let mut computation = self.module.instruction(self.carrier(id)).computation;
        for _ in 0..MOST_STEPS {
            if let Some(around) = self.loops.get(&computation) {
                return Some(*around);
            }
            computation = self.module.instruction(self.only_caller(computation)?).computation;
        }
        None
    }

    /// The instructions that read the value of `id`, seen through what only passes it on; `None` where it leaves the program or
    /// a loop, or too many do.
    pub fn readers(&self, id: InstructionId) -> Option<Vec<InstructionId>> {
        let (mut found, mut open, mut seen) = (Vec::new(), vec![id], 0);
        while let Some(value) = open.pop() {
            if self.module.is_root(value) {
                let caller = self.only_caller(self.module.instruction(value).computation)?;
                if self.module.instruction(caller).opcode == "while" {
                    return None;
                }
                open.push(caller);
            }
            for &user in self.users.of(value) {
                seen += 1;
                if seen > MOST_READERS {
                    return None;
                }
                let reader = self.module.instruction(user);
                match &*reader.opcode {
                    "bitcast" | "copy" | "copy-start" | "copy-done" | "transpose" | "reshape" | "convert" => {
                        open.push(user)
                    }
                    "fusion" | "call" => {
                        let body = self.module.computation(*reader.called.first()?);
                        for (number, _) in reader.operands.iter().enumerate().filter(|(_, operand)| **operand == value)
                        {
                            let number = i64::try_from(number).ok();
                            open.extend(
                                body.instruction_ids()
                                    .find(|inner| self.module.instruction(*inner).parameter_number == number),
                            );
                        }
                    }
                    "tuple" => open.extend(self.readers_of_element(user, value)?),
                    _ if !found.contains(&user) => found.push(user),
                    _ => {}
                }
            }
        }
        Some(found)
    }

    /// Whether the value of `id` is the same in every iteration of the loop `around`.
    pub fn is_unchanged_in(&self, id: InstructionId, around: InstructionId) -> bool {
        let (mut open, mut seen) = (vec![self.source(id)], Vec::new());
        while let Some(value) = open.pop() {
            if seen.contains(&value) {
                continue;
            }
            seen.push(value);
            let instruction = self.module.instruction(value);
            let is_inside = self.is_within(value, around);
            if seen.len() > MOST_STEPS || (is_inside && changes_by_itself(instruction)) {
                return false;
            }
            if is_inside {
                open.extend(self.inputs(value));
            }
        }
        true
    }

    /// Whether the loop `around` runs `id`: in its body or condition, or in a branch, call or loop of them.
    pub fn is_within(&self, id: InstructionId, around: InstructionId) -> bool {
        let mut at = self.carrier(id);
        for _ in 0..MOST_STEPS {
            let computation = self.module.instruction(at).computation;
            let caller = self.loops.get(&computation).copied().or_else(|| self.only_caller(computation));
            match caller {
                Some(caller) if caller == around => return true,
                Some(caller) => at = caller,
                // What several places run may be run by the loop.
                None => return !self.module.computation(computation).callers.is_empty(),
            }
        }
        true
    }

    fn follow(&self, id: InstructionId, passes: impl Fn(&str) -> bool) -> InstructionId {
        let mut at = id;
        for _ in 0..MOST_STEPS {
            let Some(next) = self.step(at, &passes) else { break };
            at = next;
        }
        at
    }

    fn step(&self, id: InstructionId, passes: &impl Fn(&str) -> bool) -> Option<InstructionId> {
        let instruction = self.module.instruction(id);
        match &*instruction.opcode {
            "parameter" => {
                let caller = self.module.instruction(self.only_caller(instruction.computation)?);
                let number = usize::try_from(instruction.parameter_number?).ok()?;
                matches!(&*caller.opcode, "fusion" | "call").then(|| caller.operands.get(number).copied())?
            }
            "fusion" | "call" => {
                let root = self.module.computation(*instruction.called.first()?).root?;
                (!self.module.instruction(root).shape.is_tuple()).then_some(root)
            }
            "get-tuple-element" => {
                self.element(*instruction.operands.first()?, usize::try_from(instruction.tuple_index?).ok()?)
            }
            opcode if passes(opcode) => instruction.operands.first().copied(),
            _ => None,
        }
    }

    /// The instruction whose value is element `index` of the tuple `id`.
    fn element(&self, id: InstructionId, index: usize) -> Option<InstructionId> {
        let tuple = self.module.instruction(id);
        match &*tuple.opcode {
            "tuple" => tuple.operands.get(index).copied(),
            "fusion" | "call" => {
                let root = self.module.instruction(self.module.computation(*tuple.called.first()?).root?);
                (root.opcode == "tuple").then(|| root.operands.get(index).copied())?
            }
            "parameter" => {
                let around = *self.loops.get(&tuple.computation)?;
                self.is_handed_on(around, index).then(|| self.before_loop(around, index))?
            }
            "while" => self.is_handed_on(id, index).then(|| self.before_loop(id, index))?,
            _ => None,
        }
    }

    fn before_loop(&self, around: InstructionId, index: usize) -> Option<InstructionId> {
        let start = self.module.instruction(*self.module.instruction(around).operands.first()?);
        (start.opcode == "tuple").then(|| start.operands.get(index).copied())?
    }

    /// Whether a loop's body hands element `index` of its state on as it is.
    fn is_handed_on(&self, around: InstructionId, index: usize) -> bool {
        let handed_on = || {
            let body = self.module.computation(*self.module.instruction(around).called.first()?);
            let root = self.module.instruction(body.root?);
            let mut at = *root.operands.get(index).filter(|_| root.opcode == "tuple")?;
            // Copies between elements of the state are how XLA hands them on.
            for _ in 0..MOST_STEPS {
                let instruction = self.module.instruction(at);
                match &*instruction.opcode {
                    "copy" | "bitcast" => at = *instruction.operands.first()?,
                    "get-tuple-element" => {
                        let of = self.module.instruction(*instruction.operands.first()?);
                        let is_same = instruction.tuple_index == i64::try_from(index).ok();
                        return Some(of.opcode == "parameter" && is_same);
                    }
                    _ => return Some(false),
                }
            }
            Some(false)
        };
        handed_on().unwrap_or(false)
    }

    /// What reads the element of the tuple `tuple` that is `value`: of a loop's state only where that hands it on.
    fn readers_of_element(&self, tuple: InstructionId, value: InstructionId) -> Option<Vec<InstructionId>> {
        let places =
            self.module.instruction(tuple).operands.iter().enumerate().filter(|(_, operand)| **operand == value);
        let places: Vec<usize> = places.map(|(place, _)| place).collect();
        let mut found = Vec::new();
        let takes = |of: InstructionId, found: &mut Vec<InstructionId>| {
            for user in self.users.of(of) {
                let reader = self.module.instruction(*user);
                let index = reader.tuple_index.and_then(|index| usize::try_from(index).ok());
                if reader.opcode == "get-tuple-element" && index.is_some_and(|index| places.contains(&index)) {
                    found.push(*user);
                }
            }
        };
        if self.module.is_root(tuple) {
            let caller = self.only_caller(self.module.instruction(tuple).computation)?;
            if !matches!(&*self.module.instruction(caller).opcode, "fusion" | "call") {
                // A body that hands its state on is asked at the state before the loop.
                let is_loop = self.module.instruction(caller).opcode == "while";
                return (is_loop && places.iter().all(|place| self.is_handed_on(caller, *place))).then_some(found);
            }
            takes(caller, &mut found);
        }
        takes(tuple, &mut found);
        for user in self.users.of(tuple).iter().filter(|user| self.module.instruction(**user).opcode == "while") {
            if !places.iter().all(|place| self.is_handed_on(*user, *place)) {
                return None;
            }
            takes(*user, &mut found);
            for called in &self.module.instruction(*user).called {
                let ids = self.module.computation(*called).instruction_ids();
                let parameters = ids.filter(|id| self.module.instruction(*id).opcode == "parameter");
                parameters.for_each(|parameter| takes(parameter, &mut found));
            }
        }
        Some(found)
    }

    fn only_caller(&self, computation: ComputationId) -> Option<InstructionId> {
        match self.module.computation(computation).callers[..] {
            [caller] => Some(caller),
            _ => None,
        }
    }
}

/// Whether two runs of an instruction may differ although its operands do not.
fn changes_by_itself(instruction: &Instruction) -> bool {
    let calls_out = instruction.custom_call_target.as_deref().is_some_and(|target| target.contains("callback"));
    calls_out
        || instruction.attributes().custom_call_has_side_effect
        || matches!(
            &*instruction.opcode,
            "parameter"
                | "get-tuple-element"
                | "while"
                | "rng"
                | "rng-get-and-update-state"
                | "infeed"
                | "recv"
                | "recv-done"
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "HloModule m

%inside (p: f32[8], q: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %q = f32[8]{0} parameter(1)
  ROOT %times = f32[8]{0} multiply(%p, %q)
}

%body (s: (s32[], f32[8], f32[8])) -> (s32[], f32[8], f32[8]) {
  %s = (s32[], f32[8]{0}, f32[8]{0}) parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %fixed = f32[8]{0} get-tuple-element(%s), index=1
  %state = f32[8]{0} get-tuple-element(%s), index=2
  %same = f32[8]{0} fusion(%fixed, %fixed), kind=kLoop, calls=%inside
  %next = f32[8]{0} add(%state, %same)
  %one = s32[] constant(1)
  %j = s32[] add(%i, %one)
  ROOT %out = (s32[], f32[8]{0}, f32[8]{0}) tuple(%j, %fixed, %next)
}

%cond (t: (s32[], f32[8], f32[8])) -> pred[] {
  %t = (s32[], f32[8]{0}, f32[8]{0}) parameter(0)
  %k = s32[] get-tuple-element(%t), index=0
  %ten = s32[] constant(10)
  ROOT %less = pred[] compare(%k, %ten), direction=LT
}

ENTRY %main (a: f32[8], b: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %sine = f32[8]{0} sine(%a)
  %zero = s32[] constant(0)
  %start = (s32[], f32[8]{0}, f32[8]{0}) tuple(%zero, %sine, %b)
  %loop = (s32[], f32[8]{0}, f32[8]{0}) while(%start), condition=%cond, body=%body
  ROOT %result = f32[8]{0} get-tuple-element(%loop), index=2
}
";

    #[test]
    fn what_a_branch_in_a_loop_reads_may_change_in_it() {
        const BRANCHES: &str = "HloModule m

%one (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  ROOT %sine = f32[8]{0} sine(%p)
}

%two (q: f32[8]) -> f32[8] {
  ROOT %q = f32[8]{0} parameter(0)
}

%body (s: (s32[], f32[8])) -> (s32[], f32[8]) {
  %s = (s32[], f32[8]{0}) parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %state = f32[8]{0} get-tuple-element(%s), index=1
  %fixed = f32[] constant(3)
  %next = f32[8]{0} conditional(%i, %state, %state), branch_computations={%one, %two}
  %by = s32[] constant(1)
  %j = s32[] add(%i, %by)
  ROOT %out = (s32[], f32[8]{0}) tuple(%j, %next)
}

%cond (t: (s32[], f32[8])) -> pred[] {
  %t = (s32[], f32[8]{0}) parameter(0)
  %k = s32[] get-tuple-element(%t), index=0
  %ten = s32[] constant(10)
  ROOT %less = pred[] compare(%k, %ten), direction=LT
}

ENTRY %main (b: f32[8]) -> f32[8] {
  %b = f32[8]{0} parameter(0)
  %zero = s32[] constant(0)
  %start = (s32[], f32[8]{0}) tuple(%zero, %b)
  %loop = (s32[], f32[8]{0}) while(%start), condition=%cond, body=%body
  ROOT %result = f32[8]{0} get-tuple-element(%loop), index=1
}
";
        let module = HloModule::from_text(BRANCHES).expect("a module");
        let flow = Flow::new(&module);
        let id = |name: &str| module.instruction_named(name).expect(name);
        assert_eq!(flow.loop_around(id("sine")), Some(id("loop")));
        assert!(!flow.is_unchanged_in(id("sine"), id("loop")));
        assert!(flow.is_unchanged_in(id("fixed"), id("loop")));
    }

    #[test]
    fn values_are_followed_through_loops_and_fusions() {
        let module = HloModule::from_text(TEXT).expect("a module");
        let flow = Flow::new(&module);
        let id = |name: &str| module.instruction_named(name).expect(name);
        let name = |id: InstructionId| module.instruction(id).name.as_str();
        let names = |ids: Option<Vec<InstructionId>>| {
            ids.map(|ids| ids.iter().map(|id| name(*id).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(name(flow.source(id("p"))), "sine");
        assert_eq!(name(flow.source(id("same"))), "times");
        assert_eq!(name(flow.source(id("state"))), "state");
        assert_eq!(name(flow.carrier(id("times"))), "same");
        assert!(!flow.is_unchanged_in(id("less"), id("loop")), "the condition reads the state of each iteration");
        assert_eq!(flow.loop_around(id("times")).map(name), Some("loop"));
        assert_eq!(names(flow.readers(id("sine"))), Some(vec!["times".to_owned()]));
        assert_eq!(names(flow.readers(id("times"))), Some(vec!["next".to_owned()]));
        assert_eq!(names(flow.readers(id("next"))), None);
        assert!(flow.is_unchanged_in(id("same"), id("loop")));
        assert!(!flow.is_unchanged_in(id("next"), id("loop")));
    }
}
