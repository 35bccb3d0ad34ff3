//! The packets of a trace: tracks, interned names, and events as they come.

use flate2::read::ZlibDecoder;
use ridge_hlo::wire::{Fields, Value, text};
use rustc_hash::FxHashMap;
use std::fmt::Write as _;
use std::io::Read;

/// Annotations may nest; deeper ones are left out.
const MOST_NESTED: u32 = 8;
/// Texts that stand elsewhere are left out of the arguments of an event that has as many bytes already.
const MOST_REPEATED: usize = 1 << 20;
/// A text stands in the file once and is named by events of some bytes each: what all of them become is at most so many times
/// what was read, and some more for small files.
const MOST_GROWTH: usize = 64;
const FREE_GROWTH: usize = 16 << 20;

/// Whether an event begins something, ends it, or stands alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Phase {
    Begin,
    End,
    Instant,
    /// The value of a counter.
    Value(f64),
    /// A slice that says how long it took.
    Whole(u64),
}

/// An event of a track.
#[derive(Debug)]
pub(super) struct Event {
    pub(super) time_ns: u64,
    pub(super) phase: Phase,
    pub(super) name: u32,
    pub(super) category: u32,
    /// Members of its arguments as JSON, each with a comma before it.
    pub(super) arguments: String,
    pub(super) flow: Option<u64>,
}

/// What is said of a track.
#[derive(Debug, Default, Clone)]
pub(super) struct Track {
    pub(super) parent: Option<u64>,
    pub(super) name: String,
    pub(super) process: Option<u64>,
    pub(super) thread: Option<u64>,
    /// Its place among its siblings; tracks of one name and place are one, drawn on several lines.
    pub(super) rank: Option<u64>,
}

/// A trace, gathered.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    pub(super) tracks: FxHashMap<u64, Track>,
    /// Events by track, in the order of the file.
    pub(super) events: FxHashMap<u64, Vec<Event>>,
    /// What an export of this project says of its devices.
    pub(super) own: Option<String>,
    pub(super) names: Vec<Box<str>>,
    ids: FxHashMap<Box<str>, u32>,
    /// Bytes that the text of all events may have.
    pub(super) most_text: usize,
    /// Of these, what arguments have left.
    room: usize,
    pub(super) lost: Lost,
}

/// What is not shown, and how much of it.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Lost {
    dropped: u64,
    odd_clocks: u64,
    too_large: u64,
    pub(super) beyond: u64,
    pub(super) unended: u64,
}

impl Lost {
    pub(super) fn notes(self) -> impl Iterator<Item = (&'static str, u64)> {
        [
            ("packets were dropped while the trace was recorded", self.dropped),
            ("events use their own clocks, which are not converted: times are as written", self.odd_clocks),
            ("compressed packets beyond the limit were left out", self.too_large),
            ("events were left out: their names and arguments exceed the limit for a file of this size", self.beyond),
            ("slices that never began or never ended were left out", self.unended),
        ]
        .into_iter()
        .filter(|(_, count)| *count > 0)
    }
}

impl Gathered {
    pub(super) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Bytes were read.
    fn grow(&mut self, read: usize) {
        let more = read.saturating_mul(MOST_GROWTH);
        self.most_text = self.most_text.saturating_add(more);
        self.room = self.room.saturating_add(more);
    }

    fn id(&mut self, name: &str) -> u32 {
        if let Some(known) = self.ids.get(name) {
            return *known;
        }
        let id = self.names.len() as u32;
        self.names.push(name.into());
        self.ids.insert(name.into(), id);
        id
    }
}

/// What a writer of packets said once and refers to.
#[derive(Debug, Default)]
struct Sequence {
    categories: FxHashMap<u64, u32>,
    names: FxHashMap<u64, u32>,
    keys: FxHashMap<u64, u32>,
    texts: FxHashMap<u64, u32>,
    stages: FxHashMap<u64, u32>,
    track: Option<u64>,
    clock: u64,
}

