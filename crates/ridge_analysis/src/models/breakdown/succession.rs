//! On a processor: which work shows by its start that other work had ended, whatever the events say.
//!
//! XLA shares large operations among threads. The event of one ends only when its thread is back from what it helped with
//! meanwhile, which may be a thousand later operations, and the event of a loop goes on while its body runs on other threads.
//! Such moments are not theirs. An operation has ended when one that reads its result begins, and when it begins again: on one
//! processor the runs of a program follow one another. Where two do not, their operations divide what both have otherwise.

use crate::Analysis;
use ridge_hlo::{HloModule, InstructionId, OpcodeClass, Users};
use ridge_trace::{NONE, Trace, Track, TrackKind};
use rustc_hash::{FxHashMap, FxHashSet};

/// What the operations of one device tell of each other.
#[derive(Debug, Default)]
pub(super) struct Succession {
    /// By operation, those that cannot begin before it has ended, in order.
    readers: FxHashMap<u32, Vec<u32>>,
    /// Operations that do nothing but run others.
    runners: FxHashSet<u32>,
}

impl Succession {
    /// That of the work on `tracks`; `None` where no event of it can go on beside its successors.
    pub(super) fn new(analysis: &Analysis<'_>, device: u32, tracks: &[&Track]) -> Option<Succession> {
        let trace = analysis.trace;
        let has_lanes = tracks.len() > 1 && tracks.iter().all(|track| track.kind == TrackKind::OperationLane);
        if !has_lanes || !trace.devices.get(device as usize)?.is_processor() {
            return None;
        }
        let mut by_module: FxHashMap<u32, FxHashMap<InstructionId, u32>> = FxHashMap::default();
        for op in ran(trace, tracks) {
            if analysis.instruction(op).is_some() {
                let operation = &trace.operations[op as usize];
                by_module.entry(operation.module).or_default().insert(InstructionId(operation.instruction), op);
            }
        }
        let mut succession = Succession::default();
        for ops in by_module.into_values() {
            let Some((module, _)) = ops.values().next().and_then(|op| analysis.instruction(*op)) else { continue };
            let users = Users::new(module);
            for (id, op) in &ops {
                if module.instruction(*id).opcode.class() == OpcodeClass::Runs {
                    succession.runners.insert(*op);
                }
                succession.readers.insert(*op, readers(module, &users, &ops, *id));
            }
        }
        Some(succession)
    }

    /// Whether the start of `later` shows that `earlier` has ended.
    pub(super) fn shows_end(&self, later: u32, earlier: u32) -> bool {
        let readers = || self.readers.get(&earlier).is_some_and(|readers| readers.binary_search(&later).is_ok());
        later != NONE && (later == earlier || readers())
    }

    /// Whether an operation does nothing but run others.
    pub(super) fn runs_others(&self, op: u32) -> bool {
        self.runners.contains(&op)
    }
}

/// The operations that have events there.
fn ran(trace: &Trace, tracks: &[&Track]) -> FxHashSet<u32> {
    let mut ran = FxHashSet::default();
    let mut last = NONE;
    for op in tracks.iter().flat_map(|track| track.rows.clone()).map(|row| trace.events.op[row as usize]) {
        if op != last {
            ran.insert(op);
            last = op;
        }
    }
    ran.remove(&NONE);
    ran
}

/// Those of `ops` that read the value of `id`, or what only names or groups it.
fn readers(module: &HloModule, users: &Users, ops: &FxHashMap<InstructionId, u32>, id: InstructionId) -> Vec<u32> {
    let mut found = Vec::new();
    let mut open = vec![id];
    let mut seen: FxHashSet<InstructionId> = FxHashSet::default();
    while let Some(value) = open.pop() {
        for user in users.of(value).iter().copied().filter(|user| seen.insert(*user)) {
            match ops.get(&user) {
                Some(op) => found.push(*op),
                None if module.instruction(user).opcode.class() == OpcodeClass::PassesBy => open.push(user),
                None => {}
            }
        }
    }
    found.sort_unstable();
    found
}
