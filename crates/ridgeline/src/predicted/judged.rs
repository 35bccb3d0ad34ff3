//! What a kernel's code, launch and HLO show before anything ran: static variants of rules that else need a hardware profiler.
//!
//! Judged are kernels alone whose predicted time is more than any kernel takes: of the others, nothing would become shorter.

use super::kernels::{Does, PredictedKernel, PredictedModule};
use ridge_analysis::{Ceilings, ComputeUnit, Limit, NumberType};
use ridge_compile::Target;
use ridge_diagnose::Seen;
use ridge_units::Share;

/// What was seen of a kernel without running it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Static {
    /// The rule of `check` that this stands for, or would be a part of.
    pub(super) rule: &'static str,
    /// What was seen.
    pub(super) what: String,
    /// Why it costs time.
    pub(super) why: &'static str,
    /// What may help.
    pub(super) help: &'static str,
    /// The part of the predicted time that would go; `None` where that cannot be told.
    pub(super) part: Option<f64>,
}

/// The part of the sectors that are fetched for nothing; as of the rule `uncoalesced-access`.
const EXCESS: f64 = 0.3;
/// How much longer an uneven last wave makes a kernel.
const TAIL: f64 = 1.25;
/// Below this part of its time, the memory is not what a kernel waits for; as of the rule `uncoalesced-access`.
const BUSY: f64 = 0.4;
/// A grid that costs less than this part of a kernel's time does no harm.
const HARM: f64 = 0.05;
/// The part of a product's time that tensor cores take away; as of the rule `tensor-cores-idle`.
const BY_TENSOR_CORES: f64 = 0.5;
/// A device with at least this part of its single-precision rate in double is made for it; as of the rule `fp64-used`.
const FAST_DOUBLE: f64 = 1.0 / 8.0;
/// How often a byte is asked for where its reuse is worth a word.
const REUSED: f64 = 1.5;
/// What any kernel takes, seconds; the likeliest figure of the prior.
const START_S: f64 = 3e-6;

