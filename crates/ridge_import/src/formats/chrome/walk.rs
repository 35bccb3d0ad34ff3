//! Walking the file: its members, then its events, one unit after another, from any place where a unit begins.
//!
//! A unit (a member or an event) is read whole or not at all, so the walk can stop where the bytes end and go on when
//! more have come, or start in the middle of the events to read several stretches at once.

use super::chunk::Chunk;
use super::event::RawEvent;
use super::flaws::Flaw;
use super::header::Header;
use super::json::{Cursor, Quotes, Stop};
use super::reread::{LONGEST, RereadBudget};

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
    pub(super) budget: RereadBudget,
}

impl Position {
    /// The beginning of the file.
    pub(super) const START: Position =
        Position { at: 0, mode: Mode::Start, is_cut: false, budget: RereadBudget::AT_FIRST };
}

/// Walks from `from` to the first event at or behind `until`, or as far as the window goes.
pub(super) fn walk<'a>(
    window: Window<'a>,
    from: Position,
    until: usize,
    chunk: &mut Chunk<'a>,
    header: &mut Header,
) -> Position {
    let mut walk = Walk { window, position: Position { is_cut: false, ..from }, chunk };
    loop {
        let before = walk.position.at;
        let step = match walk.position.mode {
            Mode::Done => return walk.position,
            Mode::Start => walk.start(),
            Mode::Members => walk.member(header),
            Mode::Lost { bare } => walk.find_again(bare),
            Mode::Events { bare } => match walk.event(bare, until) {
                Ok(true) => return walk.position,
                other => other.map(|_| ()),
            },
        };
        let position = &mut walk.position;
        // A unit that did not end: the next try begins with it again, unless it was passed on purpose.
        position.at = position.at.max(before);
        position.budget.went_on(position.at - before);
        if step.is_err() {
            position.is_cut = true;
            return *position;
        }
    }
}

/// That the window ends inside a unit.
struct Cut;

/// A walk on its way.
struct Walk<'a, 'c> {
    window: Window<'a>,
    position: Position,
    chunk: &'c mut Chunk<'a>,
}

impl<'a> Walk<'a, '_> {
    fn start(&mut self) -> Result<(), Cut> {
        let (window, position) = (self.window, &mut self.position);
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

    fn member(&mut self, header: &mut Header) -> Result<(), Cut> {
        let (window, position) = (self.window, &mut self.position);
        let mut cursor = Cursor::new(window.bytes, position.at);
        match read_member(&mut cursor, header) {
            Ok(mode) => {
                position.mode = mode;
                position.at = cursor.at;
                Ok(())
            }
            Err(Stop::End) => Err(Cut),
            Err(Stop::Bad(at, _)) => {
                self.chunk.flaws.add(Flaw::NotJson, window.base + at as u64);
                let events = memchr::memmem::find(&window.bytes[at..], b"\"traceEvents\"").map(|found| at + found);
                position.mode = if events.is_some() { Mode::Members } else { Mode::Done };
                position.at = events.filter(|events| *events > position.at).unwrap_or(window.bytes.len());
                Ok(())
            }
        }
    }

    /// Reads one event; `true` where the next begins at or behind `until`.
    fn event(&mut self, bare: bool, until: usize) -> Result<bool, Cut> {
        let (window, position) = (self.window, &mut self.position);
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
        if position.at >= until {
            return Ok(true);
        }
        match window.bytes[position.at] {
            b'{' => self.object(bare)?,
            _ => match self.read(Quotes::Escaped, |cursor| cursor.value().map(drop))? {
                Ok(((), end)) => self.position.at = end,
                Err(reached) => self.leave_out(bare, reached),
            },
        }
        Ok(false)
    }

    /// Takes in the event whose brace comes next, or leaves it out.
    fn object(&mut self, bare: bool) -> Result<(), Cut> {
        let (start, offset) = (self.position.at, self.window.base + self.position.at as u64);
        let reached = match self.read(Quotes::Escaped, RawEvent::read)? {
            Ok((event, end)) => {
                self.chunk.add(&event, offset);
                self.position.at = end;
                return Ok(());
            }
            Err(reached) => reached,
        };
        if !self.position.budget.reads_again(reached - start) {
            self.leave_out_all(bare, reached);
            return Ok(());
        }
        match self.read(Quotes::ByWhatFollows, RawEvent::read)? {
            Ok((event, end)) => {
                self.chunk.flaws.add(Flaw::StrayQuotes, offset);
                self.chunk.add(&event, offset);
                self.position.at = end;
            }
            Err(reached) => self.leave_out(bare, reached),
        }
        Ok(())
    }

    /// Reads what begins here: it and where it ends, or how far was looked in vain.
    ///
    /// A long look in vain reports where the short one before it ended: it is paid for by itself, and what lies behind the
    /// short one may be sound.
    fn read<T>(
        &mut self,
        quotes: Quotes,
        read: impl Fn(&mut Cursor<'a>) -> Result<T, Stop>,
    ) -> Result<Result<(T, usize), usize>, Cut> {
        let (window, start, budget) = (self.window, self.position.at, &mut self.position.budget);
        let look = |end: usize| {
            let mut cursor = Cursor { quotes, ..Cursor::new(&window.bytes[..end], start) };
            read(&mut cursor).map(|found| (found, cursor.at))
        };
        let end_of = |length: usize| window.bytes.len().min(start.saturating_add(length));
        let (short, long) = (end_of(budget.longest()), end_of(LONGEST));
        let (mut end, mut outcome) = (short, look(short));
        if matches!(outcome, Err(Stop::End)) && short < long && budget.may_be_long() {
            (end, outcome) = (long, look(long));
        }
        let reached = match outcome {
            Ok(found) => return Ok(Ok(found)),
            Err(Stop::Bad(at, _)) => at,
            Err(Stop::End) if end < window.bytes.len() => end,
            // A string that does not end swallows what follows it: not the end of the file, if events can be seen there.
            Err(Stop::End) if window.is_last && find_event_start(window.bytes, start).is_some() => end,
            Err(Stop::End) => return Err(Cut),
        };
        if end == short {
            return Ok(Err(reached));
        }
        budget.was_long_in_vain();
        Ok(Err(short))
    }

    /// Leaves out the event here, which cannot be read: `reached` is how far was looked.
    fn leave_out(&mut self, bare: bool, reached: usize) {
        let start = self.position.at;
        let again = self.position.budget.reads_again(reached - start);
        self.leave_out_all(bare, if again { start + 1 } else { reached });
    }

    /// Leaves out all that begins before `until`.
    fn leave_out_all(&mut self, bare: bool, until: usize) {
        let position = &mut self.position;
        self.chunk.flaws.add(Flaw::NotJson, self.window.base + position.at as u64);
        position.at = until.max(position.at + 1);
        position.mode = Mode::Lost { bare };
    }

    fn find_again(&mut self, bare: bool) -> Result<(), Cut> {
        /// What ends one event and begins the next may be cut by the window's end.
        const KEPT: usize = 4096;
        let (window, position) = (self.window, &mut self.position);
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