/// Gathers all packets of `bytes`; where it is damaged, the offset of what could not be read.
pub(super) fn read(bytes: &[u8], most_unpacked_bytes: u64) -> (Gathered, Option<u64>) {
    let mut reader =
        Reader { gathered: Gathered::default(), sequences: FxHashMap::default(), left: most_unpacked_bytes };
    (reader.gathered.most_text, reader.gathered.room) = (FREE_GROWTH, FREE_GROWTH);
    reader.gathered.grow(bytes.len());
    let damage = reader.all(bytes, true);
    (reader.gathered, damage)
}

struct Reader {
    gathered: Gathered,
    sequences: FxHashMap<u64, Sequence>,
    /// How many bytes may still be unpacked.
    left: u64,
}

impl Reader {
    fn all(&mut self, bytes: &[u8], may_unpack: bool) -> Option<u64> {
        let mut fields = Fields::new(bytes);
        loop {
            let offset = fields.offset();
            match fields.next()? {
                Ok((1, Value::Bytes(packet))) => self.packet(packet, may_unpack),
                Ok(_) => {}
                Err(_) => return Some(offset as u64),
            }
        }
    }

    fn packet(&mut self, packet: &[u8], may_unpack: bool) {
        let (mut time, mut clock, mut sequence, mut flags) = (0, None, 0, 0);
        let mut parts: Vec<(u32, &[u8])> = Vec::new();
        for (number, value) in Fields::new(packet).map_while(Result::ok) {
            match (number, value) {
                (8, value) => time = value.integer().unwrap_or(0),
                (58, value) => clock = value.integer(),
                (10, value) => sequence = value.integer().unwrap_or(0),
                (13, value) => flags = value.integer().unwrap_or(0),
                (42, Value::Varint(1)) => self.gathered.lost.dropped += 1,
                (5 | 11 | 12 | 50 | 53 | 59 | 60, Value::Bytes(part)) => parts.push((number, part)),
                _ => {}
            }
        }
        if flags & 1 != 0 {
            self.sequences.remove(&sequence);
        }
        let Reader { gathered, sequences, .. } = self;
        let known = sequences.entry(sequence).or_default();
        // Names come in the packet that needs them, before or behind what does.
        for (number, part) in &parts {
            match number {
                12 => intern(part, known, gathered),
                59 => defaults(part, known),
                60 => describe(part, gathered),
                5 => own(part, gathered),
                _ => {}
            }
        }
        // Numbers from 64 on are clocks of the writer itself.
        let odd = u64::from(clock.unwrap_or(known.clock) >= 64);
        for (number, part) in &parts {
            match number {
                11 => {
                    gathered.lost.odd_clocks += odd;
                    event(part, time, known, gathered);
                }
                53 => {
                    gathered.lost.odd_clocks += odd;
                    render_stage(part, time, known, gathered);
                }
                _ => {}
            }
        }
        for (_, part) in parts.iter().filter(|(number, _)| *number == 50 && may_unpack) {
            self.unpack(part);
        }
    }

    /// `compressed_packets`: a trace of its own, deflated.
    fn unpack(&mut self, part: &[u8]) {
        let mut bytes = Vec::new();
        let read = ZlibDecoder::new(part).take(self.left).read_to_end(&mut bytes);
        self.left -= bytes.len() as u64;
        self.gathered.grow(bytes.len());
        if read.is_err() || self.left == 0 {
            self.gathered.lost.too_large += 1;
        }
        self.all(&bytes, false);
    }
}

/// `InternedData`: entries of an id and a text each.
fn intern(part: &[u8], known: &mut Sequence, gathered: &mut Gathered) {
    for (number, value) in Fields::new(part).map_while(Result::ok) {
        let (Some(entry), 1 | 2 | 3 | 24 | 29) = (value.bytes(), number) else { continue };
        let (mut id, mut name): (u64, &[u8]) = (0, b"");
        for (number, value) in Fields::new(entry).map_while(Result::ok) {
            match (number, value) {
                (1, value) => id = value.integer().unwrap_or(0),
                (2, Value::Bytes(bytes)) => name = bytes,
                _ => {}
            }
        }
        let name = gathered.id(&text(name));
        let table = match number {
            1 => &mut known.categories,
            2 => &mut known.names,
            3 => &mut known.keys,
            24 => &mut known.stages,
            _ => &mut known.texts,
        };
        table.insert(id, name);
    }
}

