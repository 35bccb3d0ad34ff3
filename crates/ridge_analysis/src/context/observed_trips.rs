//! How often loops went round and which branches were taken, from what ran in the trace.
//!
//! Only for loops whose trips neither the compiler nor a counter tells; [`ModuleCosts`] asks for no others.
//! The trips of a loop are the executions of its body over those of the loop: where they vary a mean, which need not be
//! whole, so that the cost of all runs together is exact.
//! A loop without events of its own, as on GPUs, ran as often as what is beside it in the computation it is in.
//! A branch was taken as often as what is in it ran; the executions of a conditional that no branch accounts for took one
//! that has nothing to run.

use crate::Analysis;
use ridge_hlo::cost::{ModuleCosts, Observed};
use ridge_hlo::{ComputationId, HloModule, Instruction, InstructionId, OpcodeClass};
use ridge_trace::Attribution;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::OnceCell;

/// The ways in which an execution's operation is known.
pub(crate) const KNOWN: [Attribution; 4] =
    [Attribution::ByStat, Attribution::ByModule, Attribution::ByLaunch, Attribution::ByOrder];

/// The costs of the HLO module at position `hlo`, its loops with the trips that the trace shows.
pub fn module_costs(analysis: &Analysis<'_>, hlo: u32) -> Option<ModuleCosts> {
    let module = analysis.hlo.get(hlo as usize)?;
    Some(ModuleCosts::with_observed(module, &Asked { analysis, hlo, module, executed: OnceCell::new() }))
}

/// Few modules have a loop or a branch that asks: only those are looked up in the trace.
struct Asked<'c, 'a> {
    analysis: &'c Analysis<'a>,
    hlo: u32,
    module: &'c HloModule,
    executed: OnceCell<Executed<'c>>,
}

impl Asked<'_, '_> {
    fn executed(&self) -> &Executed<'_> {
        self.executed.get_or_init(|| Executed::new(self.analysis, self.hlo, self.module))
    }
}

impl Observed for Asked<'_, '_> {
    fn trips(&self, at: InstructionId) -> Option<f64> {
        self.executed().trips(at)
    }

    fn branches(&self, at: InstructionId) -> Option<Vec<f64>> {
        self.executed().branches(at)
    }
}

/// How often the instructions of one module ran.
struct Executed<'a> {
    module: &'a HloModule,
    instructions: FxHashMap<InstructionId, u64>,
}

