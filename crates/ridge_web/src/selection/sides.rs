//! Sums of a selection, kept apart: work of devices, calls of the host, annotations, and what is on a device and no work.
//!
//! Busy time is the union per device, or per thread: two streams at once are not twice as busy, and a thread that waits
//! makes no device busy.

use super::chosen::Chosen;
use super::sums::{Stretches, Sum, Sums, merged};
use crate::page::Page;
use rayon::prelude::*;
use ridgeline::Spans;
use ridgeline::trace::{EventKind, NONE, StringId, TrackKind};
use rustc_hash::FxHashMap;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Ranges around an event that are looked through.
const MOST_DEPTH: usize = 1 << 10;

/// What an event counts as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Device,
    Host,
    Annotation,
    Mark,
}

const SIDES: [Side; 4] = [Side::Device, Side::Host, Side::Annotation, Side::Mark];

impl Side {
    fn name(self) -> &'static str {
        match self {
            Side::Device => "device",
            Side::Host => "host",
            Side::Annotation => "annotation",
            Side::Mark => "mark",
        }
    }

    /// The side of a kind of event; none of what is derived from others.
    fn of(kind: EventKind) -> Option<Side> {
        Some(match kind {
            EventKind::Derived => return None,
            EventKind::Annotation | EventKind::Step | EventKind::DeviceRange => Side::Annotation,
            EventKind::DeviceMemory | EventKind::Overhead | EventKind::Synchronization => Side::Mark,
            kind if kind.is_device_work() => Side::Device,
            _ => Side::Host,
        })
    }
}

/// What sums are by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    Name,
    Op,
    Category,
    Range,
    Track,
    Line,
}

const BY: [(&str, By); 6] = [
    ("name", By::Name),
    ("op", By::Op),
    ("category", By::Category),
    ("range", By::Range),
    ("track", By::Track),
    ("line", By::Line),
];

/// Whose busy time is one union: a device, or a thread by its track.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Owner {
    Device(u32),
    Track(u32),
}

impl Default for Owner {
    fn default() -> Owner {
        Owner::Track(NONE)
    }
}

/// What one side has on one track.
#[derive(Debug, Default)]
pub(super) struct Part {
    owner: Owner,
    pub(super) events: u64,
    pub(super) spans: Stretches,
    durations: Vec<i64>,
    /// In the order of `BY`, without lines.
    by: [Sums; 5],
    /// File and line; none where nothing tells.
    by_line: Sums<Option<(String, u32)>>,
}

/// What one track has: each side by itself, and everything together, where what runs inside is taken from what is
/// directly around it.
#[derive(Debug, Default)]
pub(super) struct Track {
    sides: [Part; 4],
    pub(super) all: Part,
}

/// How much is answered.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wish {
    /// Rows of each list.
    pub(super) rows: usize,
    /// Whether sums by line are made, which takes a look at every event.
    pub(super) lines: bool,
}

/// What each track of a selection has: its events are looked at once.
pub(super) fn walked(page: &Page, chosen: &Chosen<'_>, wish: Wish) -> Vec<Track> {
    // Made before the pool's workers ask for it: one that waited for another's making could wait for itself.
    page.timeline();
    chosen.tracks.par_iter().map(|track| walk(page, chosen, *track, wish)).collect()
}

/// `sides` of an answer: those that have events.
pub(super) fn of_sides(page: &Page, chosen: &Chosen<'_>, walked: &[Track], wish: Wish) -> Vec<Value> {
    let of = |side: &Side| {
        let parts = parts_of(walked, *side);
        (!parts.is_empty()).then(|| of_side(page, chosen, *side, &parts, wish))
    };
    SIDES.iter().filter_map(of).collect()
}

fn parts_of(walked: &[Track], side: Side) -> Vec<&Part> {
    walked.iter().map(|track| &track.sides[side as usize]).filter(|part| part.events > 0).collect()
}

