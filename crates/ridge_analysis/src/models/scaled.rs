//! How long a capture's device work would take on another device, by data sheets.
//!
//! Each piece of work reaches the same fraction of the other device's limits, and is scaled on the best basis that the
//! capture allows ([`ScaledBy`]). If a capture doesn't show whether memory or arithmetic limited a kernel, the range spans
//! both. Work without data-sheet figures keeps its time, and is counted.
//!
//! What the host does, and what waits for what, is left to the replay.

mod ends;
mod waves;

use super::work::Known;
use crate::{Analysis, Ceilings, ComputeUnit, DeviceSheet, Group, Limit, NumberType, Store, sheet_of};
use ends::{AtRoofs, Pair, Range, Roof, STAYS};
use ridge_trace::{Device, EventKind, LaunchShape, MemoryKind, NONE};
use rustc_hash::FxHashMap;

/// A kernel costs this much whatever it does, nanoseconds, unless the capture has a shorter one.
///
/// Kernels that do nothing take one to two microseconds on every device of the last ten years.
const FLOOR_NS: i64 = 2_000;

/// On which basis work is scaled; the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ScaledBy {
    /// The waves of its blocks, by registers, shared memory and multiprocessors of both devices.
    Waves,
    /// Its operations and bytes, at the roofs of both devices.
    Roof,
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

/// Which part of its time work takes on the other device.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Factor {
    /// On which basis.
    pub by: ScaledBy,
    /// The part that it takes at least.
    pub low: f32,
    /// The part that it takes at most.
    pub high: f32,
}

/// The time stays as it is.
const UNSCALED: Factor = Factor { by: ScaledBy::Nothing, low: 1.0, high: 1.0 };

/// The [`Factor`] of each piece of a capture's work.
#[derive(Debug, Clone, Default)]
pub struct Factors {
    of: FxHashMap<Key, Factor>,
}

impl Factors {
    /// Those of `analysis` on `to`; `said` is what was captured where the capture does not name it.
    ///
    /// Work of a device without a sheet is scaled where its roofs are known from elsewhere.
    pub fn new(analysis: &Analysis<'_>, to: &'static DeviceSheet, said: Option<&'static DeviceSheet>) -> Factors {
        Factors::between(analysis, to, &captured(analysis, said))
    }

    fn between(analysis: &Analysis<'_>, to: &'static DeviceSheet, from: &[Option<&'static DeviceSheet>]) -> Factors {
        let ceilings_of = |(row, sheet): (usize, &Option<&'static DeviceSheet>)| match sheet {
            Some(sheet) => sheet.ceilings.clone(),
            None => analysis.ceilings.get(row).cloned().unwrap_or_default(),
        };
        let ceilings: Vec<Ceilings> = from.iter().enumerate().map(ceilings_of).collect();
        let others = vec![to.ceilings.clone(); ceilings.len()];
        let (store, other_store) = (Store::default(), Store::default());
        let here = Analysis { ceilings: &ceilings, store: &store, ..*analysis };
        let there = Analysis { ceilings: &others, store: &other_store, ..*analysis };
        let floors = floors(analysis);
        let scaling = Scaling { here: &here, there: &there };
        let mut of = FxHashMap::default();
        for group in &analysis.groups().groups {
            let device = group.device as usize;
            let pair = from.get(device).copied().flatten().map(|from| Pair { from, to });
            let (by, range) = scaling.of(group, pair.as_ref());
            let (low, high) = above_floor(range, group, floors.get(device).copied().unwrap_or(0));
            of.insert(key(group), Factor { by, low, high });
        }
        Factors { of }
    }

    /// That of the events of `group`.
    pub fn of(&self, group: &Group) -> Factor {
        self.of.get(&key(group)).copied().unwrap_or(UNSCALED)
    }
}

/// A kernel of ordinary 32-bit arithmetic of which launch, operations and bytes are known from elsewhere than a capture.
#[derive(Debug, Clone)]
pub struct KernelWork {
    /// How it is launched.
    pub shape: LaunchShape,
    /// Operations of a launch.
    pub operations: f64,
    /// Bytes between memory and the device that a launch moves.
    pub bytes: f64,
}

impl KernelWork {
    /// Which part of its time on `from` it takes on `to`, by the waves of its blocks.
    pub fn by_waves(&self, from: &'static DeviceSheet, to: &'static DeviceSheet) -> Option<f64> {
        let range = Pair { from, to }.by_waves(&self.shape, "", "", Some(&self.at_roofs(from, to)?))?;
        Some((range.0 * range.1).sqrt())
    }

