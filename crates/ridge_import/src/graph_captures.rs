//! What the capture of CUDA graphs says of their replays: a replay has no calls of its own, the capture has one for each kernel.
//!
//! A graph is known by the kernels, copies and memsets that it holds. Of graphs that hold the same (the layers of a model), the next one
//! in the order of their capture is taken, because a step launches them in that order. Within a graph the first kernel of a name in
//! the capture is the first of that name in the replay, so streams may differ.

use crate::note::Severity;
use crate::source::{GraphCapture, GraphPart, Import, Launched, Replay, Said};
use ridge_trace::{Attribution, EventKind, NONE, Operation, StringId};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// Gives work of graphs the operators that launched it while the graphs were captured, where nothing else names it.
pub(crate) fn attribute(import: &mut Import) {
    let captures = std::mem::take(&mut import.graph_captures);
    let mut replays: Vec<(Vec<GraphPart>, Replay)> =
        std::mem::take(&mut import.graph_replays).into_iter().map(|replay| (parts(&replay, import), replay)).collect();
    let mut operations = FxHashMap::default();
    for capture in &captures {
        let before = replays.len();
        replays = joined(capture, replays, &mut operations, import);
        if replays.len() == before {
            let message = reason(capture, before);
            import.note(Severity::Partial, &capture.source, None, capture.graphs.len() as u64, message.to_owned());
        }
    }
}

/// Why none of `replays` launches was of a graph of `capture`.
fn reason(capture: &GraphCapture, replays: usize) -> &'static str {
    if capture.graphs.iter().flatten().all(|launched| launched.part.is_none()) {
        "its launches name no kernels, so its CUDA graphs can't be distinguished: only ROCm's profiler writes the names"
    } else if replays == 0 {
        "it was captured while CUDA graphs were built, and no accompanying trace launches one that it could name"
    } else {
        "none of its CUDA graphs was launched in the accompanying trace: it is of another batch size, rank or program"
    }
}

/// Names what `capture` knows, and returns the replays that it does not.
fn joined(
    capture: &GraphCapture,
    replays: Vec<(Vec<GraphPart>, Replay)>,
    operations: &mut FxHashMap<Said, u32>,
    import: &mut Import,
) -> Vec<(Vec<GraphPart>, Replay)> {
    let mut known: FxHashMap<Vec<GraphPart>, Vec<usize>> = FxHashMap::default();
    for (at, graph) in capture.graphs.iter().enumerate() {
        let mut parts: Vec<GraphPart> = graph.iter().filter_map(|launched| launched.part).collect();
        if parts.len() == graph.len() {
            parts.sort_unstable();
            known.entry(parts).or_default().push(at);
        }
    }
    let mut next = 0;
    let mut unknown = Vec::new();
    for (parts, replay) in replays {
        let mut sorted = parts.clone();
        sorted.sort_unstable();
        let rank = import.builder.processes()[replay.process as usize].rank;
        let is_of_rank = capture.rank.is_none() || rank.is_none() || capture.rank == rank;
        let Some(places) = known.get(&sorted).filter(|_| is_of_rank) else {
            unknown.push((parts, replay));
            continue;
        };
        let at = places[places.partition_point(|at| *at < next) % places.len()];
        next = at + 1;
        name(&capture.graphs[at], &parts, &replay, operations, import);
    }
    unknown
}

/// What each row of a replay is.
fn parts(replay: &Replay, import: &mut Import) -> Vec<GraphPart> {
    let mut part = |row: u32| {
        let of = import.builder.slices(row..row + 1);
        match EventKind::from_byte(of.kind[0]) {
            EventKind::Memset => GraphPart::Memset,
            kind if kind.is_compute() => GraphPart::Kernel(StringId(of.name[0])),
            _ => GraphPart::Copy,
        }
    };
    replay.rows.iter().map(|row| part(*row)).collect()
}

fn name(
    graph: &[Launched],
    parts: &[GraphPart],
    replay: &Replay,
    operations: &mut FxHashMap<Said, u32>,
    import: &mut Import,
) {
    let mut said: FxHashMap<GraphPart, VecDeque<Said>> = FxHashMap::default();
    for launched in graph {
        launched.part.into_iter().for_each(|part| said.entry(part).or_default().push_back(launched.said));
    }
    let none = StringId::default();
    for (part, row) in parts.iter().zip(&replay.rows) {
        let said = said.get_mut(part).and_then(VecDeque::pop_front);
        let Some(said) = said.filter(|said| said.name != none || said.scope != none) else { continue };
        let op = *operations.entry(said).or_insert_with(|| {
            let name = if said.name == none { said.scope } else { said.name };
            import.builder.operations.push(Operation { name, module: NONE, instruction: NONE, scope: said.scope });
            import.builder.operations.len() as u32 - 1
        });
        let slices = import.builder.slices(*row..*row + 1);
        if slices.attribution[0] != Attribution::ByStat as u8 {
            (slices.op[0], slices.attribution[0]) = (op, Attribution::ByOrder as u8);
        }
    }
}
