//! From the kernels of one graph, in the order they ran, to the instructions they implement.
//!
//! Kernels that XLA generates are named after their instructions; those of libraries (GEMMs, convolutions, collectives)
//! and those that identical fusions share are not, or not well enough. But a graph runs its instructions in the order
//! of the schedule: between two kernels that a name places, the others implement what is scheduled between the two.
//! What fits there in one way only is placed; what fits in several ways, or in none, is left open.

use crate::{ComputationId, HloModule, InstructionId, Phase};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// How the instruction of a kernel was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoundBy {
    /// The kernel is named after it.
    Name,
    /// It is the only one that fits the kernel's place in the order.
    Order,
}

/// An instruction and how it was found; `None` where nothing fits or too much does.
pub type Implemented = Option<(InstructionId, FoundBy)>;

/// Finds the instructions of kernels in one module and keeps what it looked up.
#[derive(Debug)]
pub struct KernelFinder<'m> {
    module: &'m HloModule,
    by_name: FxHashMap<String, Vec<InstructionId>>,
    /// Fusions that may be twins, told apart by what is cheap to compare.
    look_alikes: Option<FxHashMap<u64, Vec<InstructionId>>>,
    orders: FxHashMap<ComputationId, Order>,
}

/// The order of a computation, and each instruction's place in it.
#[derive(Debug)]
struct Order {
    instructions: Vec<InstructionId>,
    places: FxHashMap<InstructionId, usize>,
}

/// Instructions looked at per kernel of a graph, beyond which its other kernels are found by name alone.
const LOOKED_AT_PER_KERNEL: usize = 256;

