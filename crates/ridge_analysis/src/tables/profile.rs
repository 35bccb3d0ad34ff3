//! Profiled launches: what the hardware counted, what bounds each kernel and what the profiler's rules say.

use super::kernel::triple;
use crate::context::Need;
use crate::context::profile_numbers::{ProfileNumbers, rocprof_ran};
use crate::models::profiles::{ProfiledLaunch, ProfiledLaunches};
use crate::view::{Sheet, Shown, Topic, View, columns};
use ridge_table::Subject;
use ridge_trace::EventKind;

/// The view.
pub(crate) static VIEW: View = View {
    id: "profile",
    about: "launch of a kernel under a hardware profiler (Nsight Compute, rocprofv3)",
    shown: Shown::InReport,
    needs: &[Need::of::<ProfiledLaunches>()],
    answers: |analysis| !analysis.trace.profiles.is_empty(),
    make: |analysis, _| {
        let ProfiledLaunches(rows) = analysis.get();
        let has_kernels = analysis.groups().groups.iter().any(|group| group.kind == EventKind::Kernel);
        let mut table = Sheet::over(analysis, rows)
            .about(|_, row| Some(Subject::Profile(row.row)))
            .show(LAUNCHES)
            .part(NUMBERS, |row| &row.numbers)
            .show(WORDS)
            .show(if has_kernels { IN_TRACE } else { &[] })
            .table("Profiled kernels");
        table.footnotes.extend(not_collected(rows, rocprof_ran(analysis.trace)));
        table
    },
    ..View::of(Topic::Time)
};

columns! {
    LAUNCHES: ProfiledLaunch {
        kernel: text Key "Kernel", "name of the kernel", |at, row| at.text(row.launch.name);
        launch: count Capture "Launch",
            "position among the profiled launches of its report", |_, row| u64::from(row.launch.launch);
        duration_ns: nanos Key Measured "Duration",
            "gpu__time_duration.sum: time under the profiler, at the clocks it sets",
            |_, row| row.numbers.duration_ns.map(|nanos| nanos.round() as i64);
        bound: text Key "Bound by",
            "the throughput that is nearest to its peak; latency where both are below 60%", |_, row| row.numbers.bound();
    }
    NUMBERS: ProfileNumbers {
        compute_share: share Measured "Compute",
            "sm__throughput: compute throughput as a part of its peak", |_, row| row.compute_share;
        memory_share: share Measured "Memory",
            "gpu__compute_memory_throughput: busiest memory unit as a part of its peak", |_, row| row.memory_share;
        dram_share: share Measured "DRAM",
            "gpu__dram_throughput: device memory as a part of its peak", |_, row| row.dram_share;
        occupancy: share Measured "Occupancy",
            "sm__warps_active: active warps as a share of the maximum per core", |_, row| row.occupancy;
        theoretical_occupancy: share Detail Measured "Theoretical",
            "sm__maximum_warps_per_active_cycle: the most that the launch allows", |_, row| row.theoretical_occupancy;
        dram_bytes: bytes Measured "DRAM bytes",
            "dram__bytes: read from and written to device memory", |_, row| whole(row.dram_bytes);
        l2_bytes: bytes Measured "L2 bytes", "lts__t_bytes: through the L2 cache", |_, row| whole(row.l2_bytes);
        l1_bytes: bytes Measured "L1 bytes", "l1tex__t_bytes: through the L1 cache", |_, row| whole(row.l1_bytes);
        flops_16: real(Flops) Detail Measured "FP16",
            "16-bit operations of the ordinary pipes; a multiply-add is two", |_, row| row.flops[0];
        flops_32: real(Flops) Measured "FP32",
            "32-bit operations of the ordinary pipes; a multiply-add is two", |_, row| row.flops[1];
        flops_64: real(Flops) Detail Measured "FP64",
            "64-bit operations of the ordinary pipes; a multiply-add is two", |_, row| row.flops[2];
        tensor_flops: real(Flops) Measured "Tensor",
            "sm__ops_path_tensor: operations of the tensor units", |_, row| row.tensor_flops;
        load_sectors: real(Number) Measured "Sectors/load",
            "sectors per request of global loads; 4 is ideal for 32-bit values", |_, row| row.sectors_per_request[0];
        store_sectors: real(Number) Detail Measured "Sectors/store",
            "sectors per request of global stores; 4 is ideal for 32-bit values", |_, row| row.sectors_per_request[1];
        excess_sectors: share Measured "Excess",
            "sectors of global accesses beyond the ideal, as a part of all of them", |_, row| row.excess_sectors;
        waves: real(Number) Detail Measured "Waves",
            "launch__waves_per_multiprocessor: how often the grid fills the device", |_, row| row.waves;
        registers: real(Number) Detail Measured "Registers", "launch__registers_per_thread", |_, row| row.registers;
    }
    WORDS: ProfiledLaunch {
        grid: text Detail "Grid", "blocks in x, y, z", |_, row| triple(row.launch.grid);
        block: text Detail "Block", "threads per block in x, y, z", |_, row| triple(row.launch.block);
        rules: count Detail Counted "Rules", "messages of the profiler's rules", |_, row| row.rules;
        speedup_pct: real(Number) Detail Modelled "Speedup",
            "largest speedup that a rule of the profiler estimates, percent", |_, row| row.speedup_pct;
        rule: text "Rule message",
            "the gravest message of the profiler's rules", |at, row| row.rule.map(|message| at.text(message));
    }
    /// What the same kernels were in a trace without the profiler.
    IN_TRACE: ProfiledLaunch {
        trace_ns: nanos Measured "In the trace",
            "duration of the same kernel in the trace: its own launch, or the median of like ones",
            |_, row| row.found.map(|found| found.duration_ns);
        trace_kernels: count Detail Counted "Kernels",
            "kernels of that name and size in the trace", |_, row| row.found.map(|found| found.kernels);
        joined_by: text Detail "Joined by",
            "how it was matched: by its launch, by name and size, or only by name", |_, row| row.found.map(|found| found.how);
    }
}

fn whole(bytes: Option<f64>) -> Option<u64> {
    bytes.map(|bytes| bytes.round() as u64)
}

/// Says what no report holds: an empty cell is not a zero.
fn not_collected(rows: &[ProfiledLaunch], is_rocprof: bool) -> Option<String> {
    type Number = fn(&ProfileNumbers) -> Option<f64>;
    let kinds: [(&str, Number); 6] = [
        ("DRAM bytes", |numbers| numbers.dram_bytes),
        ("L2 bytes", |numbers| numbers.l2_bytes),
        ("L1 bytes", |numbers| numbers.l1_bytes),
        ("FP32 operations", |numbers| numbers.flops[1]),
        ("tensor operations", |numbers| numbers.tensor_flops),
        ("sectors per request", |numbers| numbers.sectors_per_request[0]),
    ];
    if rows.is_empty() {
        return Some("nothing was profiled; `ncu --set full --export FILE` records it".to_owned());
    }
    let is_missing = |number: &Number| !rows.iter().any(|row| number(&row.numbers).is_some());
    let missing = kinds.into_iter().filter(|(_, number)| is_missing(number)).map(|(what, _)| what);
    let missing: Vec<&str> = missing.collect();
    let more = if is_rocprof { "`rocprofv3 --pmc`" } else { "`ncu --set full`" };
    (!missing.is_empty()).then(|| format!("not collected: {}; {more} collects more", missing.join(", ")))
}
