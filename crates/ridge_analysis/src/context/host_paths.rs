//! What was open around each row of a host thread, as a path: a model's modules (`ResNet_0/Sequential_1/Conv2d_3`), or the
//! functions of Python.
//!
//! PyTorch's profiler writes both where stacks were recorded: a range `nn.Module: Conv2d_3` for each call of a module, and
//! `train.py(12): step` for each call of a function.
//! An operator of the backward pass, which neither calls, has the path of the forward operator whose gradient it computes,
//! and so has what runs inside it; a path of modules gets `backward` at its end.

use crate::context::python_frame::PythonFrame;
use ridge_trace::{EventKind, NONE, Trace, Track, TrackKind};
use rustc_hash::FxHashMap;
use std::hash::Hash;
use std::ops::Range;

/// How the names of modules' ranges begin.
const MODULE: &str = "nn.Module: ";
/// The part of a path that tells the backward pass from the forward one.
const BACKWARD: &str = "backward";
/// What is inside a longer path than this counts for the longest part of it that is not.
const MAX_DEPTH: u32 = 250;

/// What a path is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PathOf {
    /// Modules of a model.
    Modules,
    /// Functions of Python.
    Functions,
}

impl PathOf {
    /// The part of a path that a Python call of that name is.
    fn part(self, name: &str) -> Option<&str> {
        match self {
            PathOf::Modules => name.strip_prefix(MODULE),
            PathOf::Functions => PythonFrame::of_torch(name).map(|_| name),
        }
    }
}

/// The paths, and each row's.
#[derive(Debug)]
pub(crate) struct HostPaths<'t> {
    of: PathOf,
    /// The part that each name is, by string id.
    parts: Vec<Option<&'t str>>,
    /// Parent, own part and depth of each path.
    paths: Vec<(u32, &'t str, u32)>,
    ids: FxHashMap<(u32, &'t str), u32>,
    /// Path by event row, or [`NONE`].
    of_row: Vec<u32>,
}

impl<'t> HostPaths<'t> {
    /// Finds them; `None` where the trace has no such calls.
    pub(crate) fn find(trace: &'t Trace, of: PathOf) -> Option<HostPaths<'t>> {
        if !trace.events.kind.contains(&(EventKind::PythonCall as u8)) {
            return None;
        }
        let parts: Vec<Option<&str>> = trace.strings.iter().map(|name| of.part(name)).collect();
        let is_part =
            |row| trace.events.kind[row] == EventKind::PythonCall as u8 && parts[name_of(trace, row)].is_some();
        if parts.iter().all(Option::is_none) || !threads(trace).any(|track| rows(track).any(is_part)) {
            return None;
        }
        let of_row = vec![NONE; trace.events.len()];
        let mut found = HostPaths { of, parts, paths: Vec::new(), ids: FxHashMap::default(), of_row };
        // Forward operators may be on threads that come later than those of their backward ones.
        threads(trace).for_each(|track| found.walk(trace, track, Pass::Forward));
        if !trace.backwards.is_empty() {
            threads(trace).for_each(|track| found.walk(trace, track, Pass::Both));
        }
        Some(found)
    }

    /// The path that the host row `row` ran in, or [`NONE`].
    pub(crate) fn of_row(&self, row: u32) -> u32 {
        if row == NONE { NONE } else { self.of_row[row as usize] }
    }

    /// The parts of a path, outermost first.
    pub(crate) fn parts(&self, path: u32) -> Vec<&'t str> {
        let mut parts = Vec::new();
        let mut at = path;
        while let Some((parent, name, _)) = self.paths.get(at as usize) {
            parts.push(*name);
            at = *parent;
        }
        parts.reverse();
        parts
    }

    fn walk(&mut self, trace: &'t Trace, track: &Track, pass: Pass) {
        // Ends of what is open, with its path.
        let mut open: Vec<(i64, u32)> = Vec::new();
        for row in rows(track) {
            let (start, end) = (trace.events.start_ns[row], trace.events.end_ns(row));
            while open.last().is_some_and(|(open_end, _)| start >= *open_end || end > *open_end) {
                open.pop();
            }
            let mut path = open.last().map_or(NONE, |(_, path)| *path);
            let is_call = trace.events.kind[row] == EventKind::PythonCall as u8;
            if let Some(part) = self.parts[name_of(trace, row)].filter(|_| is_call) {
                path = self.inside(path, part);
            } else if pass == Pass::Both
                && let Some(forward) = forward_of(trace, row as u32)
            {
                let of_forward = self.of_row[forward as usize];
                path = match self.of {
                    _ if of_forward == NONE => path,
                    PathOf::Modules => self.inside(of_forward, BACKWARD),
                    PathOf::Functions => of_forward,
                };
            }
            self.of_row[row] = path;
            if end > start {
                open.push((end, path));
            }
        }
    }

    fn inside(&mut self, parent: u32, name: &'t str) -> u32 {
        let depth = self.paths.get(parent as usize).map_or(0, |(_, _, depth)| depth + 1);
        // A forward operator that is in a backward pass itself, as a recomputed one is, adds no further `backward`.
        let is_repeated =
            name == BACKWARD && self.paths.get(parent as usize).is_some_and(|(_, own, _)| *own == BACKWARD);
        if depth >= MAX_DEPTH || is_repeated {
            return parent;
        }
        *self.ids.entry((parent, name)).or_insert_with(|| {
            self.paths.push((parent, name, depth));
            self.paths.len() as u32 - 1
        })
    }
}

/// Whether backward operators are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pass {
    Forward,
    Both,
}

