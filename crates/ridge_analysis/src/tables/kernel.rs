//! Device time by kernel: its name, the operation it worked for and how it was launched.

use crate::Analysis;
use crate::WorkGroups;
use crate::Workload;
use crate::context::Durations;
use crate::context::Need;
use crate::context::labels::op_name;
use crate::context::nested_likes::count_once;
use crate::context::partition::{Row, partition};
use crate::models::work::Rows;
use crate::tables::time::time_and_work_columns;
use crate::view::{Shown, Topic, View, has_events};
use ridge_table::{Basis, Columns, Subject, Table};
use ridge_trace::{EventKind, LaunchShape, NONE, StringId};

/// The view.
pub(crate) static VIEW: View = View {
    topic: Topic::Time,
    id: "kernel",
    about: "kernel on the device",
    aliases: &["cuda_gpu_kern_sum", "cuda_gpu_sum", "gpukernsum"],
    shown: Shown::InReport,
    needs: &[Need::of::<WorkGroups>(), Need::of::<Durations>(), Need::of::<Workload>()],
    answers: has_events,
    charts: None,
    make: |analysis, _| table(analysis),
};

/// What a row is: name, operation and launch shape of its kernels, or the kind of work that is no kernel.
type Key = (u32, u32, u32, EventKind);

/// Kernels with their launches, most self time first; copies and memory sets are rows too.
pub(crate) fn table(analysis: &Analysis<'_>) -> Table {
    // Operations of a CPU launch no kernels.
    let key = |group: &crate::Group| {
        (group.kind != EventKind::DeviceOp).then_some((group.name, group.op, group.detail, group.kind))
    };
    let mut rows = partition(&analysis.groups().groups, key);
    count_once(analysis.trace, &mut rows);
    let number = |value: fn(&LaunchShape) -> Option<u32>| {
        move |row: &Row<'_, Key>| shape(analysis, row).as_ref().and_then(value).map(u64::from)
    };
    Columns::over(&rows)
        .about(|row| Some(Subject::Named(StringId(row.key.0))))
        .text("kernel", "Kernel", "name of the kernel", |row| analysis.text(StringId(row.key.0)).to_owned())
        .key()
        .text("op", "Operation", "operation it worked for", |row| {
            let (_, op, _, kind) = row.key;
            (op != NONE || kind.is_compute()).then(|| op_name(analysis, op))
        })
        .columns(time_and_work_columns(analysis, &rows, Rows::SingleKernels))
        .text("grid", "Grid", "blocks in x, y, z", |row| shape(analysis, row).map(|shape| triple(shape.grid)))
        .text("block", "Block", "threads per block in x, y, z", |row| {
            shape(analysis, row).map(|shape| triple(shape.block))
        })
        .count("registers", "Registers", "registers per thread", Basis::Capture, number(|shape| shape.registers))
        .bytes(
            "static_shared_bytes",
            "Static shared",
            "static shared memory per block",
            Basis::Capture,
            number(|shape| shape.static_shared_bytes),
        )
        .detail()
        .bytes(
            "dynamic_shared_bytes",
            "Dynamic shared",
            "dynamic shared memory per block",
            Basis::Capture,
            number(|shape| shape.dynamic_shared_bytes),
        )
        .detail()
        .share("occupancy", "Occupancy", "theoretical occupancy as the capture says it", Basis::Capture, |row| {
            shape(analysis, row).and_then(|shape| shape.occupancy_pct).map(|percent| f64::from(percent) / 100.0)
        })
        .table("kernel", "Kernels")
}

/// How the kernels of a row were launched.
fn shape(analysis: &Analysis<'_>, row: &Row<'_, Key>) -> Option<LaunchShape> {
    let (_, _, detail, kind) = row.key;
    (kind == EventKind::Kernel).then(|| analysis.trace.launch_shapes.get(detail as usize).copied()).flatten()
}

fn triple(sizes: [u32; 3]) -> String {
    format!("{},{},{}", sizes[0], sizes[1], sizes[2])
}
