//! Perfetto's own format: a sequence of `TracePacket`s.
//!
//! Field numbers are those of google/perfetto: `trace_packet.proto`, `track_event/track_event.proto`,
//! `track_event/track_descriptor.proto`, `track_event/debug_annotation.proto`, `interned_data/interned_data.proto`.
//! Each track of the trace is a named child of its device's or process's track; its lanes bear the same name, which the viewer
//! shows as one. Packets need no order: the reader sorts by time, and keeps the order of a file among equal times.

use crate::args::{Arg, args, category, is_its_category_s, step};
use crate::lanes::{Edge, assign, walk};
use crate::names::Names;
use crate::tracks::{Progress, Tracks};
use crate::wire::{begin_bytes, bytes, fixed64, varint};
use ridgeline::Trace;
use ridgeline::trace::{EventKind, NONE, StringId, Track};
use std::collections::HashMap;
use std::io::{self, Write};

/// `Trace.packet`.
const PACKET: u32 = 1;
/// Fields of `TracePacket`.
const CHROME_EVENTS: u32 = 5;
const TIMESTAMP: u32 = 8;
const SEQUENCE_ID: u32 = 10;
const TRACK_EVENT: u32 = 11;
const INTERNED_DATA: u32 = 12;
const SEQUENCE_FLAGS: u32 = 13;
const TRACK_DESCRIPTOR: u32 = 60;
/// Values of `TracePacket.SequenceFlags`.
const INCREMENTAL_STATE_CLEARED: u64 = 1;
const NEEDS_INCREMENTAL_STATE: u64 = 2;
/// Values of `TrackEvent.Type`.
const SLICE_BEGIN: u64 = 1;
const SLICE_END: u64 = 2;
const INSTANT: u64 = 3;
const COUNTER: u64 = 4;

/// Devices stand for processes of their own; to Perfetto process 0 is a kernel's idle one.
const FIRST_DEVICE_PID: u64 = 1_000_000;

/// Writes `trace` to `out`.
pub(crate) fn write(
    trace: &Trace,
    names: &Names<'_>,
    out: &mut impl Write,
    progress: &mut Progress<'_>,
) -> io::Result<()> {
    // Times are unsigned: a clock that begins below zero is moved.
    let origin = trace.span_ns().map_or(0, |(first, _)| first.min(0));
    let mut writer = Writer {
        trace,
        names,
        tracks: Tracks::new(trace),
        out,
        origin,
        told: vec![false; names.len()],
        told_categories: [false; 64],
        told_keys: Vec::new(),
        next_uuid: 1,
        interned: Vec::new(),
        event: Vec::new(),
        packet: Vec::new(),
        annotation: Vec::new(),
        head: Vec::new(),
    };
    writer.begin()?;
    let parents = writer.parents()?;
    for (position, track) in writer.tracks.all.clone() {
        writer.track(position, track, &parents, progress)?;
    }
    writer.counters(&parents)
}

/// Tracks of devices and processes, by process id.
type Parents = HashMap<u64, u64>;

struct Writer<'a, W> {
    trace: &'a Trace,
    names: &'a Names<'a>,
    tracks: Tracks<'a>,
    out: &'a mut W,
    origin: i64,
    /// Which names, categories and keys the file has said already.
    told: Vec<bool>,
    told_categories: [bool; 64],
    told_keys: Vec<&'static str>,
    next_uuid: u64,
    /// Messages under construction, kept for their memory.
    interned: Vec<u8>,
    event: Vec<u8>,
    packet: Vec<u8>,
    annotation: Vec<u8>,
    head: Vec<u8>,
}

