//! Copies of the judged time: where the wall has them, how much of each no compute hides, and how fast their ways are.

use crate::case::Case;
use crate::finding::Place;
use ridge_analysis::models::transfers::Transfers;
use ridge_analysis::{Ceiling, Holds, Limit, Per};
use ridge_table::Basis;
use ridge_trace::{DeviceRow, EventKind, EventRow, MemoryKind, StringId, Trace, Transfer};
use rustc_hash::FxHashMap;

/// Copies of fewer bytes say nothing of what a link can carry.
pub(crate) const LARGE_BYTES: u64 = 1 << 20;

/// One copy in the judged time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Copying<'a> {
    /// Its event.
    pub(crate) row: u32,
    /// Its row of the wall.
    pub(crate) at: usize,
    /// Row of the devices table.
    pub(crate) device: u32,
    /// Its direction.
    pub(crate) kind: EventKind,
    /// What it moved, where the capture says it.
    moved: Option<&'a Transfer>,
    /// Its length, nanoseconds.
    pub(crate) ns: i64,
    /// The part of the judged time in which it ran and the device did not compute, nanoseconds.
    pub(crate) exposed_ns: i64,
}

impl Copying<'_> {
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

impl<'a> Case<'a> {
    /// The copies of the judged time, by device and start.
    pub(crate) fn copies(&self) -> Vec<Copying<'a>> {
        let (trace, wall, frame) = (self.trace(), self.wall(), self.frame());
        let mut places: FxHashMap<(DeviceRow, u32, StringId, EventKind), usize> = FxHashMap::default();
        for (at, row) in wall.rows.iter().enumerate() {
            if let Holds::Work { op, name, kind } = row.holds
                && kind.is_copy()
            {
                places.insert((row.device, op, name, kind), at);
            }
        }
        let found = self.analysis.get::<Transfers>().copies.iter().filter_map(|copy| {
            let row = copy.row as usize;
            let kind = trace.events.kind(row);
            let key = (DeviceRow(copy.device), trace.events.op[row], StringId(trace.events.name[row]), kind);
            let process = trace.devices.get(copy.device as usize)?.process;
            let within =
                frame.spans.get(process as usize)?.within_ns(trace.events.start_ns[row], trace.events.end_ns(row));
            let inside = if copy.ns > 0 { within as f64 / copy.ns as f64 } else { 0.0 };
            (within > 0).then_some(Copying {
                row: copy.row,
                at: *places.get(&key)?,
                device: copy.device,
                kind,
                moved: trace.transfer(row),
                ns: copy.ns,
                exposed_ns: (copy.exposed_ns() as f64 * inside) as i64,
            })
        });
        found.collect()
    }

    /// The rows of the wall that `copies` have, each with the part that would go where `part` of what is exposed would.
    pub(crate) fn claim_of<'c, 't: 'c>(
        &self,
        copies: impl IntoIterator<Item = &'c Copying<'t>>,
        part: impl Fn(&Copying<'t>) -> f64,
    ) -> Vec<(usize, f32)> {
        let mut held: FxHashMap<usize, f64> = FxHashMap::default();
        for copy in copies {
            *held.entry(copy.at).or_default() += copy.exposed_ns as f64 * part(copy).clamp(0.0, 1.0);
        }
        let ns = |at: usize| self.wall().rows.get(at).map_or(0, |row| row.ns).max(1) as f64;
        let mut claim: Vec<(usize, f32)> = held
            .into_iter()
            .map(|(at, held)| (at, (held / ns(at)).min(1.0) as f32))
            .filter(|(_, part)| *part > 0.0)
            .collect();
        claim.sort_by_key(|(at, _)| *at);
        claim
    }
}

impl<'a> Case<'a> {
    /// The copies between host and device that come again and again between pieces of compute: within marked steps all,
    /// else those after a device's first compute and before its last, where the two take turns.
    ///
    /// What is brought in once before the work begins is no part of a loop, however much it is.
    pub(crate) fn copies_in_loop(&self) -> Vec<Copying<'a>> {
        let mut copies: Vec<Copying<'a>> = self.copies().into_iter().filter(Copying::is_with_host).collect();
        if self.frame().per == Per::Step {
            return copies;
        }
        let turns: FxHashMap<u32, Turns> =
            self.wall().devices.iter().map(|device| (device.device.0, turns(self.trace(), device.device.0))).collect();
        copies.retain(|copy| {
            let start = self.trace().events.start_ns[copy.row as usize];
            turns
                .get(&copy.device)
                .is_some_and(|turns| turns.count >= LEAST_TURNS && (turns.first..turns.last).contains(&start))
        });
        copies
    }

    /// The largest of `copies` by time, with the line of the call that asked for it.
    pub(crate) fn longest_copy(&self, copies: &[Copying<'_>]) -> Option<(EventRow, Option<Place>)> {
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
pub(crate) fn ways(case: &Case<'_>, copies: &[Copying<'_>]) -> FxHashMap<(u32, EventKind), Way> {
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
pub(crate) fn ceiling<'a>(case: &Case<'a>, copy: &Copying<'_>) -> Option<&'a Ceiling> {
    let limit = if copy.kind == EventKind::CopyHostToDevice { Limit::HostToDevice } else { Limit::DeviceToHost };
    case.analysis.ceilings.get(copy.device as usize)?.get(limit)
}

/// Bytes as people say them.
pub(crate) fn bytes_words(bytes: u64) -> String {
    ridge_units::Bytes(bytes).to_string()
}
