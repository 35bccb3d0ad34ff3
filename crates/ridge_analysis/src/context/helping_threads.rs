//! Which host threads work for others: what they launch belongs to ranges that another thread opened.

use ridge_trace::{EventKind, NONE, Trace, Track, TrackKind};

/// How PyTorch names each node of the backward pass that its engine runs, on threads of its own for accelerators
/// (`torch/csrc/autograd/engine.cpp`).
const AUTOGRAD: &str = "autograd::engine::evaluate_function";

/// What a thread has to do with the ranges of its process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// It names ranges, and what it launches belongs to them alone.
    Names,
    /// It names none, or runs the backward pass for another: ranges inside, as of its collectives, are inside those
    /// that are open elsewhere.
    Helps,
}

/// By track, what it has to do with ranges; whatever is no thread of a host helps.
pub(crate) fn roles(trace: &Trace) -> Vec<Role> {
    let role = |track: &Track| {
        let is_host = track.kind == TrackKind::HostThread;
        let names_ranges = is_host && track.rows.clone().any(|row| is_range(trace, row));
        if names_ranges && !runs_autograd(trace, track) { Role::Names } else { Role::Helps }
    };
    trace.tracks.iter().map(role).collect()
}

/// Whether most time in operators that nothing on `track` called is autograd's, and no step is there.
fn runs_autograd(trace: &Trace, track: &Track) -> bool {
    let (mut autograd, mut others) = (0_i64, 0_i64);
    for row in track.rows.clone().map(|row| row as usize) {
        match trace.events.kind(row) {
            EventKind::Step => return false,
            EventKind::Operator if trace.events.parent[row] == NONE => {
                let sum = if trace.name(row).starts_with(AUTOGRAD) { &mut autograd } else { &mut others };
                *sum = sum.saturating_add(trace.events.dur_ns[row]);
            }
            _ => {}
        }
    }
    autograd > others
}

/// Whether event `row` is a range that the program named.
pub(crate) fn is_range(trace: &Trace, row: u32) -> bool {
    matches!(trace.events.kind(row as usize), EventKind::Annotation | EventKind::Step)
}
