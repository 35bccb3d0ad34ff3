//! Walking the file: its members, then its events, one unit after another, from any place where a unit begins.
//!
//! A unit (a member or an event) is read whole or not at all, so the walk can stop where the bytes end and go on when
//! more have come, or start in the middle of the events to read several stretches at once.

use super::chunk::Chunk;
use super::event::RawEvent;
use super::flaws::Flaw;
use super::header::Header;
use super::json::{Cursor, Quotes, Stop};

/// What comes next in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// The first byte.
    Start,
    /// A member of the file's object.
    Members,
    /// An event, in the file's object or, if it is bare, in the array that is the whole file.
    Events { bare: bool },
    /// Behind an event that cannot be read: the next that can.
    Lost { bare: bool },
    /// Nothing.
    Done,
}

/// Some bytes of the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window<'a> {
    pub(super) bytes: &'a [u8],
    /// Where they begin in the file.
    pub(super) base: u64,
    /// Whether the file ends with them.
    pub(super) is_last: bool,
}

/// Where a walk has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Position {
    /// In the window; a unit begins there.
    pub(super) at: usize,
    pub(super) mode: Mode,
    /// Whether the unit that begins there goes on beyond the window.
    pub(super) is_cut: bool,
}

impl Position {
    /// The beginning of the file.
    pub(super) const START: Position = Position { at: 0, mode: Mode::Start, is_cut: false };
}

/// Walks from `from` to the first event at or behind `until`, or as far as the window goes.
pub(super) fn walk<'a>(
    window: Window<'a>,
    from: Position,
    until: usize,
    chunk: &mut Chunk<'a>,
    header: &mut Header,
) -> Position {
    let mut position = Position { is_cut: false, ..from };
    loop {
        let before = position.at;
        let step = match position.mode {
            Mode::Done => return position,
            Mode::Start => start(window, &mut position),
            Mode::Members => member(window, &mut position, chunk, header),
            Mode::Lost { bare } => find_again(window, &mut position, bare),
            Mode::Events { bare } => match event(window, &mut position, bare, until, chunk) {
                Ok(true) => return position,
                other => other.map(|_| ()),
            },
        };
        if step.is_err() {
            // A unit that did not end: the next try begins with it again, unless it was passed on purpose.
            position.at = position.at.max(before);
            position.is_cut = true;
            return position;
        }
    }
}

/// That the window ends inside a unit.
struct Cut;

fn start(window: Window<'_>, position: &mut Position) -> Result<(), Cut> {
    let mut cursor = Cursor::new(window.bytes, position.at);
    if window.base == 0 && window.bytes.starts_with(b"\xef\xbb\xbf") {
        cursor.at = 3;
    }
    position.mode = match cursor.peek() {
        Ok(b'{') => Mode::Members,
        Ok(b'[') => Mode::Events { bare: true },
        Ok(_) => Mode::Done,
        Err(_) => return Err(Cut),
    };
    position.at = cursor.at + usize::from(position.mode != Mode::Done);
    Ok(())
}

fn member<'a>(
    window: Window<'a>,
    position: &mut Position,
    chunk: &mut Chunk<'a>,
    header: &mut Header,
) -> Result<(), Cut> {
    let mut cursor = Cursor::new(window.bytes, position.at);
    match read_member(&mut cursor, header) {
        Ok(mode) => {
            position.mode = mode;
            position.at = cursor.at;
            Ok(())
        }
        Err(Stop::End) => Err(Cut),
        Err(Stop::Bad(at, _)) => {
            chunk.flaws.add(Flaw::NotJson, window.base + at as u64);
            let events = memchr::memmem::find(&window.bytes[at..], b"\"traceEvents\"").map(|found| at + found);
            position.mode = if events.is_some() { Mode::Members } else { Mode::Done };
            position.at = events.filter(|events| *events > position.at).unwrap_or(window.bytes.len());
            Ok(())
        }
    }
}

fn read_member(cursor: &mut Cursor<'_>, header: &mut Header) -> Result<Mode, Stop> {
    let Some(key) = cursor.key()? else { return Ok(Mode::Done) };
    if key == b"traceEvents" && cursor.peek()? == b'[' {
        cursor.at += 1;
        header.has_events = true;
        return Ok(Mode::Events { bare: false });
    }
    let value = cursor.value()?;
    // A number may go on in the next window.
    cursor.peek()?;
    header.take(key, value);
    Ok(Mode::Members)
}

