//! The events of one stretch of the file, in compact rows with tables of their own: stretches are read in parallel and
//! joined afterwards.

use super::backward::autograd_place;
use super::classify::{
    Class, class_of, copy_of, element_bytes, is_collective, is_launch, kind_of_direction, memset_of,
};
use super::decimal::{float, nanos, whole};
use super::event::RawEvent;
use super::flaws::{Flaw, Flaws};
use super::gloo;
use super::json::Cursor;
use super::names::{NameId, Names};
use super::row::{Allocation, Extra, FlowEnd, Row, Sample, TrackKey};
use ridge_trace::{Attribution, EventKind, LaunchShape, MemoryKind, NONE, Transfer};
use rustc_hash::{FxHashMap, FxHashSet};
use std::hash::Hash;

/// What a process or thread is called.
#[derive(Debug, Clone, Copy)]
pub(super) struct Naming<'a> {
    pub(super) pid: &'a [u8],
    /// `None` for the process itself.
    pub(super) tid: Option<&'a [u8]>,
    pub(super) name: &'a [u8],
}

/// The events of one stretch.
#[derive(Debug, Default)]
pub(super) struct Chunk<'a> {
    pub(super) names: Names<'a>,
    pub(super) tracks: Vec<(TrackKey<&'a [u8]>, Vec<Row>)>,
    pub(super) shapes: Vec<LaunchShape>,
    pub(super) transfers: Vec<Transfer>,
    /// Sizes and types of operators' inputs.
    pub(super) operator_shapes: Vec<[NameId; 4]>,
    /// Names of kernels that Triton compiled, each with its tuned sizes, warps and stages.
    pub(super) tuned: FxHashSet<[NameId; 4]>,
    pub(super) extras: Vec<Extra>,
    pub(super) allocations: Vec<Allocation>,
    pub(super) flows: Vec<FlowEnd>,
    pub(super) namings: Vec<Naming<'a>>,
    pub(super) samples: Vec<Sample>,
    /// Events read, of every kind.
    pub(super) events: u64,
    pub(super) flaws: Flaws,
    ids: Ids<'a>,
}

/// Which rows of the chunk's tables are known.
#[derive(Debug, Default)]
struct Ids<'a> {
    tracks: FxHashMap<TrackKey<&'a [u8]>, u32>,
    last_thread: Option<(&'a [u8], &'a [u8], u32)>,
    shapes: FxHashMap<ShapeKey, u32>,
    transfers: FxHashMap<(NameId, u64, u8, u8, Option<bool>), u32>,
    operator_shapes: FxHashMap<[NameId; 4], u32>,
    extras: FxHashMap<Extra, u32>,
}

/// A launch shape whose parts can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct ShapeKey {
    grid: [u32; 3],
    block: [u32; 3],
    registers: Option<u32>,
    shared_bytes: Option<u32>,
    dynamic_shared_bytes: Option<u32>,
    /// Its bits.
    occupancy_pct: Option<u32>,
}

impl<'a> Chunk<'a> {
    /// Takes in one event that began at byte `offset` of the file.
    pub(super) fn add(&mut self, event: &RawEvent<'a>, offset: u64) {
        self.events += 1;
        match event.phase {
            b'X' | b'B' | b'E' => self.add_range(event, offset),
            b'i' | b'I' | b'R' => self.add_instant(event, offset),
            b'b' | b'e' => self.add_async(event, offset),
            b's' | b'f' => self.add_flow(event),
            b'C' => self.add_samples(event, offset),
            b'M' => self.add_naming(event),
            // An empty object ends the list of some writers; the rest draws arrows and objects.
            0 | b't' | b'n' | b'N' | b'O' | b'D' | b'P' | b'c' | b'S' | b'T' | b'p' | b'F' => {}
            _ => self.flaws.add(Flaw::UnknownPhase, offset),
        }
    }

