//! The table of profiled launches under the roofs that their reports measure.

use crate::Analysis;
use crate::models::roofline::{LEVEL_NAMES, Launch as Row, Reached, Tiers};
use crate::tables::time::table as build;
use ridge_table::{Basis, Column, Rank, Subject, Table, Unit};

/// Key, title and definition of a column.
type Words = (&'static str, &'static str, &'static str);

/// `rows` as a table.
pub(super) fn table(analysis: &Analysis<'_>, rows: &[Row<'_>]) -> Table {
    let mut columns = names(analysis, rows).to_vec();
    columns.extend(work(rows));
    columns.extend(intensities(rows));
    columns.extend(shares(rows));
    columns.extend(rates(rows));
    columns.extend(roofs(rows));
    let subjects = rows.iter().map(|row| Some(Subject::Profile(row.row)));
    let mut table = build("roofline", "Roofline by profiled kernel", columns).about(subjects);
    table.footnotes = footnotes(rows);
    table
}

fn names(analysis: &Analysis<'_>, rows: &[Row<'_>]) -> [Column; 4] {
    let name = |row: &Row<'_>| analysis.text(row.launch.name).to_owned();
    [
        Column::text("kernel", "Kernel", "name of the kernel", rows.iter().map(name)).ranked(Rank::Key),
        Column::whole(
            "launch",
            "Launch",
            "position among the profiled launches of its report",
            Unit::Count,
            rows.iter().map(|row| u64::from(row.launch.launch)),
        ).basis(Basis::Capture),
        Column::nanos(
            "duration_ns",
            "Duration",
            "gpu__time_duration.sum: time under the profiler, at the clocks it sets",
            rows.iter().map(|row| row.tiers.secs.map(|secs| (secs * 1e9).round() as i64)),
        )
        .basis(Basis::Measured)
        .ranked(Rank::Key),
        Column::text(
            "roof",
            "Roof",
            "the roof of which most was reached, of those collected; unknown without one of memory and one of arithmetic",
            rows.iter().map(|row| row.tiers.binding().map(str::to_owned)),
        )
        .ranked(Rank::Key),
    ]
}