/// Reads one event; `true` where the next begins at or behind `until`.
fn event<'a>(
    window: Window<'a>,
    position: &mut Position,
    bare: bool,
    until: usize,
    chunk: &mut Chunk<'a>,
) -> Result<bool, Cut> {
    let mut cursor = Cursor::new(window.bytes, position.at);
    match cursor.item() {
        Ok(true) => position.at = cursor.at,
        Ok(false) => {
            position.at = cursor.at;
            position.mode = if bare { Mode::Done } else { Mode::Members };
            return Ok(false);
        }
        // A bare list may leave out its end.
        Err(_) if bare && window.is_last => {
            position.at = cursor.at;
            position.mode = Mode::Done;
            return Ok(false);
        }
        Err(_) => return Err(Cut),
    }
    let start = cursor.at;
    if start >= until {
        return Ok(true);
    }
    let offset = window.base + start as u64;
    if window.bytes[start] != b'{' {
        if let Err(stop) = cursor.value() {
            return recover(window, position, bare, stop, chunk).map(|()| false);
        }
        position.at = cursor.at;
        return Ok(false);
    }
    match RawEvent::read(&mut cursor) {
        Ok(event) => chunk.add(&event, offset),
        // A string that does not end swallows what follows it: not the end of the file, if events can be seen there.
        Err(Stop::End) if !window.is_last || !may_recover(window, start, chunk) => return Err(Cut),
        Err(_) => {
            cursor = Cursor { quotes: Quotes::ByWhatFollows, ..Cursor::new(window.bytes, start) };
            match RawEvent::read(&mut cursor) {
                Ok(event) => {
                    chunk.flaws.add(Flaw::StrayQuotes, offset);
                    chunk.add(&event, offset);
                }
                Err(stop) => return recover(window, position, bare, stop, chunk).map(|()| false),
            }
        }
    }
    position.at = cursor.at;
    Ok(false)
}

/// Whether it makes sense to look behind an event that does not end.
fn may_recover(window: Window<'_>, start: usize, chunk: &Chunk<'_>) -> bool {
    /// Each costs a walk to the end of the file.
    const MOST_ENDLESS: u32 = 16;
    chunk.endless < MOST_ENDLESS && find_event_start(window.bytes, start).is_some()
}

/// Leaves out the event at `position`, which cannot be read.
fn recover(
    window: Window<'_>,
    position: &mut Position,
    bare: bool,
    stop: Stop,
    chunk: &mut Chunk<'_>,
) -> Result<(), Cut> {
    if stop == Stop::End && !(window.is_last && may_recover(window, position.at, chunk)) {
        return Err(Cut);
    }
    chunk.endless += u32::from(stop == Stop::End);
    chunk.flaws.add(Flaw::NotJson, window.base + position.at as u64);
    position.at += 1;
    position.mode = Mode::Lost { bare };
    Ok(())
}

fn find_again(window: Window<'_>, position: &mut Position, bare: bool) -> Result<(), Cut> {
    /// What ends one event and begins the next may be cut by the window's end.
    const KEPT: usize = 4096;
    if let Some(start) = find_event_start(window.bytes, position.at) {
        position.at = start;
        position.mode = Mode::Events { bare };
        return Ok(());
    }
    if window.is_last {
        position.mode = Mode::Done;
        position.at = window.bytes.len();
        return Ok(());
    }
    position.at = position.at.max(window.bytes.len().saturating_sub(KEPT));
    Err(Cut)
}

/// Where, from `from` on, an event seems to begin: an object behind another and a comma.
///
/// It may be inside a string or inside an event; whoever reads several stretches at once has to check.
pub(super) fn find_event_start(bytes: &[u8], from: usize) -> Option<usize> {
    let ends = memchr::memchr_iter(b'}', bytes.get(from..)?).map(|end| from + end);
    ends.filter_map(|end| {
        let mut cursor = Cursor::new(bytes, end + 1);
        cursor.expect(b',', "").ok()?;
        let start = (cursor.peek().ok()? == b'{').then_some(cursor.at)?;
        cursor.at += 1;
        (cursor.peek().ok()? == b'"').then_some(start)
    })
    .next()
}
