//! Device time by compiled program.

use crate::Analysis;
use crate::Executions;
use crate::WorkGroups;
use crate::Workload;
use crate::context::Durations;
use crate::context::Need;
use crate::context::labels::module_name;
use crate::context::nested_likes::count_once;
use crate::context::partition::{Row, partition};
use crate::models::module_runs;
use crate::models::work::Rows;
use crate::tables::time::time_and_work_columns;
use crate::view::{Shown, Topic, View, has_events};
use ridge_table::{Basis, Columns, Subject, Table};
use ridge_trace::{ModuleRow, NONE};
use rustc_hash::FxHashSet;

/// The view.
pub(crate) static VIEW: View = View {
    topic: Topic::Time,
    id: "module",
    about: "compiled module",
    aliases: &[],
    shown: Shown::InReport,
    needs: &[Need::of::<WorkGroups>(), Need::of::<Durations>(), Need::of::<Workload>(), Need::of::<Executions>()],
    answers: has_events,
    charts: None,
    make: |analysis, _| table(analysis),
};

/// Modules that ran, most self time first; work of no known module is a row too.
pub(crate) fn table(analysis: &Analysis<'_>) -> Table {
    let mut rows =
        partition(&analysis.groups().groups, |group| Some(analysis.operation(group.op).map_or(NONE, |op| op.module)));
    count_once(analysis.trace, &mut rows);
    let module = |row: u32| analysis.trace.modules.get(row as usize);
    let operations = |row: &Row<'_, u32>| {
        let distinct: FxHashSet<u32> = row.groups.iter().map(|group| group.op).filter(|op| *op != NONE).collect();
        distinct.len() as u64
    };
    let known_runs = module_runs(analysis);
    let runs = |row: &Row<'_, u32>| known_runs.get(row.key as usize).copied().filter(|runs| *runs > 0);
    Columns::over(&rows)
        .about(|row| ModuleRow::known(row.key).map(Subject::Module))
        .text("module", "Module", "compiled program", |row| module_name(analysis, row.key))
        .key()
        .text("program_id", "Program", "program id in the capture", |row| {
            module(row.key).map(|module| module.program_id.to_string())
        })
        .minor()
        .count(
            "runs",
            "Runs",
            "times the module ran, over all devices: executions of the instruction of its entry that executed most often",
            Basis::Counted,
            runs,
        )
        .nanos("run_ns", "Per run", "self time of a run: the mean over all runs", Basis::Measured, |row| {
            runs(row).map(|runs| row.self_ns / runs as i64)
        })
        .columns(time_and_work_columns(analysis, &rows, Rows::WholeExecutions))
        .count("operations", "Operations", "distinct operations that ran", Basis::Counted, operations)
        .minor()
        .table("module", "Modules")
}

/// Self time and runs of each module, by row of the modules table.
pub(super) fn module_times(analysis: &Analysis<'_>) -> Vec<(i64, u64)> {
    let mut times: Vec<(i64, u64)> = module_runs(analysis).into_iter().map(|runs| (0, runs)).collect();
    for group in &analysis.groups().groups {
        let module = analysis.operation(group.op).and_then(|op| times.get_mut(op.module as usize));
        module.into_iter().for_each(|(ns, _)| *ns = ns.saturating_add(group.self_ns));
    }
    times
}
