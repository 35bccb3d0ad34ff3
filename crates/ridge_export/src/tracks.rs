//! Which tracks are written, where each stands, and which track a row is of.

use crate::names::Names;
use ridgeline::Trace;
use ridgeline::trace::{NONE, Process, Track, TrackKind};
use std::collections::HashSet;
use std::ops::Range;

/// Process ids of devices are their rows; those of processes that do not say theirs begin here.
const FIRST_MADE_UP_PID: u64 = 100_000;

/// Thread ids are positions of tracks, and the numbers of streams; where both would be one, they begin here.
const FIRST_MADE_UP_TID: i64 = 1 << 30;

/// The tracks of a trace that hold what was measured.
#[derive(Debug)]
pub(crate) struct Tracks<'a> {
    /// Each with its position in the trace.
    pub(crate) all: Vec<(usize, &'a Track)>,
    /// First rows of those that have any, with positions in the trace, sorted.
    starts: Vec<(u32, usize)>,
    /// Process ids by the rows of processes.
    pids: Vec<u64>,
    /// Thread ids by the positions of tracks.
    tids: Vec<i64>,
    trace: &'a Trace,
    /// One bit per row: whether other rows link to it.
    causes: Vec<u64>,
}

impl<'a> Tracks<'a> {
    pub(crate) fn new(trace: &'a Trace) -> Tracks<'a> {
        let all: Vec<(usize, &Track)> =
            trace.tracks.iter().enumerate().filter(|(_, track)| track.kind != TrackKind::Derived).collect();
        let with_rows = all.iter().filter(|(_, track)| !track.rows.is_empty());
        let mut starts: Vec<(u32, usize)> = with_rows.map(|(position, track)| (track.rows.start, *position)).collect();
        starts.sort_unstable();
        let mut causes = vec![0; trace.events.len().div_ceil(64)];
        for &link in trace.events.link.iter().filter(|&&link| link != NONE) {
            if let Some(bits) = causes.get_mut(link as usize / 64) {
                *bits |= 1_u64 << (link % 64);
            }
        }
        Tracks { all, starts, pids: pids(trace), tids: tids(trace), trace, causes }
    }

    /// Position in the trace of the track that `row` is of, where it is written.
    pub(crate) fn of_row(&self, row: u32) -> Option<usize> {
        let after = self.starts.partition_point(|(start, _)| *start <= row);
        let (_, position) = *self.starts[..after].last()?;
        self.trace.tracks[position].rows.contains(&row).then_some(position)
    }

    /// What each device is, for readers of ours: no format has a place for it.
    pub(crate) fn devices(&self) -> serde_json::Value {
        let streams = |row: usize| -> Vec<i64> {
            let of_device = |track: &Track| track.kind == TrackKind::Stream && track.device == u32::try_from(row).ok();
            self.all.iter().filter(|(_, track)| of_device(track)).map(|(position, _)| self.tid(*position)).collect()
        };
        let devices = self.trace.devices.iter().enumerate().map(|(row, device)| {
            serde_json::json!({
                "plane": device.plane,
                "vendor": device.vendor,
                "model": device.model,
                "cores": device.cores,
                "clock_khz": device.clock_khz,
                "memory_bytes": device.memory_bytes,
                "memory_bytes_per_sec": device.memory_bytes_per_sec,
                "compute_capability": device.compute_capability,
                "streams": streams(row),
            })
        });
        let devices: Vec<serde_json::Value> = devices.collect();
        serde_json::json!({ "devices": devices })
    }

    /// Whether other rows link to `row`.
    pub(crate) fn is_cause(&self, row: usize) -> bool {
        self.causes.get(row / 64).is_some_and(|bits| bits & 1 << (row % 64) != 0)
    }

    /// The row that caused `row`, if its track is written.
    pub(crate) fn cause(&self, row: usize) -> Option<(u32, usize)> {
        let link = self.trace.events.link[row];
        if link == NONE || link as usize >= self.trace.events.len() {
            return None;
        }
        self.of_row(link).map(|position| (link, position))
    }

    /// The process id under which a track stands: that of its device, else of its process.
    pub(crate) fn pid(&self, track: &Track) -> u64 {
        track.device.map_or_else(|| self.process_pid(track.process as usize), u64::from)
    }

    /// The thread id under which the track at this position stands, which for a stream is its number wherever that is its own.
    pub(crate) fn tid(&self, position: usize) -> i64 {
        self.tids.get(position).copied().unwrap_or(position as i64)
    }

    /// The process id of the process at `row`; made up where it would be that of another or of a device.
    pub(crate) fn process_pid(&self, row: usize) -> u64 {
        self.pids.get(row).copied().unwrap_or(FIRST_MADE_UP_PID + row as u64)
    }

    /// What a track is called.
    pub(crate) fn name(&self, track: &Track, names: &Names<'_>) -> String {
        track_name(track, names)
    }

    /// The rows of a track as indices.
    pub(crate) fn rows(track: &Track) -> Range<usize> {
        track.rows.start as usize..track.rows.end as usize
    }
}

/// What a track is called.
pub(crate) fn track_name(track: &Track, names: &Names<'_>) -> String {
    let name = names.get(track.name);
    match track.kind {
        TrackKind::Stream if name.is_empty() => format!("stream {}", track.native_id),
        _ if name.is_empty() => format!("thread {}", track.native_id),
        _ => name.to_owned(),
    }
}

fn pids(trace: &Trace) -> Vec<u64> {
    let mut said = HashSet::new();
    let pid = |(row, process): (usize, &Process)| {
        let is_free = |pid: &u64| *pid <= i32::MAX as u64 && *pid >= trace.devices.len() as u64;
        let own = process.pid.filter(|pid| said.insert(*pid)).filter(is_free);
        own.unwrap_or(FIRST_MADE_UP_PID + row as u64)
    };
    trace.processes.iter().enumerate().map(pid).collect()
}

/// PyTorch's traces have the number of a stream in two places, and readers take either: so both are the same here.
fn tids(trace: &Trace) -> Vec<i64> {
    let mut taken = HashSet::new();
    let mut tids: Vec<i64> = (0..trace.tracks.len() as i64).collect();
    let tracks = || trace.tracks.iter().map(|track| (track, track.kind == TrackKind::Stream && track.device.is_some()));
    for (tid, (track, _)) in tids.iter_mut().zip(tracks()).filter(|(_, (_, is_stream))| *is_stream) {
        let is_number = (0..FIRST_MADE_UP_TID).contains(&track.native_id);
        let is_its_own = is_number && taken.insert((track.device, track.native_id));
        *tid = if is_its_own { track.native_id } else { FIRST_MADE_UP_TID + *tid };
    }
    for (tid, (track, _)) in tids.iter_mut().zip(tracks()).filter(|(_, (_, is_stream))| !is_stream) {
        *tid += if taken.contains(&(track.device, *tid)) { FIRST_MADE_UP_TID } else { 0 };
    }
    tids
}

/// Hears of rows, and passes their number on now and then.
pub(crate) struct Progress<'a> {
    rows: u64,
    told: &'a mut dyn FnMut(u64),
}

impl<'a> Progress<'a> {
    pub(crate) fn new(told: &'a mut dyn FnMut(u64)) -> Progress<'a> {
        Progress { rows: 0, told }
    }

    /// One more row is written.
    pub(crate) fn row(&mut self) {
        self.rows += 1;
        if self.rows.is_multiple_of(1 << 16) {
            (self.told)(self.rows);
        }
    }
}