/// `TracePacketDefaults`: the track and the clock of events that name none.
fn defaults(part: &[u8], known: &mut Sequence) {
    for (number, value) in Fields::new(part).map_while(Result::ok) {
        match (number, value) {
            (58, value) => known.clock = value.integer().unwrap_or(0),
            (11, Value::Bytes(event)) => {
                let track = Fields::new(event).map_while(Result::ok).find(|(number, _)| *number == 11);
                known.track = track.and_then(|(_, value)| value.integer());
            }
            _ => {}
        }
    }
}

/// `TrackDescriptor`.
fn describe(part: &[u8], gathered: &mut Gathered) {
    let (mut uuid, mut track) = (0, Track::default());
    for (number, value) in Fields::new(part).map_while(Result::ok) {
        match (number, value) {
            (1, value) => uuid = value.integer().unwrap_or(0),
            (2 | 10, Value::Bytes(name)) => track.name = text(name).into_owned(),
            (5, value) => track.parent = value.integer(),
            (12, value) => track.rank = value.integer(),
            (3, Value::Bytes(process)) => {
                for (number, value) in Fields::new(process).map_while(Result::ok) {
                    match (number, value) {
                        (1, value) => track.process = value.integer(),
                        (6, Value::Bytes(name)) if track.name.is_empty() => track.name = text(name).into_owned(),
                        _ => {}
                    }
                }
            }
            (4, Value::Bytes(thread)) => {
                for (number, value) in Fields::new(thread).map_while(Result::ok) {
                    match (number, value) {
                        (1, value) => track.process = track.process.or(value.integer()),
                        (2, value) => track.thread = value.integer(),
                        (5, Value::Bytes(name)) if track.name.is_empty() => track.name = text(name).into_owned(),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    gathered.tracks.insert(uuid, track);
}

/// `ChromeEventBundle.metadata`: what an export of this project says of its devices.
fn own(part: &[u8], gathered: &mut Gathered) {
    for (number, value) in Fields::new(part).map_while(Result::ok) {
        let (2, Value::Bytes(entry)) = (number, value) else { continue };
        let mut fields = Fields::new(entry).map_while(Result::ok);
        let (name, value) = (fields.next(), fields.next());
        if let (Some((1, Value::Bytes(b"ridgeline"))), Some((5, Value::Bytes(json)))) = (name, value)
            && let Ok(json) = serde_json::from_slice::<serde_json::Value>(json)
        {
            gathered.own = Some(json.to_string());
        }
    }
}

/// `TrackEvent`.
fn event(part: &[u8], time_ns: u64, known: &Sequence, gathered: &mut Gathered) {
    let (mut track, mut kind, mut name, mut category) = (known.track.unwrap_or(0), 0, None, None);
    let (mut arguments, mut flow, mut counted) = (String::new(), None, 0.0);
    for (number, value) in Fields::new(part).map_while(Result::ok) {
        match (number, value) {
            (9, value) => kind = value.integer().unwrap_or(0),
            (11, value) => track = value.integer().unwrap_or(0),
            (10, value) => name = known.names.get(&value.integer().unwrap_or(0)).copied(),
            (23, Value::Bytes(bytes)) => name = Some(gathered.id(&text(bytes))),
            (3, value) => category = category.or_else(|| known.categories.get(&value.integer()?).copied()),
            (22, Value::Bytes(bytes)) => category = category.or(Some(gathered.id(&text(bytes)))),
            (47 | 36, value) => flow = flow.or(value.integer()),
            (30, value) => counted = value.integer().unwrap_or(0) as i64 as f64,
            (44, Value::Fixed64(bits)) => counted = f64::from_bits(bits),
            (4, Value::Bytes(part)) => annotation(part, known, &gathered.names, &mut arguments),
            _ => {}
        }
    }
    let phase = match kind {
        1 => Phase::Begin,
        2 => Phase::End,
        3 => Phase::Instant,
        4 => Phase::Value(counted),
        _ => return,
    };
    let Some(room) = gathered.room.checked_sub(arguments.len()) else {
        gathered.lost.beyond += 1;
        return;
    };
    gathered.room = room;
    let none = gathered.id("");
    let (name, category) = (name.unwrap_or(none), category.unwrap_or(none));
    gathered.events.entry(track).or_default().push(Event { time_ns, phase, name, category, arguments, flow });
}

/// `GpuRenderStageEvent`: work of a device that says its own queue.
fn render_stage(part: &[u8], time_ns: u64, known: &Sequence, gathered: &mut Gathered) {
    let (mut dur_ns, mut gpu, mut queue, mut stage, mut name) = (0, 0, 0, None, None);
    for (number, value) in Fields::new(part).map_while(Result::ok) {
        match (number, value) {
            (2, value) => dur_ns = value.integer().unwrap_or(0),
            (11, value) => gpu = value.integer().unwrap_or(0),
            (13, value) => queue = value.integer().unwrap_or(0),
            (14, value) => stage = known.stages.get(&value.integer().unwrap_or(0)).copied(),
            (17, Value::Bytes(bytes)) => name = Some(gathered.id(&text(bytes))),
            (20, value) => name = known.names.get(&value.integer().unwrap_or(0)).copied(),
            _ => {}
        }
    }
    let (kernel, unnamed) = (gathered.id("kernel"), gathered.id("(work without a name)"));
    let name = name.or(stage).unwrap_or(unnamed);
    let arguments = format!(",\"device\":{gpu},\"stream\":{queue}");
    let event = Event { time_ns, phase: Phase::Whole(dur_ns), name, category: kernel, arguments, flow: None };
    gathered.events.entry(u64::MAX).or_default().push(event);
}

/// `DebugAnnotation` as a member of an object.
fn annotation(part: &[u8], known: &Sequence, names: &[Box<str>], out: &mut String) {
    let mut key = None;
    for (number, value) in Fields::new(part).map_while(Result::ok) {
        match (number, value) {
            (1, value) => key = value.integer().and_then(|id| named(&known.keys, id, names)).map(str::to_owned),
            (10, Value::Bytes(bytes)) => key = Some(text(bytes).into_owned()),
            _ => {}
        }
    }
    let Some(key) = key else { return };
    // Perfetto's importers of JSON put this before the names of arguments.
    let key = key.strip_prefix("debug.").unwrap_or(&key);
    let _ = write!(out, ",{}:", serde_json::Value::from(key));
    value_of(part, known, names, MOST_NESTED, out);
}

fn named<'n>(table: &FxHashMap<u64, u32>, id: u64, names: &'n [Box<str>]) -> Option<&'n str> {
    names.get(*table.get(&id)? as usize).map(|name| &**name)
}

/// The value of a `DebugAnnotation` as JSON.
fn value_of(part: &[u8], known: &Sequence, names: &[Box<str>], depth: u32, out: &mut String) {
    let mut list: Option<u32> = None;
    let start = out.len();
    for (number, value) in Fields::new(part).map_while(Result::ok) {
        let written = match (number, value) {
            (2, Value::Varint(bit)) => write!(out, "{}", bit != 0),
            (3 | 7, Value::Varint(whole)) => write!(out, "{whole}"),
            (4, Value::Varint(whole)) => write!(out, "{}", whole as i64),
            (5, Value::Fixed64(bits)) => write!(out, "{}", serde_json::Value::from(f64::from_bits(bits))),
            (6, Value::Bytes(bytes)) => write!(out, "{}", serde_json::Value::from(&*text(bytes))),
            (17, Value::Varint(id)) if out.len() < MOST_REPEATED => {
                write!(out, "{}", serde_json::Value::from(named(&known.texts, id, names).unwrap_or_default()))
            }
            (12, Value::Bytes(inner)) if depth > 0 => {
                out.push(if list.is_none() { '[' } else { ',' });
                list = Some(list.unwrap_or(0) + 1);
                value_of(inner, known, names, depth - 1, out);
                continue;
            }
            _ => continue,
        };
        if written.is_ok() {
            return;
        }
    }
    match list {
        Some(_) => out.push(']'),
        None => {
            out.truncate(start);
            out.push_str("null");
        }
    }
}
