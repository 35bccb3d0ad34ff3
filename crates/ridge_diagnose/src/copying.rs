//! Copies of the judged time: where the breakdown has them, how much of each no compute hides, and how fast their ways are.

use crate::case::Case;
use crate::finding::Place;
use crate::known::Known;
use ridge_analysis::models::transfers::Transfers;
use ridge_analysis::{Analysis, Breakdown, Ceiling, Limit, Need, Per, Shared, TimeOwner};
use ridge_table::Basis;
use ridge_trace::{DeviceRow, EventKind, EventRow, MemoryKind, Trace, Transfer};
use rustc_hash::FxHashMap;

/// Copies of fewer bytes say nothing of what a link can carry.
pub(crate) const LARGE_BYTES: u64 = 1 << 20;

/// One copy in the judged time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Copying {
    /// Its event.
    pub(crate) row: u32,
    /// Its row of the breakdown.
    pub(crate) at: usize,
    /// Row of the devices table.
    pub(crate) device: u32,
    /// Its direction.
    pub(crate) kind: EventKind,
    /// What it moved, where the capture says it.
    moved: Option<Transfer>,
    /// Its length, nanoseconds.
    pub(crate) ns: i64,
    /// The part of the judged time in which it ran and the device did not compute, nanoseconds.
    pub(crate) exposed_ns: i64,
}

impl Copying {
    /// Bytes it moved; 0 where the capture does not say.
    pub(crate) fn bytes(&self) -> u64 {
        self.moved.map_or(0, |moved| moved.bytes)
    }

    /// Whether it goes between the host and a device.
    pub(crate) fn is_with_host(&self) -> bool {
        matches!(self.kind, EventKind::CopyHostToDevice | EventKind::CopyDeviceToHost)
    }

    /// Whether the host's side of it is ordinary memory, which has to be staged.
    pub(crate) fn is_pageable(&self) -> bool {
        let is = |kind: MemoryKind| kind == MemoryKind::Pageable;
        self.moved.is_some_and(|moved| is(moved.source) || is(moved.destination))
    }

    /// Bytes per second that it achieved, where its size is known.
    pub(crate) fn rate(&self) -> Option<f64> {
        (self.bytes() > 0 && self.ns > 0).then(|| self.bytes() as f64 / (self.ns as f64 / 1e9))
    }
}

/// The copies of the judged time, by device and start.
#[derive(Debug)]
pub(crate) struct Copies {
    all: Vec<Copying>,
    /// Those between host and device that come again and again between pieces of compute: within marked steps all, else those
    /// after a device's first compute and before its last, where the two take turns.
    ///
    /// What is brought in once before the work begins is no part of a loop, however much it is.
    in_loop: Vec<Copying>,
}

impl Shared for Copies {
    const NEEDS: &'static [Need] = &[Need::of::<Breakdown>(), Need::of::<Transfers>()];

    fn make(analysis: &Analysis<'_>) -> Copies {
        let case = Case { analysis: *analysis, known: &Known::default() };
        let all = case.find_copies();
        let in_loop = case.in_loop(&all);
        Copies { all, in_loop }
    }
}

