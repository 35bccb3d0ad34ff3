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
    // Each kind of launch is looked up once: a capture may have as many launches of one kind as kernels.
    let mut kinds: FxHashMap<(String, Sizes), Option<Alike>> = FxHashMap::default();
    let launches = profiles.launches.iter().zip(positions);
    launches
        .map(|(launch, position)| {
            let key = (name(launch), (launch.grid, launch.block));
            let profiled = alike.get(&key).copied().unwrap_or(0);
            let found = kinds.entry(key).or_insert_with_key(|(name, sizes)| Alike::of(kernels.get(name)?, *sizes));
            found.as_ref()?.find(position, profiled)
        })
        .collect()
}

/// The kernels that a kind of launch may be.
struct Alike {
    /// Durations of those of its size, in order of start.
    same: Vec<i64>,
    /// The median of these, or of those whose size the trace does not have.
    median: i64,
    /// How many have no size.
    unsized_ones: u64,
}

impl Alike {
    fn of(kernels: &[(i64, Option<Sizes>, i64)], sizes: Sizes) -> Option<Alike> {
        let of = |sizes: Option<Sizes>| kernels.iter().filter(move |kernel| kernel.1 == sizes).map(|kernel| kernel.2);
        let same: Vec<i64> = of(Some(sizes)).collect();
        // Where the trace says sizes and none agrees, it is another launch.
        let unsized_ones: Vec<i64> = if same.is_empty() { of(None).collect() } else { Vec::new() };
        let count = unsized_ones.len() as u64;
        let median = median(if same.is_empty() { unsized_ones } else { same.clone() })?;
        Some(Alike { same, median, unsized_ones: count })
    }

    fn find(&self, position: usize, profiled: usize) -> Option<Found> {
        let kernels = self.same.len() as u64;
        if !self.same.is_empty() && self.same.len() == profiled {
            return Some(Found { kernels, duration_ns: *self.same.get(position)?, how: "launch" });
        }
        Some(match self.same.is_empty() {
            false => Found { kernels, duration_ns: self.median, how: "size" },
            true => Found { kernels: self.unsized_ones, duration_ns: self.median, how: "name" },
        })
    }
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
        let find = |kernels: &[(i64, Option<Sizes>, i64)], sizes, position, profiled| {
            Alike::of(kernels, sizes)?.find(position, profiled)
        };
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