/// What is seen of `kernel` on `target`, whose roofs are `ceilings`.
fn judged(kernel: &PredictedKernel, target: &Target, ceilings: &Ceilings) -> Vec<Static> {
    let is_long = kernel.time.is_some_and(|time| time.mid_s > START_S * 1.01);
    if kernel.does != Does::Kernel || !is_long {
        return Vec::new();
    }
    [
        coalescing(kernel),
        spills(kernel),
        few_blocks(kernel, target),
        tail(kernel),
        double(kernel, ceilings),
        matrix(kernel),
        atomics(kernel),
        divergence(kernel),
        reuse(kernel, target),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Every kernel of `modules` of which something is seen, the longest first.
pub(super) fn judged_all<'a>(
    modules: &'a [PredictedModule],
    target: &Target,
    ceilings: &Ceilings,
) -> Vec<(&'a PredictedModule, &'a PredictedKernel, Static)> {
    let all = modules.iter().flat_map(|module| module.kernels.iter().map(move |kernel| (module, kernel)));
    let mut found: Vec<_> = all
        .flat_map(|(module, kernel)| {
            judged(kernel, target, ceilings).into_iter().map(move |seen| (module, kernel, seen))
        })
        .collect();
    let secs = |kernel: &PredictedKernel| kernel.time.map_or(0.0, |time| time.mid_s) * kernel.runs;
    found.sort_by(|one, other| secs(other.1).total_cmp(&secs(one.1)));
    found
}

fn percent(share: f64) -> String {
    Share(share).rounded()
}

/// The part of the likeliest time in which the memory is busy.
fn memory_busy(kernel: &PredictedKernel) -> Option<f64> {
    let time = kernel.time.filter(|time| time.mid_s > 0.0)?;
    Some((kernel.roofs?.memory_s / time.mid_s).clamp(0.0, 1.0))
}

/// The part of the likeliest time that a grid which fills the GPU evenly would not take.
fn by_the_grid(kernel: &PredictedKernel) -> Option<f64> {
    let time = kernel.time.filter(|time| time.mid_s > 0.0)?;
    Some((1.0 - kernel.roofs?.even_s / time.mid_s).clamp(0.0, 1.0)).filter(|part| *part >= HARM)
}

fn coalescing(kernel: &PredictedKernel) -> Option<Static> {
    let found = kernel.coalescing.filter(|found| found.excess() >= EXCESS)?;
    let busy = memory_busy(kernel).filter(|busy| *busy >= BUSY)?;
    let rest = if found.is_partial { "; reads at computed addresses aren't included" } else { "" };
    Some(Static {
        rule: "uncoalesced-access",
        what: format!(
            "fetches {:.0} 32-byte sectors per warp but needs only {:.0}: {} of the sectors are wasted unless the cache keeps them for other warps{rest}",
            found.sectors,
            found.needed,
            percent(found.excess())
        ),
        why: "threads of a warp access scattered addresses, so each access fetches 32-byte sectors for only a few threads",
        help: "use the same fastest-varying dimension for operands and result: transpose the array when you create it",
        part: Some(found.excess() * busy),
    })
}

fn spills(kernel: &PredictedKernel) -> Option<Static> {
    let usage = kernel.usage.filter(|usage| usage.spill_store_bytes > 0)?;
    let spilled = f64::from(usage.spill_store_bytes) + f64::from(usage.spill_load_bytes);
    let threads = kernel
        .launch
        .as_ref()
        .map(|launch| launch.grid.iter().chain(&launch.block).map(|size| f64::from(*size)).product::<f64>());
    let traffic = threads.map(|threads| threads * spilled);
    let part = traffic.zip(kernel.bytes).map(|(traffic, bytes)| traffic / (traffic + bytes).max(1.0));
    Some(Static {
        rule: "register-spills",
        what: format!(
            "stores {} bytes of each thread's registers to memory and loads {} again, with {} registers",
            usage.spill_store_bytes, usage.spill_load_bytes, usage.registers
        ),
        why: "values that don't fit into registers go through local memory, which adds loads and stores",
        help: "split the fusion with `jax.lax.optimization_barrier`; a smaller fusion needs fewer registers",
        part,
    })
}

fn few_blocks(kernel: &PredictedKernel, target: &Target) -> Option<Static> {
    let blocks: f64 = kernel.launch.as_ref()?.grid.iter().map(|size| f64::from(*size)).product();
    let part = by_the_grid(kernel)?;
    (blocks < f64::from(target.cores)).then(|| Static {
        rule: "small-grid",
        what: format!(
            "has {}: {} of {} multiprocessors stay idle",
            if blocks > 1.0 { format!("{blocks} blocks") } else { "one block".to_owned() },
            f64::from(target.cores) - blocks,
            target.cores
        ),
        why: "a block runs on one multiprocessor, so the other multiprocessors are idle unless another stream has work",
        help: "do more work per launch: batch it with `vmap`, or split a long reduction",
        part: Some(part),
    })
}

fn tail(kernel: &PredictedKernel) -> Option<Static> {
    let waves = kernel.occupancy?.waves;
    let longer = waves.ceil() / waves;
    let part = by_the_grid(kernel)?;
    (waves > 1.0 && longer >= TAIL).then(|| Static {
        rule: "tail-wave",
        what: format!(
            "runs {waves:.2} waves of blocks, which take as long as {:.0} waves: the last one is {} full",
            waves.ceil(),
            percent(waves.fract())
        ),
        why: "multiprocessors without a block in the last wave are idle until it ends",
        help: "choose sizes that fill the last wave, or use fewer registers, so that more blocks fit",
        part: Some(part),
    })
}

fn double(kernel: &PredictedKernel, ceilings: &Ceilings) -> Option<Static> {
    let count = kernel.code.map(|code| code.double).filter(|count| *count > 0)?;
    let rate = |number| ceilings.value(Limit::Rate(number, ComputeUnit::Plain)).filter(|rate| *rate > 0.0);
    let ratio = rate(NumberType::F64)? / rate(NumberType::F32)?;
    (ratio < FAST_DOUBLE).then(|| Static {
        rule: "fp64-used",
        what: format!(
            "has {count} instructions on 64-bit floats, which are {:.0} times slower on this GPU",
            1.0 / ratio
        ),
        why: "the device has few 64-bit units, and each number takes twice the memory traffic",
        help: "compute in `float32` if the accuracy allows",
        // The rule itself counts it, from the HLO.
        part: None,
    })
}

fn matrix(kernel: &PredictedKernel) -> Option<Static> {
    let code = kernel.code.filter(|code| kernel.is_product && code.matrix == 0)?;
    let is_bound = kernel.roofs.is_some_and(|roofs| roofs.compute_s > roofs.memory_s);
    (code.instructions > 0).then(|| Static {
        rule: "tensor-cores-idle",
        what: "is a matrix product without tensor core instructions".to_owned(),
        why: "ordinary arithmetic is several times slower than the tensor cores",
        help: "use `bfloat16` or `jax.default_matmul_precision(\"tensorfloat32\")`; vectors and tiny matrices can't use tensor cores",
        part: is_bound.then_some(BY_TENSOR_CORES),
    })
}

fn atomics(kernel: &PredictedKernel) -> Option<Static> {
    let count = kernel.code.map(|code| code.atomics).filter(|count| *count > 0)?;
    Some(Static {
        rule: "atomics",
        what: if count == 1 {
            "has an atomic operation in its code".to_owned()
        } else {
            format!("has {count} atomic operations in its code")
        },
        why: "threads that update the same address wait for each other",
        help: "if they apply, declare the properties of a scatter's indices: `unique_indices=True`, `indices_are_sorted=True`",
        part: None,
    })
}

/// What branches do is told, and how often threads part is not in the code: the rule of this name needs the GPU.
fn divergence(kernel: &PredictedKernel) -> Option<Static> {
    let found = kernel.branches.filter(|found| found.by_data > 0)?;
    let all = found.uniform + found.by_thread + found.by_data;
    let loops = match found.loops_by_data {
        0 => String::new(),
        1 => ", one of which closes a loop".to_owned(),
        count => format!(", {count} of which close loops"),
    };
    Some(Static {
        rule: "divergence",
        what: format!(
            "has {} of {all} branches that depend on data loaded by each thread{loops}: threads of a warp may diverge there; only a run shows how often",
            found.by_data
        ),
        why: "a warp runs both sides of a branch in turn, and stays in a loop until its last thread leaves",
        help: "sort or group the data so that neighboring threads take the same path; a fixed-length loop has no such branch",
        part: None,
    })
}

/// Whether bytes that several warps ask for can come from the cache: certain where all fit, open where they do not.
fn reuse(kernel: &PredictedKernel, target: &Target) -> Option<Static> {
    let (found, bytes) = (kernel.coalescing?, kernel.bytes.filter(|bytes| *bytes > 0.0)?);
    let times = found.asked_bytes() / bytes;
    if times < REUSED {
        return None;
    }
    let cache = target.cache_bytes as f64;
    let fits = bytes <= cache;
    let mib = |bytes: f64| format!("{:.1} MiB", bytes / f64::from(1 << 20));
    let least = if found.is_partial { "at least " } else { "" };
    let then = if fits {
        format!("all {} fit into the {} cache, so each byte is fetched from memory once", mib(bytes), mib(cache))
    } else {
        format!(
            "{} do not fit into the {} cache: whether a byte is still cached depends on the block order, which is unknown",
            mib(bytes),
            mib(cache)
        )
    };
    Some(Static {
        rule: "l2-reuse",
        what: format!("requests each byte {least}{times:.1} times from different warps; {then}"),
        why: "bytes evicted from the L2 cache are fetched from memory again",
        help: "tile the computation so that data used together is used at about the same time",
        part: None,
    })
}

/// What is seen, for the rules of `check`.
pub(super) fn for_rules(modules: &[PredictedModule], target: &Target, ceilings: &Ceilings) -> Vec<Seen> {
    let all = judged_all(modules, target, ceilings).into_iter();
    let seen = all.map(|(module, kernel, found)| Seen {
        rule: found.rule,
        module: module.name.clone(),
        program_id: module.program_id,
        instruction: kernel.instruction.clone(),
        what: found.what,
        why: found.why,
        help: found.help,
        part: found.part,
    });
    seen.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predicted::kernels::{Roofs, Trips};
    use ridge_compile::{Bound, Branches, Coalescing, Code, Launch, Occupancy, Usage};
    use ridge_offload::LaunchTime;

    fn kernel(mid_s: f64) -> PredictedKernel {
        PredictedKernel {
            instruction: "f".to_owned(),
            name: "f".to_owned(),
            does: Does::Kernel,
            emitter: String::new(),
            runs: 1.0,
            trips: Trips::Known,
            launch: Some(Launch {
                kernel: "f".to_owned(),
                grid: [400, 1, 1],
                block: [128, 1, 1],
                dynamic_shared_bytes: 0,
            }),
            usage: Some(Usage { registers: 16, ..Usage::default() }),
            code: Some(Code { instructions: 9, matrix: 1, ..Code::default() }),
            branches: Some(Branches { uniform: 3, by_thread: 1, ..Branches::default() }),
            occupancy: Some(Occupancy { blocks: 1, share: 1.0, waves: 3.0, bound: Bound::Threads }),
            coalescing: Some(Coalescing { sectors: 10.0, needed: 8.0, ..Coalescing::default() }),
            is_product: true,
            bytes: None,
            time: Some(LaunchTime { low_s: mid_s, mid_s, high_s: mid_s }),
            roofs: Some(Roofs { compute_s: 0.6 * mid_s, memory_s: 0.5 * mid_s, even_s: mid_s }),
            xla_s: None,
        }
    }

    fn rules(kernel: &PredictedKernel) -> Vec<&'static str> {
        let target = Target::named("h100").expect("a target");
        judged(kernel, target, &Ceilings::default()).iter().map(|seen| seen.rule).collect()
    }

    #[test]
    fn a_healthy_kernel_and_a_short_one_are_passed_over() {
        assert_eq!(rules(&kernel(1e-4)), Vec::<&str>::new());
        let mut short = kernel(3e-6);
        short.usage = Some(Usage { spill_store_bytes: 8, ..Usage::default() });
        assert_eq!(rules(&short), Vec::<&str>::new());
    }

    #[test]
    fn each_is_seen() {
        let mut one = kernel(1e-4);
        one.coalescing = Some(Coalescing { sectors: 36.0, needed: 8.0, warps: 1.0, is_partial: true });
        one.usage = Some(Usage { spill_store_bytes: 8, ..Usage::default() });
        one.launch = Some(Launch { grid: [12, 1, 1], ..Launch::default() });
        one.occupancy = Some(Occupancy { blocks: 1, share: 1.0, waves: 1.1, bound: Bound::Threads });
        one.code = Some(Code { instructions: 9, atomics: 2, ..Code::default() });
        assert_eq!(
            rules(&one),
            ["uncoalesced-access", "register-spills", "tensor-cores-idle", "atomics"],
            "a grid that costs nothing is none of them"
        );
        one.roofs = one.roofs.map(|roofs| Roofs { even_s: 3e-5, ..roofs });
        let with_grid = rules(&one);
        assert!(with_grid.contains(&"small-grid") && with_grid.contains(&"tail-wave"), "{with_grid:?}");
        one.roofs = one.roofs.map(|roofs| Roofs { memory_s: 1e-5, ..roofs });
        assert!(!rules(&one).contains(&"uncoalesced-access"), "a kernel that the memory does not hold back");
    }

    fn what(kernel: &PredictedKernel, rule: &str) -> Option<String> {
        let target = Target::named("h100").expect("a target");
        judged(kernel, target, &Ceilings::default()).into_iter().find(|seen| seen.rule == rule).map(|seen| seen.what)
    }

    #[test]
    fn branches_by_loaded_numbers_are_told_and_how_often_threads_part_is_not() {
        let mut one = kernel(1e-4);
        one.branches = Some(Branches { uniform: 3, by_thread: 1, by_data: 2, loops_by_data: 1 });
        let told = what(&one, "divergence").expect("it is told");
        assert!(
            told.starts_with(
                "has 2 of 6 branches that depend on data loaded by each thread, one of which closes a loop"
            ),
            "{told}"
        );
        assert!(told.ends_with("only a run shows how often"), "{told}");
    }

    #[test]
    fn reuse_is_certain_where_all_fits_into_the_cache_and_open_elsewhere() {
        let mut one = kernel(1e-4);
        let asks =
            |bytes: f64| Some(Coalescing { sectors: 8.0, needed: 8.0, warps: 3.0 * bytes / 256.0, is_partial: false });
        (one.bytes, one.coalescing) = (Some(1e6), asks(1e6));
        let fits = what(&one, "l2-reuse").expect("it is told");
        assert!(
            fits.starts_with("requests each byte 3.0 times")
                && fits.ends_with("so each byte is fetched from memory once"),
            "{fits}"
        );
        (one.bytes, one.coalescing) = (Some(1e9), asks(1e9));
        let open = what(&one, "l2-reuse").expect("it is told");
        assert!(open.ends_with("which is unknown"), "{open}");
        one.bytes = Some(3e9);
        assert_eq!(what(&one, "l2-reuse"), None);
    }
}
