//! Kernels of accelerators by the time they take, named as profilers of single kernels filter them.

use crate::session::Session;
use ridge_analysis::Analysis;
use ridge_trace::{Device, EventKind, StringId};
use std::collections::BTreeMap;

impl Session {
    /// The kernels that take most time, longest first: at most `count` names without types, arguments and namespaces.
    ///
    /// Kernels of one template have one name here, as Nsight Compute filters them by default.
    pub fn longest_kernels(&self, count: usize) -> Vec<String> {
        self.with_analysis(|analysis| longest(analysis, count))
    }
}

/// The same, of an analysis.
pub(crate) fn longest(analysis: &Analysis<'_>, count: usize) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (name, _) in times(analysis) {
        let name = base_name(&name).to_owned();
        if names.len() < count && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Time of the kernels of accelerators, ns; most first.
pub(crate) fn times(analysis: &Analysis<'_>) -> Vec<(String, i64)> {
    let is_kernel = |group: &&ridge_analysis::Group| {
        let device = analysis.trace.devices.get(group.device as usize);
        group.kind == EventKind::Kernel && device.is_some_and(|device| !Device::is_processor(device))
    };
    let groups = analysis.groups().groups.iter().filter(is_kernel);
    summed(groups.map(|group| (analysis.text(StringId(group.name)).to_owned(), group.self_ns)))
}

/// Times summed by name; most first.
pub(crate) fn summed(parts: impl Iterator<Item = (String, i64)>) -> Vec<(String, i64)> {
    let mut sums: BTreeMap<String, i64> = BTreeMap::new();
    for (name, ns) in parts {
        let sum = sums.entry(name).or_default();
        *sum = sum.saturating_add(ns);
    }
    let mut all: Vec<(String, i64)> = sums.into_iter().filter(|(_, ns)| *ns > 0).collect();
    all.sort_by_key(|(_, ns)| std::cmp::Reverse(*ns));
    all
}

/// A kernel's name without return type, namespaces, template arguments and parameters, as `ncu` filters by default.
pub(crate) fn base_name(name: &str) -> &str {
    // Demanglers write a namespace without a name in the signs that otherwise end a name.
    const UNNAMED: [&str; 2] = ["(anonymous namespace)", "<unnamed>"];
    let mut ends = name.match_indices(['<', '(']).map(|(at, _)| at);
    let is_end = |at: &usize| !UNNAMED.iter().any(|unnamed| name[*at..].starts_with(unnamed));
    let end = ends.find(is_end).unwrap_or(name.len());
    let start = name[..end].rfind([':', ' ']).map_or(0, |at| at + 1);
    if start < end { &name[start..end] } else { name }
}

#[cfg(test)]
mod tests {
    use super::base_name;

    #[test]
    fn kernels_are_named_as_the_profiler_filters_them() {
        for (name, base) in [
            ("void at::native::elementwise_kernel<128, 4>(int)", "elementwise_kernel"),
            ("loop_fusion_3", "loop_fusion_3"),
            ("sm90_gemm(float*)", "sm90_gemm"),
            ("void (anonymous namespace)::copy<int>(int*)", "copy"),
            ("void <unnamed>::copy<int>(int*)", "copy"),
            ("<odd>", "<odd>"),
        ] {
            assert_eq!(base_name(name), base);
        }
    }
}
