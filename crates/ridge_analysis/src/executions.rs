//! How often operations ran, which is not how many kernels they launched.
//!
//! One execution of a convolution may launch two kernels, one of an attention five; captures count neither.
//! On a stream, a *run* is a row of kernels of one operation with no other's between.
//! An execution launches each of its kernels at least once, so a run holds as many as its rarest kernel came.
//! Over the streams of a device it is the most on one stream, since parts of one execution may run on several;
//! over devices it is the sum. On a lane every event is one execution.

use ridge_trace::{Attribution, EventKind, NONE, Trace, Track, TrackKind};
use rustc_hash::FxHashMap;

/// Executions by operation and by how the operation is known.
#[derive(Debug, Clone, Default)]
pub struct Executions(FxHashMap<(u32, u8), u64>);

/// What belongs together: an operation known one way.
type Identity = (u32, u8);

impl Executions {
    /// Counts the executions on `tracks`.
    pub(crate) fn count(trace: &Trace, tracks: &[&Track]) -> Executions {
        let mut on_device: FxHashMap<(u32, Identity), u64> = FxHashMap::default();
        for track in tracks {
            let device = track.device.unwrap_or(NONE);
            let is_lane = track.kind == TrackKind::OperationLane;
            for (identity, count) in on_track(trace, track) {
                let most = on_device.entry((device, identity)).or_default();
                // Lanes hold different executions, streams hold parts of the same.
                *most = if is_lane { *most + count } else { (*most).max(count) };
            }
        }
        let mut all: FxHashMap<Identity, u64> = FxHashMap::default();
        for ((_, identity), count) in on_device {
            *all.entry(identity).or_default() += count;
        }
        Executions(all)
    }

    /// Executions of the operation at row `op` that is known by `attribution`.
    pub fn of(&self, op: u32, attribution: Attribution) -> u64 {
        self.0.get(&(op, attribution as u8)).copied().unwrap_or(0)
    }
}

/// A run being read: its operation and how often each of its kernels came.
#[derive(Debug, Default)]
struct Run {
    identity: Option<Identity>,
    kernels: Vec<(u32, u64)>,
}

impl Run {
    /// Ends the run and adds its executions.
    fn close(&mut self, counts: &mut FxHashMap<Identity, u64>) {
        if let (Some(identity), Some(rarest)) =
            (self.identity.take(), self.kernels.iter().map(|(_, count)| *count).min())
        {
            *counts.entry(identity).or_default() += rarest;
        }
        self.kernels.clear();
    }

    fn add(&mut self, name: u32) {
        // The last kernel often comes again, and a run has few different ones.
        match self.kernels.iter_mut().rev().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => self.kernels.push((name, 1)),
        }
    }
}

fn on_track(trace: &Trace, track: &Track) -> FxHashMap<Identity, u64> {
    let events = &trace.events;
    let mut counts = FxHashMap::default();
    let mut run = Run::default();
    for row in track.rows.start as usize..track.rows.end as usize {
        if !EventKind::from_byte_is_work(events.kind[row]) {
            continue;
        }
        let identity = (events.op[row], events.attribution[row]);
        if track.kind == TrackKind::OperationLane {
            *counts.entry(identity).or_default() += 1;
            continue;
        }
        if run.identity != Some(identity) {
            run.close(&mut counts);
            run.identity = (identity.0 != NONE).then_some(identity);
        }
        run.add(events.name[row]);
    }
    run.close(&mut counts);
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use ridge_trace::{NewEvent, Operation, StringId, TraceBuilder};

    /// Kernels as `operation:kernel` words in the order they ran on one stream.
    #[track_caller]
    fn check(kernels: &str, expected: &str) {
        let mut builder = TraceBuilder::new();
        let process = builder.add_process("", None);
        let device = builder.device(process, "/device:GPU:0");
        let track = builder.add_track(process, Some(device), TrackKind::Stream, "s", 1);
        let mut ops: Vec<&str> = Vec::new();
        for (start, word) in kernels.split_whitespace().enumerate() {
            let (op, kernel) = word.split_once(':').expect("operation:kernel");
            let row = ops.iter().position(|known| *known == op).unwrap_or_else(|| {
                ops.push(op);
                let name = builder.strings.intern(op);
                builder.operations.push(Operation { name, module: NONE, instruction: NONE, scope: StringId(0) });
                ops.len() - 1
            });
            let name = builder.strings.intern(kernel);
            let event = NewEvent::new(EventKind::Kernel, name, start as i64 * 10, 5);
            builder.push(track, NewEvent { op: row as u32, ..event });
        }
        let trace = builder.finish();
        let tracks: Vec<&Track> = trace.tracks.iter().collect();
        let found = Executions::count(&trace, &tracks);
        let words: Vec<String> = (ops.iter().enumerate())
            .map(|(row, op)| format!("{op}={}", found.of(row as u32, Attribution::ByStat)))
            .collect();
        assert_eq!(words.join(" "), expected, "{kernels}");
    }

    #[test]
    fn executions_are_not_kernels() {
        check("conv:im2col conv:gemm add:add conv:im2col conv:gemm", "conv=2 add=1");
        check("conv:im2col conv:gemm conv:im2col conv:gemm", "conv=2");
        check("attn:fill attn:dot attn:fill attn:bwd attn:cast", "attn=1");
        check("body:k body:k body:k", "body=3");
        check("conv:gemm add:add conv:im2col conv:gemm", "conv=2 add=1");
    }
}
