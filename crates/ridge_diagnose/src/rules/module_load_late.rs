//! The driver loads kernels while steps run.

use crate::case::{Case, IdleTime};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::rule::{Find, Group, Rule};
use crate::words::{list, percent};
use ridge_analysis::Per;
use ridge_table::Subject;
use std::collections::BTreeSet;

pub(crate) static RULE: Rule = Rule {
    id: "module-load-late",
    group: Group::Host,
    summary: "Kernels loaded during steps",
    document: include_str!("module_load_late.md"),
    asks: &[Question::Device, Question::Idle, Question::Host, Question::Steps],
    explains: &[],
    needs: &[],
    find: Find::Causes(find),
};

/// Below this part of the time nobody would notice.
const LEAST: f64 = 0.01;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    // Where no steps are marked, the beginning of a capture, where kernels are loaded, cannot be told from the rest.
    if case.analyzed().per != Per::Step {
        return Ok(Vec::new());
    }
    let waits: Vec<IdleTime<'_>> = case.idle().filter(|idle| idle.name.is_some_and(loads)).collect();
    let ns = waits.iter().fold(0_i64, |sum, idle| sum.saturating_add(idle.row.ns));
    if case.share(ns) < LEAST {
        return Ok(Vec::new());
    }
    let longest = waits.iter().max_by_key(|idle| idle.row.ns).and_then(|idle| idle.row.example);
    let names: BTreeSet<&str> = waits.iter().filter_map(|idle| idle.name).collect();
    let names: Vec<&&str> = names.iter().collect();
    let finding = Finding::new(format!("the device waits {} of the steps' time for kernels to load", percent(case.share(ns))))
        .at(longest.and_then(|row| case.line_of_row(row.0)))
        .about(longest.map(Subject::Event))
        .number(format!("idle in {}", list(&names, 3)), case.per_unit(ns))
        .why("the driver loads a kernel lazily, at its first launch")
        .help("warm up every kind of step, including evaluation and a smaller last batch, or set `CUDA_MODULE_LOADING=EAGER`")
        .claims(waits.iter().map(|idle| (idle.at, 1.0)));
    Ok(vec![finding])
}

/// Whether an event of that name is the driver loading code.
fn loads(name: &str) -> bool {
    const CALLS: [&str; 4] = ["cuModuleLoad", "cuLibraryLoad", "cudaLibraryLoad", "hipModuleLoad"];
    matches!(name, "Lazy Function Loading" | "Runtime Triggered Module Loading")
        || CALLS.iter().any(|call| name.starts_with(call))
}
