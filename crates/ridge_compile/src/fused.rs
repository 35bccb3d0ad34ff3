//! From the operations of a program to the kernels that hold them: a module before optimization beside the same after it.
//!
//! An operation is known by the last part of its name (`add` of `jit(step)/add`), its line and its opcode, which the compiler
//! carries along; the names of instructions it gives anew.

use crate::emitter::emitter;
use crate::steps::Refusals;
use ridge_hlo::{ComputationId, HloModule, InstructionId, Users};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// Instructions that are walked, calls opened: a program of calls in calls may stand for billions.
const MOST_WALKED: usize = 1 << 20;

/// Calls in calls that are opened.
const MOST_DEPTH: usize = 128;

/// What only names, groups or reinterprets values, and what nobody asks about.
const PASSIVE: [&str; 8] =
    ["parameter", "constant", "tuple", "get-tuple-element", "bitcast", "call", "after-all", "opt-barrier"];

/// An operation of the program: all that are alike in name, line and opcode.
#[derive(Debug, Clone, PartialEq)]
pub struct Operation {
    /// Its whole name, as the framework gave it.
    pub name: String,
    /// File and line; `None` where neither side says one.
    pub line: Option<(String, u32)>,
    /// What it does.
    pub opcode: String,
    /// How many there are before optimization, calls opened.
    pub before: usize,
    /// How many there are after it.
    pub after: usize,
    /// What became of it.
    pub outcome: Outcome,
    /// Places in [`Fused::kernels`] of those that hold it, or what it became.
    pub held_by: Vec<usize>,
}

/// What became of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It stands in kernels with others.
    Fused,
    /// It is computed in several kernels, and more often than the program says.
    Duplicated,
    /// Its kernel holds nothing else.
    Alone,
    /// Others stand in its place, of these opcodes.
    Became(Vec<String>),
    /// Nothing after optimization bears its name.
    Gone,
}

impl Outcome {
    /// It in words.
    pub fn words(&self) -> String {
        match self {
            Outcome::Fused => "fused".to_owned(),
            Outcome::Duplicated => "fused, computed again".to_owned(),
            Outcome::Alone => "alone".to_owned(),
            Outcome::Became(opcodes) => format!("became {}", opcodes.join(", ")),
            Outcome::Gone => "folded away".to_owned(),
        }
    }
}

/// What the compiler made one launch, call or loop of.
#[derive(Debug, Clone, PartialEq)]
pub struct Kernel {
    /// The instruction, by its name after optimization.
    pub instruction: String,
    /// How its kernel is made, in words.
    pub emitter: String,
    /// Operations in it.
    pub operations: usize,
    /// Results that it writes.
    pub results: usize,
    /// Instructions of the same computation that read them.
    pub read_by: Vec<String>,
    /// Whether its results leave its computation.
    pub is_result: bool,
    /// Why XLA's fusion pass did not fuse it into what reads it, in XLA's words, where it says so.
    pub refused: Option<String>,
}

/// A module before beside the same after.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Fused {
    /// The operations, in the order of the program.
    pub operations: Vec<Operation>,
    /// What holds them, in the order of the optimized module.
    pub kernels: Vec<Kernel>,
    /// By opcode: how many before, after within fusions, and after on their own.
    pub opcodes: BTreeMap<String, [usize; 3]>,
    /// Operations after optimization whose name, line and opcode nothing has before it: what the compiler made anew.
    pub made_anew: usize,
    /// Whether a walk ended early because there was too much.
    pub is_cut: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    last: String,
    place: Option<(String, u32, u32)>,
}

impl Key {
    fn new(name: &str, place: Option<(String, u32, u32)>) -> Key {
        Key { last: name.rsplit('/').next().unwrap_or_default().to_owned(), place }
    }
}