/// Device work of a selection by operation, which is [`NONE`] where none is known: self time and events.
pub(crate) fn device_ops(page: &Page, chosen: &Chosen<'_>) -> Vec<(u32, i64, u64)> {
    let walked = walked(page, chosen, Wish { rows: 0, lines: false });
    let sums = merged(walked.iter().map(|track| &track.sides[Side::Device as usize].by[By::Op as usize]));
    let mut ops: Vec<(u32, i64, u64)> = sums.into_iter().map(|(op, sum)| (op, sum.self_ns, sum.events)).collect();
    ops.retain(|(_, _, events)| *events > 0);
    ops.sort_unstable_by_key(|(op, self_ns, _)| (std::cmp::Reverse(*self_ns), *op));
    ops
}

/// What a selection has on devices and on the host, by name.
#[derive(Debug, Default)]
pub(crate) struct SideSums {
    /// The sum over devices of the union of what each did, nanoseconds.
    pub(crate) busy_ns: i64,
    pub(crate) device: Vec<(String, Sum)>,
    pub(crate) host: Vec<(String, Sum)>,
}

/// The sums of a selection by names that mean the same in another capture: operations where they are known, else kernels.
pub(crate) fn sums_of_sides(page: &Page, chosen: &Chosen<'_>) -> SideSums {
    let walked = walked(page, chosen, Wish { rows: 0, lines: false });
    let device = parts_of(&walked, Side::Device);
    let has_ops = device.iter().any(|part| part.by[By::Op as usize].keys().any(|op| *op != NONE));
    let rows = |by, parts: &[&Part]| {
        let named = all_named(page, by, parts).into_iter().filter(|(_, sum)| sum.events > 0);
        named.map(|((name, _), sum)| (name, sum)).collect()
    };
    SideSums {
        busy_ns: busy(&device).iter().fold(0, |sum: i64, (_, ns)| sum.saturating_add(*ns)),
        device: rows(if has_ops { By::Op } else { By::Name }, &device),
        host: rows(By::Name, &parts_of(&walked, Side::Host)),
    }
}

fn walk(page: &Page, chosen: &Chosen<'_>, track: usize, wish: Wish) -> Track {
    let (session, trace) = (page.session(), page.session().trace());
    let (events, categories, owners) = (&trace.events, session.event_categories(), session.owners());
    let of = &trace.tracks[track];
    let mut walked = Track::default();
    let side_of = |row: u32| Side::of(events.kind(row as usize)).filter(|_| of.kind != TrackKind::Derived);
    let keys = |row: u32| {
        let at = row as usize;
        let range = owners.of(row);
        let range = if range == NONE { NONE } else { events.name[range as usize] };
        [events.name[at], events.op[at], u32::from(categories.of(events, at)), range, track as u32]
    };
    let mut lines: FxHashMap<u32, Option<(String, u32)>> = FxHashMap::default();
    for row in page.timeline().rows_within(trace, track, &chosen.window) {
        let (start, end) = chosen.clipped(row as usize);
        let ns = end.saturating_sub(start).max(0);
        let is_wanted = chosen.has(row);
        let (parent, own) = (events.parent[row as usize], keys(row));
        if is_wanted {
            let outer = of.rows.contains(&parent).then(|| keys(parent));
            walked.all.add(own, (start, end));
            outer.into_iter().for_each(|outer| walked.all.take(outer, ns));
        }
        let Some(side) = side_of(row) else { continue };
        let part = &mut walked.sides[side as usize];
        let device = of.device.filter(|_| side != Side::Host);
        part.owner = device.map_or(Owner::Track(track as u32), Owner::Device);
        // What ran inside is taken from what is around it, whether it is wanted or not.
        // Kernels of one stream are beside one another, as in all tables.
        let nests = side != Side::Device || of.kind == TrackKind::OperationLane;
        let around = above(&of.rows, row, |above| events.parent[above as usize], |above| side_of(above) == Some(side));
        if let Some(around) = around.filter(|around| nests && chosen.has(*around)) {
            part.take(keys(around), ns);
            if wish.lines {
                let line = line_of(page, &mut lines, around);
                part.by_line.entry(line).or_default().take(ns);
            }
        }
        if !is_wanted {
            continue;
        }
        part.add(own, (start, end));
        part.durations.push(events.dur_ns[row as usize]);
        if wish.lines {
            let line = line_of(page, &mut lines, row);
            part.by_line.entry(line).or_default().add(ns);
        }
    }
    walked
}

