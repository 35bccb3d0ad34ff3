//! What ran of each compiled program: its instructions with their rows of the breakdown, their costs, and who uses what.

use crate::case::{Case, Work};
use crate::finding::Finding;
use crate::words::function_name;
use ridge_analysis::{WorkSums, models::roofline};
use ridge_hlo::{ComputationId, Flow, HloModule, InstructionId, OpcodeClass};
use ridge_table::Subject;
use ridge_trace::{ModuleRow, OpRow};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// A compiled program with the work of its instructions in the judged time.
#[derive(Debug)]
pub(crate) struct Program<'a> {
    /// Row of the modules table.
    pub(crate) row: ModuleRow,
    /// Its HLO.
    pub(crate) module: &'a HloModule,
    /// The instructions that ran, in the module's order, each with its rows of the breakdown.
    pub(crate) ran: BTreeMap<InstructionId, Vec<Work<'a>>>,
}

/// The programs that have work in the judged time and HLO.
pub(crate) fn programs<'a>(case: &Case<'a>) -> Vec<Program<'a>> {
    let mut found: BTreeMap<u32, Program<'a>> = BTreeMap::new();
    for work in case.work() {
        let Some((module, id)) = case.analysis.instruction(work.op) else { continue };
        let row = case.analysis.operation(work.op).map_or(0, |op| op.module);
        let program = found.entry(row).or_insert_with(|| Program { row: ModuleRow(row), module, ran: BTreeMap::new() });
        program.ran.entry(id).or_default().push(work);
    }
    found.into_values().collect()
}

/// What `find` says of each loop of the programs.
pub(crate) fn of_loops<T>(
    case: &Case<'_>,
    find: impl Fn(&Case<'_>, &Program<'_>, &Flow<'_>, InstructionId) -> Option<T>,
) -> Vec<T> {
    let mut found = Vec::new();
    for program in programs(case) {
        let flow = Flow::new(program.module);
        let loops = program.module.instruction_ids().filter(|id| program.module.instruction(*id).opcode == "while");
        found.extend(loops.filter_map(|id| find(case, &program, &flow, id)));
    }
    found
}

impl<'a> Program<'a> {
    /// The work of one instruction.
    pub(crate) fn work(&self, id: InstructionId) -> &[Work<'a>] {
        self.ran.get(&id).map_or(&[], |work| work)
    }

    /// How often it ran: as often as what of its entry ran most.
    pub(crate) fn runs(&self) -> u64 {
        let of_entry =
            self.ran.keys().filter(|id| Some(self.module.instruction(**id).computation) == self.module.entry);
        of_entry.map(|id| self.events(*id)).max().unwrap_or(0)
    }

    /// The devices' time that one instruction has, nanoseconds.
    pub(crate) fn ns(&self, id: InstructionId) -> i64 {
        self.work(id).iter().fold(0, |sum, work| sum.saturating_add(work.row.ns))
    }

    /// The devices' time that some instructions have, nanoseconds.
    pub(crate) fn ns_of(&self, ids: &[InstructionId]) -> i64 {
        ids.iter().fold(0, |sum, id| sum.saturating_add(self.ns(*id)))
    }

    /// How often one instruction began.
    pub(crate) fn events(&self, id: InstructionId) -> u64 {
        self.work(id).iter().fold(0, |sum, work| sum.saturating_add(work.row.events))
    }

    /// The rows of the breakdown of some instructions, each claimed with the same part.
    pub(crate) fn claim(&self, ids: &[InstructionId], part: f32) -> Vec<(usize, f32)> {
        ids.iter().flat_map(|id| self.work(*id)).map(|work| (work.at, part)).collect()
    }

    /// Those of `ids` that ran, most time first.
    pub(crate) fn longest_first(&self, ids: &[InstructionId]) -> Vec<InstructionId> {
        let mut ran: Vec<InstructionId> = ids.iter().copied().filter(|id| self.ran.contains_key(id)).collect();
        ran.sort_by_key(|id| (std::cmp::Reverse(self.ns(*id)), *id));
        ran
    }

    /// The instructions of some computations that ran, in their order.
    pub(crate) fn ran_in(&self, computations: &[ComputationId]) -> Vec<InstructionId> {
        let inside: FxHashSet<ComputationId> = computations.iter().copied().collect();
        let ran = self.ran.keys().copied();
        ran.filter(|id| inside.contains(&self.module.instruction(*id).computation)).collect()
    }

    /// The names of some instructions.
    pub(crate) fn names(&self, ids: &[InstructionId]) -> Vec<&'a str> {
        ids.iter().map(|id| self.module.instruction(*id).name.as_str()).collect()
    }

    /// What the program calls itself: the name of the function that was compiled.
    pub(crate) fn function(&self, case: &Case<'a>) -> &'a str {
        let trace = case.trace();
        let name = trace.modules.get(self.row.index()).map_or("", |module| trace.strings.get(module.name));
        function_name(name)
    }

    /// `finding` at the line of `id`, about its operation and the program.
    pub(crate) fn located(&self, case: &Case<'a>, finding: Finding, id: Option<InstructionId>) -> Finding {
        let op = id.and_then(|id| self.work(id).first()).map(|work| work.op);
        finding
            .at(op.and_then(|op| case.line_of_op(op)))
            .about(op.and_then(OpRow::known).map(Subject::Op))
            .about(Subject::Module(self.row))
    }
}

/// Whether programs that ran so often take turns; the ends of what is judged cut some of them.
pub(crate) fn take_turns(one: u64, other: u64) -> bool {
    one.abs_diff(other) <= (one / 100).max(2)
}

/// Whether an instruction came from one of `files`, by any frame of its stack.
pub(crate) fn is_from(module: &HloModule, id: InstructionId, files: &[&str]) -> bool {
    module.source_stack(id).iter().any(|frame| files.iter().any(|file| frame.file.contains(file)))
}

/// The computations that run as part of `first`, itself included, fusions left out.
pub(crate) fn reached(module: &HloModule, first: ComputationId) -> Vec<ComputationId> {
    let mut found = vec![first];
    let mut seen: FxHashSet<ComputationId> = FxHashSet::from_iter([first]);
    let mut next = 0;
    while let Some(at) = found.get(next).copied() {
        next += 1;
        let inner = module.instructions_of(at).iter();
        let runs = inner.filter(|inner| inner.opcode.class() == OpcodeClass::Runs);
        found.extend(runs.flat_map(|inner| &inner.called).filter(|called| seen.insert(**called)));
    }
    found
}

/// Work and time of each operation, by row of the operations table.
pub(crate) fn work_sums(case: &Case<'_>) -> FxHashMap<u32, WorkSums> {
    let rows = roofline::rows(&case.analysis, roofline::RooflineBy::Op);
    let of_op = |row: roofline::RooflineRow| match row.subject {
        Some(Subject::Op(op)) => Some((op.0, row.sums)),
        _ => None,
    };
    rows.into_iter().filter_map(of_op).collect()
}

/// The part of an operation's time beyond the least that its work could take on this device, 0 to 1; `None` where no roof is
/// known.
pub(crate) fn beyond_roof(sums: &FxHashMap<u32, WorkSums>, op: u32) -> Option<f32> {
    let headroom = sums.get(&op)?.headroom().filter(|headroom| *headroom > 1.0 && headroom.is_finite())?;
    Some((1.0 - 1.0 / headroom) as f32)
}
