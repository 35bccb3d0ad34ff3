//! The allocator's events, each with the operator that was open when it happened.

use super::clock::Clock;
use super::placed::Placed;
use super::placed::PlacedTrack;
use super::store::Store;
use crate::import::Import;
use ridge_trace::{EventKind, NONE, StringId};
use rustc_hash::FxHashMap;

/// Device types of `c10::DeviceType` that are the host.
const CPU: i64 = 0;

/// What is known of one allocator so far.
#[derive(Debug, Clone, Copy, Default)]
struct Running {
    in_use: i64,
    peak: i64,
}

/// Writes all allocator events.
pub(super) fn place_allocations(store: &Store, placed: &Placed, clock: &Clock, import: &mut Import) {
    let mut events: Vec<usize> = (0..store.allocations.len()).collect();
    events.sort_by_key(|at| store.allocations[*at].time_ns);
    let mut owners = Owners::default();
    let mut running: FxHashMap<(i64, i64), (StringId, Running)> = FxHashMap::default();
    for event in events.into_iter().map(|at| &store.allocations[at]) {
        let key = (event.device_type, event.device_id);
        let (allocator, sums) = running.entry(key).or_insert_with(|| {
            let name = if event.device_type == CPU { "CPU".to_owned() } else { format!("GPU_{}", event.device_id) };
            (import.builder.strings.intern(&name), Running::default())
        });
        // Profilers of 2021 wrote the change alone: then it is counted from the first event on.
        let summed = sums.in_use.saturating_add(event.delta_bytes);
        sums.in_use = if event.in_use_bytes >= 0 { event.in_use_bytes } else { summed };
        sums.peak = sums.peak.max(sums.in_use);
        let table = &mut import.builder.allocations;
        table.process.push(placed.process);
        table.time_ns.push(clock.at(event.time_ns));
        table.allocator.push(*allocator);
        table.delta_bytes.push(event.delta_bytes);
        table.requested_bytes.push(event.delta_bytes.saturating_abs());
        table.in_use_bytes.push(sums.in_use);
        table.peak_bytes.push(sums.peak);
        table.reserved_bytes.push(event.reserved_bytes);
        table.fragmentation.push(0.0);
        table.address.push(event.address);
        table.owner.push(owners.at(&placed.tracks[event.track as usize], event.track, event.time_ns));
    }
}

/// Finds what was open on a thread at a time; each thread is nested once.
#[derive(Debug, Default)]
struct Owners {
    parents: FxHashMap<u32, Vec<u32>>,
}

impl Owners {
    /// The name of the innermost operator or annotation of `track` that was open at `time_ns`, else the empty string.
    fn at(&mut self, track: &PlacedTrack, place: u32, time_ns: i64) -> StringId {
        let parents = self.parents.entry(place).or_insert_with(|| track.parents());
        let mut at = match track.stored.partition_point(|row| row.start_ns <= time_ns).checked_sub(1) {
            Some(last) => last as u32,
            None => return StringId::default(),
        };
        while at != NONE {
            let row = &track.stored[at as usize];
            let kind = EventKind::from_byte(row.kind);
            let names = matches!(kind, EventKind::Operator | EventKind::Annotation | EventKind::Step);
            if names && row.start_ns.saturating_add(row.dur_ns) >= time_ns {
                return StringId(row.name);
            }
            at = parents[at as usize];
        }
        StringId::default()
    }
}