impl<'a> Case<'a> {
    /// The copies of the judged time, by device and start.
    pub(crate) fn copies(&self) -> &'a [Copying] {
        &self.analysis.get::<Copies>().all
    }

    /// Those between host and device that are part of a loop.
    pub(crate) fn copies_in_loop(&self) -> &'a [Copying] {
        &self.analysis.get::<Copies>().in_loop
    }

    fn find_copies(&self) -> Vec<Copying> {
        let (trace, breakdown, frame) = (self.trace(), self.breakdown(), self.analyzed());
        let found = self.analysis.get::<Transfers>().copies.iter().filter_map(|copy| {
            let row = copy.row as usize;
            let process = trace.devices.get(copy.device as usize)?.process;
            let within =
                frame.spans.get(process as usize)?.within_ns(trace.events.start_ns[row], trace.events.end_ns(row));
            let inside = if copy.ns > 0 { within as f64 / copy.ns as f64 } else { 0.0 };
            (within > 0).then_some(Copying {
                row: copy.row,
                at: breakdown.place(DeviceRow(copy.device), TimeOwner::work(trace, row))?,
                device: copy.device,
                kind: trace.events.kind(row),
                moved: trace.transfer(row).copied(),
                ns: copy.ns,
                exposed_ns: (copy.exposed_ns() as f64 * inside) as i64,
            })
        });
        found.collect()
    }

    /// The rows of the breakdown that `copies` have, each with the part that would go where `part` of what is exposed would.
    pub(crate) fn claim_of<'c>(
        &self,
        copies: impl IntoIterator<Item = &'c Copying>,
        part: impl Fn(&Copying) -> f64,
    ) -> Vec<(usize, f32)> {
        let held = |copy: &Copying| (copy.at, copy.exposed_ns as f64 * part(copy).clamp(0.0, 1.0));
        self.parts_of(copies.into_iter().map(held))
    }

    fn in_loop(&self, all: &[Copying]) -> Vec<Copying> {
        let mut copies: Vec<Copying> = all.iter().copied().filter(Copying::is_with_host).collect();
        if self.analyzed().per == Per::Step {
            return copies;
        }
        let turns: FxHashMap<u32, Turns> = self
            .breakdown()
            .devices
            .iter()
            .map(|device| (device.device.0, turns(self.trace(), device.device.0)))
            .collect();
        copies.retain(|copy| {
            let start = self.trace().events.start_ns[copy.row as usize];
            turns
                .get(&copy.device)
                .is_some_and(|turns| turns.count >= LEAST_TURNS && (turns.first..turns.last).contains(&start))
        });
        copies
    }

    /// The largest of `copies` by time, with the line of the call that asked for it.
    pub(crate) fn longest_copy(&self, copies: &[Copying]) -> Option<(EventRow, Option<Place>)> {
        let row = copies.iter().max_by_key(|copy| (copy.exposed_ns, copy.ns))?.row;
        let call = self.trace().events.link[row as usize];
        Some((EventRow(row), self.line_of_row(call)))
    }
}

/// Turns of copies and compute below which there is no loop.
const LEAST_TURNS: u64 = 3;

/// When a device computed, and how often it did after copies.
#[derive(Debug, Clone, Copy)]
struct Turns {
    first: i64,
    last: i64,
    count: u64,
}

fn turns(trace: &Trace, device: u32) -> Turns {
    let events = &trace.events;
    let rows = trace.tracks_of_device(device).flat_map(|track| track.rows.clone());
    let is_either = |kind: EventKind| {
        kind.is_compute() || matches!(kind, EventKind::CopyHostToDevice | EventKind::CopyDeviceToHost)
    };
    let mut work: Vec<(i64, bool)> = rows
        .map(|row| row as usize)
        .filter(|row| is_either(events.kind(*row)))
        .map(|row| (events.start_ns[row], events.kind(row).is_compute()))
        .collect();
    work.sort_unstable();
    let computed = || work.iter().filter(|(_, computes)| *computes).map(|(start, _)| *start);
    let count = work.windows(2).filter(|pair| !pair[0].1 && pair[1].1).count() as u64;
    Turns { first: computed().next().unwrap_or(i64::MAX), last: computed().next_back().unwrap_or(i64::MIN), count }
}

/// What the way of copies of one device and direction can carry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Way {
    /// Bytes per second: as measured, else those of the fastest large copy of the capture that is not staged.
    pub(crate) rate: f64,
    /// Whether it was measured on this machine.
    pub(crate) is_measured: bool,
}

/// What the ways can carry, by device and direction. What a data sheet says is left out: the host decides, too.
pub(crate) fn ways(case: &Case<'_>, copies: &[Copying]) -> FxHashMap<(u32, EventKind), Way> {
    let mut ways: FxHashMap<(u32, EventKind), Way> = FxHashMap::default();
    for copy in copies.iter().filter(|copy| copy.is_with_host()) {
        let known = ways.entry((copy.device, copy.kind)).or_insert_with(|| {
            let measured = ceiling(case, copy).filter(|ceiling| ceiling.basis == Basis::Measured);
            Way { rate: measured.map_or(0.0, |ceiling| ceiling.value), is_measured: measured.is_some() }
        });
        if !known.is_measured && !copy.is_pageable() && copy.bytes() >= LARGE_BYTES {
            known.rate = known.rate.max(copy.rate().unwrap_or(0.0));
        }
    }
    ways.retain(|_, way| way.rate > 0.0);
    ways
}

/// The ceiling of a copy's way, by a measurement or a data sheet.
pub(crate) fn ceiling<'a>(case: &Case<'a>, copy: &Copying) -> Option<&'a Ceiling> {
    let limit = if copy.kind == EventKind::CopyHostToDevice { Limit::HostToDevice } else { Limit::DeviceToHost };
    case.analysis.ceilings.get(copy.device as usize)?.get(limit)
}

/// Bytes as people say them.
pub(crate) fn bytes_words(bytes: u64) -> String {
    ridge_units::Bytes(bytes).to_string()
}
