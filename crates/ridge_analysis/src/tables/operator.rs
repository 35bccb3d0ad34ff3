//! Operators of a framework: host and device time, as PyTorch's `key_averages()` prints them.

use crate::Analysis;
use crate::models::operators::{DEVICE, Detail, HOST, OperatorSums, sums};
use crate::tables::time::table as build;
use crate::view::{Shown, Topic, View};
use ridge_table::{Basis, Column, Rank, Table, Unit};
use ridge_trace::StringId;

/// The view.
pub(crate) static VIEW: View = View {
    topic: Topic::Time,
    id: "operator",
    about: "framework operator, as PyTorch's key_averages()",
    aliases: &[],
    shown: Shown::InReport,
    needs: &[],
    answers: |analysis| !analysis.trace.operator_shapes.is_empty(),
    charts: None,
    make: |analysis, _| table(analysis, Detail::Name),
};

/// Operators told apart by the sizes of their inputs.
pub(crate) static BY_SHAPES: View = View {
    topic: Topic::Time,
    id: "operator-shapes",
    about: "framework operator and the sizes of its inputs",
    aliases: &[],
    shown: Shown::WhenNamed,
    needs: &[],
    answers: |analysis| !analysis.trace.operator_shapes.is_empty(),
    charts: None,
    make: |analysis, _| table(analysis, Detail::InputShapes),
};

/// Operators, those with most device time of their own first, then most host time of their own.
pub(crate) fn table(analysis: &Analysis<'_>, detail: Detail) -> Table {
    let trace = analysis.trace;
    let mut rows: Vec<((StringId, StringId), OperatorSums)> = sums(trace, detail).into_iter().collect();
    rows.sort_by_key(|(key, sums)| {
        (std::cmp::Reverse(sums.self_device_ns), std::cmp::Reverse(sums.self_ns), trace.strings.get(key.0))
    });
    let name = |id: StringId| match analysis.text(id) {
        text if text.starts_with("ProfilerStep#") => "ProfilerStep*".to_owned(),
        text => text.to_owned(),
    };
    let mut columns = vec![
        Column::text(
            "operator",
            "Operator",
            "name of the operator, range or call",
            rows.iter().map(|(key, _)| name(key.0)),
        )
        .ranked(Rank::Key),
    ];
    if detail == Detail::InputShapes {
        let dims = rows.iter().map(|(key, _)| Some(analysis.text(key.1).to_owned()).filter(|text| !text.is_empty()));
        columns.push(Column::text("input_shapes", "Inputs", "sizes of its inputs as the capture writes them", dims));
    }
    columns.extend(columns_of(&rows));
    let titles = match detail {
        Detail::Name => ("operator", "Operators"),
        Detail::InputShapes => ("operator_shapes", "Operators by input shapes"),
    };
    let mut table = build(titles.0, titles.1, columns);
    if rows.is_empty() {
        table.footnotes.push("the capture holds no framework operators; PyTorch's profiler writes them".to_owned());
    }
    table
}

fn columns_of(rows: &[((StringId, StringId), OperatorSums)]) -> Vec<Column> {
    let all_self = rows.iter().fold(0_i64, |all, (_, sums)| all.saturating_add(sums.self_ns));
    let nanos = |key, title, definition, value: fn(&OperatorSums) -> i64| {
        Column::nanos(key, title, definition, rows.iter().map(|(_, sums)| value(sums))).basis(Basis::Measured)
    };
    let bytes = |key, title, definition, value: fn(&OperatorSums) -> i64| {
        Column::real(key, title, definition, Unit::Bytes, rows.iter().map(|(_, sums)| value(sums) as f64))
            .ranked(Rank::Detail)
            .basis(Basis::Measured)
    };
    let share = |part: i64| if all_self > 0 { part as f64 / all_self as f64 } else { 0.0 };
    vec![
        Column::whole(
            "calls",
            "Calls",
            "times it ran; a range that is the only child of one of the same name is the same call",
            Unit::Count,
            rows.iter().map(|(_, sums)| sums.calls),
        )
        .ranked(Rank::Key)
        .basis(Basis::Counted),
        nanos("self_cpu_ns", "Self CPU", "time on its thread less that of the ranges directly inside", |sums| {
            sums.self_ns
        })
        .ranked(Rank::Key),
        Column::real(
            "self_cpu_share",
            "Share",
            "self CPU time as a part of that of all rows",
            Unit::Share,
            rows.iter().map(|(_, sums)| share(sums.self_ns)),
        )
        .basis(Basis::Measured),
        nanos("total_cpu_ns", "CPU", "time on its thread; what recurs counts again at each level", |sums| {
            sums.total_ns
        }),
        nanos(
            "self_device_ns",
            "Self device",
            "durations of the device work that it launched itself; what overlaps counts in full",
            |sums| sums.self_device_ns,
        )
        .ranked(Rank::Key),
        nanos("device_ns", "Device", "durations of the device work launched within it", |sums| sums.device_ns),
        bytes(
            "self_cpu_bytes",
            "Self CPU memory",
            "host memory it allocated less what it freed, without the ranges inside",
            |sums| sums.self_memory[HOST],
        ),
        bytes("cpu_bytes", "CPU memory", "host memory allocated less freed while it ran", |sums| sums.memory[HOST]),
        bytes(
            "self_device_bytes",
            "Self device memory",
            "device memory it allocated less what it freed, without the ranges inside",
            |sums| sums.self_memory[DEVICE],
        ),
        bytes("device_bytes", "Device memory", "device memory allocated less freed while it ran", |sums| {
            sums.memory[DEVICE]
        }),
    ]
}

/// What a table says that shows the operators' own times for want of device work.
pub(crate) const HOST_ALONE: &str =
    "no device work is in the capture: times are those of operators on the host, each without what it called";
