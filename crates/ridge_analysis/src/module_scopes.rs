//! Which module of a PyTorch model each row of a host thread ran in: `ResNet_0/Sequential_1/Conv2d_3`.
//!
//! PyTorch's profiler writes a range `nn.Module: Conv2d_3` for each call of a module where stacks were recorded.
//! Modules that call each other make a path. An operator of the backward pass, which no module calls, is in
//! `backward` under the path of the forward operator whose gradient it computes, and so is what runs inside it.

use ridge_trace::{EventKind, NONE, Trace, Track, TrackKind};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// How the names of modules' ranges begin.
const MODULE: &str = "nn.Module: ";
/// The part of a path that tells the backward pass from the forward one.
const BACKWARD: &str = "backward";
/// Modules inside each other beyond this count for the one they are in.
const MAX_DEPTH: u32 = 100;

/// The paths of modules, and each row's.
#[derive(Debug, Default)]
pub(crate) struct ModuleScopes<'t> {
    /// Parent, own name and depth of each path.
    paths: Vec<(u32, &'t str, u32)>,
    ids: FxHashMap<(u32, &'t str), u32>,
    /// Path by event row, or [`NONE`].
    of_row: Vec<u32>,
}

impl<'t> ModuleScopes<'t> {
    /// Finds them; `None` where the trace has no ranges of modules.
    pub(crate) fn of(trace: &'t Trace) -> Option<ModuleScopes<'t>> {
        let calls = trace.events.kind.contains(&(EventKind::PythonCall as u8));
        if !calls || !threads(trace).any(|track| rows(track).any(|row| module(trace, row).is_some())) {
            return None;
        }
        let mut scopes = ModuleScopes { of_row: vec![NONE; trace.events.len()], ..ModuleScopes::default() };
        // Forward operators may be on threads that come later than those of their backward ones.
        threads(trace).for_each(|track| scopes.walk(trace, track, Pass::Forward));
        if !trace.backwards.is_empty() {
            threads(trace).for_each(|track| scopes.walk(trace, track, Pass::Both));
        }
        Some(scopes)
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
            if let Some(name) = module(trace, row) {
                path = self.inside(path, name);
            } else if pass == Pass::Both
                && let Some(forward) = forward_of(trace, row as u32)
            {
                let of_forward = self.of_row[forward as usize];
                if of_forward != NONE {
                    path = self.inside(of_forward, BACKWARD);
                }
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

fn threads(trace: &Trace) -> impl Iterator<Item = &Track> {
    trace.tracks.iter().filter(|track| track.kind == TrackKind::HostThread)
}

fn rows(track: &Track) -> Range<usize> {
    track.rows.start as usize..track.rows.end as usize
}

/// The name of the module whose call the row is.
fn module(trace: &Trace, row: usize) -> Option<&str> {
    if trace.events.kind[row] != EventKind::PythonCall as u8 {
        return None;
    }
    trace.name(row).strip_prefix(MODULE)
}

fn forward_of(trace: &Trace, row: u32) -> Option<u32> {
    let found = trace.backwards.binary_search_by_key(&row, |backward| backward.event).ok()?;
    Some(trace.backwards[found].forward)
}
