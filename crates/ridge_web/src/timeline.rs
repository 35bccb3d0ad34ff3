//! The timeline: which tracks there are, and tiles of them at every zoom.
//!
//! A tile is 1024 columns of one track, each 2^level nanoseconds wide. Where few events are in it, it holds them;
//! otherwise each column says how long each lane of it was busy, with what mostly, and how many events began there.
//! Columns aggregate and drop nothing: at every level the busy time is that of the events, to the nanosecond.

mod cache;
mod cells;
mod cut;
mod lanes;
mod outline;
mod tile;
mod zoom;

pub(crate) use cells::COLUMNS;
pub(crate) use outline::{color, outline};
pub(crate) use zoom::Timeline;

use crate::answer::{Answer, Refusal};
use crate::page::Page;
use crate::request::{Request, number};
use cells::TileId;
use rayon::prelude::*;
use zoom::MOST_LEVEL;

/// A tile with at most so many events holds the events themselves.
const MOST_EVENTS: usize = 4096;
/// Tiles of one request.
const MOST_TILES: usize = 256;

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
    // The timeline was made above, by `id`: workers of the pool never make it.
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
