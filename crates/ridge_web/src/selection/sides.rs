//! Sums of a selection, kept apart: work of devices, calls of the host, annotations, and what is on a device and no work.
//!
//! Busy time is the union per device, or per thread: two streams at once are not twice as busy, and a thread that waits
//! makes no device busy.

use super::chosen::Chosen;
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
enum By {
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

/// Time and events of like events.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    self_ns: i64,
    total_ns: i64,
    events: u64,
}

type Sums = FxHashMap<u32, Sum>;

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
struct Part {
    owner: Owner,
    events: u64,
    spans: Vec<(i64, i64)>,
    durations: Vec<i64>,
    /// In the order of `BY`, without lines.
    by: [Sums; 5],
    /// File and line; none where nothing tells.
    by_line: FxHashMap<Option<(String, u32)>, Sum>,
}

/// How much is answered.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wish {
    /// Rows of each list.
    pub(super) rows: usize,
    /// Whether sums by line are made, which takes a look at every event.
    pub(super) lines: bool,
}

/// `sides` of an answer: those that have events.
pub(super) fn sides(page: &Page, chosen: &Chosen<'_>, wish: Wish) -> Vec<Value> {
    let parts: Vec<[Part; 4]> = chosen.tracks.par_iter().map(|track| parts(page, chosen, *track, wish)).collect();
    SIDES
        .iter()
        .enumerate()
        .filter_map(|(at, side)| {
            let parts: Vec<&Part> = parts.iter().map(|parts| &parts[at]).filter(|part| part.events > 0).collect();
            (!parts.is_empty()).then(|| of_side(page, chosen, *side, &parts, wish))
        })
        .collect()
}

/// Device work of a selection by operation, which is [`NONE`] where none is known: self time and events.
pub(crate) fn device_ops(page: &Page, chosen: &Chosen<'_>) -> Vec<(u32, i64, u64)> {
    let wish = Wish { rows: 0, lines: false };
    let parts: Vec<[Part; 4]> = chosen.tracks.par_iter().map(|track| parts(page, chosen, *track, wish)).collect();
    let sums = merged(parts.iter().map(|parts| &parts[Side::Device as usize].by[By::Op as usize]));
    let mut ops: Vec<(u32, i64, u64)> = sums.into_iter().map(|(op, sum)| (op, sum.self_ns, sum.events)).collect();
    ops.retain(|(_, _, events)| *events > 0);
    ops.sort_unstable_by_key(|(op, self_ns, _)| (std::cmp::Reverse(*self_ns), *op));
    ops
}

fn parts(page: &Page, chosen: &Chosen<'_>, track: usize, wish: Wish) -> [Part; 4] {
    let (session, trace) = (page.session(), page.session().trace());
    let (events, categories, owners) = (&trace.events, session.event_categories(), session.owners());
    let of = &trace.tracks[track];
    let mut parts: [Part; 4] = Default::default();
    if of.kind == TrackKind::Derived {
        return parts;
    }
    let side_of = |row: u32| Side::of(events.kind(row as usize));
    let keys = |row: u32| {
        let at = row as usize;
        let range = owners.of(row);
        let range = if range == NONE { NONE } else { events.name[range as usize] };
        [events.name[at], events.op[at], u32::from(categories.of(events, at)), range, track as u32]
    };
    let mut lines: FxHashMap<u32, Option<(String, u32)>> = FxHashMap::default();
    for row in page.timeline().rows_within(trace, track, &chosen.window) {
        let Some(side) = side_of(row) else { continue };
        let (start, end) = chosen.clipped(row as usize);
        let ns = end.saturating_sub(start).max(0);
        let part = &mut parts[side as usize];
        let device = of.device.filter(|_| side != Side::Host);
        part.owner = device.map_or(Owner::Track(track as u32), Owner::Device);
        // What ran inside is taken from what is around it, whether it is wanted or not.
        // Kernels of one stream are beside one another, as in all tables.
        let nests = side != Side::Device || of.kind == TrackKind::OperationLane;
        let around = above(&of.rows, row, |above| events.parent[above as usize], |above| side_of(above) == Some(side));
        if let Some(around) = around.filter(|around| nests && chosen.has(*around)) {
            for (sums, key) in part.by.iter_mut().zip(keys(around)) {
                take(sums.entry(key).or_default(), ns);
            }
            if wish.lines {
                let line = line_of(page, &mut lines, around);
                take(part.by_line.entry(line).or_default(), ns);
            }
        }
        if !chosen.has(row) {
            continue;
        }
        part.events += 1;
        part.durations.push(events.dur_ns[row as usize]);
        match part.spans.last_mut().filter(|last| start <= last.1) {
            Some(last) => last.1 = last.1.max(end),
            None if ns > 0 => part.spans.push((start, end)),
            None => {}
        }
        for (sums, key) in part.by.iter_mut().zip(keys(row)) {
            add(sums.entry(key).or_default(), ns);
        }
        if wish.lines {
            let line = line_of(page, &mut lines, row);
            add(part.by_line.entry(line).or_default(), ns);
        }
    }
    parts
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

fn add(sum: &mut Sum, ns: i64) {
    sum.events += 1;
    sum.total_ns = sum.total_ns.saturating_add(ns);
    sum.self_ns = sum.self_ns.saturating_add(ns);
}

fn take(sum: &mut Sum, ns: i64) {
    sum.self_ns = sum.self_ns.saturating_sub(ns);
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
    let mut owners: BTreeMap<Owner, Vec<(i64, i64)>> = BTreeMap::new();
    for part in parts {
        owners.entry(part.owner).or_default().extend(&part.spans);
    }
    let long = chosen.to.saturating_sub(chosen.from);
    let busy: Vec<(Owner, i64)> =
        owners.into_iter().map(|(owner, spans)| (owner, Spans::of(spans).total_ns())).collect();
    let busy_ns = busy.iter().fold(0, |sum: i64, (_, ns)| sum.saturating_add(*ns));
    let described = |(owner, ns): &(Owner, i64)| {
        let (name, subject) = owner_of(page, side, *owner);
        json!({ "name": name, "subject": subject, "busy_ns": ns, "share": share(*ns, long) })
    };
    let all_ns =
        parts.iter().flat_map(|part| part.by[0].values()).fold(0, |sum: i64, one| sum.saturating_add(one.self_ns));
    let mut by = serde_json::Map::new();
    for (at, (name, key)) in BY.iter().enumerate().filter(|(_, (_, by))| *by != By::Line) {
        let sums = merged(parts.iter().map(|part| &part.by[at]));
        let rows = sums.into_iter().map(|(id, sum)| (named(page, *key, id), sum));
        by.insert((*name).to_owned(), listed(rows.collect(), all_ns, wish.rows));
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

fn merged<'p, K: std::hash::Hash + Eq + Clone + 'p>(
    all: impl Iterator<Item = &'p FxHashMap<K, Sum>>,
) -> FxHashMap<K, Sum> {
    let mut sums: FxHashMap<K, Sum> = FxHashMap::default();
    for (key, sum) in all.flatten() {
        let known = sums.entry(key.clone()).or_default();
        known.self_ns = known.self_ns.saturating_add(sum.self_ns);
        known.total_ns = known.total_ns.saturating_add(sum.total_ns);
        known.events += sum.events;
    }
    sums
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

type Named = ((String, Option<String>), Sum);

/// The longest, with their words and addresses, and what the others are together.
fn listed(mut rows: Vec<Named>, all_ns: i64, most: usize) -> Value {
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
