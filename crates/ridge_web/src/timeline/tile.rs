//! A tile as bytes, little-endian; docs/web-api.md has the layout.

use super::cells::TileId;
use super::cut::cut;
use super::zoom::Timeline;
use crate::page::Page;
use ridgeline::trace::StringId;
use ridgeline::{EventCategories, Session};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// `RLT1`.
const MAGIC: u32 = u32::from_le_bytes(*b"RLT1");

/// What a tile holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Columns = 0,
    Events = 1,
}

/// The bytes of tile `id`: its events where there are at most `most_events`, else its columns.
pub(crate) fn tile(page: &Page, id: TileId, most_events: usize) -> Vec<u8> {
    let (session, timeline) = (page.session(), page.timeline());
    let trace = session.trace();
    let (open, rows) = timeline.lanes[id.track as usize].within(&trace.events, &timeline.window(id));
    let categories = session.event_categories();
    if open.len() + rows.len() <= most_events {
        let rows: Vec<u32> = open.into_iter().chain(rows).collect();
        return of_events(page, categories, id, &rows);
    }
    of_columns(session, timeline, categories, id)
}

fn head(timeline: &Timeline, id: TileId, mode: Mode, count: usize) -> Vec<u8> {
    let start = timeline.relative(timeline.window(id).start);
    let mut bytes = Vec::with_capacity(24 + count * 32);
    bytes.extend(MAGIC.to_le_bytes());
    bytes.extend([mode as u8, 0, 0, 0]);
    bytes.extend(start.to_le_bytes());
    bytes.extend((count as u32).to_le_bytes());
    bytes
}

/// Fills up to a multiple of four bytes, so that what follows can be looked at in place.
fn pad(bytes: &mut Vec<u8>) {
    bytes.resize(bytes.len().next_multiple_of(4), 0);
}

fn of_columns(session: &Session, timeline: &Timeline, categories: &EventCategories, id: TileId) -> Vec<u8> {
    let columns = cut(timeline, session.trace(), categories, id).columns();
    let width = (1_u64 << id.level) as f64;
    let mut bytes = head(timeline, id, Mode::Columns, columns.len());
    columns.iter().for_each(|column| bytes.extend(column.column.to_le_bytes()));
    columns.iter().for_each(|column| bytes.extend(column.lane.to_le_bytes()));
    bytes.extend(columns.iter().map(|column| column.category));
    pad(&mut bytes);
    columns.iter().for_each(|column| bytes.extend(((column.busy_ns as f64 / width) as f32).to_le_bytes()));
    columns.iter().for_each(|column| bytes.extend(column.begun.to_le_bytes()));
    bytes
}

fn of_events(page: &Page, categories: &EventCategories, id: TileId, rows: &[u32]) -> Vec<u8> {
    let (session, timeline) = (page.session(), page.timeline());
    let (trace, lanes, start) = (session.trace(), &timeline.lanes[id.track as usize], timeline.window(id).start);
    let events = &trace.events;
    let mut places: FxHashMap<u32, u32> = FxHashMap::default();
    let mut names: Vec<Cow<'_, str>> = Vec::new();
    let mut name_of = |row: &u32| {
        let name = events.name[*row as usize];
        *places.entry(name).or_insert_with(|| {
            names.push(page.clean(trace.strings.get(StringId(name))));
            names.len() as u32 - 1
        })
    };
    let mut bytes = head(timeline, id, Mode::Events, rows.len());
    rows.iter().for_each(|row| bytes.extend(row.to_le_bytes()));
    let relative = |row: &u32| events.start_ns[*row as usize].wrapping_sub(start) as f64;
    rows.iter().for_each(|row| bytes.extend(relative(row).to_le_bytes()));
    rows.iter().for_each(|row| bytes.extend((events.dur_ns[*row as usize] as f64).to_le_bytes()));
    rows.iter().for_each(|row| bytes.extend((lanes.lane(*row) as u16).to_le_bytes()));
    bytes.extend(rows.iter().map(|row| categories.of(events, *row as usize)));
    pad(&mut bytes);
    let places: Vec<u32> = rows.iter().map(&mut name_of).collect();
    places.iter().for_each(|place| bytes.extend(place.to_le_bytes()));
    let names = serde_json::to_vec(&names).expect("texts are JSON");
    bytes.extend((names.len() as u32).to_le_bytes());
    bytes.extend(names);
    bytes
}
