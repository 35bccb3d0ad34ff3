//! The numbers of a launch by the counters of AMD's devices, which rocprofv3 reads.
//!
//! Formulas are those of ROCm's rocprof-compute (`analysis_configs/gfx*/0400_roofline.yaml`), and for `FETCH_SIZE`, `WRITE_SIZE` and
//! `OccupancyPercent` those of rocprofiler-sdk's own derived counters.
//! An instruction counts for all work-items of its wave, those that are masked too, so divergent code seems to do more than it does.

use ridge_trace::Trace;

/// What the reader calls the duration, nanoseconds.
const DURATION: &str = "duration";
/// Work-items of a wave.
const WAVE: &str = "wave_front_size";
/// What the matrix units multiply, by the ends of their counters; each counts 512 operations.
const MATRIX: [&str; 6] = ["F16", "BF16", "F32", "F64", "F8", "F6F4"];
const MATRIX_FLOPS: f64 = 512.0;
/// Bytes of a request between L1 and L2, and of an access of L1.
const REQUEST_BYTES: f64 = 64.0;

/// What the counters of a launch amount to, each as the field of `ProfileNumbers` that is called so.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Counted {
    pub(super) duration_ns: f64,
    pub(super) dram_bytes: Option<f64>,
    pub(super) l2_bytes: Option<f64>,
    pub(super) l1_bytes: Option<f64>,
    pub(super) flops: [Option<f64>; 3],
    pub(super) tensor_flops: Option<f64>,
    pub(super) occupancy: Option<f64>,
}

/// Looks a counter up by its name.
type Get<'g> = &'g dyn Fn(&str) -> Option<f64>;

/// Whether a launch of `trace` comes from rocprofv3.
pub(crate) fn ran(trace: &Trace) -> bool {
    trace.strings.find(DURATION).is_some_and(|name| trace.profiles.metric.contains(&name))
}

/// The numbers of a launch; `None` if another tool profiled it.
pub(super) fn numbers(get: Get<'_>) -> Option<Counted> {
    let requests = || {
        let others = ["TCP_TCC_WRITE_REQ_sum", "TCP_TCC_ATOMIC_WITH_RET_REQ_sum", "TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum"];
        let reads = get("TCP_TCC_READ_REQ_sum")?;
        others.into_iter().try_fold(reads, |sum, name| Some(sum + get(name)?))
    };
    let matrix = MATRIX.iter().filter_map(|of| get(&format!("SQ_INSTS_VALU_MFMA_MOPS_{of}")));
    Some(Counted {
        duration_ns: get(DURATION)?,
        dram_bytes: dram_bytes(get),
        l2_bytes: requests().map(|requests| requests * REQUEST_BYTES),
        l1_bytes: get("TCP_TOTAL_CACHE_ACCESSES_sum").map(|accesses| accesses * REQUEST_BYTES),
        flops: ["F16", "F32", "F64"].map(|width| vector_flops(get, width)),
        tensor_flops: matrix.reduce(|sum, count| sum + count).map(|count| count * MATRIX_FLOPS),
        occupancy: get("OccupancyPercent").map(|percent| percent / 100.0),
    })
}

/// Operations of the vector units of one width; a multiply-add is two.
fn vector_flops(get: Get<'_>, width: &str) -> Option<f64> {
    let count = |operation: &str| get(&format!("SQ_INSTS_VALU_{operation}_{width}"));
    let operations = count("ADD")? + count("MUL")? + count("TRANS")? + 2.0 * count("FMA")?;
    Some(get(WAVE)? * operations)
}

/// Bytes between device memory and L2.
fn dram_bytes(get: Get<'_>) -> Option<f64> {
    // The derived counters are in kilobytes of 1024 bytes.
    let derived = || Some(1024.0 * (get("FETCH_SIZE")? + get("WRITE_SIZE")?));
    derived().or_else(|| of_mi350(get)).or_else(|| of_mi300(get)).or_else(|| of_mi200(get))
}

fn of_mi350(get: Get<'_>) -> Option<f64> {
    let parts = ["TCC_EA0_RDREQ_DRAM_32B_sum", "TCC_EA0_WRREQ_WRITE_DRAM_32B_sum", "TCC_EA0_WRREQ_ATOMIC_DRAM_32B_sum"];
    parts.into_iter().try_fold(0.0, |sum, name| Some(sum + 32.0 * get(name)?))
}

