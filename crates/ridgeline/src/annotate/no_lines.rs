//! Why a capture knows no line of any program, and which command would make it know.

use crate::error::{Details, OpenError};
use crate::session::Session;
use ridge_analysis::Analysis;
use ridge_trace::EventKind;

/// The error that says so.
pub(super) fn no_lines(session: &Session, analysis: &Analysis<'_>) -> OpenError {
    let trace = analysis.trace;
    let has = |kind: EventKind| trace.events.kind.contains(&(kind as u8));
    let torch = "`ridgeline record --python-tracer -- python PROGRAM.py`, or `torch.profiler.profile(with_stack=True)`, records them";
    let jax = "`ridgeline record -- python PROGRAM.py` keeps the compiled programs, which name their lines";
    let has_work = !analysis.groups().groups.is_empty();
    let (why, hint) = if trace.events.is_empty() {
        ("the capture has no events, and so no lines of a program", jax)
    } else if has(EventKind::Operator) && trace.modules.is_empty() {
        ("the capture has no lines of the program: stacks were not recorded", torch)
    } else if trace.modules.iter().any(|module| module.hlo.is_some()) {
        ("the capture has no lines of the program: its compiled programs name none for the work that ran", jax)
    } else if !trace.modules.is_empty() {
        ("the capture has no lines of the program: it has no compiled programs (HLO)", jax)
    } else if has_work {
        ("the capture has no lines of the program: it doesn't show which work Python launched", jax)
    } else {
        ("the capture has no lines of the program: nothing ran on a device, and no operators are in it", jax)
    };
    OpenError::NotRecorded(Details::new(why).at(session.root()).hint(hint))
}
