//! Kernels that a hardware profiler looked at, with the time that kernels of the same name have in the trace.

use crate::case::{Case, Work};
use crate::finding::Finding;
use crate::fitness::CannotTell;
use crate::products::is_nvidia;
use crate::words::short;
use ridge_analysis::{ProfileNumbers, kernel_category};
use ridge_table::Subject;
use ridge_trace::{EventKind, ProfileRow, StringId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Shorter launches are mostly their own start.
const LONG_NS: f64 = 5_000.0;
/// A kernel without a profile matters from this part of the time.
const MATTERS: f64 = 0.2;
/// Words of kernels that frameworks and libraries bring along, or compilers make.
const NOT_OWN: [&str; 8] =
    ["at::", "at_cuda_detail", "cub::", "cudnn", "thrust::", "triton_poi_", "triton_red_", "triton_per_"];
/// Findings of one rule, longest launches first.
const MOST: usize = 3;

/// A launch under a profiler.
pub(crate) struct Profiled<'a> {
    /// The kernel's name.
    pub(crate) name: &'a str,
    /// What its counters amount to.
    pub(crate) numbers: ProfileNumbers,
    case: &'a Case<'a>,
    metrics: FxHashMap<StringId, f64>,
}

impl Profiled<'_> {
    /// The metric of that name, where it was collected.
    pub(crate) fn metric(&self, name: &str) -> Option<f64> {
        self.metrics.get(&self.case.trace().strings.find(name)?).copied().filter(|value| value.is_finite())
    }

    /// The numbers of all metrics whose names begin and end so, with what stands between.
    pub(crate) fn between(&self, begin: &str, end: &str) -> Vec<(String, f64)> {
        let middle = |id: &StringId| {
            let name = self.case.trace().strings.get(*id);
            Some(name.strip_prefix(begin)?.strip_suffix(end)?.to_owned())
        };
        let mut found: Vec<(String, f64)> = self
            .metrics
            .iter()
            .filter_map(|(id, value)| Some((middle(id)?, *value)))
            .filter(|(_, value)| value.is_finite())
            .collect();
        found.sort_by(|one, other| other.1.total_cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        found
    }
}

/// What `judge` finds of the longest launch of each profiled kernel: a finding, and the part of the kernel's time that it
/// holds, which is claimed where the trace has the kernel.
pub(crate) fn findings(
    case: &Case<'_>,
    judge: impl Fn(&Profiled<'_>) -> Option<(Finding, f32)>,
) -> Result<Vec<Finding>, CannotTell> {
    let trace = case.trace();
    let profiles = &trace.profiles;
    if case.known.is_predicted {
        return Err(CannotTell::because(
            "no kernel ran, and the code alone doesn't show it",
            "ncu --set full -o profile python PROGRAM.py",
        ));
    }
    if profiles.is_empty() {
        return unprofiled(case);
    }
    let mut rows: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    for work in case.work().filter(|work| work.kind == EventKind::Kernel) {
        rows.entry(base(work.name)).or_default().push(work.at);
    }
    let mut launches: Vec<(u32, f64)> = Vec::new();
    for row in 0..profiles.launches.len() as u32 {
        let duration = ProfileNumbers::of(profiles, &trace.strings, row).duration_ns.unwrap_or(0.0);
        if duration >= LONG_NS {
            launches.push((row, duration));
        }
    }
    launches.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    let mut seen: FxHashSet<&str> = FxHashSet::default();
    let mut found = Vec::new();
    for (row, _) in launches {
        let name = trace.strings.get(profiles.launches[row as usize].name);
        if found.len() == MOST || !seen.insert(base(name)) {
            continue;
        }
        let numbers = ProfileNumbers::of(profiles, &trace.strings, row);
        let profiled = Profiled { name, numbers, case, metrics: profiles.numbers(row) };
        let Some((finding, part)) = judge(&profiled) else { continue };
        let finding = finding.about(Subject::Profile(ProfileRow(row)));
        found.push(match rows.get(base(name)) {
            Some(rows) => finding.claims(rows.iter().map(|at| (*at, part))),
            None => finding.information(),
        });
    }
    Ok(found)
}

/// Nothing was profiled: that matters where a kernel of the program's own has much of the time.
fn unprofiled(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let is_own = |work: &Work<'_>| {
        let libraries = ["collective", "matrix product", "attention", "convolution", "copy kernel", "memset kernel"];
        let device = case.trace().devices.get(work.row.device.index());
        work.kind == EventKind::Kernel
            && device.is_some_and(|device| device.compute_capability.is_some() && is_nvidia(device))
            && !libraries.contains(&kernel_category(work.name))
            && !NOT_OWN.iter().any(|word| work.name.contains(word))
            // What XLA compiled is changed in the program and not in the kernel.
            && case.instruction(work.op).is_none_or(|(_, _, instruction)| &*instruction.opcode == "custom-call")
    };
    let mut sums: FxHashMap<&str, i64> = FxHashMap::default();
    for work in case.work().filter(is_own) {
        let sum = sums.entry(base(work.name)).or_default();
        *sum = sum.saturating_add(work.row.ns);
    }
    let most = sums.into_iter().max_by_key(|(name, ns)| (*ns, std::cmp::Reverse(*name)));
    match most.filter(|(name, ns)| case.share(*ns) >= MATTERS && !name.is_empty()) {
        None => Ok(Vec::new()),
        Some((name, _)) => Err(CannotTell::because(
            format!("hardware counters for `{}` weren't collected", short(name)),
            format!(
                "ncu --set full --kernel-name regex:{} --launch-count 3 -o profile python PROGRAM.py",
                pattern(name)
            ),
        )),
    }
}

/// A name as a part of an expression and of a command line: signs that mean something in either stand for any one sign.
fn pattern(name: &str) -> String {
    name.chars().map(|letter| if letter.is_ascii_alphanumeric() || letter == '_' { letter } else { '.' }).collect()
}

/// How compilers write a namespace without a name.
const UNNAMED: &str = "(anonymous namespace)::";

/// A kernel's name without return type, namespaces, template and call arguments.
fn base(name: &str) -> &str {
    // Namespaces without a name are in parentheses, too.
    let after = name.rfind(UNNAMED).map_or(0, |at| at + UNNAMED.len());
    let name = name[after..].split(['(', '<']).next().unwrap_or(name).trim();
    let name = name.rsplit(' ').next().unwrap_or(name);
    name.rsplit("::").next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_holds_nothing_of_a_name_that_a_shell_would_obey() {
        assert_eq!(pattern("add_1"), "add_1");
        assert_eq!(pattern("k$(x)`\u{1b}\u{202e}; 'é"), "k..x........");
    }

    #[test]
    fn names_are_compared_without_their_types() {
        for name in [
            "void ns::add<float, 4>(float*, int)",
            "add",
            "add(float*)",
            "ns::add<float>",
            "void at::native::(anonymous namespace)::add<int>(int)",
            "(anonymous namespace)::add(int)",
        ] {
            assert_eq!(base(name), "add");
        }
    }
}
