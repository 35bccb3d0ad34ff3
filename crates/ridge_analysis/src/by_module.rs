//! Device time by compiled program.

use crate::Analysis;
use crate::roofline::Rows;
use crate::rows::{partition, table as build, time_and_work_columns};
use ridge_trace::{Column, NONE, Rank, Table, Unit};
use rustc_hash::FxHashSet;

/// Modules that ran, most self time first; work of no known module is a row too.
pub(crate) fn table(analysis: &Analysis<'_>) -> Table {
    let rows =
        partition(&analysis.groups().groups, |group| Some(analysis.operation(group.op).map_or(NONE, |op| op.module)));
    let module = |row: u32| analysis.trace.modules.get(row as usize);
    let operations = rows.iter().map(|row| {
        let distinct: FxHashSet<u32> = row.groups.iter().map(|group| group.op).filter(|op| *op != NONE).collect();
        distinct.len() as u64
    });
    let name = |row: u32| module(row).map_or("(no module)".to_owned(), |module| analysis.text(module.name).to_owned());
    let mut columns = vec![
        Column::text("module", "Module", "compiled program", rows.iter().map(|row| name(row.key))).ranked(Rank::Key),
        Column::text(
            "program_id",
            "Program",
            "program id in the capture",
            rows.iter().map(|row| module(row.key).map(|module| module.program_id.to_string())),
        ),
    ];
    columns.extend(time_and_work_columns(analysis, &rows, Rows::WholeExecutions));
    columns.push(Column::whole("operations", "Operations", "distinct operations that ran", Unit::Count, operations));
    build("module", "Modules", columns)
}