/// Lays `before` and `after` beside each other; `refusals` are what the fusion pass said.
pub fn fused(before: &HloModule, after: &HloModule, refusals: &Refusals) -> Fused {
    let mut found = Fused::default();
    let held = Held::of(after, refusals, &mut found);
    let mut asked: Vec<(Key, String, Operation)> = Vec::new();
    let mut places: FxHashMap<(Key, String), usize> = FxHashMap::default();
    let mut walk = Walk { module: before, left: MOST_WALKED, is_cut: false };
    walk.each(&mut |id, scope| {
        let instruction = before.instruction(id);
        let opcode = instruction.opcode.as_str().to_owned();
        found.opcodes.entry(opcode.clone()).or_default()[0] += 1;
        if PASSIVE.contains(&opcode.as_str()) || instruction.metadata.op_name.is_empty() {
            return;
        }
        let name = scope.name(&instruction.metadata.op_name);
        let place = place_of(before, id).or_else(|| scope.place.clone());
        let key = Key::new(&name, place);
        let at = *places.entry((key.clone(), opcode.clone())).or_insert_with(|| {
            let line = key.place.as_ref().map(|(file, line, _)| (file.clone(), *line));
            let operation = Operation {
                name,
                line,
                opcode: opcode.clone(),
                before: 0,
                after: 0,
                outcome: Outcome::Gone,
                held_by: Vec::new(),
            };
            asked.push((key, opcode, operation));
            asked.len() - 1
        });
        if let Some((_, _, operation)) = asked.get_mut(at) {
            operation.before += 1;
        }
    });
    found.is_cut |= walk.is_cut;
    let is_asked = |key: &Key, opcode: &String| places.contains_key(&(key.clone(), opcode.clone()));
    let anew = held.by_key.iter().flat_map(|(key, by_opcode)| by_opcode.keys().filter(|opcode| !is_asked(key, opcode)));
    found.made_anew = anew.count();
    let judged =
        asked.into_iter().map(|(key, opcode, operation)| held.judged(&key, &opcode, operation, &found.kernels));
    found.operations = judged.collect();
    found
}

fn place_of(module: &HloModule, id: InstructionId) -> Option<(String, u32, u32)> {
    let stack = module.source_stack(id);
    let frame = stack.first().filter(|frame| frame.line > 0)?;
    Some((frame.file.to_owned(), frame.line, frame.column))
}

/// Operations after optimization, by key and opcode: how many each kernel holds.
struct Held {
    by_key: FxHashMap<Key, BTreeMap<String, BTreeMap<usize, usize>>>,
}

impl Held {
    fn of(after: &HloModule, refusals: &Refusals, found: &mut Fused) -> Held {
        let mut held = Held { by_key: FxHashMap::default() };
        let users = Users::new(after);
        let mut walk = Walk { module: after, left: MOST_WALKED, is_cut: false };
        let mut outer: Vec<InstructionId> = Vec::new();
        walk.each(&mut |id, _| outer.push(id));
        let mut seen = FxHashSet::default();
        for id in outer {
            let instruction = after.instruction(id);
            let opcode = instruction.opcode.as_str();
            if !seen.insert(id) {
                continue;
            }
            if PASSIVE.contains(&opcode) {
                found.opcodes.entry(opcode.to_owned()).or_default()[2] += 1;
                continue;
            }
            let at = found.kernels.len();
            found.opcodes.entry(opcode.to_owned()).or_default()[2] += 1;
            let mut operations = 1;
            if instruction.is_fusion() {
                let inside = instructions_in(after, id);
                for inner in &inside {
                    found.opcodes.entry(after.instruction(*inner).opcode.as_str().to_owned()).or_default()[1] += 1;
                }
                operations = inside.iter().filter(|inner| held.take(after, **inner, at)).count();
            } else {
                held.take(after, id, at);
            }
            let (read_by, is_result) = readers(after, &users, id);
            let root = root_of(after, id);
            found.kernels.push(Kernel {
                instruction: instruction.name.clone(),
                emitter: emitter(after, id),
                operations,
                results: instruction.shape.leaves().len(),
                read_by,
                is_result,
                refused: refusals.of(&instruction.name).or_else(|| refusals.of(&root)).map(str::to_owned),
            });
        }
        found.is_cut |= walk.is_cut;
        held
    }

    /// Counts an instruction that the kernel at `at` holds; whether it is an operation.
    fn take(&mut self, module: &HloModule, id: InstructionId, at: usize) -> bool {
        let instruction = module.instruction(id);
        let opcode = instruction.opcode.as_str();
        if PASSIVE.contains(&opcode) {
            return false;
        }
        if !instruction.metadata.op_name.is_empty() {
            let key = Key::new(&instruction.metadata.op_name, place_of(module, id));
            *self.by_key.entry(key).or_default().entry(opcode.to_owned()).or_default().entry(at).or_default() += 1;
        }
        true
    }

