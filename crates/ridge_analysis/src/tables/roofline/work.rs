//! The table behind a roofline.

use crate::Analysis;
use crate::models::roofline::{RooflineBy, RooflineRow};
use crate::models::work::WorkSums;
use crate::tables::time::table as build;
use crate::tables::work::{work_columns, work_note};
use ridge_table::{Basis, Column, Rank, Table, Unit};

/// `rows` as a table, with the roof of each and XLA's own intensity beside the compulsory one.
pub(super) fn table(analysis: &Analysis<'_>, by: RooflineBy, rows: &[RooflineRow]) -> Table {
    let sums: Vec<WorkSums> = rows.iter().map(|row| row.sums.clone()).collect();
    let all: f64 = sums.iter().map(WorkSums::self_ns).sum();
    let mut columns = names(analysis, by, rows);
    columns.push(
        Column::nanos(
            "self_ns",
            "Self",
            "self time of its kernels and operations, measured",
            sums.iter().map(|sums| sums.self_ns().round() as i64),
        )
        .basis(Basis::Measured)
        .ranked(Rank::Key),
    );
    columns.push(
        Column::real(
            "self_share",
            "Share",
            "self time as a part of the rows' sum",
            Unit::Share,
            sums.iter().map(|sums| if all > 0.0 { sums.self_ns() / all } else { 0.0 }),
        )
        .basis(Basis::Measured)
        .ranked(Rank::Key),
    );
    columns.extend(work_columns(analysis, &sums).into_iter().map(|column| match column.key {
        "flops_per_sec" | "headroom" => column.ranked(Rank::Key),
        "intensity" | "bound" => column.ranked(Rank::Normal),
        _ => column,
    }));
    columns.extend(detail(&sums));
    let mut table = build("roofline", title(by), columns).about(rows.iter().map(|row| row.subject.clone()));
    table.footnotes = work_note(analysis);
    table
}

fn title(by: RooflineBy) -> &'static str {
    match by {
        RooflineBy::Kernel => "Roofline by kernel",
        RooflineBy::Module => "Roofline by module",
        RooflineBy::Step => "Roofline by step",
        RooflineBy::Range => "Roofline by range",
        _ => "Roofline by operation",
    }
}

fn names(analysis: &Analysis<'_>, by: RooflineBy, rows: &[RooflineRow]) -> Vec<Column> {
    let (key, title, definition) = match by {
        RooflineBy::Kernel => ("kernel", "Kernel", "name of the kernel"),
        RooflineBy::Module => ("module", "Module", "compiled program"),
        RooflineBy::Step => ("step", "Step", "name of the range that is a step"),
        RooflineBy::Range => ("operation", "Operation", "range that the program named"),
        _ => ("op", "Operation", "HLO instruction or framework operation"),
    };
    let names = rows.iter().map(|row| row.name.clone());
    let mut columns = vec![Column::text(key, title, definition, names).ranked(Rank::Key)];
    let of = match by {
        RooflineBy::Kernel => Some(("op", "Operation", "operation it worked for")),
        RooflineBy::Step => Some(("number", "Number", "step number as the program gave it")),
        RooflineBy::Op => Some(("module", "Module", "compiled program the operation belongs to")),
        _ => None,
    };
    if let Some((key, title, definition)) = of {
        columns.push(Column::text(key, title, definition, rows.iter().map(|row| row.of.clone())));
    }
    let classes = &analysis.workload().classes;
    if rows.iter().any(|row| row.class != rows[0].class) {
        let device = rows.iter().map(|row| classes.get(row.class as usize).map(|class| class.device.clone()));
        columns.push(Column::text("device", "Device", "kind of device", device));
    }
    columns
}

fn detail(sums: &[WorkSums]) -> Vec<Column> {
    let real = |key, title, definition, unit, value: fn(&WorkSums) -> Option<f64>| {
        Column::real(key, title, definition, unit, sums.iter().map(value)).ranked(Rank::Detail)
    };
    let known = |sums: &WorkSums, value: f64| (sums.known_ns > 0.0).then_some(value);
    vec![
        real(
            "roof_flops_per_sec",
            "Roof",
            "operations over time at the roof: the rate this work could reach on its device",
            Unit::FlopsPerSec,
            WorkSums::roof_flops_per_sec,
        )
        .basis(Basis::Modelled),
        Column::text(
            "roof",
            "Roof of",
            "type of numbers and part of the core whose peak rate bounds most of the arithmetic",
            sums.iter().map(|sums| sums.roof().map(|roof| roof.to_string())),
        )
        .ranked(Rank::Detail),
        real(
            "light_ns",
            "At the roof",
            "the time this work takes at the roofs of its device, operation by operation",
            Unit::Nanos,
            |sums| (sums.light_secs > 0.0).then_some(sums.light_secs * 1e9),
        )
        .basis(Basis::Modelled),
        real(
            "least_ns",
            "Least",
            "the least time this work can take: at the roof, or starting a kernel where that takes longer, but no more \
             than was measured",
            Unit::Nanos,
            |sums| (sums.least_secs > 0.0).then_some(sums.least_secs * 1e9),
        )
        .basis(Basis::Modelled),
        Column::real(
            "flops",
            "Work",
            "floating-point operations, and integer ones of matrix units, of all executions",
            Unit::Flops,
            sums.iter().map(|sums| known(sums, sums.flops)),
        )
        .basis(Basis::Counted)
        .ranked(Rank::Detail),
        Column::real(
            "compulsory_bytes",
            "Traffic",
            "bytes that must be read and written at least, of all executions",
            Unit::Bytes,
            sums.iter().map(|sums| known(sums, sums.bytes)),
        )
        .basis(Basis::Counted)
        .ranked(Rank::Detail),
        real(
            "xla_intensity",
            "XLA intensity",
            "operations per byte as XLA counts bytes, which bills every reader of a buffer; for comparison only",
            Unit::FlopPerByte,
            WorkSums::xla_intensity,
        )
        .basis(Basis::Counted),
    ]
}
