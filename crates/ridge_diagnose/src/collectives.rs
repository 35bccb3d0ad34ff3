//! Collectives of a capture: which rows of the breakdown they are, when nothing ran beside them, and how ranks met in them.

use crate::case::Case;
use crate::known::Known;
use ridge_analysis::models::collectives::{Matched, Part};
use ridge_analysis::{Analysis, Breakdown, Need, Shared, Spans, TimeOwner, kernel_category};
use ridge_trace::{DeviceRow, EventKind, EventRow, NONE, StringId, Trace};
use rustc_hash::{FxHashMap, FxHashSet};

/// Collective work of the judged time.
#[derive(Debug, Default)]
pub(crate) struct Exposure {
    /// Rows of the breakdown that are collectives, with the part in which nothing else ran, nanoseconds; most first.
    pub(crate) rows: Vec<Exposed>,
    /// Time of the devices that collectives have, nanoseconds.
    pub(crate) collective_ns: i64,
    /// The part of it in which nothing else ran, nanoseconds.
    pub(crate) exposed_ns: i64,
    /// The time of each collective's event in which nothing else ran, nanoseconds.
    pub(crate) events: FxHashMap<u32, i64>,
}

/// A row of the breakdown that is a collective.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Exposed {
    /// Its place.
    pub(crate) at: usize,
    /// How much of its time nothing ran beside it, nanoseconds.
    pub(crate) ns: i64,
    /// The same as a part of the row, 0 to 1.
    pub(crate) part: f32,
}

/// Rows of the breakdown that are collectives.
fn rows_of_breakdown(case: &Case<'_>) -> FxHashSet<usize> {
    let named: FxHashSet<u32> =
        case.trace().collectives.iter().filter_map(|row| name_of_event(case.trace(), row.event)).collect();
    let mut found = FxHashSet::default();
    for (at, row) in case.breakdown().rows.iter().enumerate() {
        let TimeOwner::Work { op, name, kind } = row.owner else { continue };
        let is_one = match case.instruction(op) {
            Some((module, id, instruction)) => {
                let is_call = &*instruction.opcode == "custom-call";
                instruction.opcode.is_collective()
                    || module.collective(id).is_some()
                    || (is_call && is_named(case, &named, name, kind))
            }
            None => is_named(case, &named, name, kind),
        };
        if is_one {
            found.insert(at);
        }
    }
    found
}

fn name_of_event(trace: &Trace, row: u32) -> Option<u32> {
    trace.events.name.get(row as usize).copied()
}

fn is_named(case: &Case<'_>, named: &FxHashSet<u32>, name: StringId, kind: EventKind) -> bool {
    kind.is_compute() && (named.contains(&name.0) || kernel_category(case.trace().strings.get(name)) == "collective")
}

impl Shared for Exposure {
    const NEEDS: &'static [Need] = &[Need::of::<Breakdown>()];

    fn make(analysis: &Analysis<'_>) -> Exposure {
        exposure(&Case { analysis: *analysis, known: &Known::default() })
    }
}

impl<'a> Case<'a> {
    /// When collectives ran with nothing beside them, in the judged time.
    pub(crate) fn exposure(&self) -> &'a Exposure {
        self.analysis.get()
    }
}

/// Each collective's event in the judged time, with how long nothing else ran on its device meanwhile, nanoseconds; most first.
pub fn exposed_collectives(analysis: &Analysis<'_>) -> Vec<(EventRow, i64)> {
    let exposure: &Exposure = analysis.get();
    let mut events: Vec<(EventRow, i64)> = exposure.events.iter().map(|(row, ns)| (EventRow(*row), *ns)).collect();
    events.sort_unstable_by_key(|(row, ns)| (std::cmp::Reverse(*ns), row.0));
    events
}

