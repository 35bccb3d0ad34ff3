//! How long a capture's device work would take on another device, by data sheets.
//!
//! Each piece of work keeps what it reached of its device and is scaled by what the two devices differ in, on the best basis
//! that the capture allows ([`ScaledBy`]). Where a capture does not say whether memory or arithmetic held a kernel, both
//! are taken and the range is kept. Work that no sheet says anything about keeps its time, and is counted.
//!
//! What the host does, and what waits for what, is left to the replay.

mod ends;
mod waves;

use super::work::Known;
use crate::{Analysis, Ceilings, DeviceSheet, Group, Limit, Store, sheet_of};
use ends::{Pair, Range};
use ridge_trace::{Device, EventKind, LaunchShape, MemoryKind, NONE};
use rustc_hash::FxHashMap;

/// A kernel costs this much whatever it does, nanoseconds, unless the capture has a shorter one.
///
/// Kernels that do nothing take one to two microseconds on every device of the last ten years.
const FLOOR_NS: i64 = 2_000;

/// On which basis work is scaled; the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ScaledBy {
    /// Its operations and bytes, at the roofs of both devices.
    Roof,
    /// The waves of its blocks, by registers, shared memory and multiprocessors of both devices.
    Waves,
    /// The ratio of the devices' memory and arithmetic.
    Ratio,
    /// The bandwidth of memory: copies and sets within a device.
    Memory,
    /// The link to the host: copies between host and device.
    Link,
    /// Nothing: it moves between devices, whose links no capture describes.
    Devices,
    /// Nothing: no sheet says anything of it.
    Nothing,
}

impl ScaledBy {
    /// The name in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            ScaledBy::Roof => "roof",
            ScaledBy::Waves => "waves",
            ScaledBy::Ratio => "ratio",
            ScaledBy::Memory => "memory",
            ScaledBy::Link => "link",
            ScaledBy::Devices => "not scaled: between devices",
            ScaledBy::Nothing => "not scaled: unknown",
        }
    }

    /// Whether its time is taken to stay.
    pub fn is_unscaled(self) -> bool {
        matches!(self, ScaledBy::Devices | ScaledBy::Nothing)
    }
}

/// Work that takes the same part of its time on the other device.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaled {
    /// On which basis.
    pub by: ScaledBy,
    /// The part of its time that it takes at least.
    pub low: f32,
    /// The part that it takes at most.
    pub high: f32,
    /// Its events.
    pub rows: Vec<u32>,
    /// Their time as captured, nanoseconds.
    pub ns: i64,
}

/// A capture's device work on another device.
#[derive(Debug, Clone, PartialEq)]
pub struct Elsewhere {
    /// The other device.
    pub to: &'static DeviceSheet,
    /// The devices that were captured, each once.
    pub from: Vec<&'static DeviceSheet>,
    /// All work, by basis and factor.
    pub parts: Vec<Scaled>,
}

impl Elsewhere {
    /// The work of `analysis` on `to`; `said` is what was captured where the capture does not name it.
    ///
    /// # Errors
    /// The names of captured devices that have no sheet.
    pub fn new(
        analysis: &Analysis<'_>,
        to: &'static DeviceSheet,
        said: Option<&'static DeviceSheet>,
    ) -> Result<Elsewhere, Vec<String>> {
        let trace = analysis.trace;
        let worked = |device: u32| analysis.groups().groups.iter().any(|group| group.device == device);
        let mut from: Vec<Option<&'static DeviceSheet>> = Vec::new();
        let mut unknown = Vec::new();
        for (row, device) in trace.devices.iter().enumerate() {
            let sheet = said.filter(|_| !device.is_processor()).or_else(|| sheet_of(device));
            if sheet.is_none() && worked(row as u32) {
                unknown.push(name_of(device));
            }
            from.push(sheet);
        }
        unknown.dedup();
        if !unknown.is_empty() {
            return Err(unknown);
        }
        let parts = parts(analysis, to, &from);
        let mut known: Vec<&'static DeviceSheet> = Vec::new();
        for sheet in from.into_iter().flatten() {
            if !known.iter().any(|other| other.name == sheet.name) {
                known.push(sheet);
            }
        }
        Ok(Elsewhere { to, from: known, parts })
    }
}

fn name_of(device: &Device) -> String {
    if device.is_processor() {
        return "a processor".to_owned();
    }
    device.model.clone().or_else(|| device.vendor.clone()).unwrap_or_else(|| device.plane.clone())
}

/// What makes work alike: device, operation, name, detail, kind and attribution.
type Key = (u32, u32, u32, u32, u8, u8);