/// Reads of 128 bytes are counted apart (`TCC_BUBBLE`).
fn of_mi300(get: Get<'_>) -> Option<f64> {
    let wide = get("TCC_BUBBLE_sum")?;
    Some(128.0 * wide + of_requests(get, "TCC_EA0", wide)?)
}

fn of_mi200(get: Get<'_>) -> Option<f64> {
    of_requests(get, "TCC_EA", 0.0)
}

/// Requests of 32 and of 64 bytes; `wide` reads are left out.
fn of_requests(get: Get<'_>, unit: &str, wide: f64) -> Option<f64> {
    let count = |end: &str| get(&format!("{unit}_{end}_sum"));
    let (reads, small_reads) = (count("RDREQ")?, count("RDREQ_32B")?);
    let (writes, large_writes) = (count("WRREQ")?, count("WRREQ_64B")?);
    let read = 32.0 * small_reads + 64.0 * (reads - wide - small_reads).max(0.0);
    Some(read + 32.0 * (writes - large_writes).max(0.0) + 64.0 * large_writes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(counters: &[(&str, f64)]) -> Counted {
        let get = |name: &str| counters.iter().chain([&(DURATION, 1000.0)]).find(|one| one.0 == name).map(|one| one.1);
        super::numbers(&get).expect("it has a duration")
    }

    /// A copy of 1 GiB on an MI300X: all reads of 128 bytes, all writes of 64 bytes, as was measured in public.
    #[test]
    fn bytes_are_those_of_the_devices_own_requests() {
        let gib = f64::from(1 << 30);
        let copy = [
            ("TCC_BUBBLE_sum", 8_388_608.0),
            ("TCC_EA0_RDREQ_32B_sum", 0.0),
            ("TCC_EA0_RDREQ_sum", 8_388_608.0),
            ("TCC_EA0_WRREQ_64B_sum", 16_777_216.0),
            ("TCC_EA0_WRREQ_sum", 16_777_216.0),
        ];
        assert_eq!(numbers(&copy).dram_bytes, Some(2.0 * gib));
        assert_eq!(numbers(&copy[1..]).dram_bytes, None, "reads of 128 bytes were not counted");
        assert_eq!(numbers(&[("FETCH_SIZE", 3.0), ("WRITE_SIZE", 1.0)]).dram_bytes, Some(4096.0));
        let older = [("RDREQ", 10.0), ("RDREQ_32B", 4.0), ("WRREQ", 5.0), ("WRREQ_64B", 2.0)];
        let older: Vec<(String, f64)> =
            older.iter().map(|(name, count)| (format!("TCC_EA_{name}_sum"), *count)).collect();
        let older: Vec<(&str, f64)> = older.iter().map(|(name, count)| (name.as_str(), *count)).collect();
        assert_eq!(numbers(&older).dram_bytes, Some(4.0 * 32.0 + 6.0 * 64.0 + 2.0 * 64.0 + 3.0 * 32.0));
    }

    #[test]
    fn operations_are_those_of_whole_waves() {
        let vector = |wave: &[(&'static str, f64)]| {
            let counts = [
                ("SQ_INSTS_VALU_ADD_F32", 1.0),
                ("SQ_INSTS_VALU_MUL_F32", 2.0),
                ("SQ_INSTS_VALU_TRANS_F32", 3.0),
                ("SQ_INSTS_VALU_FMA_F32", 4.0),
            ];
            numbers(&[&counts, wave].concat()).flops
        };
        assert_eq!(vector(&[(WAVE, 64.0)]), [None, Some(64.0 * 14.0), None]);
        assert_eq!(vector(&[]), [None; 3], "nothing says how long a wave is");
        let matrix = [("SQ_INSTS_VALU_MFMA_MOPS_F16", 2.0), ("SQ_INSTS_VALU_MFMA_MOPS_F64", 1.0)];
        assert_eq!(numbers(&matrix).tensor_flops, Some(1536.0));
        assert_eq!(numbers(&[("OccupancyPercent", 25.0)]).occupancy, Some(0.25));
    }
}
