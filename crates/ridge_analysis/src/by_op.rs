//! Device time by operation: the HLO instruction of a compiled module, or a framework's operation.

use crate::rows::{Row, partition, table as build, time_columns};
use crate::{Analysis, category};
use ridge_trace::{Attribution, Column, NONE, Rank, Table, Unit};

/// Operations, most self time first; work without an operation is a row too.
pub(crate) fn table(analysis: &Analysis<'_>) -> Table {
    let rows = partition(&analysis.groups.groups, |group| Some(key(analysis, group.op)));
    let executions = |row: &Row<'_, u32>| match analysis.groups.executions.get(row.key as usize) {
        Some(count) if row.key != NONE => *count,
        _ => row.events,
    };
    let scope = |row: &Row<'_, u32>| analysis.operation(row.key).map(|op| analysis.text(op.scope).to_owned());
    let mut columns = vec![
        Column::text("op", "Operation", "HLO instruction or framework operation", rows.iter().map(|row| name(analysis, row.key)))
            .ranked(Rank::Key),
        Column::text("module", "Module", "compiled program the operation belongs to", rows.iter().map(|row| module(analysis, row.key))),
        Column::text(
            "category",
            "Category",
            "kind of work, from the instruction or else from the kernel's name",
            rows.iter().map(|row| row.groups.first().map(|group| category::of(analysis, group).into_owned())),
        ),
    ];
    columns.extend(time_columns(analysis, &rows));
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
            rows.iter().map(|row| row.groups.first().map(|group| known_by(group.attribution).to_owned())),
        )
        .ranked(Rank::Detail),
    );
    columns.push(Column::text("scope", "Scope", "scope path of the instruction", rows.iter().map(scope)).ranked(Rank::Detail));
    build("op", "Operations", columns)
}

/// Work whose module alone is known has no operation.
fn key(analysis: &Analysis<'_>, op: u32) -> u32 {
    match analysis.operation(op) {
        Some(_) => op,
        None => NONE,
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
    let module = analysis.trace.modules.get(analysis.operation(op)?.module as usize)?;
    Some(analysis.text(module.name).to_owned())
}

fn known_by(attribution: Attribution) -> &'static str {
    match attribution {
        Attribution::ByStat => "stat",
        Attribution::ByModule => "module and kernel name",
        Attribution::ModuleOnly => "module only",
        Attribution::Unattributed => "nothing",
        Attribution::NotAsked => "",
    }
}
