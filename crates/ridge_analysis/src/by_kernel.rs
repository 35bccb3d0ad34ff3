//! Device time by kernel: its name, the operation it worked for and how it was launched.

use crate::roofline::Rows;
use crate::rows::{Row, partition, table as build, time_and_work_columns};
use crate::{Analysis, by_op};
use ridge_trace::{Column, EventKind, LaunchShape, NONE, Rank, StringId, Table, Unit};

/// Kernels with their launches, most self time first; copies and memory sets are rows too.
pub(crate) fn table(analysis: &Analysis<'_>) -> Table {
    // Operations of a CPU launch no kernels.
    let key = |group: &crate::Group| {
        (group.kind != EventKind::DeviceOp).then_some((group.name, group.op, group.detail, group.kind))
    };
    let rows = partition(&analysis.groups().groups, key);
    let shape = |row: &Row<'_, (u32, u32, u32, EventKind)>| -> Option<LaunchShape> {
        let (_, _, detail, kind) = row.key;
        (kind == EventKind::Kernel).then(|| analysis.trace.launch_shapes.get(detail as usize).copied()).flatten()
    };
    let triple = |sizes: [u32; 3]| format!("{},{},{}", sizes[0], sizes[1], sizes[2]);
    let mut columns = vec![
        Column::text(
            "kernel",
            "Kernel",
            "name of the kernel",
            rows.iter().map(|row| analysis.text(StringId(row.key.0)).to_owned()),
        )
        .ranked(Rank::Key),
        Column::text(
            "op",
            "Operation",
            "operation it worked for",
            rows.iter().map(|row| {
                let (_, op, _, kind) = row.key;
                (op != NONE || kind.is_compute()).then(|| by_op::name(analysis, op))
            }),
        ),
    ];
    columns.extend(time_and_work_columns(analysis, &rows, Rows::SingleKernels));
    let whole = |key, title, definition, unit, value: fn(&LaunchShape) -> Option<u32>| {
        let values = rows.iter().map(|row| shape(row).as_ref().and_then(value).map(u64::from));
        Column::whole(key, title, definition, unit, values)
    };
    columns.extend([
        Column::text(
            "grid",
            "Grid",
            "blocks in x, y, z",
            rows.iter().map(|row| shape(row).map(|shape| triple(shape.grid))),
        ),
        Column::text(
            "block",
            "Block",
            "threads per block in x, y, z",
            rows.iter().map(|row| shape(row).map(|shape| triple(shape.block))),
        ),
        whole("registers", "Registers", "registers per thread", Unit::Count, |shape| shape.registers),
        whole("static_shared_bytes", "Static shared", "static shared memory per block", Unit::Bytes, |shape| {
            shape.static_shared_bytes
        })
        .ranked(Rank::Detail),
        whole("dynamic_shared_bytes", "Dynamic shared", "dynamic shared memory per block", Unit::Bytes, |shape| {
            shape.dynamic_shared_bytes
        })
        .ranked(Rank::Detail),
        Column::real(
            "occupancy",
            "Occupancy",
            "theoretical occupancy as the capture says it",
            Unit::Share,
            rows.iter()
                .map(|row| shape(row).and_then(|shape| shape.occupancy_pct).map(|percent| f64::from(percent) / 100.0)),
        ),
    ]);
    build("kernel", "Kernels", columns)
}
