//! Device time by compiled program.

use crate::context::labels::module_name;
use crate::context::partition::WorkRow;
use crate::context::{Durations, Need};
use crate::models::ModuleRuns;
use crate::models::device_time::Modules;
use crate::models::work::Rows;
use crate::view::{Sheet, Shown, Topic, View, columns};
use crate::{Analysis, Workload};
use ridge_table::Subject;
use ridge_trace::{ModuleRow, NONE};
use rustc_hash::FxHashSet;

/// The view.
pub(crate) static VIEW: View = View {
    id: "module",
    about: "compiled module",
    shown: Shown::InReport,
    needs: &[Need::of::<Modules>(), Need::of::<Durations>(), Need::of::<Workload>(), Need::of::<ModuleRuns>()],
    make: |analysis, _| {
        let Modules(rows) = analysis.get();
        Sheet::over(analysis, rows)
            .about(|_, row| row.key.map(Subject::Module))
            .show(NAMES)
            .time_and_work(analysis, rows, Rows::WholeExecutions)
            .show(REST)
            .table("Modules")
    },
    ..View::of(Topic::Time)
};

type Row = WorkRow<Option<ModuleRow>>;

fn runs(analysis: &Analysis<'_>, row: &Row) -> Option<u64> {
    analysis.get::<ModuleRuns>().of(row.key?)
}

fn operations(analysis: &Analysis<'_>, row: &Row) -> u64 {
    let groups = row.time.groups(analysis);
    let distinct: FxHashSet<u32> = groups.into_iter().map(|group| group.op).filter(|op| *op != NONE).collect();
    distinct.len() as u64
}

columns! {
    NAMES: Row {
        module: text Key "Module", "compiled program", |at, row| module_name(at, row.key.map_or(NONE, |module| module.0));
        program_id: text Minor "Program", "program id in the capture",
            |at, row| at.trace.modules.get(row.key?.index()).map(|module| module.program_id.to_string());
        runs: count Counted "Runs",
            "times the module ran, over all devices: executions of the instruction of its entry that executed most often",
            |at, row| runs(at, row);
        run_ns: nanos Measured "Per run", "self time of a run: the mean over all runs",
            |at, row| runs(at, row).map(|runs| row.time.self_ns / runs as i64);
    }
    REST: Row {
        operations: count Minor Counted "Operations", "distinct operations that ran", |at, row| operations(at, row);
    }
}