    fn add_range(&mut self, event: &RawEvent<'a>, offset: u64) {
        let Some(start_ns) = self.time(event.ts, offset) else { return };
        let mut dur_ns = if event.dur.is_empty() { 0 } else { self.time(event.dur, offset).unwrap_or(0) };
        if dur_ns < 0 {
            self.flaws.add(Flaw::NegativeDuration, offset);
            dur_ns = 0;
        }
        // What ran when the profiler stopped ends with its stop, which takes longer than most operators: how long it took isn't known.
        if event.args.finished == b"false" {
            dur_ns = 0;
        }
        let name = self.names.id(event.name);
        let mut row = Row {
            start_ns,
            dur_ns,
            name: name.0,
            detail: NONE,
            correlation: 0,
            external: fold(whole(event.args.external_id).unwrap_or(0)),
            extra: NONE,
            kind: EventKind::HostRange as u8,
            phase: event.phase,
        };
        let class = class_of(event.category, event.name);
        let own = own_kind(event.args.own.kind);
        let track = match class {
            Class::Device(_) | Class::Copy => self.stream(event),
            _ if own.is_some_and(is_on_stream) => self.stream(event),
            Class::Derived => self.track(TrackKey::Derived),
            _ => self.thread(event.pid, event.tid),
        };
        if own.is_some() || !matches!(class, Class::Host(_) | Class::Derived) {
            row.correlation = fold(whole(event.args.correlation).unwrap_or(0));
        }
        let cause = row.correlation;
        row.kind = self.fill(&mut row, class, name, event) as u8;
        if let Some(kind) = own {
            row.kind = kind as u8;
            // Operators of our own exports cause work by themselves, and have no place in autograd's order.
            row.correlation = cause;
        }
        if row.extra == NONE && matches!(class, Class::Device(_) | Class::Copy) {
            row.extra = self.node(event);
        }
        if row.extra == NONE && (own == Some(EventKind::Step) || event.args.own.names_work()) {
            row.extra = self.own(event);
        }
        self.tracks[track as usize].1.push(row);
    }

    /// Fills in what the class of an event adds, and says its kind.
    fn fill(&mut self, row: &mut Row, class: Class, name: NameId, event: &RawEvent<'a>) -> EventKind {
        match class {
            Class::Host(EventKind::Operator) => {
                row.detail = self.operator_shape(event);
                self.tuned(event, name);
                row.correlation = autograd_place(event.args.sequence, event.args.forward_thread);
                EventKind::Operator
            }
            Class::Host(kind) => {
                if kind == EventKind::Annotation {
                    row.extra = self.gloo(event);
                }
                kind
            }
            Class::RuntimeCall => {
                let launches = self.names.has(name, is_launch);
                if launches && !event.args.kernel.is_empty() {
                    let kernel = self.names.id(event.args.kernel);
                    row.extra = self.extra(Extra::Launches { kernel });
                }
                if launches { EventKind::Launch } else { EventKind::HostRange }
            }
            Class::Device(EventKind::Kernel) => {
                row.detail = self.launch_shape(event);
                // What was written by us says its operation instead.
                let is_own = event.args.own.names_work();
                let is_named = !event.args.collective.name.is_empty();
                if is_named || !is_own && self.names.has(name, is_collective) {
                    row.extra = self.collective(event);
                }
                EventKind::Kernel
            }
            Class::Device(EventKind::Memset) => {
                row.detail = self.transfer(name, event).1;
                EventKind::Memset
            }
            Class::Copy => {
                let (kind, detail) = self.transfer(name, event);
                row.detail = detail;
                kind
            }
            Class::Device(kind) => kind,
            Class::Plain => {
                row.extra = self.xla(event);
                EventKind::HostRange
            }
            Class::Derived => EventKind::Derived,
        }
    }

    fn add_instant(&mut self, event: &RawEvent<'a>, offset: u64) {
        // The profiler's own marks of where its session began and ended belong to no thread.
        if matches!(event.pid, b"Traces" | b"Spans" | b"") {
            return;
        }
        let Some(start_ns) = self.time(event.ts, offset) else { return };
        let track = self.thread(event.pid, event.tid);
        if event.name == b"[memory]" {
            return self.add_allocation(event, track, start_ns);
        }
        let name = self.names.id(event.name).0;
        let kind = EventKind::Instant as u8;
        let row = Row {
            start_ns,
            dur_ns: 0,
            name,
            detail: NONE,
            correlation: 0,
            external: 0,
            extra: NONE,
            kind,
            phase: b'X',
        };
        self.tracks[track as usize].1.push(row);
    }