impl Part {
    fn add(&mut self, keys: [u32; 5], (start, end): (i64, i64)) {
        self.events += 1;
        self.spans.add(start, end);
        let ns = end.saturating_sub(start).max(0);
        self.by.iter_mut().zip(keys).for_each(|(sums, key)| sums.entry(key).or_default().add(ns));
    }

    fn take(&mut self, keys: [u32; 5], ns: i64) {
        self.by.iter_mut().zip(keys).for_each(|(sums, key)| sums.entry(key).or_default().take(ns));
    }
}

/// The nearest event around `row` on its track that `is_it`.
fn above(
    rows: &std::ops::Range<u32>,
    row: u32,
    parent: impl Fn(u32) -> u32,
    is_it: impl Fn(u32) -> bool,
) -> Option<u32> {
    let around = std::iter::successors(Some(parent(row)), |above| rows.contains(above).then(|| parent(*above)));
    around.take(MOST_DEPTH).take_while(|above| rows.contains(above)).find(|above| is_it(*above))
}

/// The line of a row, kept by its operation where it has one.
fn line_of(page: &Page, known: &mut FxHashMap<u32, Option<(String, u32)>>, row: u32) -> Option<(String, u32)> {
    let op = page.session().trace().events.op[row as usize];
    if op != NONE
        && let Some(found) = known.get(&op).filter(|found| found.is_some())
    {
        return found.clone();
    }
    let found = page.session().line_of(row);
    if op != NONE {
        known.insert(op, found.clone());
    }
    found
}

fn of_side(page: &Page, chosen: &Chosen<'_>, side: Side, parts: &[&Part], wish: Wish) -> Value {
    let long = chosen.to.saturating_sub(chosen.from);
    let busy = busy(parts);
    let busy_ns = busy.iter().fold(0, |sum: i64, (_, ns)| sum.saturating_add(*ns));
    let described = |(owner, ns): &(Owner, i64)| {
        let (name, subject) = owner_of(page, side, *owner);
        json!({ "name": name, "subject": subject, "busy_ns": ns, "share": share(*ns, long) })
    };
    let all_ns =
        parts.iter().flat_map(|part| part.by[0].values()).fold(0, |sum: i64, one| sum.saturating_add(one.self_ns));
    let mut by = serde_json::Map::new();
    for (name, key) in BY.iter().filter(|(_, by)| *by != By::Line) {
        by.insert((*name).to_owned(), listed(all_named(page, *key, parts), all_ns, wish.rows));
    }
    if wish.lines {
        let sums = merged(parts.iter().map(|part| &part.by_line));
        let named = |line: Option<(String, u32)>| match line {
            Some((file, line)) => (format!("{file}:{line}"), Some(format!("source:{line}:{file}"))),
            None => ("(no line known)".to_owned(), None),
        };
        by.insert(
            "line".to_owned(),
            listed(sums.into_iter().map(|(line, sum)| (named(line), sum)).collect(), all_ns, wish.rows),
        );
    }
    json!({
        "side": side.name(),
        "events": parts.iter().map(|part| part.events).sum::<u64>(),
        "self_ns": all_ns,
        "busy_ns": busy_ns,
        "busy": busy.iter().map(described).collect::<Vec<_>>(),
        "durations": durations(parts),
        "by": by,
    })
}

/// How long each device, or thread, was busy.
fn busy(parts: &[&Part]) -> Vec<(Owner, i64)> {
    let mut owners: BTreeMap<Owner, Vec<(i64, i64)>> = BTreeMap::new();
    for part in parts {
        owners.entry(part.owner).or_default().extend(&part.spans.0);
    }
    owners.into_iter().map(|(owner, spans)| (owner, Spans::of(spans).total_ns())).collect()
}

