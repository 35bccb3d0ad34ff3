//! Operators of a framework: host and device time, as PyTorch's `key_averages()` prints them.

use crate::Analysis;
use crate::context::Need;
use crate::models::operators::{DEVICE, HOST, OperatorRow, Operators, OperatorsByShapes};
use crate::view::{Shown, Topic, View};
use ridge_table::{Basis, Columns, Subject, Table, Unit};
use ridge_trace::{EventKind, StringId};

/// The view.
pub(crate) static VIEW: View = View {
    id: "operator",
    about: "framework operator, as PyTorch's key_averages()",
    shown: Shown::InReport,
    needs: &[Need::of::<Operators>()],
    answers: |analysis| analysis.trace.events.kind.contains(&(EventKind::Operator as u8)),
    make: |analysis, _| {
        let Operators(rows) = analysis.get();
        finish(rows, columns_of(rows, named(analysis, rows)).table("operator", "Operators"))
    },
    ..View::of(Topic::Time)
};

/// Operators told apart by the sizes of their inputs.
pub(crate) static BY_SHAPES: View = View {
    id: "operator-shapes",
    documented: Some("operator_shapes"),
    about: "framework operator and the sizes of its inputs",
    shown: Shown::WhenNamed,
    needs: &[Need::of::<OperatorsByShapes>()],
    answers: |analysis| !analysis.trace.operator_shapes.is_empty(),
    make: |analysis, _| {
        let OperatorsByShapes(rows) = analysis.get();
        let inputs = |row: &OperatorRow| Some(analysis.text(row.inputs).to_owned()).filter(|text| !text.is_empty());
        let named = named(analysis, rows).text(
            "input_shapes",
            "Inputs",
            "sizes of its inputs as the capture writes them",
            inputs,
        );
        finish(rows, columns_of(rows, named).table("operator_shapes", "Operators by input shapes"))
    },
    ..VIEW
};

fn named<'r>(analysis: &Analysis<'_>, rows: &'r [OperatorRow]) -> Columns<'r, OperatorRow> {
    let name = |id: StringId| match analysis.text(id) {
        text if text.starts_with("ProfilerStep#") => "ProfilerStep*".to_owned(),
        text => text.to_owned(),
    };
    Columns::over(rows)
        .about(|row| Some(Subject::Named(row.name)))
        .text("operator", "Operator", "name of the operator, range or call", |row| name(row.name))
        .key()
}

/// `columns` with those of the sums of `rows`.
fn columns_of<'r>(rows: &[OperatorRow], columns: Columns<'r, OperatorRow>) -> Columns<'r, OperatorRow> {
    let all_self = rows.iter().fold(0_i64, |all, row| all.saturating_add(row.sums.self_ns));
    let share = |part: i64| if all_self > 0 { part as f64 / all_self as f64 } else { 0.0 };
    let measured = (Unit::Bytes, Basis::Measured);
    columns
        .count(
            "calls",
            "Calls",
            "times it ran; a range that is the only child of one of the same name is the same call",
            Basis::Counted,
            |row| row.sums.calls,
        )
        .key()
        .nanos(
            "self_cpu_ns",
            "Self CPU",
            "time on its thread minus the ranges directly inside",
            Basis::Measured,
            |row| row.sums.self_ns,
        )
        .key()
        .share("self_cpu_share", "Share", "self CPU time as a share of all rows' time", Basis::Measured, |row| {
            share(row.sums.self_ns)
        })
        .nanos(
            "total_cpu_ns",
            "CPU",
            "time on its thread; recursive calls count at each level",
            Basis::Measured,
            |row| row.sums.total_ns,
        )
        .nanos(
            "self_device_ns",
            "Self device",
            "durations of the device work that it launched itself; overlapping work counts in full",
            Basis::Measured,
            |row| row.sums.self_device_ns,
        )
        .key()
        .nanos("device_ns", "Device", "durations of the device work launched within it", Basis::Measured, |row| {
            row.sums.device_ns
        })
        .real(
            "self_cpu_bytes",
            "Self CPU memory",
            "host memory that it allocated minus memory that it freed, excluding ranges inside it",
            measured,
            |row| row.sums.self_memory[HOST] as f64,
        )
        .detail()
        .real("cpu_bytes", "CPU memory", "host memory allocated less freed while it ran", measured, |row| {
            row.sums.memory[HOST] as f64
        })
        .detail()
        .real(
            "self_device_bytes",
            "Self device memory",
            "device memory that it allocated minus memory that it freed, excluding ranges inside it",
            measured,
            |row| row.sums.self_memory[DEVICE] as f64,
        )
        .detail()
        .real("device_bytes", "Device memory", "device memory allocated less freed while it ran", measured, |row| {
            row.sums.memory[DEVICE] as f64
        })
        .detail()
}

fn finish(rows: &[OperatorRow], mut table: Table) -> Table {
    if rows.is_empty() {
        table.footnotes.push("the capture has no framework operators; PyTorch's profiler writes them".to_owned());
    }
    table
}

/// What a table says that shows the operators' own times for want of device work.
pub(crate) const HOST_ALONE: &str = "the capture has no device work: times are host operators' self times";
