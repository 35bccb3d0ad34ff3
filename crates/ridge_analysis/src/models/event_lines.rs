//! The lines of the program that one event came from, and how they are known.
//!
//! The same sources as for the sums of lines: what a compiler wrote beside its instructions, else the functions of Python
//! that were open around the launch.

use crate::Analysis;
use crate::context::host_paths::forward_of;
use crate::context::{Line, OpLines, PythonFrame};
use ridge_trace::{EventKind, NONE, StringId, Trace};

/// Calls of one stack; more are a cycle of a broken capture.
const MOST_CALLS: usize = 1 << 10;

/// Where an event came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventLines {
    /// Its stack, innermost first; not empty.
    pub stack: Vec<Line>,
    /// The position of the program's own innermost line.
    pub own: usize,
    /// How it is known.
    pub known: LinesKnown,
}

/// How the lines of an event are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinesKnown {
    /// The compiler recorded them with the operation.
    Compiled,
    /// No line made it; why it is owed to that line, a few words.
    Owed(&'static str),
    /// The functions of Python that were open around its launch.
    Launch,
    /// Those of the forward operator whose gradient it computes.
    Forward,
}

impl LinesKnown {
    /// Whether the capture has them, rather than that they follow from something else.
    pub fn is_measured(self) -> bool {
        matches!(self, LinesKnown::Compiled | LinesKnown::Launch)
    }

    /// How, a few words.
    pub fn text(self) -> &'static str {
        match self {
            LinesKnown::Compiled => "recorded by the compiler with the operation",
            LinesKnown::Owed(why) => why,
            LinesKnown::Launch => "the Python functions that were running at its launch",
            LinesKnown::Forward => "those of the forward operator whose gradient it computes",
        }
    }
}

/// The lines of the event at `row`; `None` where nothing tells.
pub fn lines_of_event(analysis: &Analysis<'_>, row: u32) -> Option<EventLines> {
    let (events, at) = (&analysis.trace.events, row as usize);
    if let Some(OpLines { stack, owed }) = analysis.lines().of(events.op[at]) {
        let known = owed.map_or(LinesKnown::Compiled, |owed| LinesKnown::Owed(owed.text()));
        return Some(EventLines { stack: stack.clone(), own: 0, known });
    }
    let is_on_device = EventKind::from_byte_is_work(events.kind[at]);
    python_stack(analysis.trace, if is_on_device { events.link[at] } else { row })
}

/// The functions of Python around a row of the host.
fn python_stack(trace: &Trace, row: u32) -> Option<EventLines> {
    let events = &trace.events;
    let (mut frames, mut known) = (Vec::new(), LinesKnown::Launch);
    let mut next = row;
    for _ in 0..MOST_CALLS {
        if next == NONE {
            break;
        }
        let at = next as usize;
        next = events.parent[at];
        if events.kind[at] == EventKind::PythonCall as u8 {
            frames.extend(PythonFrame::of_torch(trace.strings.get(StringId(events.name[at]))));
        } else if let Some(forward) = forward_of(trace, at as u32).filter(|_| known == LinesKnown::Launch) {
            known = LinesKnown::Forward;
            next = forward;
        }
    }
    let own = frames.iter().position(|frame| !frame.is_of_library()).unwrap_or(0);
    let line = |frame: &PythonFrame<'_>| Line {
        file: frame.file.to_owned(),
        line: frame.line,
        function: frame.function.to_owned(),
    };
    let stack: Vec<Line> = frames.iter().map(line).collect();
    (!stack.is_empty()).then_some(EventLines { stack, own, known })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Prepared;

    /// The innermost own line of the event called `name`, and how it is known.
    #[track_caller]
    fn check(trace: &Trace, name: &str, expected: Option<(&str, &str)>) {
        let prepared = Prepared::with_sheets(trace);
        let analysis = prepared.analysis(trace, &[]);
        let row = (0..trace.events.len()).find(|row| trace.name(*row) == name).expect("the event");
        let found = lines_of_event(&analysis, row as u32);
        let said = found.map(|found| {
            let line = &found.stack[found.own];
            (format!("{}:{} {}", line.file, line.line, line.function), found.known.text())
        });
        assert_eq!(said, expected.map(|(line, known)| (line.to_owned(), known)), "{name}");
    }

    #[test]
    fn a_kernel_has_the_line_that_launched_it_and_a_gradient_that_of_its_forward_operator() {
        let trace = ridge_test::trace(
            "thread python
               0 +40 \"train.py(12): step\" python
               2 +20 \"torch/nn/functional.py(3): linear\" python
               4 +10 aten::mm operator as=mm
               6 +2 cudaLaunchKernel launch as=first
               50 +2 cudaLaunchKernel launch as=third
             thread autograd
               60 +20 MmBackward0 operator backward=mm
               62 +2 cudaLaunchKernel launch as=second
             stream 1 on gpu
               10 +5 gemm by=first
               70 +5 gemm_grad by=second
               90 +5 alone by=third",
        );
        check(&trace, "gemm", Some(("train.py:12 step", LinesKnown::Launch.text())));
        check(&trace, "gemm_grad", Some(("train.py:12 step", LinesKnown::Forward.text())));
        check(&trace, "alone", None);
        check(&trace, "aten::mm", Some(("train.py:12 step", LinesKnown::Launch.text())));
    }
}
