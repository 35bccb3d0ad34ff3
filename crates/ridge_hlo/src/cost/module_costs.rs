//! The costs of all instructions of a module, each computation looked at once.

use rustc_hash::FxHashMap;

use super::body::Body;
use super::windows::Budget;
use super::{Assumption, Cost, Traffic, UnknownWhy, UnknownWork, elementwise, trips};
use crate::users::Users;
use crate::{ComputationId, HloModule, Instruction, InstructionId, Opcode, OpcodeClass, Shape};

/// What was seen of a module's loops and branches that neither the compiler nor a counter tells.
pub trait Observed {
    /// Iterations of the loop `at` for each of its executions: a mean, not negative.
    ///
    /// What is no such number is as unknown as `None`.
    fn trips(&self, at: InstructionId) -> Option<f64>;

    /// The part of the executions of the conditional `at` that took each branch, in order; `None` where it is not known.
    fn branches(&self, at: InstructionId) -> Option<Vec<f64>> {
        let _ = at;
        None
    }
}

/// Trips alone.
impl<F: Fn(InstructionId) -> Option<f64>> Observed for F {
    fn trips(&self, at: InstructionId) -> Option<f64> {
        self(at)
    }
}

/// What every instruction of a module costs.
#[derive(Debug, Clone, Default)]
pub struct ModuleCosts {
    instructions: Vec<Cost>,
    computations: Vec<Cost>,
    boundaries: Vec<Traffic>,
    trips: FxHashMap<InstructionId, (f64, Option<Assumption>)>,
    total: Cost,
}

impl ModuleCosts {
    /// Costs of `module`, with the trip counts the compiler knew or that follow from a loop's counter.
    pub fn new(module: &HloModule) -> ModuleCosts {
        ModuleCosts::with_observed(module, &|_| None)
    }

    /// Costs of `module`, its loops and branches as they were `observed`, where nothing surer tells.
    pub fn with_observed(module: &HloModule, observed: &dyn Observed) -> ModuleCosts {
        let mut costing = Costing {
            module,
            observed,
            instructions: vec![Cost::default(); module.instructions.len()],
            computations: vec![None; module.computations.len()],
            bodies: FxHashMap::default(),
            budget: Budget::new(),
            found_trips: FxHashMap::default(),
            fused: fused(module),
            users: Users::new(module),
        };
        for computation in calls_first(module) {
            costing.cost_computation(computation);
        }
        let boundaries = module.computation_ids().map(|id| costing.boundary(id)).collect();
        let computations: Vec<Cost> = costing.computations.into_iter().map(Option::unwrap_or_default).collect();
        let total = module.entry.map(|entry| computations[entry.0 as usize].clone()).unwrap_or_default();
        let trips = costing.found_trips;
        ModuleCosts { instructions: costing.instructions, computations, boundaries, trips, total }
    }

    /// One execution of an instruction, with all it calls: a loop's body and condition times its trips.
    ///
    /// An instruction inside a fusion has no traffic of its own.
    ///
    /// # Panics
    /// If `id` is from another, larger module.
    pub fn of(&self, id: InstructionId) -> &Cost {
        &self.instructions[id.0 as usize]
    }

    /// One run of a computation: one iteration of a loop's body, one branch of a conditional.
    ///
    /// # Panics
    /// If `id` is from another, larger module.
    pub fn computation(&self, id: ComputationId) -> &Cost {
        &self.computations[id.0 as usize]
    }

    /// What enters and leaves a computation: the parts of its parameters it needs, read once, and its result.
    ///
    /// This is the traffic that would be left if nothing between were in memory: for the entry computation what a device
    /// must at least be sent and send back, for a loop's body the part of its state that changes hands each iteration.
    /// Elements of a loop's state that are passed on unchanged stay where they are.
    ///
    /// # Panics
    /// If `id` is from another, larger module.
    pub fn boundary(&self, id: ComputationId) -> Traffic {
        self.boundaries[id.0 as usize]
    }

    /// Iterations of the loop `id` for each of its executions, as its cost counts them; 1 for what is no loop.
    pub fn trips(&self, id: InstructionId) -> f64 {
        self.trips.get(&id).map_or(1.0, |(trips, _)| *trips)
    }

    /// The same with what was assumed for it, nothing where the compiler knew; `None` for what is no loop, and where the trips are
    /// unknown.
    pub fn known_trips(&self, id: InstructionId) -> Option<(f64, Option<Assumption>)> {
        self.trips.get(&id).copied().filter(|(_, assumed)| *assumed != Some(Assumption::TripCountUnknown))
    }

    /// One run of the module's entry computation.
    pub fn total(&self) -> &Cost {
        &self.total
    }
}

/// A module being costed.
pub(super) struct Costing<'a> {
    pub(super) module: &'a HloModule,
    observed: &'a dyn Observed,
    instructions: Vec<Cost>,
    computations: Vec<Option<Cost>>,
    /// The traffic of fusions, by the computation they run.
    pub(super) bodies: FxHashMap<ComputationId, Body>,
    pub(super) budget: Budget,
    found_trips: FxHashMap<InstructionId, (f64, Option<Assumption>)>,
    /// Which computations are bodies of fusions.
    pub(super) fused: Vec<bool>,
    pub(super) users: Users,
}

