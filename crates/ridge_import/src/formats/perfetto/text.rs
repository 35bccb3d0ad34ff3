//! What was gathered, as trace-event JSON.

use super::packets::{Event, Gathered, Phase, Track};
use rustc_hash::FxHashMap;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Write as _;

/// Parents are followed this far: a file may name a track as its own.
const MOST_PARENTS: usize = 64;
/// Devices of this project's exports stand for processes from here on.
const FIRST_DEVICE_PID: u64 = 1_000_000;
/// Thread ids of tracks that are no threads begin here, above those of a system.
const FIRST_MADE_UP_THREAD: u64 = 1 << 32;

/// Trace-event JSON, and what is not in it.
pub(super) struct Written {
    pub(super) json: Vec<u8>,
    /// Slices that had no beginning or no end.
    pub(super) unended: u64,
    /// Events after the text had as many bytes as it may.
    pub(super) beyond: u64,
}

/// Writes the events of all tracks.
pub(super) fn write(trace: Gathered) -> Written {
    let out = b"{\"displayTimeUnit\":\"ns\"".to_vec();
    let mut writer = Writer { out, most: trace.most_text, is_first: true, unended: 0, beyond: 0 };
    let is_own = trace.own.is_some();
    if let Some(own) = &trace.own {
        let _ = write!(writer.out, ",\"ridgeline\":{own}");
    }
    writer.out.extend_from_slice(b",\"traceEvents\":[");
    let mut made_up: FxHashMap<(Option<u64>, String, Option<u64>), u64> = FxHashMap::default();
    let Gathered { tracks, events, names, .. } = trace;
    let nothing = Track::default();
    let mut all: Vec<(u64, Vec<Event>)> = events.into_iter().collect();
    all.sort_unstable_by_key(|(uuid, _)| *uuid);
    let is_in_order = |events: &[Event]| events.is_sorted_by_key(|event| event.time_ns);
    // Exports of ours are in order but for their counters, which may come from several logs.
    let is_ordered = is_own || all.iter().all(|(_, events)| is_in_order(events));
    let mut said: BTreeMap<(u64, Option<u64>), String> = BTreeMap::new();
    for (uuid, events) in all {
        let track = tracks.get(&uuid).unwrap_or(&nothing);
        let home = process_of(track, &tracks);
        let pid = home.and_then(|home| home.process).unwrap_or(0);
        let is_device = is_own && pid >= FIRST_DEVICE_PID;
        let pid = if is_device { pid - FIRST_DEVICE_PID } else { pid };
        let next = FIRST_MADE_UP_THREAD + made_up.len() as u64;
        let tid = match (track.rank.filter(|_| is_own), track.thread) {
            (Some(rank), _) => rank,
            (None, Some(thread)) => thread,
            (None, None) => *made_up.entry((track.parent, track.name.clone(), track.rank)).or_insert(next),
        };
        if let Some(home) = home {
            said.insert((pid, None), home.name.clone());
        }
        said.insert((pid, Some(tid)), track.name.clone());
        let place = Place { pid, tid, is_own, is_ordered };
        writer.track(place, track, events, &names);
    }
    for ((pid, tid), name) in said.into_iter().filter(|(_, name)| !name.is_empty()) {
        let (what, tid) = (if tid.is_some() { "thread_name" } else { "process_name" }, tid.unwrap_or(0));
        writer.begin();
        let name = Value::from(name);
        let _ = write!(writer.out, r#"{{"ph":"M","name":"{what}","pid":{pid},"tid":{tid},"args":{{"name":{name}}}}}"#);
    }
    writer.out.extend_from_slice(b"]}");
    Written { json: writer.out, unended: writer.unended, beyond: writer.beyond }
}

/// The nearest of `track` and its parents that is of a process.
fn process_of<'t>(track: &'t Track, tracks: &'t FxHashMap<u64, Track>) -> Option<&'t Track> {
    let mut at = track;
    for _ in 0..MOST_PARENTS {
        match at.parent.and_then(|parent| tracks.get(&parent)) {
            _ if at.process.is_some() && at.thread.is_none() => return Some(at),
            Some(parent) => at = parent,
            None => return at.process.is_some().then_some(at),
        }
    }
    None
}

/// Where the events of a track are shown.
#[derive(Debug, Clone, Copy)]
struct Place {
    pid: u64,
    tid: u64,
    /// Whether the file is an export of this project, which tells its flows from correlations.
    is_own: bool,
    /// Whether every track is in the order of time, by which a slice that takes no time is known.
    is_ordered: bool,
}

struct Writer {
    out: Vec<u8>,
    /// Bytes after which no more events are written.
    most: usize,
    is_first: bool,
    unended: u64,
    beyond: u64,
}

impl Writer {
    fn begin(&mut self) {
        self.out.extend_from_slice(if std::mem::take(&mut self.is_first) { b"\n" } else { b",\n" });
    }

    fn track(&mut self, place: Place, track: &Track, mut events: Vec<Event>, names: &[Box<str>]) {
        if !place.is_ordered {
            // At one time what ends makes room for what begins.
            events.sort_by_key(|event| (event.time_ns, event.phase != Phase::End));
        }
        let mut open: Vec<Event> = Vec::new();
        for event in events {
            if self.out.len() > self.most {
                self.beyond += 1;
                continue;
            }
            match event.phase {
                Phase::Begin => open.push(event),
                Phase::End => match open.pop() {
                    Some(begun) => {
                        let dur_ns = event.time_ns.saturating_sub(begun.time_ns);
                        // Arguments may come with the end.
                        self.slice(place, &begun, dur_ns, &event.arguments, names);
                    }
                    None => self.unended += 1,
                },
                Phase::Whole(dur_ns) => self.slice(place, &event, dur_ns, "", names),
                Phase::Instant => {
                    self.head(place, "i", &event, names);
                    self.out.extend_from_slice(b",\"s\":\"t\"");
                    self.arguments(place, &event, "");
                }
                Phase::Value(value) => self.counter(place, track, &event, value, names),
            }
        }
        self.unended += open.len() as u64;
    }

    fn head(&mut self, Place { pid, tid, .. }: Place, phase: &str, event: &Event, names: &[Box<str>]) {
        let text = |id: u32| Value::from(names.get(id as usize).map_or("", |name| &**name));
        let (name, category) = (text(event.name), text(event.category));
        self.begin();
        let _ = write!(self.out, r#"{{"ph":"{phase}","cat":{category},"name":{name},"pid":{pid},"tid":{tid},"ts":"#);
        self.micros(event.time_ns);
    }

    fn slice(&mut self, place: Place, event: &Event, dur_ns: u64, more: &str, names: &[Box<str>]) {
        self.head(place, "X", event, names);
        self.out.extend_from_slice(b",\"dur\":");
        self.micros(dur_ns);
        self.arguments(place, event, more);
    }

    fn arguments(&mut self, place: Place, event: &Event, more: &str) {
        let flow = event.flow.filter(|_| place.is_own).map(|flow| format!(",\"correlation\":{flow}"));
        let all = format!("{}{more}{}", event.arguments, flow.unwrap_or_default());
        if let Some(all) = all.strip_prefix(',') {
            let _ = write!(self.out, ",\"args\":{{{all}}}");
        }
        self.out.push(b'}');
    }

    fn counter(&mut self, Place { pid, .. }: Place, track: &Track, event: &Event, value: f64, names: &[Box<str>]) {
        let said = names.get(event.name as usize).map_or("", |name| &**name);
        let name = Value::from(if said.is_empty() { track.name.as_str() } else { said });
        self.begin();
        let _ = write!(self.out, r#"{{"ph":"C","pid":{pid},"name":{name},"ts":"#);
        self.micros(event.time_ns);
        let _ = write!(self.out, r#","args":{{"value":{}}}}}"#, Value::from(value));
    }

    /// Nanoseconds as microseconds, exactly.
    fn micros(&mut self, nanos: u64) {
        let _ = write!(self.out, "{}.{:03}", nanos / 1000, nanos % 1000);
    }
}
