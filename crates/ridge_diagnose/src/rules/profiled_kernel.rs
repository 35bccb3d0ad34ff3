//! What a profiled kernel comes to as a whole: at its roof, too small for the device, or waiting.

use crate::case::Case;
use crate::finding::{Finding, Level};
use crate::fitness::CannotTell;
use crate::rule::{Find, Group, Rule};
use crate::words::{count, percent, short};
use ridge_analysis::ProfileNumbers;
use ridge_table::{Basis, Quantity, Subject, Unit};
use ridge_trace::ProfileRow;
use rustc_hash::FxHashSet;

pub(crate) static RULE: Rule = Rule {
    id: "profiled-kernel",
    group: Group::Compute,
    summary: "Profiled kernel below the device's limits",
    document: include_str!("profiled_kernel.md"),
    asks: &[],
    explains: &[],
    needs: &[],
    find: Find::Causes(find),
};

/// From this part of a unit's peak on nothing is to be won inside the kernel.
const AT_ROOF: f64 = 0.8;
/// Below this part of every peak the kernel waits rather than works.
const WAITING: f64 = 0.25;
/// Below this part of one filling of the device most of it has nothing to do.
const FEW_WAVES: f64 = 0.25;
/// Kernels that are named, those that take longest; and the part of all profiled time from which one matters.
const MOST: usize = 3;
const LEAST: f64 = 0.1;
/// What the metric's word for the commonest reason to wait means.
const REASONS: [(&str, &str); 8] = [
    ("drain", "their stores and atomic updates, because many threads update few addresses"),
    ("lg_throttle", "the global memory queue"),
    ("long_scoreboard", "data from memory"),
    ("short_scoreboard", "shared memory or special functions"),
    ("mio_throttle", "the shared-memory and special-function queue"),
    ("barrier", "other warps at a barrier"),
    ("membar", "a memory fence"),
    ("wait", "a fixed latency between instructions"),
];

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let (trace, profiles) = (case.trace(), &case.trace().profiles);
    let numbers = |row: u32| ProfileNumbers::of(profiles, &trace.strings, row);
    let mut launches: Vec<(u32, f64)> =
        (0..profiles.launches.len() as u32).filter_map(|row| Some((row, numbers(row).duration_ns?))).collect();
    launches.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    let whole: f64 = launches.iter().map(|(_, ns)| ns).sum();
    let mut seen = FxHashSet::default();
    let mut found = Vec::new();
    for (row, _) in launches {
        let launch = &profiles.launches[row as usize];
        if found.len() == MOST || !seen.insert(launch.name) {
            continue;
        }
        let of_kernel =
            (0..profiles.launches.len() as u32).filter(|other| profiles.launches[*other as usize].name == launch.name);
        let ns: f64 = of_kernel.filter_map(|row| numbers(row).duration_ns).sum();
        if whole > 0.0 && ns >= LEAST * whole {
            found
                .extend(finding(case, row, ns / whole).map(|finding| finding.about(Subject::Profile(ProfileRow(row)))));
        }
    }
    Ok(found)
}

fn finding(case: &Case<'_>, row: u32, share: f64) -> Option<Finding> {
    let (trace, profiles) = (case.trace(), &case.trace().profiles);
    let launch = &profiles.launches[row as usize];
    let numbers = ProfileNumbers::of(profiles, &trace.strings, row);
    let name = short(trace.strings.get(launch.name));
    let measured = |part: f64| Quantity::new(part, Unit::Share, Basis::Measured);
    let units = [
        ("memory", numbers.memory_share),
        ("device memory", numbers.dram_share),
        ("arithmetic", numbers.compute_share),
    ];
    let (unit, best) =
        units.iter().filter_map(|(unit, part)| Some((*unit, (*part)?))).max_by(|a, b| a.1.total_cmp(&b.1))?;
    let size = |extents: [u32; 3]| extents.iter().map(|extent| u64::from(*extent)).product::<u64>();
    let (blocks, threads) = (size(launch.grid), size(launch.block));
    let finding = if best < WAITING && numbers.waves.is_some_and(|waves| waves < FEW_WAVES) {
        Finding::new(format!("the grid of `{name}` is too small for the device: {} of {threads} threads", count(blocks, "block", "blocks")))
            .number("full waves of blocks", Quantity::new(numbers.waves?, Unit::Number, Basis::Measured))
            .number(format!("of peak in its busiest unit, {unit}"), measured(best))
            .why("most multiprocessors are idle, and the remaining time is mostly launch and memory latency")
            .help("do more work per launch (a larger batch, several small problems at once), or fuse it with neighboring kernels")
    } else if best < WAITING {
        let stalls = stalls(case, row);
        let (reason, part) = stalls.first().cloned()?;
        let what = REASONS.iter().find(|(word, _)| *word == reason).map_or(reason.as_str(), |(_, what)| what);
        Finding::new(format!("warps of `{name}` stall, mostly waiting for {what}, and no unit reaches a quarter of its peak"))
            .number(format!("of stalls have the reason `{reason}`"), measured(part))
            .number(format!("of peak in its busiest unit, {unit}"), measured(best))
            .why("the kernel is bound by latency and serial work, not by bandwidth or arithmetic")
            .help("reduce within warps and blocks, then do one atomic update per block; without atomics, add independent work per thread")
    } else if [numbers.dram_share, numbers.compute_share].into_iter().flatten().any(|part| part >= AT_ROOF) {
        let (unit, part) = match numbers.dram_share.filter(|part| *part >= AT_ROOF) {
            Some(part) => ("device memory", part),
            None => ("its arithmetic units", best),
        };
        Finding::new(format!(
            "`{name}` reaches {} of the peak of {unit}: nothing to gain inside the kernel",
            percent(part)
        ))
        .number(format!("of the peak of {unit}"), measured(part))
        .why("the kernel runs at the device's limit; only less work or fewer bytes would make it faster")
        .help("reduce its work: fuse it with neighboring kernels, or use a narrower type")
    } else {
        return None;
    };
    let waits = best < WAITING;
    let finding = finding.number("of the profiled time in launches of this kernel", measured(share)).information();
    Some(Finding { level: if waits { Level::Warning } else { Level::Info }, ..finding })
}

/// The reasons for which warps waited and the part that each has, the commonest first.
fn stalls(case: &Case<'_>, row: u32) -> Vec<(String, f64)> {
    let trace = case.trace();
    let (begin, end) = ("smsp__average_warps_issue_stalled_", "_per_issue_active.ratio");
    let reason = |(metric, cycles): (&ridge_trace::StringId, &f64)| {
        let reason = trace.strings.get(*metric).strip_prefix(begin)?.strip_suffix(end)?.to_owned();
        (!reason.ends_with("_not_issued") && reason != "selected" && *cycles > 0.0).then_some((reason, *cycles))
    };
    let metrics = trace.profiles.numbers(row);
    let mut found: Vec<(String, f64)> = metrics.iter().filter_map(reason).collect();
    let all: f64 = found.iter().map(|(_, cycles)| cycles).sum();
    found.iter_mut().for_each(|(_, cycles)| *cycles /= all.max(f64::MIN_POSITIVE));
    found.sort_by(|one, other| other.1.total_cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    found
}