    fn add_allocation(&mut self, event: &RawEvent<'a>, track: u32, time_ns: i64) {
        let memory = &event.args.memory;
        self.allocations.push(Allocation {
            track,
            time_ns,
            device_type: whole(memory.device_type).unwrap_or(0),
            device_id: whole(memory.device_id).unwrap_or(-1),
            delta_bytes: whole(memory.delta).unwrap_or(0),
            in_use_bytes: whole(memory.in_use).unwrap_or(-1),
            reserved_bytes: whole(memory.reserved).unwrap_or(-1),
            address: whole(memory.address).map_or(0, |address| address as u64),
        });
    }

    fn add_async(&mut self, event: &RawEvent<'a>, offset: u64) {
        let Some(start_ns) = self.time(event.ts, offset) else { return };
        let name = self.names.id(event.name).0;
        let track = self.track(TrackKey::Async(event.pid));
        let external = hash_of(event.id);
        let kind = EventKind::HostRange as u8;
        let row = Row {
            start_ns,
            dur_ns: 0,
            name,
            detail: NONE,
            correlation: 0,
            external,
            extra: NONE,
            kind,
            phase: event.phase,
        };
        self.tracks[track as usize].1.push(row);
    }

    /// Arrows repeat what correlation ids say; they are kept for captures that have no such ids.
    fn add_flow(&mut self, event: &RawEvent<'a>) {
        if !matches!(event.category, b"ac2g" | b"async" | b"async_gpu" | b"async_cpu_to_gpu") {
            return;
        }
        let (Some(time_ns), Some(id)) = (nanos(event.ts), whole(event.id)) else { return };
        let track = if event.phase == b's' { self.thread(event.pid, event.tid) } else { self.stream(event) };
        self.flows.push(FlowEnd { track, time_ns, correlation: fold(id) });
    }

    fn add_samples(&mut self, event: &RawEvent<'a>, offset: u64) {
        let Some(time_ns) = self.time(event.ts, offset) else { return };
        let name = self.names.id(event.name);
        let mut cursor = Cursor::new(event.all_args, 1);
        while let Ok(Some(key)) = cursor.key() {
            let Ok(value) = cursor.scalar_or_skip() else { return };
            if let Some(value) = float(value) {
                let series = self.names.id(key);
                self.samples.push(Sample { name, series, time_ns, value });
            }
        }
    }

    fn add_naming(&mut self, event: &RawEvent<'a>) {
        let tid = match event.name {
            b"process_name" => None,
            b"thread_name" => Some(event.tid),
            _ => return,
        };
        self.namings.push(Naming { pid: event.pid, tid, name: event.args.name });
    }

    fn time(&mut self, text: &[u8], offset: u64) -> Option<i64> {
        let time = nanos(text);
        if time.is_none() {
            self.flaws.add(Flaw::NoTime, offset);
        }
        time
    }

    fn thread(&mut self, pid: &'a [u8], tid: &'a [u8]) -> u32 {
        match self.ids.last_thread {
            Some((last_pid, last_tid, track)) if last_pid == pid && last_tid == tid => track,
            _ => {
                let track = self.track(TrackKey::Thread(pid, tid));
                self.ids.last_thread = Some((pid, tid, track));
                track
            }
        }
    }

    /// The stream that an event's arguments name, or else its process and thread ids: `0` and `7` or `stream 7`.
    fn stream(&mut self, event: &RawEvent<'a>) -> u32 {
        let device = whole(event.args.device).or_else(|| whole(event.pid)).unwrap_or(-1);
        let tid = event.tid.strip_prefix(b"stream ").unwrap_or(event.tid);
        let stream = whole(event.args.stream).or_else(|| whole(tid)).unwrap_or(-1);
        self.track(TrackKey::Stream(device, stream))
    }

    fn track(&mut self, key: TrackKey<&'a [u8]>) -> u32 {
        *self.ids.tracks.entry(key).or_insert_with(|| {
            self.tracks.push((key, Vec::new()));
            self.tracks.len() as u32 - 1
        })
    }