impl<'a> Executed<'a> {
    fn new(analysis: &Analysis<'_>, hlo: u32, module: &'a HloModule) -> Executed<'a> {
        let trace = analysis.trace;
        let executions = analysis.executions();
        let mut instructions: FxHashMap<InstructionId, u64> = FxHashMap::default();
        for (op, operation) in (0_u32..).zip(&trace.operations) {
            if trace.modules.get(operation.module as usize).is_none_or(|row| row.hlo != Some(hlo)) {
                continue;
            }
            let count: u64 = KNOWN.iter().map(|how| executions.with_work(op, *how)).sum();
            if count > 0 {
                let known = instructions.entry(InstructionId(operation.instruction)).or_default();
                *known = known.saturating_add(count);
            }
        }
        Executed { module, instructions }
    }

    /// Trips per execution of the loop `id`; `None` where the trace does not show both.
    fn trips(&self, id: InstructionId) -> Option<f64> {
        let module = self.module;
        let of_body = self.runs(*module.instruction(id).called.first()?)?;
        Some(of_body as f64 / self.runs_of(id)? as f64)
    }

    /// The part of the executions of the conditional `id` that took each branch; `None` where the trace does not show it.
    fn branches(&self, id: InstructionId) -> Option<Vec<f64>> {
        let branches = &self.module.instruction(id).called;
        let runs = |branch: &ComputationId| match self.runs(*branch) {
            // Only what it calls shows that it ran, and not how often.
            None if self.ran_inside(*branch) => None,
            runs => Some(runs.unwrap_or(0)),
        };
        let mut taken: Vec<u64> = branches.iter().map(runs).collect::<Option<_>>()?;
        let seen = taken.iter().fold(0_u64, |sum, runs| sum.saturating_add(*runs));
        let all = self.runs_of(id)?.max(seen);
        if all > seen {
            let silent = branches.iter().position(|branch| self.runs_nothing(*branch))?;
            taken[silent] = all - seen;
        }
        Some(taken.into_iter().map(|runs| runs as f64 / all as f64).collect())
    }

    /// Executions of an instruction that runs others, by its own events, else by what is beside it.
    fn runs_of(&self, id: InstructionId) -> Option<u64> {
        self.instructions.get(&id).copied().or_else(|| self.runs(self.module.instruction(id).computation))
    }

    /// Whether a computation only hands values on, so that no event can show that it ran.
    fn runs_nothing(&self, computation: ComputationId) -> bool {
        let is_silent = |instruction: &Instruction| {
            instruction.opcode.class() == OpcodeClass::PassesBy
                || matches!(&*instruction.opcode, "parameter" | "constant")
        };
        self.module.instructions_of(computation).iter().all(is_silent)
    }

    /// Whether something ran in what the loops, branches and calls of a computation hold.
    fn ran_inside(&self, computation: ComputationId) -> bool {
        let mut open = vec![computation];
        let mut seen: FxHashSet<ComputationId> = open.iter().copied().collect();
        while let Some(outer) = open.pop() {
            let inner = self.module.instructions_of(outer).iter();
            for called in
                inner.filter(|inner| inner.opcode.class() == OpcodeClass::Runs).flat_map(|inner| &inner.called)
            {
                if self.runs(*called).is_some() {
                    return true;
                }
                if seen.insert(*called) {
                    open.push(*called);
                }
            }
        }
        false
    }

    /// Runs of a computation: those of its own instruction that ran most; `None` where none did.
    ///
    /// What it calls runs at other rates and does not speak for it.
    fn runs(&self, computation: ComputationId) -> Option<u64> {
        let ids = self.module.computation(computation).instruction_ids();
        ids.filter_map(|id| self.instructions.get(&id)).max().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Prepared;
    use crate::models::scaling::capture_work;
    use ridge_hlo::cost::Assumption;
    use std::fmt::Write as _;

    /// A cosine of 64 numbers, a loop over their tanh, in it a loop over their sine, both until the data say so.
    const HLO: &str = "HloModule jit_l, is_scheduled=true

%inner (p: (s32[], s32[], f32[64])) -> (s32[], s32[], f32[64]) {
  %p = (s32[], s32[], f32[64]{0}) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %n = s32[] get-tuple-element(%p), index=1
  %x = f32[64]{0} get-tuple-element(%p), index=2
  %sine = f32[64]{0} sine(%x)
  ROOT %out = (s32[], s32[], f32[64]{0}) tuple(%i, %n, %sine)
}

%cond (q: (s32[], s32[], f32[64])) -> pred[] {
  %q = (s32[], s32[], f32[64]{0}) parameter(0)
  %j = s32[] get-tuple-element(%q), index=0
  %m = s32[] get-tuple-element(%q), index=1
  ROOT %less = pred[] compare(%j, %m), direction=LT
}

%outer (r: (s32[], s32[], f32[64])) -> (s32[], s32[], f32[64]) {
  %r = (s32[], s32[], f32[64]{0}) parameter(0)
  %k = s32[] get-tuple-element(%r), index=0
  %l = s32[] get-tuple-element(%r), index=1
  %y = f32[64]{0} get-tuple-element(%r), index=2
  %tanh = f32[64]{0} tanh(%y)
  %state = (s32[], s32[], f32[64]{0}) tuple(%k, %l, %tanh)
  ROOT %while.2 = (s32[], s32[], f32[64]{0}) while(%state), condition=%cond, body=%inner
}

%cond.1 (s: (s32[], s32[], f32[64])) -> pred[] {
  %s = (s32[], s32[], f32[64]{0}) parameter(0)
  %t = s32[] get-tuple-element(%s), index=0
  %u = s32[] get-tuple-element(%s), index=1
  ROOT %less.1 = pred[] compare(%t, %u), direction=LT
}

ENTRY %main (a: s32[], b: s32[], c: f32[64]) -> (s32[], s32[], f32[64]) {
  %a = s32[] parameter(0)
  %b = s32[] parameter(1)
  %c = f32[64]{0} parameter(2)
  %cosine = f32[64]{0} cosine(%c)
  %start = (s32[], s32[], f32[64]{0}) tuple(%a, %b, %cosine)
  ROOT %while.1 = (s32[], s32[], f32[64]{0}) while(%start), condition=%cond.1, body=%outer
}
";

    /// The work of one run of the module in units of 64 operations, and what is said of its loops' trips, where
    /// `track` holds events of the instructions in `ran`.
    #[track_caller]
    fn check(track: &str, ran: &str, expected: &str) {
        check_of(HLO, track, ran, expected);
    }

    #[track_caller]
    fn check_of(module: &str, track: &str, ran: &str, expected: &str) {
        let hlo = [HloModule::from_text(module).expect("HLO text of the test")];
        let mut text = format!("module jit_l 1 hlo=0\n{track}\n");
        for (at, name) in ran.split_whitespace().enumerate() {
            let id = hlo[0].instruction_named(name).expect("an instruction of the module").0;
            writeln!(text, "{} +5 {name} op={name} in=jit_l at={id}", at * 10).expect("a string takes all");
        }
        let trace = ridge_test::trace(&text);
        let prepared = Prepared::default();
        let analysis = prepared.analysis(&trace, &hlo);
        let costs = module_costs(&analysis, 0).expect("the module is there");
        let total = costs.total();
        let said: Vec<&str> = total.assumptions.iter().map(Assumption::name).collect();
        assert_eq!(format!("{} {}", total.work.flops() / 64.0, said.join(" ")), expected, "{ran}");
        if let Some(work) = capture_work(&analysis).filter(|_| ran.matches("cosine").count() == 1) {
            assert_eq!(
                (work.flops, work.is_whole),
                (total.work.flops(), !said.contains(&"trip_count_unknown")),
                "{ran}"
            );
        }
    }

    #[test]
    fn loops_without_events_ran_as_often_as_what_is_beside_them() {
        // 1 + 2 * (1 + 3): three sines for each tanh.
        let iteration = "tanh sine sine sine";
        check("stream 1 on gpu", &format!("cosine {iteration} {iteration}"), "9 trip_count_observed");
        check("stream 1 on gpu", &format!("cosine {iteration} cosine {iteration}"), "5 trip_count_observed");
    }

    #[test]
    fn loops_with_events_ran_as_often_as_those() {
        let all = "cosine while.1 tanh while.2 sine sine tanh while.2 sine sine";
        check("lane 0 on cpu", all, "7 trip_count_observed");
        // Nothing beside the loop is needed.
        check("lane 0 on cpu", &all.replace("cosine", ""), "7 trip_count_observed");
    }

    #[test]
    fn trips_that_vary_are_a_mean() {
        // Of the inner loop 4 and 1, of the outer 2: 1 + 2 * (1 + 2.5), the work of what ran.
        check("stream 1 on gpu", "cosine tanh sine sine sine sine tanh sine", "8 trip_count_observed");
    }

    #[test]
    fn loops_that_the_trace_does_not_show_count_once() {
        check("stream 1 on gpu", "cosine", "3 trip_count_unknown");
        check("stream 1 on gpu", "sine sine", "3 trip_count_unknown");
        check("stream 1 on gpu", "cosine tanh tanh", "5 trip_count_unknown trip_count_observed");
        check("thread python", "", "3 trip_count_unknown");
    }

    /// Which branch ran is in the data; the second has nothing to run.
    const BRANCHES: &str = "HloModule jit_l, is_scheduled=true

%heavy (p: (f32[64])) -> (f32[64]) {
  %p = (f32[64]{0}) parameter(0)
  %x = f32[64]{0} get-tuple-element(%p), index=0
  %sine = f32[64]{0} sine(%x)
  ROOT %out = (f32[64]{0}) tuple(%sine)
}

%light (q: (f32[64])) -> (f32[64]) {
  ROOT %q = (f32[64]{0}) parameter(0)
}

ENTRY %main (a: s32[], c: f32[64]) -> (f32[64]) {
  %a = s32[] parameter(0)
  %c = f32[64]{0} parameter(1)
  %cosine = f32[64]{0} cosine(%c)
  %state = (f32[64]{0}) tuple(%cosine)
  ROOT %either = (f32[64]{0}) conditional(%a, %state, %state), branch_computations={%heavy, %light}
}
";

    /// As [`BRANCHES`], but all that the first branch holds is a loop.
    fn branches_with_a_loop() -> String {
        const LOOP: &str = "%body (r: (f32[64])) -> (f32[64]) {
  %r = (f32[64]{0}) parameter(0)
  %y = f32[64]{0} get-tuple-element(%r), index=0
  %tanh = f32[64]{0} tanh(%y)
  ROOT %again = (f32[64]{0}) tuple(%tanh)
}

%goes (s: (f32[64])) -> pred[] {
  %s = (f32[64]{0}) parameter(0)
  ROOT %yes = pred[] constant(true)
}

%heavy (p: (f32[64])) -> (f32[64]) {
  %p = (f32[64]{0}) parameter(0)
  ROOT %while.1 = (f32[64]{0}) while(%p), condition=%goes, body=%body
}

%light";
        let (head, rest) = BRANCHES.split_once("%heavy").expect("the first branch");
        let (_, tail) = rest.split_once("%light").expect("the second branch");
        format!("{head}{LOOP}{tail}")
    }

    #[test]
    fn branches_that_only_their_loops_show_are_not_counted() {
        let module = branches_with_a_loop();
        let check = |track, ran, expected| check_of(&module, track, ran, expected);
        check("stream 1 on gpu", "cosine tanh tanh tanh cosine", "2 trip_count_unknown largest_branch");
        // Nothing of the loop ran: both times the other branch was taken.
        check("stream 1 on gpu", "cosine cosine", "1 branches_observed");
        // A loop with events of its own says how often its branch was taken.
        check(
            "lane 0 on cpu",
            "cosine either while.1 tanh tanh cosine either",
            "2 trip_count_observed branches_observed",
        );
    }

    #[test]
    fn branches_count_as_often_as_they_were_taken() {
        let check = |track, ran, expected| check_of(BRANCHES, track, ran, expected);
        check("lane 0 on cpu", "cosine either", "1 branches_observed");
        check("lane 0 on cpu", "cosine either sine cosine either", "1.5 branches_observed");
        check("lane 0 on cpu", "cosine either sine", "2 branches_observed");
        check("stream 1 on gpu", "cosine sine cosine cosine cosine", "1.25 branches_observed");
        check("thread python", "", "2 largest_branch");
    }
}
