//! One plane: its name, its interned metadata, its stats and its lines, found in one walk without decoding an event.

use super::id_map::IdMap;
use super::stats::{Role, StatValue, stat};
use ridge_hlo::wire::{Fields, Value, WireError, varint};
use std::ops::Range;

/// Events per chunk: small enough that a single line keeps all cores busy.
const CHUNK_EVENTS: usize = 1 << 15;

/// A plane, split into its parts.
#[derive(Debug, Default)]
pub(super) struct Plane<'a> {
    /// Its name (`/device:GPU:0`).
    pub(super) name: &'a [u8],
    /// Serialized lines.
    pub(super) lines: Vec<&'a [u8]>,
    /// Serialized stats of the plane itself.
    pub(super) stats: Vec<&'a [u8]>,
    /// Event metadata entries: id and message.
    pub(super) event_metadata: Vec<(u64, &'a [u8])>,
    /// Stat metadata entries: id and name.
    pub(super) stat_names: Vec<(u64, &'a [u8])>,
    /// Where reading stopped, if before the end, and the rest of a line that was cut there.
    pub(super) broken: Option<WireError>,
}

/// Splits a plane into its parts; metadata may stand before or after the lines.
pub(super) fn split(bytes: &[u8]) -> Plane<'_> {
    let mut plane = Plane::default();
    for field in Fields::new(bytes) {
        match field {
            Ok((2, Value::Bytes(name))) => plane.name = name,
            Ok((3, Value::Bytes(line))) => plane.lines.push(line),
            Ok((4, Value::Bytes(entry))) => plane.event_metadata.push(map_entry(entry)),
            Ok((5, Value::Bytes(entry))) => {
                let (id, message) = map_entry(entry);
                plane.stat_names.push((id, first_text(message, 2)));
            }
            Ok((6, Value::Bytes(stat))) => plane.stats.push(stat),
            Ok(_) => {}
            Err(error) => {
                plane.broken = Some(error);
                plane.lines.extend(cut_line(bytes, error.offset));
            }
        }
    }
    plane
}

/// The rest of the plane where a line was announced that goes beyond its end.
fn cut_line(bytes: &[u8], offset: usize) -> Option<&[u8]> {
    if bytes.get(offset) != Some(&0x1a) {
        return None;
    }
    let mut at = offset + 1;
    varint(bytes, &mut at)?;
    Some(&bytes[at..])
}

fn map_entry(entry: &[u8]) -> (u64, &[u8]) {
    let (mut id, mut message): (u64, &[u8]) = (0, &[]);
    for field in Fields::new(entry).map_while(Result::ok) {
        match field {
            (1, Value::Varint(key)) => id = key,
            (2, Value::Bytes(value)) => message = value,
            _ => {}
        }
    }
    (id, message)
}

/// The text of field `number` of a message; empty where there is none.
pub(super) fn first_text(message: &[u8], number: u32) -> &[u8] {
    let mut fields = Fields::new(message).map_while(Result::ok);
    fields.find_map(|(found, value)| (found == number).then(|| value.bytes()).flatten()).unwrap_or_default()
}

/// Lookups of one plane: what stat ids mean and what interned texts say.
#[derive(Debug)]
pub(super) struct StatTable<'a> {
    roles: IdMap<Role>,
    names: IdMap<&'a [u8]>,
}

impl<'a> StatTable<'a> {
    pub(super) fn new(names: &[(u64, &'a [u8])]) -> StatTable<'a> {
        StatTable {
            roles: IdMap::collect(names.iter().map(|(id, name)| (*id, Role::of(name))).collect()),
            names: IdMap::collect(names.to_vec()),
        }
    }

    /// What the stat `id` says; an id without metadata says nothing.
    #[inline]
    pub(super) fn role(&self, id: u64) -> Role {
        self.roles.get(id).copied().unwrap_or(Role::Other)
    }

    /// The name of stat metadata `id`, which is also the text that references to it mean.
    pub(super) fn name(&self, id: u64) -> Option<&'a [u8]> {
        self.names.get(id).copied()
    }

    /// The stats of `messages` by name, in order.
    pub(super) fn named(&self, messages: &[&'a [u8]]) -> Vec<(&'a [u8], StatValue<'a>)> {
        let stats = messages.iter().filter_map(|message| stat(message));
        stats.filter_map(|(id, value)| Some((self.name(id)?, value))).collect()
    }

    /// The text of a value, in place or interned.
    pub(super) fn text(&self, value: StatValue<'a>) -> Option<&'a [u8]> {
        match value {
            StatValue::Bytes(text) => Some(text),
            StatValue::Ref(id) => self.name(id),
            _ => None,
        }
    }
}

/// A line before its events are decoded.
#[derive(Debug, Default, Clone)]
pub(super) struct Line<'a> {
    /// Its id: a stream's, or a hashed thread id.
    pub(super) id: i64,
    /// Its name.
    pub(super) name: &'a [u8],
    /// Time of its events' zero, nanoseconds.
    pub(super) timestamp_ns: i64,
    /// Number of events.
    pub(super) events: usize,
    /// Pieces of the line's bytes with the number of events in each.
    pub(super) chunks: Vec<(Range<usize>, usize)>,
    /// All its bytes.
    pub(super) bytes: &'a [u8],
    /// Where reading stopped, if before the end.
    pub(super) broken: Option<WireError>,
}

/// Counts a line's events and cuts it into chunks.
pub(super) fn scan_line(bytes: &[u8]) -> Line<'_> {
    let mut line = Line { bytes, ..Line::default() };
    let mut display_name: &[u8] = &[];
    let (mut chunk_start, mut chunk_events, mut at) = (0, 0, 0);
    loop {
        // Events are nearly all of a line: skip them without looking inside.
        while bytes.get(at) == Some(&0x22) {
            let mut next = at + 1;
            let end = varint(bytes, &mut next).and_then(|length| next.checked_add(usize::try_from(length).ok()?));
            let Some(end) = end.filter(|end| *end <= bytes.len()) else { break };
            at = end;
            chunk_events += 1;
            if chunk_events == CHUNK_EVENTS {
                line.chunks.push((chunk_start..at, chunk_events));
                line.events += chunk_events;
                (chunk_start, chunk_events) = (at, 0);
            }
        }
        let mut fields = Fields::new(&bytes[at..]);
        match fields.next() {
            None => break,
            Some(Ok((1, Value::Varint(id)))) => line.id = id as i64,
            Some(Ok((2, Value::Bytes(name)))) => line.name = name,
            Some(Ok((3, Value::Varint(time)))) => line.timestamp_ns = time as i64,
            Some(Ok((11, Value::Bytes(name)))) => display_name = name,
            Some(Ok(_)) => {}
            Some(Err(error)) => {
                line.broken = Some(WireError { offset: at + error.offset, what: error.what });
                break;
            }
        }
        at += fields.offset();
    }
    line.chunks.push((chunk_start..at, chunk_events));
    line.events += chunk_events;
    if line.name.is_empty() {
        line.name = display_name;
    }
    line
}