fn parts(analysis: &Analysis<'_>, to: &'static DeviceSheet, from: &[Option<&'static DeviceSheet>]) -> Vec<Scaled> {
    let trace = analysis.trace;
    let ceilings: Vec<Ceilings> =
        from.iter().map(|sheet| sheet.map(|sheet| sheet.ceilings.clone()).unwrap_or_default()).collect();
    let others = vec![to.ceilings.clone(); trace.devices.len()];
    let (store, other_store) = (Store::default(), Store::default());
    let here = Analysis { ceilings: &ceilings, store: &store, ..*analysis };
    let there = Analysis { ceilings: &others, store: &other_store, ..*analysis };
    let floors = floors(analysis);
    let scaling = Scaling { here: &here, there: &there };
    let mut factors: FxHashMap<Key, (ScaledBy, f32, f32)> = FxHashMap::default();
    for group in &analysis.groups().groups {
        let Some(sheet) = from.get(group.device as usize).copied().flatten() else { continue };
        let (by, range) = scaling.of(group, &Pair { from: sheet, to });
        let (low, high) = above_floor(range, group, floors.get(group.device as usize).copied().unwrap_or(0));
        factors.insert(key(group), (by, low, high));
    }
    let mut found: FxHashMap<(ScaledBy, u32, u32), Scaled> = FxHashMap::default();
    for track in trace.device_tracks() {
        let device = track.device.unwrap_or(NONE);
        for row in track.rows.clone() {
            let at = row as usize;
            let events = &trace.events;
            if !EventKind::from_byte_is_work(events.kind[at]) {
                continue;
            }
            let key =
                (device, events.op[at], events.name[at], events.detail[at], events.kind[at], events.attribution[at]);
            let (by, low, high) = factors.get(&key).copied().unwrap_or((ScaledBy::Nothing, 1.0, 1.0));
            let part = found.entry((by, low.to_bits(), high.to_bits())).or_insert_with(|| Scaled {
                by,
                low,
                high,
                rows: Vec::new(),
                ns: 0,
            });
            part.rows.push(row);
            // What ran inside has a time of its own.
            if events.parent[at] == NONE || !EventKind::from_byte_is_work(events.kind[events.parent[at] as usize]) {
                part.ns = part.ns.saturating_add(events.dur_ns[at].max(0));
            }
        }
    }
    let mut parts: Vec<Scaled> = found.into_values().collect();
    parts.sort_by(|a, b| {
        (a.by, std::cmp::Reverse(a.ns)).cmp(&(b.by, std::cmp::Reverse(b.ns))).then(a.low.total_cmp(&b.low))
    });
    parts
}

fn key(group: &Group) -> Key {
    (group.device, group.op, group.name, group.detail, group.kind as u8, group.attribution as u8)
}

/// The shortest kernel of each device, nanoseconds.
fn floors(analysis: &Analysis<'_>) -> Vec<i64> {
    let trace = analysis.trace;
    let mut floors = vec![FLOOR_NS; trace.devices.len()];
    for track in trace.device_tracks() {
        let Some(floor) = track.device.and_then(|device| floors.get_mut(device as usize)) else { continue };
        let kernels = track.rows.clone().filter(|row| trace.events.kind(*row as usize) == EventKind::Kernel);
        let shortest = kernels.map(|row| trace.events.dur_ns[row as usize]).filter(|ns| *ns > 0).min();
        *floor = (*floor).min(shortest.unwrap_or(FLOOR_NS));
    }
    floors
}

/// `range` of what a piece of work takes beyond what any kernel takes, as parts of all that it takes.
fn above_floor((low, high): Range, group: &Group, floor_ns: i64) -> (f32, f32) {
    let mean = group.total_ns as f64 / group.count().max(1) as f64;
    if group.kind != EventKind::Kernel || mean <= 0.0 {
        return (low as f32, high as f32);
    }
    let fixed = (floor_ns as f64).min(mean) / mean;
    let part = |factor: f64| (fixed + (1.0 - fixed) * factor) as f32;
    (part(low), part(high))
}

/// The same work at the roofs of both devices.
struct Scaling<'s, 'a> {
    here: &'s Analysis<'a>,
    there: &'s Analysis<'a>,
}

impl Scaling<'_, '_> {
    fn of(&self, group: &Group, pair: &Pair) -> (ScaledBy, Range) {
        let one = |by: ScaledBy, ratio: Option<f64>| match ratio {
            Some(ratio) => (by, (ratio, ratio)),
            None => (ScaledBy::Nothing, (1.0, 1.0)),
        };
        match group.kind {
            EventKind::CopyHostToDevice => self.over_link(group, pair, Limit::HostToDevice),
            EventKind::CopyDeviceToHost => self.over_link(group, pair, Limit::DeviceToHost),
            EventKind::CopyDeviceToDevice | EventKind::Memset => one(ScaledBy::Memory, pair.memory()),
            EventKind::CopyPeer => (ScaledBy::Devices, (1.0, 1.0)),
            EventKind::Kernel | EventKind::DeviceOp | EventKind::GraphLaunch => self.of_kernel(group, pair),
            _ => one(ScaledBy::Nothing, None),
        }
    }

    /// Copies to and from memory that is not page-locked wait for the host, too.
    fn over_link(&self, group: &Group, pair: &Pair, limit: Limit) -> (ScaledBy, Range) {
        let Some(ratio) = pair.link(limit) else { return (ScaledBy::Nothing, (1.0, 1.0)) };
        let transfer = self.here.trace.transfers.get(group.detail as usize);
        let ends = transfer.map_or([MemoryKind::Unknown; 2], |transfer| [transfer.source, transfer.destination]);
        let is_pinned = ends.contains(&MemoryKind::Pinned);
        (ScaledBy::Link, if is_pinned { (ratio, ratio) } else { (ratio.min(1.0), ratio.max(1.0)) })
    }

    fn of_kernel(&self, group: &Group, pair: &Pair) -> (ScaledBy, Range) {
        let category = self.here.category_of(group);
        if matches!(&*category, "collective" | "all-reduce" | "all-gather" | "reduce-scatter" | "all-to-all")
            || category.starts_with("collective")
            || category.starts_with("all-")
        {
            return (ScaledBy::Devices, (1.0, 1.0));
        }
        if let Some(ratio) = self.at_roofs(group) {
            return (ScaledBy::Roof, (ratio, ratio));
        }
        let name = self.here.text(ridge_trace::StringId(group.name));
        let shape = self.shape(group).filter(|_| group.kind == EventKind::Kernel);
        if let Some(range) = shape.and_then(|shape| pair.by_waves(shape, &category, name)) {
            return (ScaledBy::Waves, range);
        }
        pair.by_ratio(shape, &category, name).map_or((ScaledBy::Nothing, (1.0, 1.0)), |range| (ScaledBy::Ratio, range))
    }

    fn shape(&self, group: &Group) -> Option<&LaunchShape> {
        self.here.trace.launch_shapes.get(group.detail as usize)
    }

    /// Time at the roof there by time at the roof here, where both are known.
    ///
    /// Traffic is taken to go to memory on both: what a cache keeps of it depends on what ran before.
    fn at_roofs(&self, group: &Group) -> Option<f64> {
        let secs = |analysis: &Analysis<'_>| {
            let work = analysis.workload().of_group(group)?;
            let Known::Counted(Some(light)) = &work.known else { return None };
            let memory = analysis.ceilings.get(group.device as usize)?.value(Limit::Memory)?;
            Some(light.compute_secs.max(work.bytes / memory)).filter(|secs| *secs > 0.0)
        };
        Some(secs(self.there)? / secs(self.here)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Prepared, sheets_named};
    use std::fmt::Write as _;

    fn scaled(text: &str, from: &str, to: &str) -> String {
        let trace = ridge_test::trace(text);
        let prepared = Prepared::with_sheets(&trace);
        let said = sheets_named(from).first().copied();
        let found = Elsewhere::new(&prepared.analysis(&trace, &[]), sheets_named(to)[0], said);
        let found = match found {
            Ok(found) => found,
            Err(unknown) => return format!("no sheet: {}", unknown.join(", ")),
        };
        found.parts.iter().fold(String::new(), |mut text, part| {
            let (by, low, high) = (part.by.name(), part.low, part.high);
            let _ = writeln!(text, "{by}: {} events of {} ns, {low:.2} to {high:.2}", part.rows.len(), part.ns);
            text
        })
    }

    const WORK: &str = "
        stream 7 on /device:GPU:0
          0 +100000 elementwise_kernel
          100000 +100000 ncclAllReduce
          200000 +100000 Memcpy-D2D d2d
          300000 +100000 Memcpy-H2D h2d
          400000 +2000 vectorized_elementwise_kernel
    ";

    #[test]
    fn work_is_scaled_by_what_it_is() {
        assert_eq!(
            scaled(WORK, "a100 sxm4 80gb", "h100 sxm5"),
            "ratio: 1 events of 100000 ns, 0.62 to 0.62\n\
             ratio: 1 events of 2000 ns, 1.00 to 1.00\n\
             memory: 1 events of 100000 ns, 0.61 to 0.61\n\
             link: 1 events of 100000 ns, 0.50 to 1.00\n\
             not scaled: between devices: 1 events of 100000 ns, 1.00 to 1.00\n"
        );
    }

    #[test]
    fn a_device_without_a_sheet_is_named() {
        assert_eq!(scaled(WORK, "nobody's", "h100 sxm5"), "no sheet: /device:GPU:0");
        assert_eq!(scaled("stream 1 on /device:CPU:0\n 0 +5 a", "a100", "h100"), "no sheet: a processor");
    }

    #[test]
    fn the_same_device_changes_nothing() {
        let same = scaled(WORK, "h100 sxm5", "h100 sxm5");
        assert!(same.lines().all(|line| line.ends_with("1.00 to 1.00")), "{same}");
    }
}
