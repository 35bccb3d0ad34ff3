//! The table of profiled launches under the roofs that their reports measure.

use crate::Analysis;
use crate::context::profile_numbers::rocprof_ran;
use crate::models::roofline::{LEVEL_NAMES, Launch, Reached, Tiers};
use crate::view::{Sheet, columns};
use ridge_table::{Subject, Table};

/// `rows` as a table.
pub(super) fn table(analysis: &Analysis<'_>, rows: &[Launch]) -> Table {
    let mut table = Sheet::over(analysis, rows)
        .about(|_, row| Some(Subject::Profile(row.row)))
        .show(LAUNCHES)
        .part(TIERS, |row| &row.tiers)
        .table("Roofline by profiled kernel");
    table.footnotes.extend(not_collected(rows, rocprof_ran(analysis.trace)));
    table
}

const L1: usize = 0;
const L2: usize = 1;
const DRAM: usize = 2;

columns! {
    LAUNCHES: Launch {
        kernel: text Key "Kernel", "name of the kernel", |at, row| at.text(row.launch.name);
        launch: count Capture "Launch",
            "position among the profiled launches of its report", |_, row| u64::from(row.launch.launch);
        duration_ns: nanos Key Measured "Duration",
            "gpu__time_duration.sum: time under the profiler, at the clocks it sets",
            |_, row| row.tiers.secs.map(|secs| (secs * 1e9).round() as i64);
        roof: text Key "Roof",
            "the collected roof with the highest share reached; unknown without one for memory and one for arithmetic",
            |_, row| row.tiers.binding();
    }
    TIERS: Tiers {
        flops_per_sec: real(FlopsPerSec) Key Measured "FLOP/s",
            "operations by measured counters over the duration; of the types collected", |_, tiers| tiers.flops_per_sec();
        flops: real(Flops) Detail Measured "Work",
            "floating-point operations that the counters counted, of the types collected; a multiply-add is two",
            |_, tiers| tiers.flops();
        l1_intensity: real(FlopPerByte) Measured "I(L1)",
            "operations per byte through L1, by counters", |_, tiers| tiers.intensity(L1);
        l2_intensity: real(FlopPerByte) Measured "I(L2)",
            "operations per byte through L2, by counters", |_, tiers| tiers.intensity(L2);
        dram_intensity: real(FlopPerByte) Measured "I(DRAM)",
            "operations per byte between device memory and L2, by counters", |_, tiers| tiers.intensity(DRAM);
        l1_share: share Measured "L1",
            "part of the report's own L1 roof that was reached", |_, tiers| tiers.levels[L1].share;
        l2_share: share Measured "L2",
            "part of the report's own L2 roof that was reached", |_, tiers| tiers.levels[L2].share;
        dram_share: share Measured "DRAM",
            "part of the report's own roof of device memory that was reached", |_, tiers| tiers.levels[DRAM].share;
        compute_share: share Measured "Compute",
            "part of the report's own roof of arithmetic that was reached, of the nearest type",
            |_, tiers| tiers.busiest_pipe().and_then(|(_, pipe)| pipe.share);
        l1_bytes_per_sec: real(BytesPerSec) Measured "L1 B/s",
            "bytes through L1 by counters over the duration", |_, tiers| tiers.levels[L1].per_sec;
        l2_bytes_per_sec: real(BytesPerSec) Measured "L2 B/s",
            "bytes through L2 by counters over the duration", |_, tiers| tiers.levels[L2].per_sec;
        dram_bytes_per_sec: real(BytesPerSec) Measured "DRAM B/s",
            "bytes of device memory by counters over the duration", |_, tiers| tiers.levels[DRAM].per_sec;
        l1_roof: real(BytesPerSec) Detail Modelled "L1 roof",
            "bytes L1 can count in a cycle (peak_sustained) times its measured cycles per second",
            |_, tiers| tiers.levels[L1].roof_per_sec;
        l2_roof: real(BytesPerSec) Detail Modelled "L2 roof",
            "bytes L2 can count in a cycle (peak_sustained) times its measured cycles per second",
            |_, tiers| tiers.levels[L2].roof_per_sec;
        dram_roof: real(BytesPerSec) Detail Modelled "DRAM roof",
            "dram__bytes.sum.peak_sustained times the measured cycles of memory per second",
            |_, tiers| tiers.levels[DRAM].roof_per_sec;
        compute_roof: real(FlopsPerSec) Detail Modelled "Compute roof",
            "operations the nearest type can do in a cycle (peak_sustained) times the measured cycles per second",
            |_, tiers| tiers.busiest_pipe().and_then(|(_, pipe)| pipe.roof_per_sec);
        pipe: text Detail "Pipe", "the type of arithmetic that is nearest to its roof",
            |_, tiers| tiers.busiest_pipe().map(|(name, _)| name);
    }
}

/// Says what no launch has: an empty cell is not a zero.
fn not_collected(rows: &[Launch], is_rocprof: bool) -> Option<String> {
    if rows.is_empty() {
        return Some("nothing was profiled; `ncu --set roofline --export FILE` records it".to_owned());
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
    let more =
        if is_rocprof { "`rocprofv3 --pmc` has counts and no roofs" } else { "`ncu --set roofline` collects more" };
    (!missing.is_empty()).then(|| format!("not collected: {}; {more}", missing.join(", ")))
}

/// What of `name` no launch has: its traffic or work, its roof; a share of the peak may be known without either.
fn lacks(rows: &[Launch], name: &str, of: impl Fn(&Tiers) -> Option<Reached>) -> Option<String> {
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