/// The sums of `parts`, with words and addresses.
pub(super) fn all_named(page: &Page, by: By, parts: &[&Part]) -> Vec<Named> {
    let sums = merged(parts.iter().map(|part| &part.by[by as usize]));
    sums.into_iter().map(|(id, sum)| (named(page, by, id), sum)).collect()
}

/// The device, or the thread, that was busy.
fn owner_of(page: &Page, side: Side, owner: Owner) -> (String, Option<String>) {
    match owner {
        Owner::Track(track) => named(page, By::Track, track),
        Owner::Device(device) => {
            let name = page.session().trace().devices.get(device as usize).map_or("", |device| device.plane.as_str());
            (name.to_owned(), (side == Side::Device).then(|| format!("device:{device}")))
        }
    }
}

/// The words and the address of a row.
fn named(page: &Page, by: By, id: u32) -> (String, Option<String>) {
    let trace = page.session().trace();
    let text = |id: u32| trace.strings.get(StringId(id)).to_owned();
    let unknown = |words: &str| (words.to_owned(), None);
    match by {
        By::Name => (text(id), Some(format!("name:{id}"))),
        By::Op if id == NONE => unknown("(no operation known)"),
        By::Op => match trace.operations.get(id as usize) {
            Some(op) => (text(op.name.0), Some(format!("op:{id}"))),
            None => unknown("(no operation known)"),
        },
        By::Category => {
            let name = page.session().event_categories().names.get(id as usize).cloned().unwrap_or_default();
            let address = format!("category:{name}");
            (name, Some(address))
        }
        By::Range if id == NONE => unknown("(outside every range)"),
        By::Range => (text(id), Some(format!("range:{id}"))),
        By::Track => match trace.tracks.get(id as usize) {
            Some(track) => (text(track.name.0), Some(format!("track:{id}"))),
            None => unknown("(no track)"),
        },
        By::Line => unknown("(no line known)"),
    }
}

pub(super) type Named = ((String, Option<String>), Sum);

/// The longest, with their words and addresses, and what the others are together.
pub(super) fn listed(mut rows: Vec<Named>, all_ns: i64, most: usize) -> Value {
    rows.retain(|(_, sum)| sum.events > 0);
    rows.sort_unstable_by(|(a, one), (b, other)| {
        (other.self_ns, other.total_ns, a).cmp(&(one.self_ns, one.total_ns, b))
    });
    let row = |((name, subject), sum): &Named| {
        json!({
            "name": name,
            "subject": subject,
            "self_ns": sum.self_ns,
            "total_ns": sum.total_ns,
            "events": sum.events,
            "share": share(sum.self_ns, all_ns),
        })
    };
    let rest = rows.get(most..).unwrap_or_default();
    let rest = (!rest.is_empty()).then(|| {
        json!({
            "rows": rest.len(),
            "self_ns": rest.iter().fold(0, |all: i64, (_, sum)| all.saturating_add(sum.self_ns)),
            "events": rest.iter().map(|(_, sum)| sum.events).sum::<u64>(),
        })
    });
    json!({ "rows": rows.iter().take(most).map(row).collect::<Vec<_>>(), "rest": rest })
}

fn share(part: i64, whole: i64) -> f64 {
    if whole > 0 { part as f64 / whole as f64 } else { 0.0 }
}

/// How long its events are in all, outside the selection too, and how many there are of each length in powers of two.
fn durations(parts: &[&Part]) -> Value {
    let mut all: Vec<i64> = parts.iter().flat_map(|part| part.durations.iter().copied()).collect();
    all.par_sort_unstable();
    let at = |part: f64| all[((all.len() - 1) as f64 * part).round() as usize];
    let mut buckets: BTreeMap<u32, u64> = BTreeMap::new();
    for ns in &all {
        *buckets.entry((*ns).max(1).ilog2()).or_default() += 1;
    }
    json!({
        "least_ns": at(0.0),
        "p50_ns": at(0.5),
        "p90_ns": at(0.9),
        "p99_ns": at(0.99),
        "most_ns": at(1.0),
        "buckets": buckets.into_iter().map(|(power, count)| json!([1_i64 << power, count])).collect::<Vec<_>>(),
    })
}
