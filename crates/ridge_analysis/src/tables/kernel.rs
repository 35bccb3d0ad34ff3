//! Device time by kernel: its name, the operation it worked for and how it was launched.

use crate::context::labels::op_name;
use crate::context::partition::WorkRow;
use crate::context::{Durations, Need};
use crate::models::device_time::{KernelKey, Kernels};
use crate::models::work::Rows;
use crate::view::{Sheet, Shown, Topic, View, columns};
use crate::{Analysis, Workload};
use ridge_table::Subject;
use ridge_trace::{LaunchShape, NONE};

/// The view.
pub(crate) static VIEW: View = View {
    id: "kernel",
    about: "kernel on the device",
    aliases: &["cuda_gpu_kern_sum", "cuda_gpu_sum", "gpukernsum"],
    shown: Shown::InReport,
    needs: &[Need::of::<Kernels>(), Need::of::<Durations>(), Need::of::<Workload>()],
    make: |analysis, _| {
        let Kernels(rows) = analysis.get();
        Sheet::over(analysis, rows)
            .about(|_, row| Some(Subject::Named(row.key.name)))
            .show(NAMES)
            .time_and_work(analysis, rows, Rows::SingleKernels)
            .show(SHAPES)
            .table("Kernels")
    },
    ..View::of(Topic::Time)
};

fn op(analysis: &Analysis<'_>, key: KernelKey) -> Option<String> {
    (key.op.is_some() || key.kind.is_compute()).then(|| op_name(analysis, key.op.map_or(NONE, |op| op.0)))
}

fn number(analysis: &Analysis<'_>, key: KernelKey, value: fn(&LaunchShape) -> Option<u32>) -> Option<u64> {
    key.shape(analysis).as_ref().and_then(value).map(u64::from)
}

/// Sizes in three directions.
pub(super) fn triple(sizes: [u32; 3]) -> String {
    format!("{},{},{}", sizes[0], sizes[1], sizes[2])
}

columns! {
    NAMES: WorkRow<KernelKey> {
        kernel: text Key "Kernel", "name of the kernel", |at, row| at.text(row.key.name);
        op: text "Operation", "operation it worked for", |at, row| op(at, row.key);
    }
    SHAPES: WorkRow<KernelKey> {
        grid: text "Grid", "blocks in x, y, z", |at, row| row.key.shape(at).map(|shape| triple(shape.grid));
        block: text "Block", "threads per block in x, y, z", |at, row| row.key.shape(at).map(|shape| triple(shape.block));
        registers: count Capture "Registers", "registers per thread", |at, row| number(at, row.key, |shape| shape.registers);
        static_shared_bytes: bytes Detail Capture "Static shared",
            "static shared memory per block", |at, row| number(at, row.key, |shape| shape.static_shared_bytes);
        dynamic_shared_bytes: bytes Detail Capture "Dynamic shared",
            "dynamic shared memory per block", |at, row| number(at, row.key, |shape| shape.dynamic_shared_bytes);
        occupancy: share Capture "Occupancy", "theoretical occupancy, as recorded",
            |at, row| row.key.shape(at).and_then(|shape| shape.occupancy_pct).map(|percent| f64::from(percent) / 100.0);
    }
}