impl<'a> Costing<'a> {
    fn cost_computation(&mut self, id: ComputationId) {
        let is_fused = self.fused[id.0 as usize];
        let module = self.module;
        let ids = || module.computation(id).instruction_ids();
        for instruction in ids() {
            let mut cost = self.cost_instruction(instruction);
            if is_fused {
                (cost.bytes_accessed, cost.compulsory) = Default::default();
            }
            self.instructions[instruction.0 as usize] = cost;
        }
        let mut total = Cost::default();
        if is_fused {
            let body = self.fusion_body(id);
            for (instruction, share) in ids().zip(&body.shares) {
                total.add_times(&self.instructions[instruction.0 as usize], *share);
            }
            total.bytes_accessed = body.bytes_accessed;
            total.compulsory = body.compulsory();
            self.bodies.insert(id, body);
        } else {
            ids().for_each(|instruction| total.add_times(&self.instructions[instruction.0 as usize], 1.0));
        }
        self.computations[id.0 as usize] = Some(total);
    }

    fn cost_instruction(&mut self, id: InstructionId) -> Cost {
        let instruction = self.module.instruction(id);
        let mut cost = Cost::default();
        let known = match self.run_computations(id, instruction, &mut cost) {
            Some(known) => known,
            None => {
                cost.bytes_accessed = self.xla_traffic(instruction);
                cost.compulsory = self.compulsory_traffic(instruction);
                self.own_work(instruction, &mut cost)
            }
        };
        if let Err(why) = known {
            cost.merge_unknown(Some(UnknownWork { at: id, why, calls: 1.0 }), 1.0);
        }
        if instruction.shape.leaves().iter().any(|shape| shape.dynamic.contains(&true)) {
            cost.assumptions.add(Assumption::UpperBound);
        }
        cost
    }

    /// Instructions that are what they call; `None` for all others.
    fn run_computations(
        &mut self,
        id: InstructionId,
        instruction: &Instruction,
        cost: &mut Cost,
    ) -> Option<Result<(), UnknownWhy>> {
        let known = match &*instruction.opcode {
            "fusion" => self.run_fusion(instruction, cost),
            "call" | "async-start" => self.called(instruction, 0).map(|called| cost.add_times(called, 1.0)),
            "while" => self.run_loop(id, instruction, cost),
            "conditional" => self.run_branches(id, instruction, cost),
            _ => return None,
        };
        let why = if instruction.called.is_empty() { UnknownWhy::Attributes } else { UnknownWhy::Recursion };
        Some(known.ok_or(why))
    }

    fn run_fusion(&mut self, instruction: &Instruction, cost: &mut Cost) -> Option<()> {
        cost.add_times(self.called(instruction, 0)?, 1.0);
        cost.compulsory = self.fusion_compulsory(instruction)?;
        cost.bytes_accessed = self.xla_custom_fusion(instruction).unwrap_or(cost.bytes_accessed);
        Some(())
    }

    fn run_loop(&mut self, id: InstructionId, instruction: &Instruction, cost: &mut Cost) -> Option<()> {
        let (trips, assumption) = self.trips(id, instruction);
        self.found_trips.insert(id, (trips, assumption));
        let (body, condition) = (self.called(instruction, 0)?, self.called(instruction, 1)?);
        cost.add_times(body, trips);
        // The condition is asked once more than it says yes. XLA's own count of an iteration has one of each.
        let asked = if assumption == Some(Assumption::TripCountUnknown) { 1.0 } else { trips + 1.0 };
        cost.add_times(condition, asked);
        assumption.into_iter().for_each(|assumption| cost.assumptions.add(assumption));
        Some(())
    }

    fn trips(&self, id: InstructionId, instruction: &Instruction) -> (f64, Option<Assumption>) {
        if let Some(known) = instruction.known_trip_count() {
            return (known as f64, None);
        }
        if let Some(derived) = trips::derive(self.module, instruction) {
            return (derived as f64, Some(Assumption::TripCountDerived));
        }
        match self.observed.trips(id).filter(|trips| trips.is_finite() && *trips >= 0.0) {
            Some(observed) => (observed, Some(Assumption::TripCountObserved)),
            None => (1.0, Some(Assumption::TripCountUnknown)),
        }
    }