impl<'m> KernelFinder<'m> {
    /// A finder that has looked up nothing yet.
    pub fn new(module: &'m HloModule) -> KernelFinder<'m> {
        KernelFinder { module, by_name: FxHashMap::default(), look_alikes: None, orders: FxHashMap::default() }
    }

    /// Whether a kernel of this name is one of the module's own.
    pub fn knows(&self, kernel: &str) -> bool {
        self.module.kernel_instruction(kernel).is_some_and(|id| runs_alone(self.module, id))
    }

    /// The instructions that `kernels` implement, which ran in this order as one graph of the module.
    ///
    /// Cost grows with the kernels; the first question of a module costs as much as the module is large.
    pub fn instructions(&mut self, kernels: &[&str]) -> Vec<Implemented> {
        for &kernel in kernels {
            if !self.by_name.contains_key(kernel) {
                let candidates = self.candidates(kernel);
                self.by_name.insert(kernel.to_owned(), candidates);
            }
        }
        let named = Named::new(&self.by_name, kernels);
        let mut found = named.certain();
        let mut budget = LOOKED_AT_PER_KERNEL * kernels.len();
        for gap in gaps(&found) {
            let Some(slots) = slots(self.module, &mut self.orders, &named, &gap, &mut budget) else { continue };
            fill(self.module, &named, &gap, &slots, &mut found);
        }
        // A name that several instructions share still says what was computed: the first of them stands for all.
        for (kernel, place) in found.iter_mut().enumerate() {
            if place.is_none() {
                *place = named.candidates(kernel).first().map(|&first| (first, FoundBy::Name));
            }
        }
        found
    }

    /// What a kernel of this name may implement: the instruction it was made for, then those that share it.
    fn candidates(&mut self, kernel: &str) -> Vec<InstructionId> {
        let module = self.module;
        if !self.knows(kernel) {
            return Vec::new();
        }
        let Some(named) = module.kernel_instruction(kernel) else { return Vec::new() };
        if !module.instruction(named).is_fusion() {
            return vec![named];
        }
        let look_alikes = self.look_alikes.get_or_insert_with(|| {
            let mut found: FxHashMap<u64, Vec<InstructionId>> = FxHashMap::default();
            for id in
                module.instruction_ids().filter(|id| module.instruction(*id).is_fusion() && runs_alone(module, *id))
            {
                found.entry(module.looks(id)).or_default().push(id);
            }
            found
        });
        let others = look_alikes.get(&module.looks(named)).map_or(&[][..], Vec::as_slice);
        module.with_twins(named, others.iter().copied())
    }
}

/// Whether an instruction may run a kernel: what is inside a fusion is part of one.
fn runs_alone(module: &HloModule, id: InstructionId) -> bool {
    !module.computation(module.instruction(id).computation).is_fusion
}

/// Places the kernels between two that are placed, if they fit in one way only.
fn fill(module: &HloModule, named: &Named<'_>, gap: &Gap, slots: &[Run<InstructionId>], found: &mut [Implemented]) {
    let kernels = runs(gap.kernels.clone().map(|kernel| (named.class(kernel), kernel)));
    // What lies before the first placed kernel may have run outside the graph, and what lies after the last one.
    let slots = match gap.open() {
        Open::Nowhere if slots.len() == kernels.len() => slots,
        Open::AtStart if slots.len() >= kernels.len() => &slots[slots.len() - kernels.len()..],
        Open::AtEnd if slots.len() >= kernels.len() => &slots[..kernels.len()],
        _ => return,
    };
    if slots.iter().zip(&kernels).any(|(slot, kernel)| slot.class != kernel.class) {
        return;
    }
    for (slot, kernel) in slots.iter().zip(&kernels) {
        match (&slot.members[..], &kernel.members[..]) {
            ([one], several) => several.iter().for_each(|&at| found[at] = Some((*one, FoundBy::Order))),
            (places, several) if places.len() == several.len() && are_alike(module, places) => {
                places.iter().zip(several).for_each(|(&one, &at)| found[at] = Some((one, FoundBy::Order)));
            }
            _ => {}
        }
    }
}

/// Whether all these calls are of one kind, so that as many kernels as calls are one each.
fn are_alike(module: &HloModule, calls: &[InstructionId]) -> bool {
    let kind = |id: InstructionId| {
        let instruction = module.instruction(id);
        (instruction.opcode.as_str(), instruction.custom_call_target.as_deref())
    };
    calls.windows(2).all(|pair| kind(pair[0]) == kind(pair[1]))
}

/// The instructions between the ends of a gap that could have run its kernels, in their order.
fn slots(
    module: &HloModule,
    orders: &mut FxHashMap<ComputationId, Order>,
    named: &Named<'_>,
    gap: &Gap,
    budget: &mut usize,
) -> Option<Vec<Run<InstructionId>>> {
    let computation = module.instruction(gap.before.or(gap.after)?).computation;
    let order = orders.entry(computation).or_insert_with(|| {
        let instructions = module.computation(computation).in_order();
        let places = instructions.iter().enumerate().map(|(place, id)| (*id, place)).collect();
        Order { instructions, places }
    });
    let place = |id: InstructionId| order.places.get(&id).copied();
    let len = order.instructions.len();
    let parts = match (gap.before, gap.after) {
        (Some(before), Some(after)) => {
            let (before, after) = (place(before)?, place(after)?);
            // Where the order begins anew, as in a loop, the rest of one pass and the start of the next.
            if before < after { [before + 1..after, 0..0] } else { [before + 1..len, 0..after] }
        }
        (Some(before), None) => [place(before)? + 1..len, 0..0],
        (None, Some(after)) => [0..place(after)?, 0..0],
        (None, None) => return None,
    };
    *budget = budget.checked_sub(parts.iter().map(ExactSizeIterator::len).sum())?;
    let mut candidates: Vec<InstructionId> = parts.into_iter().flatten().map(|at| order.instructions[at]).collect();
    // The graph does not reach a fusion whose kernel is not among its own.
    let is_beyond = |id: &InstructionId| {
        let is_elsewhere = !named.owners.contains(id) && class_of(module, named, *id).is_none();
        module.instruction(*id).is_fusion() && is_elsewhere
    };
    match gap.open() {
        Open::Nowhere => {}
        Open::AtStart => drop(candidates.drain(..candidates.iter().rposition(is_beyond).map_or(0, |at| at + 1))),
        Open::AtEnd => candidates.truncate(candidates.iter().position(is_beyond).unwrap_or(candidates.len())),
    }
    Some(runs(candidates.into_iter().filter_map(|id| Some((class_of(module, named, id)?, id)))))
}

fn class_of(module: &HloModule, named: &Named<'_>, id: InstructionId) -> Option<Class> {
    match named.shared.get(&id) {
        Some(class) => Some(*class),
        None => (!named.owners.contains(&id) && runs_library_kernels(module, id)).then_some(Class::Library),
    }
}

/// Whether an instruction runs kernels of a library, whose names say nothing of it.
fn runs_library_kernels(module: &HloModule, id: InstructionId) -> bool {
    let instruction = module.instruction(id);
    match &*instruction.opcode {
        "custom-call" => {
            let target = instruction.custom_call_target.as_deref().unwrap_or_default();
            !WITHOUT_KERNELS.contains(&target)
        }
        "fusion" => matches!(&*module.category(id), "custom fusion" | "custom fusion (cudnn)"),
        "dot" | "convolution" | "fft" | "cholesky" | "triangular-solve" | "async-start" => true,
        _ => instruction.opcode.is_collective() && instruction.opcode.phase() != Phase::End,
    }
}

/// Targets of custom calls that move or mark values and run no kernel.
const WITHOUT_KERNELS: [&str; 10] = [
    "AllocateBuffer",
    "AssumeGatherIndicesInBound",
    "LayoutConstraint",
    "MoveToDevice",
    "MoveToHost",
    "PinToDevice",
    "Sharding",
    "SPMDFullToShardShape",
    "SPMDShardToFullShape",
    "annotate_device_placement",
];

/// What tells kernels apart that no name places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Of a library.
    Library,
    /// Shared by identical fusions; the first of them.
    Shared(InstructionId),
}

