//! Device time by line of the user's source.
//!
//! An instruction's stack frames say which Python lines made it. Self time goes to the innermost line, total time to
//! every line of the stack once, so a line that only calls others has a total and no self time.
//! A fusion counts where its main instruction came from.

use crate::Analysis;
use crate::rows::table as build;
use ridge_trace::{Column, NONE, Rank, Table, Unit};
use rustc_hash::FxHashMap;

/// A line's sums.
#[derive(Debug, Clone, Default)]
struct Line {
    function: String,
    self_ns: i64,
    inclusive_ns: i64,
    events: u64,
}

/// Lines, most self time first; `line_text` gives the text of a line where its file can be read.
pub(crate) fn table(analysis: &Analysis<'_>, mut line_text: impl FnMut(&str, u32) -> Option<String>) -> Table {
    let mut lines: FxHashMap<(String, u32), Line> = FxHashMap::default();
    let mut stacks: FxHashMap<u32, Vec<(String, u32, String)>> = FxHashMap::default();
    let (mut unknown_ns, mut unknown_events) = (0, 0);
    for group in &analysis.groups().groups {
        let stack = stacks.entry(group.op).or_insert_with(|| stack_of(analysis, group.op));
        let Some((file, line, function)) = stack.first() else {
            unknown_ns += group.self_ns;
            unknown_events += group.count();
            continue;
        };
        let innermost = lines.entry((file.clone(), *line)).or_default();
        innermost.self_ns += group.self_ns;
        innermost.events += group.count();
        innermost.function.clone_from(function);
        for (position, (file, line, function)) in stack.iter().enumerate() {
            // Recursion puts a line on the stack more than once; its time counts once.
            if stack[..position].iter().any(|(seen_file, seen_line, _)| seen_file == file && seen_line == line) {
                continue;
            }
            let entry = lines.entry((file.clone(), *line)).or_default();
            entry.inclusive_ns += group.self_ns;
            if entry.function.is_empty() {
                entry.function.clone_from(function);
            }
        }
    }
    let mut rows: Vec<((String, u32), Line)> = lines.into_iter().collect();
    if unknown_events > 0 {
        let unknown = Line { self_ns: unknown_ns, inclusive_ns: unknown_ns, events: unknown_events, ..Line::default() };
        rows.push((("(no source line known)".to_owned(), 0), unknown));
    }
    rows.sort_by(|(a, left), (b, right)| {
        (right.self_ns, right.inclusive_ns).cmp(&(left.self_ns, left.inclusive_ns)).then_with(|| a.cmp(b))
    });
    let share = |ns: i64| analysis.share_of_work(ns);
    let place = |(file, line): &(String, u32)| if *line == 0 { file.clone() } else { format!("{file}:{line}") };
    build(
        "source",
        "Source lines",
        vec![
            Column::text("source", "Line", "file and line of the program", rows.iter().map(|(key, _)| place(key)))
                .ranked(Rank::Key),
            Column::nanos(
                "self_ns",
                "Self",
                "device time of operations whose innermost source line this is, measured",
                rows.iter().map(|(_, line)| line.self_ns),
            )
            .ranked(Rank::Key),
            Column::real(
                "self_share",
                "Share",
                "self time as a part of all device work",
                Unit::Share,
                rows.iter().map(|(_, line)| share(line.self_ns)),
            )
            .ranked(Rank::Key),
            Column::nanos(
                "inclusive_ns",
                "Inclusive",
                "device time of operations with this line anywhere on their stack, each once, measured",
                rows.iter().map(|(_, line)| line.inclusive_ns),
            ),
            Column::whole(
                "events",
                "Events",
                "kernels, copies and device operations",
                Unit::Count,
                rows.iter().map(|(_, line)| line.events),
            ),
            Column::text(
                "function",
                "Function",
                "function the line is in",
                rows.iter().map(|(_, line)| line.function.clone()),
            ),
            Column::text(
                "text",
                "Code",
                "the line as its file has it now",
                rows.iter().map(|((file, line), _)| line_text(file, *line)),
            ),
        ],
    )
}

/// File, line and function of an operation's stack, innermost first.
fn stack_of(analysis: &Analysis<'_>, op: u32) -> Vec<(String, u32, String)> {
    if op == NONE {
        return Vec::new();
    }
    let Some((module, instruction)) = analysis.instruction(op) else { return Vec::new() };
    let frames = module.source_in_fusion(instruction);
    frames.iter().map(|frame| (frame.file.to_string(), frame.line, frame.function.to_string())).collect()
}