/// A column of real numbers.
fn real(
    rows: &[Row<'_>],
    (key, title, definition): Words,
    unit: Unit,
    basis: Basis,
    value: impl Fn(&Tiers) -> Option<f64>,
) -> Column {
    Column::real(key, title, definition, unit, rows.iter().map(|row| value(&row.tiers))).basis(basis)
}

/// A column for each level of memory.
fn by_level(
    rows: &[Row<'_>],
    words: [Words; 3],
    unit: Unit,
    basis: Basis,
    value: impl Fn(&Tiers, usize) -> Option<f64>,
) -> [Column; 3] {
    let mut level = 0..LEVEL_NAMES.len();
    words.map(|words| {
        let at = level.next().expect("as many levels as words");
        real(rows, words, unit, basis, |tiers| value(tiers, at))
    })
}

fn work(rows: &[Row<'_>]) -> [Column; 2] {
    let definition =
        "floating-point operations that the counters counted, of the types collected; a multiply-add is two";
    [
        real(
            rows,
            ("flops_per_sec", "FLOP/s", "operations by measured counters over the duration; of the types collected"),
            Unit::FlopsPerSec,
            Basis::Measured,
            Tiers::flops_per_sec,
        )
        .ranked(Rank::Key),
        real(rows, ("flops", "Work", definition), Unit::Flops, Basis::Measured, Tiers::flops).ranked(Rank::Detail),
    ]
}

fn intensities(rows: &[Row<'_>]) -> [Column; 3] {
    let words = [
        ("l1_intensity", "I(L1)", "operations per byte through L1, by counters"),
        ("l2_intensity", "I(L2)", "operations per byte through L2, by counters"),
        ("dram_intensity", "I(DRAM)", "operations per byte between device memory and L2, by counters"),
    ];
    by_level(rows, words, Unit::FlopPerByte, Basis::Measured, Tiers::intensity)
}

fn shares(rows: &[Row<'_>]) -> Vec<Column> {
    let words = [
        ("l1_share", "L1", "part of the report's own L1 roof that was reached"),
        ("l2_share", "L2", "part of the report's own L2 roof that was reached"),
        ("dram_share", "DRAM", "part of the report's own roof of device memory that was reached"),
    ];
    let mut columns =
        by_level(rows, words, Unit::Share, Basis::Measured, |tiers, level| tiers.levels[level].share).to_vec();
    columns.push(real(
        rows,
        (
            "compute_share",
            "Compute",
            "part of the report's own roof of arithmetic that was reached, of the nearest type",
        ),
        Unit::Share,
        Basis::Measured,
        |tiers| tiers.busiest_pipe()?.1.share,
    ));
    columns
}

fn rates(rows: &[Row<'_>]) -> [Column; 3] {
    let words = [
        ("l1_bytes_per_sec", "L1 B/s", "bytes through L1 by counters over the duration"),
        ("l2_bytes_per_sec", "L2 B/s", "bytes through L2 by counters over the duration"),
        ("dram_bytes_per_sec", "DRAM B/s", "bytes of device memory by counters over the duration"),
    ];
    by_level(rows, words, Unit::BytesPerSec, Basis::Measured, |tiers, level| tiers.levels[level].per_sec)
}

fn roofs(rows: &[Row<'_>]) -> Vec<Column> {
    let words = [
        ("l1_roof", "L1 roof", "bytes L1 can count in a cycle (peak_sustained) times its measured cycles per second"),
        ("l2_roof", "L2 roof", "bytes L2 can count in a cycle (peak_sustained) times its measured cycles per second"),
        ("dram_roof", "DRAM roof", "dram__bytes.sum.peak_sustained times the measured cycles of memory per second"),
    ];
    let roof = |tiers: &Tiers, level: usize| tiers.levels[level].roof_per_sec;
    let mut columns = by_level(rows, words, Unit::BytesPerSec, Basis::Modelled, roof).to_vec();
    let definition =
        "operations the nearest type can do in a cycle (peak_sustained) times the measured cycles per second";
    columns.push(real(
        rows,
        ("compute_roof", "Compute roof", definition),
        Unit::FlopsPerSec,
        Basis::Modelled,
        |tiers| tiers.busiest_pipe()?.1.roof_per_sec,
    ));
    let pipe = |row: &Row<'_>| row.tiers.busiest_pipe().map(|(name, _)| name.to_owned());
    columns.push(Column::text(
        "pipe",
        "Pipe",
        "the type of arithmetic that is nearest to its roof",
        rows.iter().map(pipe),
    ));
    columns.into_iter().map(|column| column.ranked(Rank::Detail)).collect()
}

/// Says what no launch has: an empty cell is not a zero.
fn footnotes(rows: &[Row<'_>]) -> Vec<String> {
    if rows.is_empty() {
        return vec!["nothing was profiled; `ncu --set roofline --export FILE` records it".to_owned()];
    }
    let levels = LEVEL_NAMES.into_iter().enumerate();
    let mut missing: Vec<String> =
        levels.flat_map(|(at, name)| lacks(rows, name, |tiers| Some(tiers.levels[at]))).collect();
    for (at, name) in ["fp16", "fp32", "fp64"].into_iter().enumerate() {
        missing.extend(lacks(rows, name, |tiers| tiers.pipes.get(at).map(|pipe| pipe.1)));
    }
    missing.extend(lacks(rows, "tensor", |tiers| {
        tiers.pipes.iter().find(|(name, _)| *name == "tensor").map(|pipe| pipe.1)
    }));
    if missing.is_empty() {
        return Vec::new();
    }
    vec![format!("not collected: {}; `ncu --set roofline` collects more", missing.join(", "))]
}

/// What of `name` no launch has: its traffic or work, its roof; a share of the peak may be known without either.
fn lacks(rows: &[Row<'_>], name: &str, of: impl Fn(&Tiers) -> Option<Reached>) -> Option<String> {
    let has = |value: fn(&Reached) -> Option<f64>| {
        rows.iter().any(|row| of(&row.tiers).is_some_and(|reached| value(&reached).is_some()))
    };
    match (has(|reached| reached.amount), has(|reached| reached.roof_per_sec)) {
        (true, true) => None,
        (true, false) => Some(format!("{name} roof")),
        (false, true) => Some(format!("{name} counts")),
        (false, false) if has(|reached| reached.share) => Some(format!("{name} counts and roof")),
        (false, false) => Some(name.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use crate::models::roofline::{RooflineBy, charts};
    use crate::{Analysis, Prepared, Topic};
    use expect_test::{Expect, expect};
    use ridge_test::render;
    use ridge_trace::{KernelProfile, StringId};

    /// A launch: its name and its metrics.
    type Launch<'a> = (&'a str, &'a [(&'a str, f64)]);

    const FFMA: &str = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum";

    /// 1 us, 500 multiply-adds in 32 bits at 1 GHz; L2 has a count without a roof and a rate with one.
    const AXPY: Launch<'_> = (
        "axpy",
        &[
            ("gpu__time_duration.sum", 1000.0),
            ("smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", 0.0),
            ("smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", 0.0),
            (FFMA, 500.0),
            ("sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained", 4.0),
            ("sm__cycles_elapsed.avg.per_second", 1e9),
            ("l1tex__lsu_writeback_active_mem_lg.sum", 100.0),
            ("l1tex__lsu_writeback_active_mem_lg.sum.peak_sustained", 1.0),
            ("l1tex__cycles_elapsed.avg.per_second", 4e8),
            ("lts__t_bytes.sum", 3000.0),
            ("lts__lts2xbar_cycles_active.sum.per_second", 1.25e8),
            ("lts__lts2xbar_cycles_active.sum.peak_sustained", 0.5),
            ("lts__cycles_elapsed.avg.per_second", 1e9),
            ("dram__bytes.sum", 2000.0),
            ("dram__bytes.sum.peak_sustained", 4.0),
            ("dram__cycles_elapsed.avg.per_second", 1e9),
        ],
    );

    /// 2 us in the tensor units; of L2 only a share was collected, of DRAM no roof, of L1 nothing.
    const GEMM: Launch<'_> = (
        "gemm",
        &[
            ("gpu__time_duration.sum", 2000.0),
            ("sm__ops_path_tensor_src_fp16.sum", 1.6e6),
            ("sm__ops_path_tensor_src_fp16.sum.peak_sustained", 1000.0),
            ("sm__cycles_elapsed.avg.per_second", 1e9),
            ("lts__t_sectors.avg.pct_of_peak_sustained_elapsed", 40.0),
            ("dram__bytes_read.sum", 100.0),
            ("dram__bytes_write.sum", 100.0),
        ],
    );

    fn profiled<T>(launches: &[Launch<'_>], ask: impl FnOnce(&Analysis<'_>) -> T) -> T {
        let mut trace = ridge_test::trace("");
        for (at, (name, metrics)) in launches.iter().enumerate() {
            let (name, launch) = (trace.strings.intern(name), at as u32);
            let (grid, block) = ([1; 3], [32, 1, 1]);
            trace.profiles.launches.push(KernelProfile {
                process: 0,
                name,
                launch,
                grid,
                block,
                device: None,
                stream: None,
            });
            for (metric, value) in *metrics {
                let metric = trace.strings.intern(metric);
                trace.profiles.push(launch, metric, *value, StringId::default(), StringId::default());
            }
        }
        ask(&Prepared::default().analysis(&trace, &[]))
    }

    #[track_caller]
    fn check(launches: &[Launch<'_>], columns: &[&str], expected: Expect) {
        profiled(launches, |analysis| {
            let table = analysis.table(Topic::Roofline, "profile").expect("a view");
            expected.assert_eq(&render(&table, columns));
        });
    }

    /// The chart in lines: slopes, roofs, then points with their intensity at each level, outermost first.
    #[test]
    fn the_drawing_has_a_slope_for_each_level() {
        let lines = profiled(&[AXPY, GEMM], |analysis| {
            let [chart] = &charts(analysis, RooflineBy::Profile)[..] else { panic!("one kind of device") };
            let slopes = chart.slopes.iter().map(|slope| format!("{} {:e}", slope.name, slope.bytes_per_sec));
            let roofs = chart.roofs.iter().map(|roof| format!("{} {:e}", roof.name, roof.flops_per_sec));
            let points = chart.points.iter().map(|point| {
                let others: Vec<String> =
                    point.others.iter().map(|other| format!("{} {:.3}", other.label, other.intensity)).collect();
                format!("{} {} [{}] {:?}", point.name, point.intensity, others.join(", "), point.bound)
            });
            slopes.chain(roofs).chain(points).collect::<Vec<_>>()
        });
        assert_eq!(
            lines,
            [
                "L1 5.12e10",
                "L2 1.6e10",
                "DRAM 4e9",
                "tensor 1e12",
                "fp32 8e9",
                "gemm 8000 [] Some(Compute)",
                "axpy 0.5 [L2 0.250, L1 0.078] Some(Memory)",
            ]
        );
        assert!(profiled(&[], |analysis| charts(analysis, RooflineBy::Profile).is_empty()));
    }

    #[test]
    fn each_level_has_its_own_intensity_and_rate() {
        // axpy: 1000 operations in 1 us; 100 * 128 = 12800 bytes of L1, 125 * 32 = 4000 of L2, 2000 of DRAM.
        // gemm: 1.6e6 operations by 200 bytes are 8000, over 2 us 8e11 and 1e8 a second.
        check(
            &[AXPY, GEMM],
            &[
                "kernel",
                "duration_ns",
                "flops_per_sec",
                "l1_intensity",
                "l2_intensity",
                "dram_intensity",
                "l1_bytes_per_sec",
                "l2_bytes_per_sec",
                "dram_bytes_per_sec",
            ],
            expect![[r#"
                kernel  duration_ns  flops_per_sec  l1_intensity  l2_intensity  dram_intensity  l1_bytes_per_sec  l2_bytes_per_sec  dram_bytes_per_sec
                gemm    2000         800000000000   -             -             8000            -                 -                 100000000
                axpy    1000         1000000000     0.078         0.25          0.5             12800000000       4000000000        2000000000
                * not collected: fp16, fp64; `ncu --set roofline` collects more
            "#]],
        );
    }

    #[test]
    fn roofs_are_peaks_per_cycle_times_cycles() {
        // axpy: 2 * 4 * 1e9 operations, so 1/8; 1 * 128 * 4e8 = 5.12e10 of L1, 1/4; 0.5 * 32 * 1e9 = 1.6e10 of L2, 1/4;
        // 4 * 1e9 of DRAM, 1/2. gemm: 8e11 of 1000 * 1e9 operations.
        check(
            &[AXPY, GEMM],
            &[
                "kernel",
                "roof",
                "l1_share",
                "l2_share",
                "dram_share",
                "compute_share",
                "l1_roof",
                "l2_roof",
                "dram_roof",
                "compute_roof",
                "pipe",
            ],
            expect![[r#"
                kernel  roof    l1_share  l2_share  dram_share  compute_share  l1_roof      l2_roof      dram_roof   compute_roof   pipe
                gemm    tensor  -         0.4       -           0.8            -            -            -           1000000000000  tensor
                axpy    DRAM    0.25      0.25      0.5         0.125          51200000000  16000000000  4000000000  8000000000     fp32
                * not collected: fp16, fp64; `ncu --set roofline` collects more
            "#]],
        );
    }

    #[test]
    fn a_level_known_by_its_share_alone_is_not_said_to_be_missing() {
        check(
            &[GEMM],
            &["kernel", "l1_share", "l2_share", "dram_share"],
            expect![[r#"
            kernel  l1_share  l2_share  dram_share
            gemm    -         0.4       -
            * not collected: L1, L2 counts and roof, DRAM roof, fp16, fp32, fp64; `ncu --set roofline` collects more
        "#]],
        );
    }

    #[test]
    fn what_was_not_collected_is_unknown_and_a_zero_is_a_zero() {
        let still = [("gpu__time_duration.sum", 10.0), ("dram__bytes.sum", 0.0)];
        let columns = [
            "kernel",
            "roof",
            "flops_per_sec",
            "dram_intensity",
            "l1_bytes_per_sec",
            "dram_bytes_per_sec",
            "dram_share",
        ];
        check(
            &[("still", &still), ("nothing", &[])],
            &columns,
            expect![[r#"
            kernel   roof  flops_per_sec  dram_intensity  l1_bytes_per_sec  dram_bytes_per_sec  dram_share
            still    -     -              -               -                 0                   -
            nothing  -     -              -               -                 -                   -
            * not collected: L1, L2, DRAM roof, fp16, fp32, fp64, tensor; `ncu --set roofline` collects more
        "#]],
        );
        check(
            &[],
            &columns,
            expect![[r#"
            kernel  roof  flops_per_sec  dram_intensity  l1_bytes_per_sec  dram_bytes_per_sec  dram_share
            * nothing was profiled; `ncu --set roofline --export FILE` records it
        "#]],
        );
    }
}
