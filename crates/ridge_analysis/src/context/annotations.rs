//! Which range of the program caused which device work.
//!
//! Device work links to the host event that launched it; that event's thread says what was open around it; work handed
//! to a pool thread leads back through the region's link to who handed it over.
//! A thread that names no range at all works for others, and autograd's does though ranges of its collectives are on it:
//! what it launched, and such a range, belongs to the range that was open at that moment on the one thread of its process
//! that had any.
//! Work launched outside every range, or before the capture began, belongs to none. Only a device none of whose work
//! has a known launch goes by the time at which its work ran, and the footnote says so.

use super::helping_threads::{Role, is_range, roles};
use super::open_ranges::OpenRanges;
use super::stretches::stretches;
use rayon::prelude::*;
use ridge_trace::{NONE, Trace, TrackKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// For every event of a trace, the innermost annotation or step that caused it.
#[derive(Debug)]
pub struct Owners {
    owner: Vec<u32>,
    /// Of the outermost ranges of threads that work for others, the range that was open elsewhere when they began.
    around: FxHashMap<u32, u32>,
    /// How many device rows were given to a range by the time at which they ran, for want of any launch.
    pub(crate) by_time: u64,
    /// How many were given to the range that was open when a thread that works for others launched them.
    pub(crate) by_launch_time: u64,
}

/// Chains longer than this are cycles of a broken capture.
const LONGEST_CHAIN: usize = 1 << 12;

impl Owners {
    /// Follows every chain once.
    pub fn new(trace: &Trace) -> Owners {
        let events = &trace.events;
        let mut owner = vec![UNKNOWN; events.len()];
        let mut chain = Vec::new();
        for track in trace.tracks.iter().filter(|track| track.kind == TrackKind::HostThread) {
            for row in track.rows.clone() {
                resolve(trace, row, &mut owner, &mut chain);
            }
        }
        let threads = Threads::of(trace);
        let stretches = trace.device_tracks().flat_map(|track| {
            let has_launches = threads.launched_devices.contains(&(track.process, track.device));
            let of = move |rows| Rows { rows, process: track.process, has_launches };
            stretches(track.rows.clone(), STRETCH).map(of)
        });
        let stretches: Vec<Rows> = stretches.collect();
        // Host rows are done, and device rows ask for nothing else.
        let found: Vec<Found> =
            stretches.par_iter().map(|stretch| of_device_rows(trace, stretch, &owner, &threads)).collect();
        let around = threads.around_helping(trace, &owner);
        let mut owners = Owners { owner, around, by_time: 0, by_launch_time: 0 };
        for (Rows { rows, .. }, found) in stretches.iter().zip(&found) {
            owners.owner[rows.start as usize..rows.end as usize].copy_from_slice(&found.owners);
            owners.by_time += found.by_time;
            owners.by_launch_time += found.by_launch_time;
        }
        owners
    }

    /// The annotation or step that caused event `row`, or [`NONE`].
    pub fn of(&self, row: u32) -> u32 {
        match self.owner[row as usize] {
            UNKNOWN => NONE,
            owner => owner,
        }
    }

    /// The ranges that caused event `row`, innermost first.
    pub fn chain<'o>(&'o self, trace: &'o Trace, row: u32) -> impl Iterator<Item = u32> + 'o {
        let mut next = self.of(row);
        let mut left = 256;
        std::iter::from_fn(move || {
            if next == NONE || left == 0 {
                return None;
            }
            left -= 1;
            let range = next;
            let above = trace.events.parent[range as usize];
            next = if above == NONE { NONE } else { self.of(above) };
            if next == NONE {
                next = self.around.get(&range).copied().unwrap_or(NONE);
            }
            Some(range)
        })
    }
}

/// Device rows of one task.
const STRETCH: u32 = 1 << 17;

/// Device rows of one track.
#[derive(Debug)]
struct Rows {
    rows: Range<u32>,
    process: u32,
    /// Whether any work of their device has a known launch.
    has_launches: bool,
}

/// What is known of threads and processes before device rows are looked at.
struct Threads {
    /// By process.
    open: Vec<OpenRanges>,
    /// By track.
    roles: Vec<Role>,
    /// First row of each track, for the track of a row.
    first_rows: Vec<u32>,
    launched_devices: FxHashSet<(u32, Option<u32>)>,
}

impl Threads {
    fn of(trace: &Trace) -> Threads {
        let links = |rows: &Range<u32>| rows.clone().any(|row| trace.events.link[row as usize] != NONE);
        let launched = trace.device_tracks().filter(|track| links(&track.rows));
        let roles = roles(trace);
        Threads {
            open: OpenRanges::of_processes(trace, &roles),
            roles,
            first_rows: trace.tracks.iter().map(|track| track.rows.start).collect(),
            launched_devices: launched.map(|track| (track.process, track.device)).collect(),
        }
    }

    /// Of each range that no range of its thread is around, on threads that work for others, the range open elsewhere.
    fn around_helping(&self, trace: &Trace, owner: &[u32]) -> FxHashMap<u32, u32> {
        let mut around = FxHashMap::default();
        let helping = trace.tracks.iter().zip(&self.roles).filter(|(_, role)| **role == Role::Helps);
        for (track, _) in helping.filter(|(track, _)| track.kind == TrackKind::HostThread) {
            for row in track.rows.clone().filter(|row| is_range(trace, *row)) {
                let above = trace.events.parent[row as usize];
                let open = self.open_at(track.process, trace.events.start_ns[row as usize]);
                if open != NONE && (above == NONE || owner[above as usize] == NONE) {
                    around.insert(row, open);
                }
            }
        }
        around
    }

    /// The range open on another thread when `launch`, of a thread that works for others, began.
    fn open_at_launch(&self, trace: &Trace, launch: u32) -> u32 {
        let track = self.first_rows.partition_point(|first| *first <= launch).saturating_sub(1);
        if self.roles.get(track) != Some(&Role::Helps) {
            return NONE;
        }
        self.open_at(trace.tracks[track].process, trace.events.start_ns[launch as usize])
    }

    fn open_at(&self, process: u32, time: i64) -> u32 {
        self.open.get(process as usize).map_or(NONE, |open| open.at(time))
    }
}

/// The owners of device rows.
#[derive(Debug)]
struct Found {
    owners: Vec<u32>,
    by_time: u64,
    by_launch_time: u64,
}

/// The owners of the device rows of `stretch`, those of host rows known.
fn of_device_rows(trace: &Trace, stretch: &Rows, owner: &[u32], threads: &Threads) -> Found {
    let events = &trace.events;
    let mut found = Found { owners: Vec::with_capacity(stretch.rows.len()), by_time: 0, by_launch_time: 0 };
    for row in stretch.rows.clone() {
        let link = events.link[row as usize];
        let caused = if link == NONE { NONE } else { owner[link as usize] };
        let owner = match (caused, link) {
            (NONE, NONE) if !stretch.has_launches => {
                let open = threads.open_at(stretch.process, events.start_ns[row as usize]);
                found.by_time += u64::from(open != NONE);
                open
            }
            (NONE, NONE) => NONE,
            (NONE, launch) => {
                let open = threads.open_at_launch(trace, launch);
                found.by_launch_time += u64::from(open != NONE);
                open
            }
            (range, _) => range,
        };
        found.owners.push(owner);
    }
    found
}

/// Not looked at yet.
const UNKNOWN: u32 = u32::MAX - 1;

/// The owner of a host row: itself if it is a range, else its parent's, else its cause's.
///
/// `chain` is room to work in, so that no row allocates.
fn resolve(trace: &Trace, row: u32, owner: &mut [u32], chain: &mut Vec<u32>) {
    let mut at = row;
    let found = loop {
        if owner[at as usize] != UNKNOWN {
            break owner[at as usize];
        }
        if is_range(trace, at) {
            break at;
        }
        chain.push(at);
        let parent = trace.events.parent[at as usize];
        let next = if parent == NONE { trace.events.link[at as usize] } else { parent };
        // A cause begins no later than its effect; anything else would turn in circles.
        let is_earlier = next != NONE && trace.events.start_ns[next as usize] <= trace.events.start_ns[at as usize];
        if !is_earlier || chain.len() > LONGEST_CHAIN {
            break NONE;
        }
        at = next;
    };
    owner[at as usize] = if is_range(trace, at) { at } else { found };
    for row in chain.drain(..) {
        owner[row as usize] = found;
    }
}
