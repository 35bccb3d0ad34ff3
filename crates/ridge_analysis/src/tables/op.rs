//! Device time by operation: the HLO instruction of a compiled module, or a framework's operation.

use crate::context::partition::WorkRow;
use crate::context::{Durations, Need, category};
use crate::models::device_time::{OpKey, Ops};
use crate::models::work::Rows;
use crate::tables::work::work_note;
use crate::view::{Sheet, Shown, Topic, View, columns};
use crate::{Executions, Workload};
use ridge_table::Subject;
use ridge_trace::Attribution;

/// The view.
pub(crate) static VIEW: View = View {
    id: "op",
    about: "HLO operation",
    shown: Shown::InReport,
    needs: &[Need::of::<Ops>(), Need::of::<Durations>(), Need::of::<Workload>(), Need::of::<Executions>()],
    make: |analysis, _| {
        let Ops(rows) = analysis.get();
        let mut table = Sheet::over(analysis, rows)
            .about(|_, row| row.key.op.map(Subject::Op))
            .show(NAMES)
            .time_and_work(analysis, rows, Rows::WholeExecutions)
            .show(REST)
            .table("Operations");
        table.footnotes = work_note(analysis);
        table
    },
    ..View::of(Topic::Time)
};

fn known_by(attribution: Attribution) -> &'static str {
    match attribution {
        Attribution::ByStat => "stat",
        Attribution::ByLaunch => "launch",
        Attribution::ByModule => "module and kernel name",
        Attribution::ByOrder => "module and order",
        Attribution::ModuleOnly => "module only",
        Attribution::Unattributed => "nothing",
        Attribution::NotAsked => "",
    }
}

columns! {
    NAMES: WorkRow<OpKey> {
        op: text Key "Operation", "HLO instruction or framework operation", |at, row| row.key.label(at);
        module: text Minor "Module",
            "compiled program the operation belongs to", |at, row| row.key.module(at);
        category: text Minor "Category",
            "kind of work, from the instruction or otherwise from the names of its kernels; mixed if no kind has 90% of the time",
            |at, row| category::of_all(at, &row.time.groups(at)).as_deref();
    }
    REST: WorkRow<OpKey> {
        executions: count Key Counted "Executions",
            "times the operation ran; one execution may launch several kernels",
            |at, row| row.key.op.map(|op| at.executions().of(op.0, row.key.attribution));
        attribution: text Detail "Known by",
            "how the operation is known: the capture's own stat, or module and kernel name",
            |_, row| known_by(row.key.attribution);
        scope: text Detail "Scope", "scope path of the instruction",
            |at, row| at.operation(row.key.row()).map(|op| at.text(op.scope));
    }
}
