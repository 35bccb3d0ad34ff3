//! The table behind a roofline.

use crate::Analysis;
use crate::models::roofline::{RooflineBy, RooflineRow};
use crate::models::work::WorkSums;
use crate::tables::work::{work_columns, work_note};
use crate::view::{Field, Sheet, columns};
use ridge_table::{Column, Rank, Table};

/// `rows` as a table, with the roof of each and XLA's own intensity beside the compulsory one.
pub(super) fn table(analysis: &Analysis<'_>, by: RooflineBy, rows: &[RooflineRow]) -> Table {
    let sums: Vec<WorkSums> = rows.iter().map(|row| row.sums.clone()).collect();
    let ranked = |column: Column| match column.key {
        "flops_per_sec" | "headroom" => column.ranked(Rank::Key),
        "intensity" | "bound" => column.ranked(Rank::Normal),
        _ => column,
    };
    let has_kinds = rows.iter().any(|row| row.class != rows[0].class);
    let (title, names) = named(by);
    let mut table = Sheet::over(analysis, rows)
        .about(|_, row| row.subject.clone())
        .show(names)
        .show(if has_kinds { DEVICE } else { &[] })
        .show(TIME)
        .columns(work_columns(analysis, &sums).into_iter().map(ranked))
        .part(DETAIL, |row| &row.sums)
        .table(title);
    table.footnotes = work_note(analysis);
    table
}

fn named(by: RooflineBy) -> (&'static str, &'static [Field<RooflineRow>]) {
    match by {
        RooflineBy::Kernel => ("Roofline by kernel", KERNELS),
        RooflineBy::Module => ("Roofline by module", MODULES),
        RooflineBy::Step => ("Roofline by step", STEPS),
        RooflineBy::Range => ("Roofline by range", RANGES),
        RooflineBy::Op | RooflineBy::Profile => ("Roofline by operation", OPS),
    }
}

fn known(sums: &WorkSums, value: f64) -> Option<f64> {
    (sums.known_ns > 0.0).then_some(value)
}

fn as_nanos(secs: f64) -> Option<f64> {
    (secs > 0.0).then_some(secs * 1e9)
}

columns! {
    OPS: RooflineRow {
        op: text Key "Operation", "HLO instruction or framework operation", |_, row| row.name.as_str();
        module: text "Module", "compiled program the operation belongs to", |_, row| row.of.as_deref();
    }
    KERNELS: RooflineRow {
        kernel: text Key "Kernel", "name of the kernel", |_, row| row.name.as_str();
        op: text "Operation", "operation it worked for", |_, row| row.of.as_deref();
    }
    MODULES: RooflineRow {
        module: text Key "Module", "compiled program", |_, row| row.name.as_str();
    }
    STEPS: RooflineRow {
        step: text Key "Step", "name of the range that is a step", |_, row| row.name.as_str();
        number: text "Number", "step number as the program gave it", |_, row| row.of.as_deref();
    }
    RANGES: RooflineRow {
        operation: text Key "Operation", "range that the program named", |_, row| row.name.as_str();
    }
    DEVICE: RooflineRow {
        device: text "Device", "kind of device",
            |at, row| at.workload().classes.get(row.class as usize).map(|class| class.device.as_str());
    }
    TIME: RooflineRow {
        self_ns: nanos Key Measured "Self",
            "self time of its kernels and operations, measured", |_, row| row.sums.self_ns().round() as i64;
        self_share: share Key Measured "Share", "self time as a part of the rows' sum", |_, row| row.share;
    }
    DETAIL: WorkSums {
        roof_flops_per_sec: real(FlopsPerSec) Detail Modelled "Roof",
            "operations over time at the roof: the rate this work could reach on its device",
            |_, sums| sums.roof_flops_per_sec();
        roof: text Detail "Roof of",
            "number type and part of the core that limit most of the arithmetic",
            |_, sums| sums.roof().map(|roof| roof.to_string());
        light_ns: real(Nanos) Detail Modelled "At the roof",
            "the time this work takes at the roofs of its device, operation by operation",
            |_, sums| as_nanos(sums.light_secs);
        least_ns: real(Nanos) Detail Modelled "Least",
            "the least time this work can take: at the roof, or starting a kernel where that takes longer, but no more \
             than was measured", |_, sums| as_nanos(sums.least_secs);
        flops: real(Flops) Detail Counted "Work",
            "floating-point operations, and integer ones of matrix units, of all executions",
            |_, sums| known(sums, sums.flops);
        compulsory_bytes: real(Bytes) Detail Counted "Traffic",
            "bytes that must be read and written at least, of all executions", |_, sums| known(sums, sums.bytes);
        xla_intensity: real(FlopPerByte) Detail Counted "XLA intensity",
            "operations per byte as XLA counts bytes, which bills every reader of a buffer; for comparison only",
            |_, sums| sums.xla_intensity();
    }
}
