//! Operators of a program without a GPU, as the work of its processor.
//!
//! PyTorch's profiler writes device work for GPUs alone: on a processor the operators on the program's threads are the
//! work. Each thread gets a lane of the processor with its operators as they nest, every one caused by the operator that
//! it shows, so time, gaps, lines and steps are asked for in one way.
//!
//! The ranges of Gloo are work, too, each on a lane of its thread: without them the program would seem to do nothing while it
//! communicates.
//!
//! What a compiler ran to see what a program does is no work of it, nor is what a loader of data ran. An operator that was
//! compiled while it ran is none either, only what is inside of it: its own time is the compiler's.

use super::gloo;
use super::link::Operations;
use super::placed::{Placed, PlacedTrack};
use super::row::Extra;
use crate::import::Import;
use ridge_trace::{Attribution, EventKind, NONE, StringId, TrackKind};
use rustc_hash::FxHashSet;

/// How the range begins in which a `DataLoader` without workers makes a batch.
const LOADER: &str = "enumerate(DataLoader)";

/// Adds the lanes, where the file says of no device that it is there, and nothing was launched on one.
pub(super) fn add_lanes(extras: &[Extra], placed: &Placed, operations: &mut Operations, import: &mut Import) {
    if used_a_gpu(placed, import) {
        return;
    }
    let (mut lane, mut shown) = (0, Vec::new());
    for track in placed.threads() {
        let work = work_of(track, import);
        if work.is_empty() {
            continue;
        }
        let device = import.builder.device(placed.process, "/device:CPU:0");
        let name = format!("Operators, lane {lane}");
        let kind = TrackKind::OperationLane;
        let home = import.builder.add_track(placed.process, Some(device), kind, &name, lane);
        lane += 1;
        let first = import.builder.reserve(home, work.len());
        for (row, source) in (first..).zip(work) {
            let (start, dur, name) = {
                let of = import.builder.slices(source..source + 1);
                (of.start_ns[0], of.dur_ns[0], of.name[0])
            };
            let op = operations.row(name, import);
            let slices = import.builder.slices(row..row + 1);
            (slices.start_ns[0], slices.dur_ns[0], slices.name[0]) = (start, dur, name);
            (slices.op[0], slices.detail[0], slices.correlation[0], slices.link[0]) = (op, NONE, 0, source);
            slices.kind[0] = EventKind::DeviceOp as u8;
            slices.attribution[0] = Attribution::ByStat as u8;
            let stored = &track.stored[(source - track.rows.start) as usize];
            if gloo::is_one(stored, import) {
                shown.push(gloo::Shown { source, work: row, extra: stored.extra });
            }
        }
    }
    gloo::place(shown, extras, placed, import);
}

/// Whether anything shows that the program had a GPU, whatever was recorded of it: work, calls, or a library's name.
fn used_a_gpu(placed: &Placed, import: &Import) -> bool {
    if placed.streams().any(|track| !track.stored.is_empty()) {
        return true;
    }
    let mut names: FxHashSet<u32> = FxHashSet::default();
    for row in placed.tracks.iter().flat_map(|track| &track.stored) {
        if EventKind::from_byte_is_work(row.kind) || row.kind == EventKind::Launch as u8 {
            return true;
        }
        // Functions of Python bear such names wherever PyTorch runs.
        if row.kind != EventKind::PythonCall as u8 {
            names.insert(row.name);
        }
    }
    let words = ["nccl", "cudnn", "miopen"];
    let is_of_gpu = |name: &str| !asks(name) && words.iter().any(|word| name.contains(word)) || is_runtime(name);
    names.into_iter().any(|name| is_of_gpu(import.builder.strings.get(StringId(name))))
}

/// Whether an operator only asks if a library would do: recurrent layers and losses ask wherever they run.
fn asks(name: &str) -> bool {
    name == "aten::cudnn_is_acceptable" || name.starts_with("aten::_use_")
}

/// Whether a call is of CUDA's or HIP's runtime or driver: `cudaFree`, `cuLaunchKernel`, `hipMalloc`.
fn is_runtime(name: &str) -> bool {
    ["cuda", "cu", "hip"].iter().any(|start| {
        let rest = name.strip_prefix(start).and_then(|rest| rest.chars().next());
        rest.is_some_and(|letter| letter.is_ascii_uppercase())
    })
}

/// The operators of a thread that are work, as rows of the trace, in their order.
fn work_of(track: &PlacedTrack, import: &Import) -> Vec<u32> {
    let is_operator = |kind: u8| kind == EventKind::Operator as u8;
    if !track.stored.iter().any(|row| is_operator(row.kind) || gloo::is_one(row, import)) {
        return Vec::new();
    }
    let parents = track.parents();
    let compiled = around_compilations(track, &parents);
    // Whether a row, or one around it, is no work with all that is in it.
    let mut is_left_out = vec![false; parents.len()];
    let mut work = Vec::new();
    for (at, ((row, stored), parent)) in track.rows.clone().zip(&track.stored).zip(&parents).enumerate() {
        let around = is_left_out.get(*parent as usize).copied().unwrap_or(false);
        let loads = || {
            let name = import.builder.strings.get(StringId(stored.name));
            stored.kind == EventKind::Annotation as u8 && name.starts_with(LOADER)
        };
        is_left_out[at] = around || stored.kind == EventKind::Compile as u8 || loads();
        let is_work = is_operator(stored.kind) || gloo::is_one(stored, import);
        if is_work && !is_left_out[at] && !compiled[at] && stored.dur_ns > 0 {
            work.push(row);
        }
    }
    work
}

/// Whether a compilation is inside of each row.
fn around_compilations(track: &PlacedTrack, parents: &[u32]) -> Vec<bool> {
    let mut found = vec![false; parents.len()];
    for (at, stored) in track.stored.iter().enumerate() {
        let mut outer = if stored.kind == EventKind::Compile as u8 { parents[at] } else { NONE };
        // Once a row is marked, those around it are, too.
        while let Some(is_around) = found.get_mut(outer as usize).filter(|is_around| !**is_around) {
            *is_around = true;
            outer = parents[outer as usize];
        }
    }
    found
}