    fn judged(&self, key: &Key, opcode: &str, mut operation: Operation, kernels: &[Kernel]) -> Operation {
        let Some(by_opcode) = self.by_key.get(key) else { return operation };
        match by_opcode.get(opcode) {
            Some(by_kernel) => {
                operation.after = by_kernel.values().sum();
                operation.held_by = by_kernel.keys().copied().collect();
                let is_alone = |at: &usize| kernels.get(*at).is_some_and(|kernel| kernel.operations <= 1);
                operation.outcome = if operation.after > operation.before && operation.held_by.len() > 1 {
                    Outcome::Duplicated
                } else if operation.held_by.iter().all(is_alone) {
                    Outcome::Alone
                } else {
                    Outcome::Fused
                };
            }
            None => {
                operation.held_by = by_opcode.values().flat_map(|by_kernel| by_kernel.keys().copied()).collect();
                operation.held_by.sort_unstable();
                operation.held_by.dedup();
                operation.outcome = Outcome::Became(by_opcode.keys().cloned().collect());
            }
        }
        operation
    }
}

/// The instructions of a fusion, fusions in it opened.
fn instructions_in(module: &HloModule, id: InstructionId) -> Vec<InstructionId> {
    let (mut open, mut inside) = (module.instruction(id).called.clone(), Vec::new());
    let mut seen: FxHashSet<ComputationId> = FxHashSet::default();
    while let Some(computation) = open.pop() {
        if !seen.insert(computation) {
            continue;
        }
        for inner in module.computation(computation).instruction_ids() {
            inside.push(inner);
            if module.instruction(inner).is_fusion() {
                open.extend(module.instruction(inner).called.iter().copied());
            }
        }
    }
    inside
}

/// What reads the results of an instruction, and whether they leave its computation.
fn readers(module: &HloModule, users: &Users, id: InstructionId) -> (Vec<String>, bool) {
    let (mut open, mut names, mut leaves) = (vec![id], Vec::new(), module.is_root(id));
    let mut seen: FxHashSet<InstructionId> = FxHashSet::default();
    while let Some(at) = open.pop() {
        for user in users.of(at) {
            if !seen.insert(*user) {
                continue;
            }
            leaves |= module.is_root(*user);
            match module.instruction(*user).opcode.as_str() {
                "tuple" | "get-tuple-element" | "bitcast" => open.push(*user),
                _ => names.push(module.instruction(*user).name.clone()),
            }
        }
    }
    names.sort_unstable();
    (names, leaves)
}

/// The name of what a fusion ends in; its own where it is none.
fn root_of(module: &HloModule, id: InstructionId) -> String {
    let instruction = module.instruction(id);
    let inside = instruction.called.first().filter(|_| instruction.is_fusion());
    let Some(mut at) = inside.and_then(|called| module.computation(*called).root) else {
        return instruction.name.clone();
    };
    for _ in 0..16 {
        let inner = module.instruction(at);
        match inner.operands.first().filter(|_| matches!(inner.opcode.as_str(), "tuple" | "bitcast")) {
            Some(operand) => at = *operand,
            None => break,
        }
    }
    module.instruction(at).name.clone()
}

/// Where a walk stands: the name and the line of the call around it.
#[derive(Clone, Default)]
struct Scope {
    name: String,
    place: Option<(String, u32, u32)>,
}

impl Scope {
    /// A name inside of a call begins with the call's, as XLA writes it once the call is opened.
    fn name(&self, own: &str) -> String {
        if self.name.is_empty() || own.starts_with(&self.name) || own.starts_with("jit(") {
            own.to_owned()
        } else {
            format!("{}/{own}", self.name)
        }
    }
}

/// What runs of a module: its entry with calls, loops and branches opened; what a reduction or a sort applies is left out.
struct Walk<'m> {
    module: &'m HloModule,
    left: usize,
    is_cut: bool,
}