/// Time, nanoseconds, and number of what each key came with.
pub(crate) fn sum_by<K: Hash + Eq>(timed: impl Iterator<Item = (K, i64)>) -> FxHashMap<K, (i64, u64)> {
    let mut sums: FxHashMap<K, (i64, u64)> = FxHashMap::default();
    for (key, ns) in timed {
        let sum = sums.entry(key).or_default();
        *sum = (sum.0.saturating_add(ns), sum.1 + 1);
    }
    sums
}

fn threads(trace: &Trace) -> impl Iterator<Item = &Track> {
    trace.tracks.iter().filter(|track| track.kind == TrackKind::HostThread)
}

fn rows(track: &Track) -> Range<usize> {
    track.rows.start as usize..track.rows.end as usize
}

fn name_of(trace: &Trace, row: usize) -> usize {
    trace.events.name[row] as usize
}

/// The forward operator whose gradient the operator at `row` computes.
pub(crate) fn forward_of(trace: &Trace, row: u32) -> Option<u32> {
    let found = trace.backwards.binary_search_by_key(&row, |backward| backward.event).ok()?;
    Some(trace.backwards[found].forward)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expected: Option<(&str, u32, &str, bool)>) {
        let found =
            PythonFrame::of_torch(name).map(|frame| (frame.file, frame.line, frame.function, frame.is_of_library()));
        assert_eq!(found, expected);
    }

    #[test]
    fn functions_by_their_names() {
        check("train.py(12): step", Some(("train.py", 12, "step", false)));
        check("/home/me/torch_runs/a(b).py(7): <module>", Some(("/home/me/torch_runs/a(b).py", 1, "<module>", false)));
        check("transformers/models/m.py(3): forward", Some(("transformers/models/m.py", 3, "forward", false)));
        check("torch/nn/modules/linear.py(130): forward", Some(("torch/nn/modules/linear.py", 130, "forward", true)));
        check(
            "/v/site-packages/torch/_ops.py(1): __call__",
            Some(("/v/site-packages/torch/_ops.py", 1, "__call__", true)),
        );
        check("/usr/lib/python3.12/abc.py(9): f", Some(("/usr/lib/python3.12/abc.py", 9, "f", true)));
        check("<frozen os>(808): getenv", Some(("<frozen os>", 808, "getenv", true)));
        check("nn.Module: Linear_0", None);
        check("<built-in method linear of type object at 0x7f>", None);
        check("$solver.py:5 step", None);
    }
}
