//! Profiled launches: what the hardware counted, what bounds each kernel and what the profiler's rules say.

use crate::Analysis;
use crate::context::Need;
use crate::context::profile_numbers::ProfileNumbers;
use crate::models::profiles::{ProfiledLaunch, ProfiledLaunches};
use crate::tables::time::table as build;
use crate::view::{Shown, Topic, View};
use ridge_table::{Basis, Column, Rank, Subject, Table, Unit};

/// The view.
pub(crate) static VIEW: View = View {
    topic: Topic::Time,
    id: "profile",
    about: "launch of a kernel under a hardware profiler (Nsight Compute)",
    aliases: &[],
    shown: Shown::InReport,
    needs: &[Need::of::<ProfiledLaunches>()],
    answers: |analysis| !analysis.trace.profiles.is_empty(),
    charts: None,
    make: |analysis, _| table(analysis),
};

/// Profiled launches, longest first.
pub(crate) fn table(analysis: &Analysis<'_>) -> Table {
    let ProfiledLaunches(rows) = analysis.get();
    let mut columns = vec![
        Column::text(
            "kernel",
            "Kernel",
            "name of the kernel",
            rows.iter().map(|row| analysis.text(row.launch.name).to_owned()),
        )
        .ranked(Rank::Key),
        Column::whole(
            "launch",
            "Launch",
            "position among the profiled launches of its report",
            Unit::Count,
            rows.iter().map(|row| u64::from(row.launch.launch)),
        )
        .basis(Basis::Capture),
        Column::nanos(
            "duration_ns",
            "Duration",
            "gpu__time_duration.sum: time under the profiler, at the clocks it sets",
            rows.iter().map(|row| row.numbers.duration_ns.map(|nanos| nanos.round() as i64)),
        )
        .ranked(Rank::Key)
        .basis(Basis::Measured),
        Column::text(
            "bound",
            "Bound by",
            "the throughput that is nearest to its peak; latency where both are below 60 %",
            rows.iter().map(|row| row.numbers.bound().map(str::to_owned)),
        )
        .ranked(Rank::Key),
    ];
    columns.extend(number_columns(rows));
    columns.extend(word_columns(analysis, rows));
    let subjects = rows.iter().map(|row| Some(Subject::Profile(row.row)));
    let mut table = build("profile", "Profiled kernels", columns).about(subjects);
    table.footnotes = footnotes(rows);
    table
}

