//! Kernels of the judged time one by one: how they were launched, how long they took, and what their device has.

use crate::case::Case;
use ridge_analysis::{kernel_category, sheet_of};
use ridge_trace::{EventKind, LaunchShape, NONE};
use rustc_hash::FxHashMap;

/// A kernel in the judged time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kernel<'a> {
    /// Its event.
    pub(crate) row: u32,
    /// The device's row.
    pub(crate) device: u32,
    /// Row of the launch shapes, or [`NONE`].
    pub(crate) detail: u32,
    /// How it was launched, where the capture says it.
    pub(crate) shape: Option<&'a LaunchShape>,
    /// How long it took, nanoseconds.
    pub(crate) dur_ns: i64,
    /// Name, an interned text.
    pub(crate) name: u32,
}

/// Kernels that began in the judged time, by track and start; collectives, copies and memory sets by kernels are left out.
pub(crate) fn kernels<'a>(case: &Case<'a>) -> impl Iterator<Item = Kernel<'a>> {
    let (trace, frame) = (case.trace(), case.analyzed());
    let events = &trace.events;
    let tracks = trace.device_tracks().filter_map(move |track| {
        let spans = frame.spans.get(track.process as usize)?;
        Some((track.rows.clone(), track.device?, spans))
    });
    let rows = tracks.flat_map(move |(rows, device, spans)| {
        let is_judged = move |row: &u32| spans.contains(events.start_ns[*row as usize]);
        rows.filter(move |row| events.kind(*row as usize) == EventKind::Kernel && is_judged(row))
            .map(move |row| (row, device))
    });
    let mut computes: FxHashMap<u32, bool> = FxHashMap::default();
    rows.filter_map(move |(row, device)| {
        let at = row as usize;
        let name = events.name[at];
        let is_compute = *computes.entry(name).or_insert_with(|| {
            !matches!(kernel_category(trace.name(at)), "collective" | "copy kernel" | "memset kernel")
        });
        let (detail, shape) = (events.detail[at], trace.launch_shape(at));
        let detail = if shape.is_some() { detail } else { NONE };
        is_compute.then(|| Kernel { row, device, detail, shape, dur_ns: events.dur_ns[at].max(0), name })
    })
}

/// Multiprocessors or compute units of the device at row `device`, as its capture or its data sheet says.
pub(crate) fn cores_of(case: &Case<'_>, device: u32) -> Option<u64> {
    let device = case.trace().devices.get(device as usize)?;
    let cores = device.cores.or_else(|| sheet_of(device).map(|sheet| sheet.cores.value as u64));
    cores.filter(|cores| *cores > 0)
}

/// Blocks of a grid.
pub(crate) fn blocks(shape: &LaunchShape) -> u64 {
    shape.grid.iter().fold(1_u64, |product, size| product.saturating_mul(u64::from(*size)))
}

/// The names that have most of `weights`, an interned name and nanoseconds each; most first.
pub(crate) fn names_by_time<'a>(case: &Case<'a>, weights: impl IntoIterator<Item = (u32, i64)>) -> Vec<&'a str> {
    let mut sums: FxHashMap<u32, i64> = FxHashMap::default();
    for (name, ns) in weights {
        let sum = sums.entry(name).or_default();
        *sum = sum.saturating_add(ns);
    }
    let mut sums: Vec<(u32, i64)> = sums.into_iter().collect();
    sums.sort_by_key(|(name, ns)| (std::cmp::Reverse(*ns), *name));
    sums.into_iter().map(|(name, _)| case.trace().strings.get(ridge_trace::StringId(name))).collect()
}