    /// Each branch as often as it was seen; else the one with the most operations, of equal ones that with the most
    /// traffic, stands for all.
    fn run_branches(&mut self, id: InstructionId, instruction: &Instruction, cost: &mut Cost) -> Option<()> {
        let all = (0..instruction.called.len()).map(|position| self.called(instruction, position));
        let branches = all.collect::<Option<Vec<&Cost>>>()?;
        let is_share = |share: &f64| (0.0..=1.0).contains(share);
        let seen = self.observed.branches(id);
        if let Some(seen) = seen.filter(|seen| seen.len() == branches.len() && seen.iter().all(is_share)) {
            branches
                .iter()
                .zip(seen)
                .filter(|(_, share)| *share > 0.0)
                .for_each(|(it, share)| cost.add_times(it, share));
            cost.assumptions.add(Assumption::BranchesObserved);
            return Some(());
        }
        let size = |branch: &Cost| (branch.work.flops() + branch.work.integer_ops(), branch.compulsory.total());
        let largest = branches.iter().max_by(|left, right| {
            let (left, right) = (size(left), size(right));
            left.0.total_cmp(&right.0).then(left.1.total_cmp(&right.1))
        })?;
        cost.add_times(largest, 1.0);
        cost.assumptions.add(Assumption::LargestBranch);
        Some(())
    }

    /// The work an instruction does itself.
    fn own_work(&mut self, instruction: &Instruction, cost: &mut Cost) -> Result<(), UnknownWhy> {
        if let Some(work) = elementwise::work(self.module, instruction) {
            cost.work = work;
            return Ok(());
        }
        let known = match &*instruction.opcode {
            "dot" | "scaled-dot" => self.dot(instruction, cost),
            "ragged-dot" => self.ragged_dot(instruction, cost),
            "convolution" => self.convolution(instruction, cost),
            "reduce" => self.reduce(instruction, cost),
            "reduce-window" => self.reduce_window(instruction, cost),
            "select-and-scatter" => self.select_and_scatter(instruction, cost),
            "scatter" => self.scatter(instruction, cost),
            "map" => self.map(instruction, cost),
            "sort" => self.sort(instruction, cost),
            "topk" => self.topk(instruction, cost),
            "fft" => self.fft(instruction, cost),
            "cholesky" => self.cholesky(instruction, cost),
            "triangular-solve" => self.triangular_solve(instruction, cost),
            "batch-norm-training" | "batch-norm-inference" | "batch-norm-grad" => self.batch_norm(instruction, cost),
            "rng" | "rng-bit-generator" => self.random(instruction, cost),
            "custom-call" => return self.custom_call(instruction, cost).ok_or(UnknownWhy::CustomCall),
            _ if instruction.opcode.is_collective() => self.collective(instruction, cost),
            _ if moves_only(&instruction.opcode) => Some(()),
            _ => return Err(UnknownWhy::Opcode),
        };
        known.ok_or(UnknownWhy::Attributes)
    }

    /// The cost of the `position`th computation an instruction calls; `None` if there is none or it calls itself.
    pub(super) fn called(&self, instruction: &Instruction, position: usize) -> Option<&Cost> {
        self.computations[instruction.called.get(position)?.0 as usize].as_ref()
    }

    /// The cost of an instruction that has been looked at.
    pub(super) fn cost_of(&self, id: InstructionId) -> &Cost {
        &self.instructions[id.0 as usize]
    }

    /// The shape of the `position`th operand.
    pub(super) fn operand_shape(&self, instruction: &Instruction, position: usize) -> Option<&'a Shape> {
        instruction.operands.get(position).map(|&id| &self.module.instruction(id).shape)
    }
}

/// Operations without arithmetic: they move, rename or order values.
fn moves_only(opcode: &Opcode) -> bool {
    use OpcodeClass::{Async, Makes, Moves, PassesBy};
    matches!(opcode.class(), Async(_) | Makes | Moves | PassesBy)
}

/// Which computations are bodies of fusions.
fn fused(module: &HloModule) -> Vec<bool> {
    let mut fused: Vec<bool> = module.computations.iter().map(|computation| computation.is_fusion).collect();
    let bodies = module.instructions.iter().filter(|found| found.is_fusion()).filter_map(|found| found.called.first());
    bodies.for_each(|body| fused[body.0 as usize] = true);
    fused
}

/// All computations, each after those it calls; where they call in a circle, in some order.
fn calls_first(module: &HloModule) -> Vec<ComputationId> {
    let mut order = Vec::with_capacity(module.computations.len());
    let mut is_seen = vec![false; module.computations.len()];
    for start in module.computation_ids() {
        // Each entry is a computation and the instruction and call to look at next: nesting takes heap, not stack.
        let mut open = vec![(start, 0, 0)];
        if std::mem::replace(&mut is_seen[start.0 as usize], true) {
            continue;
        }
        while let Some((computation, instruction, call)) = open.last_mut() {
            let instructions = module.instructions_of(*computation);
            match instructions.get(*instruction).map(|found| found.called.get(*call)) {
                Some(Some(&called)) => {
                    *call += 1;
                    if !std::mem::replace(&mut is_seen[called.0 as usize], true) {
                        open.push((called, 0, 0));
                    }
                }
                Some(None) => (*instruction, *call) = (*instruction + 1, 0),
                None => {
                    order.push(*computation);
                    open.pop();
                }
            }
        }
    }
    order
}

impl Traffic {
    /// Reads and writes of an instruction.
    pub(super) fn new(read: f64, written: f64) -> Traffic {
        Traffic { read, written }
    }
}