/// Neighbors of one class: library kernels as many as there are, anything else one by one.
#[derive(Debug)]
struct Run<T> {
    class: Class,
    members: Vec<T>,
}

fn runs<T>(members: impl Iterator<Item = (Class, T)>) -> Vec<Run<T>> {
    let mut runs: Vec<Run<T>> = Vec::new();
    for (class, member) in members {
        match runs.last_mut() {
            Some(run) if run.class == class && class == Class::Library => run.members.push(member),
            _ => runs.push(Run { class, members: vec![member] }),
        }
    }
    runs
}

/// What the names of a graph's kernels say.
struct Named<'a> {
    kernels: &'a [&'a str],
    by_name: &'a FxHashMap<String, Vec<InstructionId>>,
    /// Instructions that one of several identical kernels implements.
    shared: FxHashMap<InstructionId, Class>,
    /// Instructions that a kernel is named after and no other.
    owners: FxHashSet<InstructionId>,
}

impl<'a> Named<'a> {
    fn new(by_name: &'a FxHashMap<String, Vec<InstructionId>>, kernels: &'a [&'a str]) -> Named<'a> {
        let mut named = Named { kernels, by_name, shared: FxHashMap::default(), owners: FxHashSet::default() };
        for kernel in 0..kernels.len() {
            match named.candidates(kernel) {
                [] => {}
                [only] => drop(named.owners.insert(*only)),
                [first, ..] if named.shared.contains_key(first) => {}
                several @ [first, ..] => {
                    named.shared.extend(several.iter().map(|&candidate| (candidate, Class::Shared(*first))));
                }
            }
        }
        named
    }

    fn candidates(&self, kernel: usize) -> &'a [InstructionId] {
        self.by_name.get(self.kernels[kernel]).map_or(&[], Vec::as_slice)
    }

    fn class(&self, kernel: usize) -> Class {
        self.candidates(kernel).first().map_or(Class::Library, |&first| Class::Shared(first))
    }

    /// The kernels that are named after one instruction alone.
    fn certain(&self) -> Vec<Implemented> {
        let only = |kernel| match self.candidates(kernel) {
            [only] => Some((*only, FoundBy::Name)),
            _ => None,
        };
        (0..self.kernels.len()).map(only).collect()
    }
}

/// Neighboring kernels that are not placed, and what is placed before and after them.
#[derive(Debug)]
struct Gap {
    kernels: Range<usize>,
    before: Option<InstructionId>,
    after: Option<InstructionId>,
}

#[derive(Debug, Clone, Copy)]
enum Open {
    Nowhere,
    AtStart,
    AtEnd,
}

impl Gap {
    fn open(&self) -> Open {
        match (self.before, self.after) {
            (None, _) => Open::AtStart,
            (_, None) => Open::AtEnd,
            _ => Open::Nowhere,
        }
    }
}

fn gaps(found: &[Implemented]) -> Vec<Gap> {
    let mut gaps = Vec::new();
    let mut at = 0;
    while at < found.len() {
        let end = (at..found.len()).find(|&kernel| found[kernel].is_some()).unwrap_or(found.len());
        if end > at {
            let placed = |kernel: usize| found.get(kernel).copied().flatten().map(|(id, _)| id);
            let before = at.checked_sub(1).and_then(placed);
            gaps.push(Gap { kernels: at..end, before, after: placed(end) });
        }
        at = end + 1;
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two adds that share a kernel, three products, a loop whose body has one product.
    const STEP: &str = "\
HloModule step, is_scheduled=true

%add_body (x: f32[8,8]) -> f32[8,8] {
  %x = f32[8,8] parameter(0)
  ROOT %add.9 = f32[8,8] add(%x, %x)
}

%add_body.1 (x.1: f32[8,8]) -> f32[8,8] {
  %x.1 = f32[8,8] parameter(0)
  ROOT %add.10 = f32[8,8] add(%x.1, %x.1)
}

%tanh_body (x.2: f32[8,8]) -> f32[8,8] {
  %x.2 = f32[8,8] parameter(0)
  ROOT %tanh.9 = f32[8,8] tanh(%x.2)
}

%exp_body (x.3: f32[8,8]) -> f32[8,8] {
  %x.3 = f32[8,8] parameter(0)
  ROOT %exp.9 = f32[8,8] exponential(%x.3)
}

ENTRY %main (p: f32[8,8]) -> f32[8,8] {
  %p = f32[8,8] parameter(0)
  %tanh_fusion = f32[8,8] fusion(%p), kind=kLoop, calls=%tanh_body
  %gemm.1 = f32[8,8] custom-call(%tanh_fusion, %p), custom_call_target=\"__cublas$gemm\"
  %add_fusion = f32[8,8] fusion(%gemm.1), kind=kLoop, calls=%add_body
  %pin = f32[8,8] custom-call(%add_fusion), custom_call_target=\"Sharding\"
  %gemm.2 = f32[8,8] custom-call(%pin, %p), custom_call_target=\"__cublas$gemm\"
  %gemm.3 = f32[8,8] custom-call(%gemm.2, %p), custom_call_target=\"__cublas$gemm\"
  %add_fusion.1 = f32[8,8] fusion(%gemm.3), kind=kLoop, calls=%add_body.1
  %exp_fusion = f32[8,8] fusion(%add_fusion.1), kind=kLoop, calls=%exp_body
  ROOT %gemm.4 = f32[8,8] custom-call(%exp_fusion, %p), custom_call_target=\"__cublas$gemm\"
}
";

    /// The kernels of a graph, and what each was found to implement: `?` by name, `!` by order, `-` not at all.
    #[track_caller]
    fn check(kernels: &str, expected: &str) {
        let module = HloModule::from_text(STEP).expect("a module");
        let names: Vec<&str> = kernels.split(' ').collect();
        let found = KernelFinder::new(&module).instructions(&names).into_iter().map(|found| match found {
            None => "-".to_owned(),
            Some((id, FoundBy::Name)) => format!("{}?", module.instruction(id).name),
            Some((id, FoundBy::Order)) => format!("{}!", module.instruction(id).name),
        });
        assert_eq!(found.collect::<Vec<_>>().join(" "), expected, "{kernels}");
    }

    #[test]
    fn a_whole_graph_is_placed_between_the_kernels_that_have_names() {
        check(
            "tanh_fusion nvjet add_fusion nvjet nvjet add_fusion exp_fusion nvjet",
            "tanh_fusion? gemm.1! add_fusion! gemm.2! gemm.3! add_fusion.1! exp_fusion? gemm.4!",
        );
    }

    #[test]
    fn one_call_may_run_several_kernels() {
        check("exp_fusion nvjet splitk_reduce", "exp_fusion? gemm.4! gemm.4!");
        check(
            "tanh_fusion nvjet reduce add_fusion nvjet nvjet add_fusion exp_fusion",
            "tanh_fusion? gemm.1! gemm.1! add_fusion! gemm.2! gemm.3! add_fusion.1! exp_fusion?",
        );
    }

    #[test]
    fn what_fits_in_several_ways_is_left_open() {
        // Three kernels of two calls; the adds around them are certain.
        check(
            "tanh_fusion nvjet add_fusion nvjet nvjet reduce add_fusion exp_fusion",
            "tanh_fusion? gemm.1! add_fusion! - - - add_fusion.1! exp_fusion?",
        );
        // A call too few: nothing between the two names is sure.
        check(
            "tanh_fusion add_fusion nvjet add_fusion exp_fusion",
            "tanh_fusion? add_fusion? - add_fusion? exp_fusion?",
        );
        // No name at all.
        check("nvjet nvjet", "- -");
    }

    #[test]
    fn a_graph_may_be_a_part_of_the_schedule() {
        check("nvjet nvjet add_fusion exp_fusion", "gemm.2! gemm.3! add_fusion.1! exp_fusion?");
        check("tanh_fusion nvjet", "tanh_fusion? gemm.1!");
    }

    #[test]
    fn a_graph_may_run_its_instructions_again() {
        check(
            "exp_fusion nvjet tanh_fusion nvjet add_fusion nvjet nvjet add_fusion exp_fusion",
            "exp_fusion? gemm.4! tanh_fusion? gemm.1! add_fusion! gemm.2! gemm.3! add_fusion.1! exp_fusion?",
        );
    }
}