/// A real number of each row.
fn real(
    rows: &[ProfiledLaunch],
    (key, title, definition): (&'static str, &'static str, &'static str),
    unit: Unit,
    value: fn(&ProfileNumbers) -> Option<f64>,
) -> Column {
    Column::real(key, title, definition, unit, rows.iter().map(|row| value(&row.numbers))).basis(Basis::Measured)
}

fn bytes(
    rows: &[ProfiledLaunch],
    (key, title, definition): (&'static str, &'static str, &'static str),
    value: fn(&ProfileNumbers) -> Option<f64>,
) -> Column {
    let whole = |row: &ProfiledLaunch| value(&row.numbers).map(|bytes| bytes.round() as u64);
    Column::whole(key, title, definition, Unit::Bytes, rows.iter().map(whole)).basis(Basis::Measured)
}

fn number_columns(rows: &[ProfiledLaunch]) -> Vec<Column> {
    let flops = |words, value| real(rows, words, Unit::Flops, value);
    let share = |words, value| real(rows, words, Unit::Share, value);
    vec![
        share(("compute_share", "Compute", "sm__throughput: compute throughput as a part of its peak"), |numbers| {
            numbers.compute_share
        }),
        share(
            ("memory_share", "Memory", "gpu__compute_memory_throughput: busiest memory unit as a part of its peak"),
            |numbers| numbers.memory_share,
        ),
        share(("dram_share", "DRAM", "gpu__dram_throughput: device memory as a part of its peak"), |numbers| {
            numbers.dram_share
        }),
        share(
            ("occupancy", "Occupancy", "sm__warps_active: active warps as a part of the most that a core holds"),
            |numbers| numbers.occupancy,
        ),
        share(
            (
                "theoretical_occupancy",
                "Theoretical",
                "sm__maximum_warps_per_active_cycle: the most that the launch allows",
            ),
            |numbers| numbers.theoretical_occupancy,
        )
        .ranked(Rank::Detail),
        bytes(rows, ("dram_bytes", "DRAM bytes", "dram__bytes: read from and written to device memory"), |numbers| {
            numbers.dram_bytes
        }),
        bytes(rows, ("l2_bytes", "L2 bytes", "lts__t_bytes: through the L2 cache"), |numbers| numbers.l2_bytes),
        bytes(rows, ("l1_bytes", "L1 bytes", "l1tex__t_bytes: through the L1 cache"), |numbers| numbers.l1_bytes),
        flops(("flops_16", "FP16", "16-bit operations of the ordinary pipes; a multiply-add is two"), |numbers| {
            numbers.flops[0]
        })
        .ranked(Rank::Detail),
        flops(("flops_32", "FP32", "32-bit operations of the ordinary pipes; a multiply-add is two"), |numbers| {
            numbers.flops[1]
        }),
        flops(("flops_64", "FP64", "64-bit operations of the ordinary pipes; a multiply-add is two"), |numbers| {
            numbers.flops[2]
        })
        .ranked(Rank::Detail),
        flops(("tensor_flops", "Tensor", "sm__ops_path_tensor: operations of the tensor units"), |numbers| {
            numbers.tensor_flops
        }),
        real(
            rows,
            ("load_sectors", "Sectors/load", "sectors per request of global loads; 4 is ideal for 32-bit values"),
            Unit::Number,
            |numbers| numbers.sectors_per_request[0],
        ),
        real(
            rows,
            ("store_sectors", "Sectors/store", "sectors per request of global stores; 4 is ideal for 32-bit values"),
            Unit::Number,
            |numbers| numbers.sectors_per_request[1],
        )
        .ranked(Rank::Detail),
        share(
            ("excess_sectors", "Excess", "sectors of global accesses beyond the ideal, as a part of all of them"),
            |numbers| numbers.excess_sectors,
        ),
        real(
            rows,
            ("waves", "Waves", "launch__waves_per_multiprocessor: how often the grid fills the device"),
            Unit::Number,
            |numbers| numbers.waves,
        )
        .ranked(Rank::Detail),
        real(rows, ("registers", "Registers", "launch__registers_per_thread"), Unit::Number, |numbers| {
            numbers.registers
        })
        .ranked(Rank::Detail),
    ]
}

fn word_columns(analysis: &Analysis<'_>, rows: &[ProfiledLaunch]) -> Vec<Column> {
    let triple = |sizes: [u32; 3]| format!("{},{},{}", sizes[0], sizes[1], sizes[2]);
    let mut columns = vec![
        Column::text("grid", "Grid", "blocks in x, y, z", rows.iter().map(|row| triple(row.launch.grid)))
            .ranked(Rank::Detail),
        Column::text("block", "Block", "threads per block in x, y, z", rows.iter().map(|row| triple(row.launch.block)))
            .ranked(Rank::Detail),
        Column::whole(
            "rules",
            "Rules",
            "what the profiler's rules said",
            Unit::Count,
            rows.iter().map(|row| row.rules),
        )
        .basis(Basis::Counted)
        .ranked(Rank::Detail),
        Column::real(
            "speedup_pct",
            "Speedup",
            "largest speedup that a rule of the profiler estimates, percent",
            Unit::Number,
            rows.iter().map(|row| row.speedup_pct),
        )
        .basis(Basis::Modelled)
        .ranked(Rank::Detail),
        Column::text(
            "rule",
            "Rule says",
            "the gravest message of the profiler's rules",
            rows.iter().map(|row| row.rule.map(|message| analysis.text(message).to_owned())),
        ),
    ];
    let has_kernels = analysis.groups().groups.iter().any(|group| group.kind == ridge_trace::EventKind::Kernel);
    if has_kernels {
        columns.extend(trace_columns(rows));
    }
    columns
}

/// What the same kernels were in a trace without the profiler.
fn trace_columns(rows: &[ProfiledLaunch]) -> [Column; 3] {
    [
        Column::nanos(
            "trace_ns",
            "In the trace",
            "duration of the same kernel in the trace: its own launch, or the median of like ones",
            rows.iter().map(|row| row.found.map(|found| found.duration_ns)),
        )
        .basis(Basis::Measured),
        Column::whole(
            "trace_kernels",
            "Kernels",
            "kernels of that name and size in the trace",
            Unit::Count,
            rows.iter().map(|row| row.found.map(|found| found.kernels)),
        )
        .basis(Basis::Counted)
        .ranked(Rank::Detail),
        Column::text(
            "joined_by",
            "Joined by",
            "how it was found: by its launch, by name and size, or by name alone",
            rows.iter().map(|row| row.found.map(|found| found.how.to_owned())),
        )
        .ranked(Rank::Detail),
    ]
}

/// Says what no report holds: an empty cell is not a zero.
fn footnotes(rows: &[ProfiledLaunch]) -> Vec<String> {
    type IsThere = fn(&ProfileNumbers) -> bool;
    let kinds: [(&str, IsThere); 6] = [
        ("DRAM bytes", |numbers| numbers.dram_bytes.is_some()),
        ("L2 bytes", |numbers| numbers.l2_bytes.is_some()),
        ("L1 bytes", |numbers| numbers.l1_bytes.is_some()),
        ("FP32 operations", |numbers| numbers.flops[1].is_some()),
        ("tensor operations", |numbers| numbers.tensor_flops.is_some()),
        ("sectors per request", |numbers| numbers.sectors_per_request[0].is_some()),
    ];
    let missing: Vec<&str> = kinds
        .iter()
        .filter(|(_, is_there)| !rows.iter().any(|row| is_there(&row.numbers)))
        .map(|(what, _)| *what)
        .collect();
    if rows.is_empty() {
        return vec!["nothing was profiled; `ncu --set full --export FILE` records it".to_owned()];
    }
    if missing.is_empty() {
        return Vec::new();
    }
    vec![format!("not collected: {}; `ncu --set full` collects more", missing.join(", "))]
}
