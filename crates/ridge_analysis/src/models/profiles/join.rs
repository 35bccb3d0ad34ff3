//! Which kernels of the trace a profiled launch stands for.
//!
//! A profiler slows a program down, so its launches are found in a trace of an ordinary run by name and size, and
//! among like launches by their order, where there are as many of them.

use crate::Analysis;
use crate::context::quantiles::quantile;
use ridge_trace::{EventKind, KernelProfile, StringId};
use rustc_hash::FxHashMap;

/// What a profiled launch was found to be in the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// Kernels of the same name and size.
    pub kernels: u64,
    /// Duration without the profiler, nanoseconds: that launch's own, or the median of like ones.
    pub duration_ns: i64,
    /// How it was found: `launch`, `size` or `name`.
    pub how: &'static str,
}

type Sizes = ([u32; 3], [u32; 3]);

/// Kernels of the trace by name: start, size where known, duration.
type Kernels = FxHashMap<String, Vec<(i64, Option<Sizes>, i64)>>;

/// For every profiled launch, what it is in the trace.
pub(super) fn join(analysis: &Analysis<'_>) -> Vec<Option<Found>> {
    let profiles = &analysis.trace.profiles;
    if profiles.is_empty() {
        return Vec::new();
    }
    let kernels = kernels(analysis);
    let name = |launch: &KernelProfile| key(analysis.text(launch.name));
    let mut alike: FxHashMap<(String, Sizes), usize> = FxHashMap::default();
    let mut positions = Vec::with_capacity(profiles.launches.len());
    for launch in &profiles.launches {
        let count = alike.entry((name(launch), (launch.grid, launch.block))).or_default();
        positions.push(*count);
        *count += 1;
    }
    let launches = profiles.launches.iter().zip(positions);
    launches
        .map(|(launch, position)| {
            let name = name(launch);
            let sizes = (launch.grid, launch.block);
            let profiled = alike.get(&(name.clone(), sizes)).copied().unwrap_or(0);
            find(kernels.get(&name)?, sizes, position, profiled)
        })
        .collect()
}

fn find(kernels: &[(i64, Option<Sizes>, i64)], sizes: Sizes, position: usize, profiled: usize) -> Option<Found> {
    let same: Vec<i64> = kernels.iter().filter(|kernel| kernel.1 == Some(sizes)).map(|kernel| kernel.2).collect();
    if same.len() == profiled {
        let duration_ns = *same.get(position)?;
        return Some(Found { kernels: same.len() as u64, duration_ns, how: "launch" });
    }
    if !same.is_empty() {
        return Some(Found { kernels: same.len() as u64, duration_ns: median(same)?, how: "size" });
    }
    // Where the trace says sizes and none agrees, it is another launch.
    let unsized_ones: Vec<i64> = kernels.iter().filter(|kernel| kernel.1.is_none()).map(|kernel| kernel.2).collect();
    Some(Found { kernels: unsized_ones.len() as u64, duration_ns: median(unsized_ones)?, how: "name" })
}

fn median(mut values: Vec<i64>) -> Option<i64> {
    values.sort_unstable();
    quantile(&[&values], 0.5)
}

fn kernels(analysis: &Analysis<'_>) -> Kernels {
    let (trace, events) = (analysis.trace, &analysis.trace.events);
    let mut keys: FxHashMap<u32, String> = FxHashMap::default();
    let mut kernels = Kernels::default();
    for row in trace.device_tracks().flat_map(|track| track.rows.clone()).map(|row| row as usize) {
        if events.kind(row) != EventKind::Kernel {
            continue;
        }
        let name = keys.entry(events.name[row]).or_insert_with(|| key(analysis.text(StringId(events.name[row]))));
        let sizes = trace.launch_shape(row).map(|shape| (shape.grid, shape.block));
        kernels.entry(name.clone()).or_default().push((events.start_ns[row], sizes, events.dur_ns[row]));
    }
    kernels.values_mut().for_each(|found| found.sort_by_key(|kernel| kernel.0));
    kernels
}

/// A kernel's name as every tool can agree on it: the function with neither its return type, spaces, templates nor
/// parameters.
fn key(name: &str) -> String {
    let name = name.strip_prefix("void ").unwrap_or(name);
    // Two ways to write a namespace that has no name.
    let unnamed = ["<unnamed>::", "(anonymous namespace)::"].iter().find_map(|start| name.strip_prefix(start));
    let name = unnamed.unwrap_or(name);
    let function = &name[..name.find(['<', '(']).unwrap_or(name.len())];
    let function = function.rsplit("::").next().unwrap_or(function).trim();
    if function.is_empty() { name.to_owned() } else { function.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_agree_over_tools() {
        for (name, expected) in [
            ("init_data_kernel(int, double *)", "init_data_kernel"),
            ("void at::native::reduce_kernel<(int)512>(T3)", "reduce_kernel"),
            ("loop_add_fusion_3", "loop_add_fusion_3"),
            ("<unnamed>::f(int)", "f"),
            ("(anonymous namespace)::f<int>(int)", "f"),
        ] {
            assert_eq!(key(name), expected);
        }
    }

    #[test]
    fn launches_pair_by_order_only_where_none_is_missing() {
        let small = ([1; 3], [32, 1, 1]);
        let kernels = [(0, Some(small), 10), (5, Some(small), 30), (9, Some(([2, 1, 1], [32, 1, 1])), 7)];
        let second = find(&kernels, small, 1, 2).expect("as many as were profiled");
        assert_eq!((second.duration_ns, second.how), (30, "launch"));
        let any = find(&kernels, small, 0, 1).expect("there are like ones");
        assert_eq!((any.duration_ns, any.how, any.kernels), (10, "size", 2));
        assert_eq!(find(&kernels, ([9; 3], [1; 3]), 0, 1), None);
        assert_eq!(find(&[(0, None, 4)], small, 0, 1).map(|found| found.how), Some("name"));
    }
}
