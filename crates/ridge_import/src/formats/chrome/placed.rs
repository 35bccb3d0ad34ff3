//! The file's rows in the trace, track by track.

use super::row::{Row, TrackKey};
use ridge_trace::{NONE, StringId, nest};
use std::ops::Range;

/// A track with its place in the trace.
#[derive(Debug)]
pub(super) struct PlacedTrack {
    pub(super) key: TrackKey<StringId>,
    pub(super) rows: Range<u32>,
    /// What the rows were made from, in the same order.
    pub(super) stored: Vec<Row>,
}

/// The file's rows in the trace.
#[derive(Debug)]
pub(super) struct Placed {
    pub(super) first_row: u32,
    pub(super) process: u32,
    /// By their place in the store.
    pub(super) tracks: Vec<PlacedTrack>,
}

impl Placed {
    /// The tracks of threads.
    pub(super) fn threads(&self) -> impl Iterator<Item = &PlacedTrack> {
        self.tracks.iter().filter(|track| matches!(track.key, TrackKey::Thread(..)))
    }

    /// The tracks of streams.
    pub(super) fn streams(&self) -> impl Iterator<Item = &PlacedTrack> {
        self.tracks.iter().filter(|track| matches!(track.key, TrackKey::Stream(..)))
    }
}

impl PlacedTrack {
    /// For every row, counted from the track's first, the innermost that encloses it, or [`NONE`].
    pub(super) fn parents(&self) -> Vec<u32> {
        let spans = self.stored.iter().map(|row| (row.start_ns, row.start_ns.saturating_add(row.dur_ns)));
        let mut parents = vec![NONE; self.stored.len()];
        nest(spans, |position, parent| parents[position] = parent);
        parents
    }
}