impl Walk<'_> {
    fn each(&mut self, take: &mut dyn FnMut(InstructionId, &Scope)) {
        let Some(entry) = self.module.entry else { return };
        let mut open = vec![(entry, Scope::default(), 0_usize)];
        while let Some((computation, scope, depth)) = open.pop() {
            for id in self.module.computation(computation).instruction_ids() {
                if self.left == 0 {
                    self.is_cut = true;
                    return;
                }
                self.left -= 1;
                take(id, &scope);
                let instruction = self.module.instruction(id);
                let opens = matches!(instruction.opcode.as_str(), "call" | "while" | "conditional" | "async-start");
                if !opens {
                    continue;
                }
                if depth >= MOST_DEPTH {
                    self.is_cut = true;
                    continue;
                }
                let inner = Scope {
                    name: match instruction.opcode.as_str() {
                        "call" => scope.name(&instruction.metadata.op_name),
                        _ => scope.name.clone(),
                    },
                    place: place_of(self.module, id).or_else(|| scope.place.clone()),
                };
                open.extend(instruction.called.iter().map(|called| (*called, inner.clone(), depth + 1)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps::refusals;
    use expect_test::expect;

    const BEFORE: &str = "\
HloModule m

%callee (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  ROOT %s.1 = f32[8]{0} sine(%p), metadata={op_name=\"sin\"}
}

%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %r.1 = f32[] add(%a, %b), metadata={op_name=\"jit(f)/reduce_sum\"}
}

ENTRY %main (x: f32[8]) -> (f32[8], f32[8], f32[]) {
  %x = f32[8]{0} parameter(0)
  %c.1 = f32[8]{0} call(%x), to_apply=%callee, metadata={op_name=\"jit(f)/jit(g)\" source_file=\"f.py\" source_line=3}
  %m.1 = f32[8]{0} multiply(%c.1, %c.1), metadata={op_name=\"jit(f)/mul\" source_file=\"f.py\" source_line=4}
  %n.1 = f32[8]{0} negate(%c.1), metadata={op_name=\"jit(f)/neg\" source_file=\"f.py\" source_line=5}
  %d.1 = f32[8]{0} divide(%n.1, %x), metadata={op_name=\"jit(f)/div\" source_file=\"f.py\" source_line=6}
  %z.1 = f32[8]{0} add(%d.1, %d.1), metadata={op_name=\"jit(f)/add\" source_file=\"f.py\" source_line=7}
  %zero = f32[] constant(0)
  %sum.1 = f32[] reduce(%m.1, %zero), dimensions={0}, to_apply=%add, metadata={op_name=\"jit(f)/reduce_sum\" source_file=\"f.py\" source_line=8}
  ROOT %t = (f32[8]{0}, f32[8]{0}, f32[]) tuple(%m.1, %n.1, %sum.1)
}
";

    const AFTER: &str = "\
HloModule m, is_scheduled=true

%fused_multiply (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %s.2 = f32[8]{0} sine(%p), metadata={op_name=\"jit(f)/jit(g)/sin\" source_file=\"f.py\" source_line=3}
  ROOT %m.1.1 = f32[8]{0} multiply(%s.2, %s.2), metadata={op_name=\"jit(f)/mul\" source_file=\"f.py\" source_line=4}
}

%fused_negate (q: f32[8]) -> f32[8] {
  %q = f32[8]{0} parameter(0)
  %s.3 = f32[8]{0} sine(%q), metadata={op_name=\"jit(f)/jit(g)/sin\" source_file=\"f.py\" source_line=3}
  ROOT %n.1.1 = f32[8]{0} negate(%s.3), metadata={op_name=\"jit(f)/neg\" source_file=\"f.py\" source_line=5}
}

%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %r.1 = f32[] add(%a, %b), metadata={op_name=\"jit(f)/reduce_sum\"}
}

%fused_reduce (u: f32[8]) -> f32[] {
  %u = f32[8]{0} parameter(0)
  %zero = f32[] constant(0)
  ROOT %sum.1.1 = f32[] reduce(%u, %zero), dimensions={0}, to_apply=%add, metadata={op_name=\"jit(f)/reduce_sum\" source_file=\"f.py\" source_line=8}
}

ENTRY %main (x: f32[8]) -> (f32[8], f32[8], f32[]) {
  %x = f32[8]{0} parameter(0)
  %loop_multiply_fusion = f32[8]{0} fusion(%x), kind=kLoop, calls=%fused_multiply
  %loop_negate_fusion = f32[8]{0} fusion(%x), kind=kLoop, calls=%fused_negate
  %div.2 = f32[8]{0} custom-call(%loop_negate_fusion, %x), custom_call_target=\"__cublas$gemm\", metadata={op_name=\"jit(f)/div\" source_file=\"f.py\" source_line=6}
  %input_reduce_fusion = f32[] fusion(%loop_multiply_fusion), kind=kInput, calls=%fused_reduce
  ROOT %t = (f32[8]{0}, f32[8]{0}, f32[]) tuple(%loop_multiply_fusion, %loop_negate_fusion, %input_reduce_fusion)
}
";

    const STEPS: &str = "  producer_ineligible {\n    producer_name: \"m.1.0\"\n    reason: \"no\"\n  }\n";

    fn told(found: &Fused) -> String {
        let mut text = String::new();
        for one in &found.operations {
            let names: Vec<&str> = one.held_by.iter().map(|at| found.kernels[*at].instruction.as_str()).collect();
            let line = one.line.as_ref().map_or(0, |(_, line)| *line);
            let (before, after) = (one.before, one.after);
            text.push_str(&format!(
                "{} :{line} {before} -> {after} {}: {}\n",
                one.name,
                one.outcome.words(),
                names.join(" ")
            ));
        }
        for one in &found.kernels {
            let refused = one.refused.as_deref().unwrap_or("-");
            let (read_by, leaves) = (one.read_by.join(" "), one.is_result);
            text.push_str(&format!(
                "{} holds {}, read by [{read_by}] {leaves} {refused}\n",
                one.instruction, one.operations
            ));
        }
        text
    }

    #[test]
    fn each_operation_is_led_to_what_holds_it() {
        let read = |text: &str| HloModule::from_text(text).expect("a module");
        let found = fused(&read(BEFORE), &read(AFTER), &refusals(STEPS));
        expect![[r#"
            jit(f)/mul :4 1 -> 1 fused: loop_multiply_fusion
            jit(f)/neg :5 1 -> 1 fused: loop_negate_fusion
            jit(f)/div :6 1 -> 0 became custom-call: div.2
            jit(f)/add :7 1 -> 0 folded away: 
            jit(f)/reduce_sum :8 1 -> 1 alone: input_reduce_fusion
            jit(f)/jit(g)/sin :3 1 -> 2 fused, computed again: loop_multiply_fusion loop_negate_fusion
            loop_multiply_fusion holds 2, read by [input_reduce_fusion] true no
            loop_negate_fusion holds 2, read by [div.2] true -
            div.2 holds 1, read by [] false -
            input_reduce_fusion holds 1, read by [] true -
        "#]]
        .assert_eq(&told(&found));
        assert_eq!(found.opcodes["sine"], [1, 2, 0]);
        assert_eq!((found.opcodes["fusion"], found.opcodes["divide"], found.made_anew), ([0, 0, 3], [1, 0, 0], 1));
    }

    #[test]
    fn calls_that_stand_for_billions_are_cut() {
        let mut text = String::from("HloModule m\n\n");
        for depth in (0..60).rev() {
            let inner = |at: &str| match depth {
                59 => format!("  %v{at}.{depth} = f32[] negate(%p.{depth})\n"),
                _ => format!("  %v{at}.{depth} = f32[] call(%p.{depth}), to_apply=%c{}\n", depth + 1),
            };
            let (one, two) = (inner("a"), inner("b"));
            text.push_str(&format!(
                "%c{depth} (p.{depth}: f32[]) -> f32[] {{\n  %p.{depth} = f32[] parameter(0)\n{one}{two}  ROOT %r.{depth} = f32[] add(%va.{depth}, %vb.{depth})\n}}\n\n"
            ));
        }
        text.push_str("ENTRY %main (x: f32[]) -> f32[] {\n  %x = f32[] parameter(0)\n  ROOT %y = f32[] call(%x), to_apply=%c0\n}\n");
        let module = HloModule::from_text(&text).expect("a module");
        assert!(fused(&module, &module, &Refusals::default()).is_cut);
    }
}
