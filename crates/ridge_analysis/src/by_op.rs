//! Device time by operation: the HLO instruction of a compiled module, or a framework's operation.

use crate::roofline::{Rows, work_note};
use crate::rows::{Row, partition, table as build, time_and_work_columns};
use crate::{Analysis, category};
use ridge_trace::{Attribution, Column, EventKind, NONE, Rank, Table, Unit};

/// What a row is: an operation and how it is known, or the kind of work that has none.
type Key = (u32, Attribution, Option<EventKind>);

/// Operations, most self time first; work without an operation is a row too.
///
/// An operation that is partly named by the capture and partly inferred has a row for each, so that no measured
/// number contains a guess.
pub(crate) fn table(analysis: &Analysis<'_>) -> Table {
    let rows = partition(&analysis.groups().groups, |group| {
        Some((group.op, group.attribution, (group.op == NONE).then_some(group.kind)))
    });
    let executions = |row: &Row<'_, Key>| match row.key {
        (NONE, ..) => None,
        (op, attribution, _) => Some(analysis.executions().of(op, attribution)),
    };
    let scope = |row: &Row<'_, Key>| analysis.operation(row.key.0).map(|op| analysis.text(op.scope).to_owned());
    let mut columns = vec![
        Column::text(
            "op",
            "Operation",
            "HLO instruction or framework operation",
            rows.iter().map(|row| row_name(analysis, row.key)),
        )
        .ranked(Rank::Key),
        Column::text(
            "module",
            "Module",
            "compiled program the operation belongs to",
            rows.iter().map(|row| module(analysis, row.key.0)),
        ),
        Column::text(
            "category",
            "Category",
            "kind of work, from the instruction or else from the name of the kernel that took most of its time",
            rows.iter().map(|row| row.largest().map(|group| category::of(analysis, group).into_owned())),
        ),
    ];
    columns.extend(time_and_work_columns(analysis, &rows, Rows::WholeExecutions));
    columns.push(Column::whole(
        "executions",
        "Executions",
        "times the operation ran; one execution may launch several kernels",
        Unit::Count,
        rows.iter().map(executions),
    ));
    columns.push(
        Column::text(
            "attribution",
            "Known by",
            "how the operation is known: the capture's own stat, or module and kernel name",
            rows.iter().map(|row| known_by(row.key.1).to_owned()),
        )
        .ranked(Rank::Detail),
    );
    columns.push(
        Column::text("scope", "Scope", "scope path of the instruction", rows.iter().map(scope)).ranked(Rank::Detail),
    );
    let mut table = build("op", "Operations", columns);
    table.footnotes = work_note(analysis);
    table
}

fn row_name(analysis: &Analysis<'_>, (op, _, kind): Key) -> String {
    match kind {
        Some(kind) if !kind.is_compute() => format!("({})", kind.name()),
        _ => name(analysis, op),
    }
}

/// The name of an operation in tables.
pub(crate) fn name(analysis: &Analysis<'_>, op: u32) -> String {
    match analysis.operation(op).map(|op| analysis.text(op.name)) {
        None => "(unattributed)".to_owned(),
        Some("") => "(module known, operation not)".to_owned(),
        Some(name) => name.to_owned(),
    }
}

/// The name of an operation's module.
pub(crate) fn module(analysis: &Analysis<'_>, op: u32) -> Option<String> {
    let row = analysis.operation(op)?.module;
    let module = analysis.trace.modules.get(row as usize)?;
    let name = analysis.text(module.name);
    // Programs compiled for several shapes share a name; then the id tells them apart.
    let is_shared = analysis.trace.modules.iter().filter(|other| other.name == module.name).nth(1).is_some();
    Some(if is_shared { format!("{name}({})", module.program_id) } else { name.to_owned() })
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