fn exposure(case: &Case<'_>) -> Exposure {
    let wanted = rows_of_breakdown(case);
    if wanted.is_empty() {
        return Exposure::default();
    }
    let mut exposed: FxHashMap<usize, i64> = FxHashMap::default();
    let mut events: FxHashMap<u32, i64> = FxHashMap::default();
    for device in &case.breakdown().devices {
        of_device(case, device.device, &wanted, |row, at, ns| {
            let sum = exposed.entry(at).or_default();
            *sum = sum.saturating_add(ns);
            events.insert(row, ns);
        });
    }
    let breakdown = case.breakdown();
    let mut rows: Vec<Exposed> = (exposed.into_iter())
        .filter_map(|(at, ns)| {
            let whole = breakdown.rows.get(at)?.ns;
            // Where two collectives ran at once the breakdown has given half of the moment to each.
            let ns = ns.clamp(0, whole);
            (whole > 0).then(|| Exposed { at, ns, part: (ns as f64 / whole as f64) as f32 })
        })
        .collect();
    rows.sort_by_key(|row| (std::cmp::Reverse(row.ns), row.at));
    let collective_ns =
        wanted.iter().filter_map(|at| breakdown.rows.get(*at)).fold(0_i64, |sum, row| sum.saturating_add(row.ns));
    let exposed_ns = rows.iter().fold(0_i64, |sum, row| sum.saturating_add(row.ns));
    Exposure { rows, collective_ns, exposed_ns, events }
}

fn of_device(case: &Case<'_>, device: DeviceRow, wanted: &FxHashSet<usize>, mut found: impl FnMut(u32, usize, i64)) {
    let (trace, events) = (case.trace(), &case.trace().events);
    let Some(process) = trace.devices.get(device.index()).map(|device| device.process as usize) else { return };
    let Some(frame) = case.analyzed().spans.get(process) else { return };
    let rows = || trace.tracks_of_device(device.0).flat_map(|track| track.rows.clone()).map(|row| row as usize);
    let work = || rows().filter(|row| EventKind::from_byte_is_work(events.kind[*row]));
    // A loop holds what runs in it and does nothing beside it.
    let holders: FxHashSet<u32> = work().map(|row| events.parent[row]).filter(|parent| *parent != NONE).collect();
    let place =
        |row: usize| case.breakdown().place(device, TimeOwner::work(trace, row)).filter(|at| wanted.contains(at));
    let others = work().filter(|row| place(*row).is_none() && !holders.contains(&(*row as u32)));
    let others = Spans::of(others.map(|row| (events.start_ns[row], events.end_ns(row))));
    let alone = frame.without(&others);
    for row in work() {
        if let Some(at) = place(row) {
            found(row as u32, at, alone.within_ns(events.start_ns[row], events.end_ns(row)));
        }
    }
}

/// A collective that several ranks were captured in.
#[derive(Debug, Clone)]
pub(crate) struct Meeting {
    /// The parts, one for each rank, in order of start.
    pub(crate) parts: Vec<Part>,
}

impl Meeting {
    /// The part that began last.
    pub(crate) fn last(&self) -> Option<&Part> {
        self.parts.last()
    }

    /// How long `part` waited for the last rank, nanoseconds: never longer than it took.
    pub(crate) fn wait_ns(&self, part: &Part) -> i64 {
        let last = self.last().map_or(part.start_ns, |last| last.start_ns);
        last.saturating_sub(part.start_ns).clamp(0, part.dur_ns.max(0))
    }
}

/// Collectives that several ranks were captured in, each in the judged time of all of them.
pub(crate) fn meetings(case: &Case<'_>) -> Vec<Meeting> {
    let frame = |part: &Part| {
        case.analyzed().spans.get(part.process as usize).is_some_and(|spans| spans.contains(part.start_ns))
    };
    let mut all: Vec<Meeting> = (case.analysis.collectives().matched.iter())
        .filter(|Matched { parts }| parts.len() > 1 && parts.iter().all(frame))
        .map(|Matched { parts }| {
            let mut parts = parts.clone();
            parts.sort_by_key(|part| (part.start_ns, part.process));
            Meeting { parts }
        })
        .collect();
    all.sort_by_key(|meeting| meeting.parts.first().map(|part| (part.start_ns, part.collective.event)));
    all
}