    fn operator_shape(&mut self, event: &RawEvent<'a>) -> u32 {
        if event.args.dims.is_empty() && event.args.types.is_empty() {
            return NONE;
        }
        let has = |word: &[u8]| memchr::memmem::find(event.name, word).is_some();
        // Operators that are told by what else they are given: axes, exponents, lengths.
        const SAYING: [&[u8]; 8] = [
            b"aten::sum",
            b"aten::mean",
            b"aten::linalg_svd",
            b"aten::pow",
            b"aten::fft_fft",
            b"aten::fft_rfft",
            b"aten::fft_ifft",
            b"aten::fft_irfft",
        ];
        let says = SAYING.contains(&event.name);
        let values = if says || has(b"conv") || has(b"attention") { event.args.values } else { &[] };
        let key = [event.args.dims, event.args.types, values, event.args.strides].map(|text| self.names.id(text));
        known_or_new(&mut self.ids.operator_shapes, key, &mut self.operator_shapes, || key)
    }

    fn tuned(&mut self, event: &RawEvent<'a>, name: NameId) {
        let triton = event.args.triton;
        if !triton.warps.is_empty() || !triton.kwargs.is_empty() {
            let [kwargs, warps, stages] = [triton.kwargs, triton.warps, triton.stages].map(|text| self.names.id(text));
            self.tuned.insert([name, kwargs, warps, stages]);
        }
    }

    fn launch_shape(&mut self, event: &RawEvent<'a>) -> u32 {
        let args = &event.args;
        if args.grid.is_empty() && args.block.is_empty() {
            return NONE;
        }
        let positive = |text| whole(text).and_then(|value| u32::try_from(value).ok());
        let key = ShapeKey {
            grid: triple(args.grid),
            block: triple(args.block),
            registers: positive(args.registers),
            shared_bytes: positive(args.shared_bytes),
            dynamic_shared_bytes: positive(args.own.dynamic_shared_bytes),
            // libkineto writes 0 where the estimate rounds to it.
            occupancy_pct: float(args.occupancy_pct)
                .filter(|percent| *percent > 0.0)
                .map(|percent| (percent as f32).to_bits()),
        };
        known_or_new(&mut self.ids.shapes, key, &mut self.shapes, || LaunchShape {
            grid: key.grid,
            block: key.block,
            registers: key.registers,
            static_shared_bytes: key.shared_bytes,
            dynamic_shared_bytes: key.dynamic_shared_bytes,
            occupancy_pct: key.occupancy_pct.map(f32::from_bits),
        })
    }

    fn transfer(&mut self, name: NameId, event: &RawEvent<'a>) -> (EventKind, u32) {
        let by_direction = kind_of_direction(event.args.direction);
        let bytes = if by_direction.is_some() { event.args.size } else { event.args.bytes };
        let bytes = whole(bytes).and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0);
        let text = String::from_utf8_lossy(event.name);
        let is_memset = matches!(event.category, b"gpu_memset" | b"Memset");
        let (kind, transfer) = match is_memset {
            true => (EventKind::Memset, memset_of(&text, bytes)),
            false => copy_of(&text, bytes),
        };
        let kind = by_direction.unwrap_or(kind);
        let own = [event.args.own.source, event.args.own.destination].map(own_memory);
        let [source, destination] = [own[0].unwrap_or(transfer.source), own[1].unwrap_or(transfer.destination)];
        let is_async = whole(event.args.own.is_async).map(|said| said != 0).or(transfer.is_async);
        let transfer = Transfer { source, destination, is_async, ..transfer };
        let key = (name, bytes, source as u8, destination as u8, is_async);
        (kind, known_or_new(&mut self.ids.transfers, key, &mut self.transfers, || transfer))
    }

    fn collective(&mut self, event: &RawEvent<'a>) -> u32 {
        let found = &event.args.collective;
        let count = |text| whole(text).and_then(|value| u64::try_from(value).ok());
        let size = element_bytes(found.element_type);
        let bytes = |elements| size.and_then(|size| count(elements)?.checked_mul(size));
        let extra = Extra::Collective {
            name: self.names.id(found.name),
            group: self.names.id(found.group),
            sequence: count(found.sequence),
            group_size: count(found.group_size).and_then(|size| u32::try_from(size).ok()),
            element_type: self.names.id(found.element_type),
            bytes_in: bytes(found.elements_in),
            bytes_out: bytes(found.elements_out),
        };
        self.extra(extra)
    }

    /// A range of Gloo says what this process puts in; it counts no calls and names no group.
    fn gloo(&mut self, event: &RawEvent<'a>) -> u32 {
        let Some(name) = gloo::called(event.name) else { return NONE };
        let element_type = gloo::element_type(event.args.types);
        let extra = Extra::Collective {
            name: self.names.id(name),
            group: self.names.id(event.args.dims),
            sequence: None,
            group_size: None,
            element_type: self.names.id(element_type),
            bytes_in: gloo::bytes(event.args.dims, element_type),
            bytes_out: None,
        };
        self.extra(extra)
    }

    fn xla(&mut self, event: &RawEvent<'a>) -> u32 {
        let found = &event.args.xla;
        if [found.op, found.module, found.step, found.details].iter().all(|text| text.is_empty()) {
            return NONE;
        }
        let extra = Extra::Xla {
            op: self.names.id(found.op),
            module: self.names.id(found.module),
            scope: self.names.id(found.scope),
            details: self.names.id(found.details),
            step: whole(found.step),
            run_id: whole(found.run_id).map_or(0, |id| id as u64),
            device_ordinal: whole(found.device_ordinal).and_then(|device| u32::try_from(device).ok()).unwrap_or(0),
        };
        self.extra(extra)
    }

    /// The node of a CUDA graph that work is of; a kernel of a collective says more than that.
    fn node(&mut self, event: &RawEvent<'a>) -> u32 {
        let id = whole(event.args.graph_node).and_then(|id| u64::try_from(id).ok()).filter(|id| *id != 0);
        let Some(id) = id else { return NONE };
        let (name, module) = (self.names.id(event.args.name), self.names.id(event.args.annotated_module));
        self.extra(Extra::Node { id, name, module })
    }

    /// What an export of this project says of an event.
    fn own(&mut self, event: &RawEvent<'a>) -> u32 {
        let found = &event.args.own;
        let attribution = std::str::from_utf8(found.attribution).ok().and_then(Attribution::from_name);
        let extra = Extra::Own {
            op: self.names.id(found.op),
            module: self.names.id(found.module),
            module_id: whole(found.module_id).and_then(|id| u32::try_from(id).ok()),
            scope: self.names.id(found.scope),
            step: whole(event.args.xla.step),
            attribution: attribution.map(|attribution| attribution as u8),
        };
        self.extra(extra)
    }

    fn extra(&mut self, extra: Extra) -> u32 {
        known_or_new(&mut self.ids.extras, extra, &mut self.extras, || extra)
    }
}

