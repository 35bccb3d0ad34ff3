//! Device time by operation: the HLO instruction of a compiled module, or a framework's operation.

use crate::Analysis;
use crate::Executions;
use crate::WorkGroups;
use crate::Workload;
use crate::context::Durations;
use crate::context::Need;
use crate::context::category;
use crate::context::labels::{op_module, op_name};
use crate::context::nested_likes::count_once;
use crate::context::partition::{Row, partition};
use crate::models::work::Rows;
use crate::tables::time::time_and_work_columns;
use crate::tables::work::work_note;
use crate::view::{Shown, Topic, View, has_events};
use ridge_table::{Basis, Columns, Subject, Table};
use ridge_trace::{Attribution, EventKind, NONE, OpRow};

/// The view.
pub(crate) static VIEW: View = View {
    topic: Topic::Time,
    id: "op",
    about: "HLO operation",
    aliases: &[],
    shown: Shown::InReport,
    needs: &[Need::of::<WorkGroups>(), Need::of::<Durations>(), Need::of::<Workload>(), Need::of::<Executions>()],
    answers: has_events,
    charts: None,
    make: |analysis, _| table(analysis),
};

/// What a row is: an operation and how it is known, or the kind of work that has none.
type Key = (u32, Attribution, Option<EventKind>);

/// Operations, most self time first; work without an operation is a row too.
///
/// An operation that is partly named by the capture and partly inferred has a row for each, so that no measured
/// number contains a guess.
pub(crate) fn table(analysis: &Analysis<'_>) -> Table {
    let mut rows = partition(&analysis.groups().groups, |group| {
        Some((group.op, group.attribution, (group.op == NONE).then_some(group.kind)))
    });
    count_once(analysis.trace, &mut rows);
    let executions = |row: &Row<'_, Key>| match row.key {
        (NONE, ..) => None,
        (op, attribution, _) => Some(analysis.executions().of(op, attribution)),
    };
    let scope = |row: &Row<'_, Key>| analysis.operation(row.key.0).map(|op| analysis.text(op.scope).to_owned());
    let mut table = Columns::over(&rows)
        .about(|row| OpRow::known(row.key.0).map(Subject::Op))
        .text("op", "Operation", "HLO instruction or framework operation", |row| row_name(analysis, row.key))
        .key()
        .text("module", "Module", "compiled program the operation belongs to", |row| op_module(analysis, row.key.0))
        .minor()
        .text(
            "category",
            "Category",
            "kind of work, from the instruction or else from the names of its kernels; mixed where no kind has 90 % of the time",
            |row| category::of_all(analysis, &row.groups).map(|category| category.into_owned()),
        )
        .minor()
        .columns(time_and_work_columns(analysis, &rows, Rows::WholeExecutions))
        .count(
            "executions",
            "Executions",
            "times the operation ran; one execution may launch several kernels",
            Basis::Counted,
            executions,
        )
        .key()
        .text(
            "attribution",
            "Known by",
            "how the operation is known: the capture's own stat, or module and kernel name",
            |row| known_by(row.key.1).to_owned(),
        )
        .detail()
        .text("scope", "Scope", "scope path of the instruction", scope)
        .detail()
        .table("op", "Operations");
    table.footnotes = work_note(analysis);
    table
}

fn row_name(analysis: &Analysis<'_>, (op, _, kind): Key) -> String {
    match kind {
        Some(kind) if !kind.is_compute() => format!("({})", kind.name()),
        _ => op_name(analysis, op),
    }
}

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
