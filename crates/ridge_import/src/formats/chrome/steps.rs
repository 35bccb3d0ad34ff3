//! Steps: those of `torch.profiler`, else the iterations that inference servers annotate.

use super::classify::PROFILER_STEP;
use super::placed::Placed;
use crate::import::Import;
use crate::note::Severity;
use ridge_trace::{EventKind, Step, StringId};

/// How the annotations of one iteration of an inference server begin: vLLM's (`execute_context_1(888)_generation_0`,
/// `execute_new_1_cached_2`) and SGLang's (`step[DECODE bs=32]`); the first kind that a file has is taken.
const SERVER_STEPS: [&str; 2] = ["execute_", "step["];

/// Adds the file's steps to the steps table.
pub(super) fn mark_steps(placed: &Placed, source: &str, import: &mut Import) {
    let mut found = Vec::new();
    for (row, name) in rows_of(placed, EventKind::Step) {
        let text = import.builder.strings.get(StringId(name));
        let digits = text.get(PROFILER_STEP.len()..).unwrap_or_default();
        found.push(Step { event: row, number: digits.parse().unwrap_or(0) });
    }
    if found.is_empty() {
        found = server_steps(placed, source, import);
    }
    import.builder.steps.extend(found);
}

fn server_steps(placed: &Placed, source: &str, import: &mut Import) -> Vec<Step> {
    for start in SERVER_STEPS {
        let begins = |name: u32| import.builder.strings.get(StringId(name)).starts_with(start);
        let mut rows: Vec<u32> =
            rows_of(placed, EventKind::Annotation).filter(|(_, name)| begins(*name)).map(|(row, _)| row).collect();
        if rows.is_empty() {
            continue;
        }
        rows.sort_by_key(|row| import.builder.slices(*row..*row + 1).start_ns[0]);
        for row in &rows {
            import.builder.slices(*row..*row + 1).kind[0] = EventKind::Step as u8;
        }
        let message =
            format!("no ProfilerStep in the file: ranges named `{start}…` are used as steps, numbered by time");
        import.note(Severity::Info, source, None, rows.len() as u64, message);
        return rows.iter().zip(0..).map(|(row, number)| Step { event: *row, number }).collect();
    }
    Vec::new()
}

fn rows_of(placed: &Placed, kind: EventKind) -> impl Iterator<Item = (u32, u32)> + '_ {
    placed.threads().flat_map(move |track| {
        let rows = track.rows.clone().zip(&track.stored);
        rows.filter(move |(_, stored)| stored.kind == kind as u8).map(|(row, stored)| (row, stored.name))
    })
}