fn known_or_new<K: Hash + Eq, T>(
    ids: &mut FxHashMap<K, u32>,
    key: K,
    table: &mut Vec<T>,
    row: impl FnOnce() -> T,
) -> u32 {
    *ids.entry(key).or_insert_with(|| {
        table.push(row());
        table.len() as u32 - 1
    })
}

/// The kind that an export of this project names.
fn own_kind(name: &[u8]) -> Option<EventKind> {
    if name.is_empty() { None } else { EventKind::from_name(std::str::from_utf8(name).ok()?) }
}

/// Whether events of a kind stand on streams and lanes of devices.
fn is_on_stream(kind: EventKind) -> bool {
    kind.is_device_work()
        || matches!(kind, EventKind::DeviceMemory | EventKind::Synchronization | EventKind::DeviceRange)
}

/// The memory that an export of this project names.
fn own_memory(name: &[u8]) -> Option<MemoryKind> {
    if name.is_empty() { None } else { MemoryKind::from_name(std::str::from_utf8(name).ok()?) }
}

/// Ids are 64 bits wide in the file and small in practice; wider ones are folded, and 0 stays "none".
fn fold(id: i64) -> u32 {
    let folded = (id ^ (id >> 32)) as u32;
    if id != 0 && folded == 0 { 1 } else { folded }
}

/// A number for an id that may be any JSON value.
fn hash_of(id: &[u8]) -> u32 {
    // FNV-1a, 32 bits (Fowler, Noll, Vo).
    id.iter().fold(0x811c_9dc5, |hash: u32, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

/// Three numbers in an array; what is absent is 1.
fn triple(array: &[u8]) -> [u32; 3] {
    let inner = array.strip_prefix(b"[").unwrap_or(array);
    let inner = inner.strip_suffix(b"]").unwrap_or(inner);
    let mut parts = inner.split(|byte| *byte == b',').map(|part| {
        let value = whole(part.trim_ascii()).unwrap_or(1);
        u32::try_from(value).unwrap_or(0)
    });
    [(); 3].map(|()| parts.next().unwrap_or(1))
}
