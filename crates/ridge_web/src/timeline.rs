//! The timeline: which tracks there are, and tiles of them at every zoom.
//!
//! A tile is 1024 columns of one track, each 2^level nanoseconds wide. Where few events are in it, it holds them;
//! otherwise each column says how long each lane of it was busy, with what mostly, and how many events began there.
//! Columns aggregate and drop nothing: at every level the busy time is that of the events, to the nanosecond.

mod cache;
mod cut;
mod lanes;
mod outline;
mod tile;

pub(crate) use outline::outline;

use crate::answer::{Answer, Refusal};
use crate::page::Page;
use crate::request::{Request, number};
use cache::Cuts;
use lanes::Lanes;
use rayon::prelude::*;
use ridgeline::Session;
use ridgeline::trace::Trace;
use std::ops::Range;

/// Columns of a tile, as a power of two.
const COLUMNS_LOG2: u32 = 10;
/// Columns of a tile.
pub(crate) const COLUMNS: usize = 1 << COLUMNS_LOG2;
/// Levels above this would be longer than the clock.
const MOST_LEVEL: u32 = 62 - COLUMNS_LOG2;
/// A tile with at most so many events holds the events themselves.
const MOST_EVENTS: usize = 4096;
/// Tiles of one request.
const MOST_TILES: usize = 256;

/// What tiles are cut from.
#[derive(Debug)]
pub(crate) struct Timeline {
    /// First start and last end of all events, nanoseconds on the trace clock.
    span: (i64, i64),
    /// The lanes of every track.
    lanes: Vec<Lanes>,
    /// Tiles in columns that were cut before.
    cuts: Cuts,
}

/// Which tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct TileId {
    pub(crate) track: u32,
    pub(crate) level: u32,
    pub(crate) index: u64,
}

impl Timeline {
    /// The lanes of all tracks of the capture; tiles are cut when they are asked for.
    pub(crate) fn new(session: &Session) -> Timeline {
        Timeline::of(session.trace())
    }

    pub(crate) fn of(trace: &Trace) -> Timeline {
        let lanes: Vec<Lanes> =
            trace.tracks.par_iter().map(|track| Lanes::new(&trace.events, track.rows.clone())).collect();
        let first = trace.tracks.iter().filter(|track| !track.rows.is_empty());
        let first = first.map(|track| trace.events.start_ns[track.rows.start as usize]).min().unwrap_or(0);
        let last = lanes.iter().filter_map(|lanes| lanes.last_end).max().unwrap_or(first);
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

    /// The rows of a track that have a part in `window`, in order.
    pub(crate) fn rows_within(&self, trace: &Trace, track: usize, window: &Range<i64>) -> impl Iterator<Item = u32> {
        let (open, rows) = self.lanes[track].within(&trace.events, window);
        open.into_iter().chain(rows)
    }

    /// The time that a tile covers, on the trace clock; it ends where the clock does.
    fn window(&self, id: TileId) -> Range<i64> {
        let length = 1_i128 << (id.level + COLUMNS_LOG2);
        let start = i128::from(self.span.0) + i128::from(id.index) * length;
        let clamp = |time: i128| i64::try_from(time).unwrap_or(i64::MAX);
        clamp(start)..clamp(start + length)
    }
}

/// `tile/{track}/{level}/{index}`.
pub(crate) fn one(page: &Page, track: &str, level: &str, index: &str) -> Result<Answer, Refusal> {
    let id = id(page, track, level, index)?;
    Ok(Answer::bytes(tile::tile(page, id, MOST_EVENTS)))
}

/// `tiles?want=track/level/index,…`: each with its length before it.
pub(crate) fn several(page: &Page, request: &Request) -> Result<Answer, Refusal> {
    let want = request.get("want").ok_or_else(|| Refusal::bad("expected `want=track/level/index,…`, found none"))?;
    let ids = want.split(',').map(|tile| match tile.split('/').collect::<Vec<_>>()[..] {
        [track, level, index] => id(page, track, level, index),
        _ => Err(Refusal::bad(format!("expected track/level/index, found `{tile}`"))),
    });
    let ids = ids.collect::<Result<Vec<TileId>, Refusal>>()?;
    if ids.len() > MOST_TILES {
        return Err(Refusal::bad(format!("expected at most {MOST_TILES} tiles at once, found {}", ids.len())));
    }
    let tiles: Vec<Vec<u8>> = ids.par_iter().map(|id| tile::tile(page, *id, MOST_EVENTS)).collect();
    let mut body = Vec::with_capacity(tiles.iter().map(|tile| tile.len() + 4).sum());
    for tile in tiles {
        body.extend((tile.len() as u32).to_le_bytes());
        body.extend(tile);
    }
    Ok(Answer::bytes(body))
}

fn id(page: &Page, track: &str, level: &str, index: &str) -> Result<TileId, Refusal> {
    let (track, level, index) = (number("the track", track)?, number("the level", level)?, number("the index", index)?);
    if track as usize >= page.timeline().lanes.len() {
        return Err(Refusal::absent(format!("no track has the number {track}")));
    }
    if level > MOST_LEVEL {
        return Err(Refusal::bad(format!("expected a level up to {MOST_LEVEL}, found {level}")));
    }
    Ok(TileId { track, level, index })
}