    /// The same by the roofs of both alone.
    pub fn by_roofs(&self, from: &'static DeviceSheet, to: &'static DeviceSheet) -> Option<f64> {
        Some(self.at_roofs(from, to)?.ratio())
    }

    fn at_roofs(&self, from: &DeviceSheet, to: &DeviceSheet) -> Option<AtRoofs> {
        let roof = |sheet: &DeviceSheet| {
            let rate = sheet.ceilings.value(Limit::Rate(NumberType::F32, ComputeUnit::Plain))?;
            let memory = sheet.ceilings.value(Limit::Memory)?;
            Some(Roof { compute_secs: self.operations / rate, memory_secs: self.bytes / memory })
        };
        Some(AtRoofs { here: roof(from)?, there: roof(to)? })
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
pub struct ScaledWork {
    /// The other device.
    pub to: &'static DeviceSheet,
    /// The devices that were captured, each once.
    pub from: Vec<&'static DeviceSheet>,
    /// All work, by basis and factor.
    pub parts: Vec<Scaled>,
}

impl ScaledWork {
    /// The work of `analysis` on `to`; `said` is what was captured where the capture does not name it.
    ///
    /// # Errors
    /// The names of captured devices that have no sheet.
    pub fn new(
        analysis: &Analysis<'_>,
        to: &'static DeviceSheet,
        said: Option<&'static DeviceSheet>,
    ) -> Result<ScaledWork, Vec<String>> {
        let worked = |device: usize| analysis.groups().groups.iter().any(|group| group.device as usize == device);
        let from = captured(analysis, said);
        let unknown = from.iter().zip(&analysis.trace.devices).enumerate();
        let unknown = unknown.filter(|(row, (sheet, _))| sheet.is_none() && worked(*row));
        let mut unknown: Vec<String> = unknown.map(|(_, (_, device))| name_of(device)).collect();
        unknown.dedup();
        if !unknown.is_empty() {
            return Err(unknown);
        }
        let parts = parts(analysis, &Factors::between(analysis, to, &from));
        let mut known: Vec<&'static DeviceSheet> = Vec::new();
        for sheet in from.into_iter().flatten() {
            if !known.iter().any(|other| other.name == sheet.name) {
                known.push(sheet);
            }
        }
        Ok(ScaledWork { to, from: known, parts })
    }
}

/// The sheet of each device of a capture: that which is `said` of accelerators, else by what the capture says itself.
fn captured(analysis: &Analysis<'_>, said: Option<&'static DeviceSheet>) -> Vec<Option<&'static DeviceSheet>> {
    let sheet = |device: &Device| said.filter(|_| !device.is_processor()).or_else(|| sheet_of(device));
    analysis.trace.devices.iter().map(sheet).collect()
}

fn name_of(device: &Device) -> String {
    if device.is_processor() {
        return "a CPU".to_owned();
    }
    device.model.clone().or_else(|| device.vendor.clone()).unwrap_or_else(|| device.plane.clone())
}

/// What makes work alike: device, operation, name, detail, kind and attribution.
type Key = (u32, u32, u32, u32, u8, u8);

fn parts(analysis: &Analysis<'_>, factors: &Factors) -> Vec<Scaled> {
    let trace = analysis.trace;
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
            let Factor { by, low, high } = factors.of.get(&key).copied().unwrap_or(UNSCALED);
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
    /// `pair` is absent where the captured device has no sheet: then only its roofs may be known.
    fn of(&self, group: &Group, pair: Option<&Pair>) -> (ScaledBy, Range) {
        let one = |by: ScaledBy, ratio: Option<f64>| match ratio {
            Some(ratio) => (by, (ratio, ratio)),
            None => (ScaledBy::Nothing, STAYS),
        };
        match group.kind {
            EventKind::CopyHostToDevice => self.over_link(group, pair, Limit::HostToDevice),
            EventKind::CopyDeviceToHost => self.over_link(group, pair, Limit::DeviceToHost),
            EventKind::CopyDeviceToDevice | EventKind::Memset => one(ScaledBy::Memory, pair.and_then(Pair::memory)),
            EventKind::CopyPeer => (ScaledBy::Devices, STAYS),
            EventKind::Kernel | EventKind::DeviceOp | EventKind::GraphLaunch => self.of_kernel(group, pair),
            _ => one(ScaledBy::Nothing, None),
        }
    }

    /// Copies to and from memory that is not page-locked wait for the host, too.
    fn over_link(&self, group: &Group, pair: Option<&Pair>, limit: Limit) -> (ScaledBy, Range) {
        let Some(ratio) = pair.and_then(|pair| pair.link(limit)) else { return (ScaledBy::Nothing, STAYS) };
        let transfer = self.here.trace.transfers.get(group.detail as usize);
        let ends = transfer.map_or([MemoryKind::Unknown; 2], |transfer| [transfer.source, transfer.destination]);
        let is_pinned = ends.contains(&MemoryKind::Pinned);
        (ScaledBy::Link, if is_pinned { (ratio, ratio) } else { (ratio.min(1.0), ratio.max(1.0)) })
    }

    fn of_kernel(&self, group: &Group, pair: Option<&Pair>) -> (ScaledBy, Range) {
        let category = self.here.category_of(group);
        if matches!(&*category, "collective" | "all-reduce" | "all-gather" | "reduce-scatter" | "all-to-all")
            || category.starts_with("collective")
            || category.starts_with("all-")
        {
            return (ScaledBy::Devices, STAYS);
        }
        let roofs = self.at_roofs(group);
        let name = self.here.text(ridge_trace::StringId(group.name));
        let shape = self.shape(group).filter(|_| group.kind == EventKind::Kernel);
        let by_waves = || pair?.by_waves(shape?, &category, name, roofs.as_ref());
        let by_ratio = || pair?.by_ratio(shape, &category, name);
        if let Some(range) = by_waves() {
            return (ScaledBy::Waves, range);
        }
        if let Some(ratio) = roofs.map(|roofs| roofs.ratio()) {
            return (ScaledBy::Roof, (ratio, ratio));
        }
        by_ratio().map_or((ScaledBy::Nothing, STAYS), |range| (ScaledBy::Ratio, range))
    }

    fn shape(&self, group: &Group) -> Option<&LaunchShape> {
        self.here.trace.launch_shapes.get(group.detail as usize)
    }

    /// Time at the roofs of both devices, where operations and bytes are known.
    ///
    /// Traffic is taken to go to memory on both: what a cache keeps of it depends on what ran before.
    fn at_roofs(&self, group: &Group) -> Option<AtRoofs> {
        let roof = |analysis: &Analysis<'_>| {
            let work = analysis.workload().of_group(group)?;
            let Known::Counted(Some(light)) = &work.known else { return None };
            let memory = analysis.ceilings.get(group.device as usize)?.value(Limit::Memory)?;
            let roof = Roof { compute_secs: light.compute_secs, memory_secs: work.bytes / memory };
            Some(roof).filter(|roof| roof.secs() > 0.0)
        };
        Some(AtRoofs { here: roof(self.here)?, there: roof(self.there)? })
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
        let found = ScaledWork::new(&prepared.analysis(&trace, &[]), sheets_named(to)[0], said);
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
        assert_eq!(scaled("stream 1 on /device:CPU:0\n 0 +5 a", "a100", "h100"), "no sheet: a CPU");
    }

    #[test]
    fn the_same_device_changes_nothing() {
        let same = scaled(WORK, "h100 sxm5", "h100 sxm5");
        assert!(same.lines().all(|line| line.ends_with("1.00 to 1.00")), "{same}");
    }
}
