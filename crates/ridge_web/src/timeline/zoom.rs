//! What tiles are cut from, and which time each covers at which level.

use super::cache::Cuts;
use super::cells::{COLUMNS_LOG2, TileId};
use super::lanes::{Lanes, TrackOf};
use rayon::prelude::*;
use ridgeline::Session;
use ridgeline::trace::{Trace, Track};
use std::ops::Range;

/// Levels above this would be longer than the clock.
pub(super) const MOST_LEVEL: u32 = 62 - COLUMNS_LOG2;

/// What tiles are cut from.
#[derive(Debug)]
pub(crate) struct Timeline {
    /// First start and last end of all events, else first and last sample, nanoseconds on the trace clock.
    pub(super) span: (i64, i64),
    /// The lanes of every track.
    pub(super) lanes: Vec<Lanes>,
    /// Tiles in columns that were cut before.
    pub(super) cuts: Cuts,
}

impl Timeline {
    /// The lanes of all tracks of the capture; tiles are cut when they are asked for.
    pub(crate) fn new(session: &Session) -> Timeline {
        Timeline::of(session.trace())
    }

    pub(crate) fn of(trace: &Trace) -> Timeline {
        let of = |track: &Track| if track.device.is_some() { TrackOf::Device } else { TrackOf::Host };
        let lanes = trace.tracks.par_iter().map(|track| Lanes::new(&trace.events, track.rows.clone(), of(track)));
        let lanes: Vec<Lanes> = lanes.collect();
        let first = trace.tracks.iter().filter(|track| !track.rows.is_empty());
        let first = first.map(|track| trace.events.start_ns[track.rows.start as usize]).min();
        // The log of a monitor has samples alone.
        let samples = || trace.counters.time_ns.iter().copied();
        let last = lanes.iter().filter_map(|lanes| lanes.last_end).max();
        let last = last.or_else(|| samples().max().filter(|_| first.is_none()));
        let first = first.or_else(|| samples().min()).unwrap_or(0);
        let last = last.unwrap_or(first);
        Timeline { span: (first, last.max(first)), lanes, cuts: Cuts::default() }
    }

    /// First start and last end of all events, nanoseconds on the trace clock.
    pub(crate) fn span(&self) -> (i64, i64) {
        self.span
    }

    /// A time of the trace clock relative to the capture's start.
    pub(crate) fn relative(&self, time_ns: i64) -> i64 {
        time_ns.saturating_sub(self.span.0)
    }

    /// The level at which one tile holds the whole capture.
    pub(crate) fn top_level(&self) -> u32 {
        let length = self.span.1.saturating_sub(self.span.0).max(0) as u64;
        let columns = length >> COLUMNS_LOG2;
        (u64::BITS - columns.leading_zeros()).min(MOST_LEVEL)
    }

    /// The track of an event.
    pub(crate) fn track_of(&self, row: u32) -> usize {
        self.lanes.partition_point(|lanes| lanes.rows.end <= row)
    }

    /// The lane of an event on its track.
    pub(crate) fn lane_of(&self, row: u32) -> usize {
        self.lanes.get(self.track_of(row)).map_or(0, |lanes| lanes.lane(row))
    }

    /// The rows of a track that have a part in `window`, in order.
    pub(crate) fn rows_within(&self, trace: &Trace, track: usize, window: &Range<i64>) -> impl Iterator<Item = u32> {
        let (open, rows) = self.lanes[track].within(&trace.events, window);
        open.into_iter().chain(rows)
    }

    /// The time that a tile covers, on the trace clock; it ends where the clock does.
    pub(super) fn window(&self, id: TileId) -> Range<i64> {
        let length = 1_i128 << (id.level + COLUMNS_LOG2);
        let start = i128::from(self.span.0) + i128::from(id.index) * length;
        let clamp = |time: i128| i64::try_from(time).unwrap_or(i64::MAX);
        clamp(start)..clamp(start + length)
    }
}