impl<W: Write> Writer<'_, W> {
    /// The first packet tells the reader to forget what it knew of this sequence, the next one tells ours what the devices
    /// are: `ChromeEventBundle.metadata` is a name and, here, JSON. Files are known by their first packet, in which fields
    /// 1 to 5 would look like those of an XPlane capture.
    fn begin(&mut self) -> io::Result<()> {
        varint(SEQUENCE_FLAGS, INCREMENTAL_STATE_CLEARED, &mut self.packet);
        self.send()?;
        let (mut metadata, mut bundle) = (Vec::new(), Vec::new());
        bytes(1, b"ridgeline", &mut metadata);
        bytes(5, self.tracks.devices().to_string().as_bytes(), &mut metadata);
        bytes(2, &metadata, &mut bundle);
        bytes(CHROME_EVENTS, &bundle, &mut self.packet);
        self.send()
    }

    /// Writes `self.packet` and empties it.
    fn send(&mut self) -> io::Result<()> {
        varint(SEQUENCE_ID, 1, &mut self.packet);
        self.head.clear();
        begin_bytes(PACKET, self.packet.len(), &mut self.head);
        self.out.write_all(&self.head)?;
        self.out.write_all(&self.packet)?;
        self.packet.clear();
        Ok(())
    }

    fn parents(&mut self) -> io::Result<Parents> {
        let mut parents = Parents::new();
        for row in 0..self.trace.processes.len() {
            let (pid, name) = (self.tracks.process_pid(row), self.names.process(self.trace, row));
            parents.insert(pid, self.process(pid, &name)?);
        }
        for row in 0..self.trace.devices.len() {
            parents.insert(row as u64, self.process(FIRST_DEVICE_PID + row as u64, &Names::device(self.trace, row))?);
        }
        Ok(parents)
    }

    /// Describes a track that stands for a process: `ProcessDescriptor.pid`, `.process_name`.
    fn process(&mut self, pid: u64, name: &str) -> io::Result<u64> {
        let mut process = Vec::new();
        varint(1, pid, &mut process);
        bytes(6, name.as_bytes(), &mut process);
        self.descriptor(None, name, Some((3, &process)), None)
    }

    /// Describes a track: `uuid`, `name`, `parent_uuid`, one of its kinds, `sibling_order_rank`; its id.
    fn descriptor(
        &mut self,
        parent: Option<u64>,
        name: &str,
        kind: Option<(u32, &[u8])>,
        rank: Option<usize>,
    ) -> io::Result<u64> {
        let uuid = self.next_uuid;
        self.next_uuid += 1;
        let mut descriptor = Vec::new();
        varint(1, uuid, &mut descriptor);
        bytes(2, name.as_bytes(), &mut descriptor);
        if let Some((number, message)) = kind {
            bytes(number, message, &mut descriptor);
        }
        if let Some(parent) = parent {
            varint(5, parent, &mut descriptor);
        }
        if let Some(rank) = rank {
            varint(12, rank as u64, &mut descriptor);
        }
        bytes(TRACK_DESCRIPTOR, &descriptor, &mut self.packet);
        self.send()?;
        Ok(uuid)
    }

    fn track(
        &mut self,
        position: usize,
        track: &Track,
        parents: &Parents,
        progress: &mut Progress<'_>,
    ) -> io::Result<()> {
        let trace = self.trace;
        let parent = parents.get(&self.tracks.pid(track)).copied();
        let name = self.tracks.name(track, self.names);
        // Lanes of one track have its number in common, by which readers of ours join them.
        let number = usize::try_from(self.tracks.tid(position)).ok();
        for lane in assign(trace, Tracks::rows(track)) {
            let uuid = self.descriptor(parent, &name, None, number)?;
            walk(trace, &lane, |edge| match edge {
                Edge::Begin(row) => {
                    progress.row();
                    self.begin_event(uuid, row)
                }
                Edge::End(row) if trace.events.kind(row) == EventKind::Instant => Ok(()),
                Edge::End(row) => {
                    varint(9, SLICE_END, &mut self.event);
                    varint(11, uuid, &mut self.event);
                    self.send_event(trace.events.end_ns(row))
                }
            })?;
        }
        Ok(())
    }

    fn begin_event(&mut self, uuid: u64, row: usize) -> io::Result<()> {
        let (trace, names) = (self.trace, self.names);
        let kind = trace.events.kind(row);
        let category_id = self.category(kind);
        let name_id = self.name(trace.events.name[row]);
        varint(3, category_id, &mut self.event);
        varint(9, if kind == EventKind::Instant { INSTANT } else { SLICE_BEGIN }, &mut self.event);
        varint(10, name_id, &mut self.event);
        varint(11, uuid, &mut self.event);
        let link = trace.events.link[row];
        let is_linked = link != NONE || self.tracks.is_cause(row);
        if is_linked {
            let flow = if link == NONE { row as u64 } else { link.into() };
            fixed64(47, flow + 1, &mut self.event);
        }
        if !is_its_category_s(kind) || is_linked {
            self.annotate("event kind", Arg::Text(kind.name()));
        }
        if let Some(number) = step(trace, row) {
            self.annotate("step_num", Arg::Whole(number));
        }
        args(trace, names, row, |key, value| self.annotate(key, value));
        self.send_event(trace.events.start_ns[row])
    }

    /// `InternedData.event_categories`: an `EventCategory` of id and name.
    fn category(&mut self, kind: EventKind) -> u64 {
        let id = kind as u64 + 1;
        if let Some(told) = self.told_categories.get_mut(kind as usize).filter(|told| !**told) {
            *told = true;
            self.intern(1, id, category(kind));
        }
        id
    }

    /// `InternedData.event_names`: an `EventName` of id and name.
    fn name(&mut self, string: u32) -> u64 {
        let id = u64::from(string) + 1;
        if let Some(told) = self.told.get_mut(string as usize).filter(|told| !**told) {
            *told = true;
            let names = self.names;
            self.intern(2, id, names.get(StringId(string)));
        }
        id
    }

    /// `InternedData.debug_annotation_names`: a `DebugAnnotationName` of id and name.
    fn key(&mut self, key: &'static str) -> u64 {
        if let Some(position) = self.told_keys.iter().position(|told| *told == key) {
            return position as u64 + 1;
        }
        self.told_keys.push(key);
        let id = self.told_keys.len() as u64;
        self.intern(3, id, key);
        id
    }

    fn intern(&mut self, number: u32, id: u64, name: &str) {
        let mut entry = Vec::with_capacity(name.len() + 12);
        varint(1, id, &mut entry);
        bytes(2, name.as_bytes(), &mut entry);
        bytes(number, &entry, &mut self.interned);
    }

    /// `TrackEvent.debug_annotations`: id of the key, and a value.
    fn annotate(&mut self, key: &'static str, value: Arg<'_>) {
        let id = self.key(key);
        self.annotation.clear();
        varint(1, id, &mut self.annotation);
        match value {
            Arg::Text(text) => bytes(6, text.as_bytes(), &mut self.annotation),
            Arg::Whole(number) => varint(4, number as u64, &mut self.annotation),
            Arg::Real(number) => fixed64(5, number.to_bits(), &mut self.annotation),
            Arg::Three([x, y, z]) => bytes(6, format!("[{x},{y},{z}]").as_bytes(), &mut self.annotation),
        }
        bytes(4, &self.annotation, &mut self.event);
    }

    fn send_event(&mut self, time_ns: i64) -> io::Result<()> {
        varint(TIMESTAMP, time_ns.saturating_sub(self.origin).max(0) as u64, &mut self.packet);
        bytes(TRACK_EVENT, &self.event, &mut self.packet);
        if !self.interned.is_empty() {
            bytes(INTERNED_DATA, &self.interned, &mut self.packet);
        }
        varint(SEQUENCE_FLAGS, NEEDS_INCREMENTAL_STATE, &mut self.packet);
        self.event.clear();
        self.interned.clear();
        self.send()
    }

    /// Counters and allocators as counter tracks (`TrackDescriptor.counter`, an empty `CounterDescriptor`).
    fn counters(&mut self, parents: &Parents) -> io::Result<()> {
        let mut of_name: HashMap<(u64, StringId), u64> = HashMap::new();
        let counters = &self.trace.counters;
        for row in 0..counters.value.len() {
            let pid =
                if counters.device[row] == NONE { self.tracks.process_pid(0) } else { counters.device[row].into() };
            let name = self.names.get(counters.metric[row]).to_owned();
            let uuid = self.counter(pid, counters.metric[row], &name, parents, &mut of_name)?;
            varint(9, COUNTER, &mut self.event);
            varint(11, uuid, &mut self.event);
            fixed64(44, counters.value[row].to_bits(), &mut self.event);
            self.send_event(counters.time_ns[row])?;
        }
        let memory = &self.trace.allocations;
        let mut of_allocator: HashMap<(u64, StringId), u64> = HashMap::new();
        for row in 0..memory.in_use_bytes.len() {
            let pid = self.tracks.process_pid(memory.process[row] as usize);
            let name = format!("{} in use, bytes", self.names.get(memory.allocator[row]));
            let uuid = self.counter(pid, memory.allocator[row], &name, parents, &mut of_allocator)?;
            varint(9, COUNTER, &mut self.event);
            varint(11, uuid, &mut self.event);
            varint(30, memory.in_use_bytes[row] as u64, &mut self.event);
            self.send_event(memory.time_ns[row])?;
        }
        Ok(())
    }

    fn counter(
        &mut self,
        pid: u64,
        metric: StringId,
        name: &str,
        parents: &Parents,
        known: &mut HashMap<(u64, StringId), u64>,
    ) -> io::Result<u64> {
        if let Some(uuid) = known.get(&(pid, metric)) {
            return Ok(*uuid);
        }
        let uuid = self.descriptor(parents.get(&pid).copied(), name, Some((8, &[])), None)?;
        known.insert((pid, metric), uuid);
        Ok(uuid)
    }
}
