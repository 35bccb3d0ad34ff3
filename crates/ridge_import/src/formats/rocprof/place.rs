//! From records to tracks: processes, devices, streams and threads, each process's work linked to its calls.

use super::counted;
use super::kept;
use super::records::{Agent, Call, Records, Work};
use crate::import::{CaptureFacts, Import, Source};
use crate::note::Severity;
use ridge_trace::{EventKind, NewEvent, TrackKind};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Rows that a trace can name with 32 bits, less those that stand for "none".
const MAX_ROWS: usize = u32::MAX as usize - 16;
/// Streams and threads after which no more are read: each costs over a kilobyte to keep.
const MAX_TRACKS: usize = 1 << 16;
/// Devices after which no more are read.
const MAX_DEVICES: usize = 1 << 12;

/// Adds all of `records` to the trace.
pub(super) fn place(mut records: Records, source: Source<'_>, import: &mut Import) {
    let facts = std::mem::take(&mut records.facts);
    import.captures.push(CaptureFacts {
        source: source.name.to_owned(),
        format: "rocprof",
        bytes: source.bytes.len() as u64,
        facts,
        ..CaptureFacts::default()
    });
    for (what, count) in std::mem::take(&mut records.left_out) {
        import.note(Severity::Partial, source.name, None, count, format!("{what} are not read"));
    }
    if records.work.len() + records.calls.len() > MAX_ROWS - import.builder.rows() as usize {
        let count = (records.work.len() + records.calls.len()) as u64;
        let message = format!("it is not shown: a trace has at most {MAX_ROWS} events");
        import.note(Severity::Lost, source.name, None, count, message);
        return;
    }
    let starts = records.work.iter().map(|work| work.start_ns).chain(records.calls.iter().map(|call| call.start_ns));
    let first = starts.filter(|start| *start > 0).min().unwrap_or(0);
    let zero = records.begin_ns.filter(|begin| *begin > 0).map_or(first, |begin| begin.min(first));
    let mut placing = Placing { records: &records, source, zero, tracks: 0, left_out: 0, unlinked: 0 };
    let mut work: BTreeMap<u64, Vec<&Work>> = BTreeMap::new();
    let mut calls: BTreeMap<u64, Vec<&Call>> = BTreeMap::new();
    records.work.iter().for_each(|one| work.entry(one.process).or_default().push(one));
    records.calls.iter().for_each(|one| calls.entry(one.process).or_default().push(one));
    let mut numbers: Vec<u64> = work.keys().chain(calls.keys()).copied().collect();
    numbers.extend(records.allocations.iter().map(|one| one.process));
    numbers.sort_unstable();
    numbers.dedup();
    let several = numbers.len() > 1;
    for number in numbers.into_iter().take(MAX_TRACKS) {
        let name = if several { format!("{}/process {number}", source.name) } else { source.name.to_owned() };
        let process = import.builder.add_process(&name, Some(number));
        let (work, calls) = (work.remove(&number).unwrap_or_default(), calls.remove(&number).unwrap_or_default());
        placing.process(number, process, work, calls, import);
    }
    let (left_out, unlinked) = (placing.left_out, placing.unlinked);
    if left_out > 0 {
        let message = format!("events beyond {MAX_TRACKS} streams and threads or {MAX_DEVICES} devices were left out");
        import.note(Severity::Lost, source.name, None, left_out, message);
    }
    if unlinked > 0 {
        let message = "device events have no launching call in the capture".to_owned();
        import.note(Severity::Info, source.name, None, unlinked as u64, message);
    }
    if records.work.is_empty() && records.calls.is_empty() {
        let message = "the capture has no activity: no kernels, copies or calls; `rocprofv3 --sys-trace` records them";
        import.note(Severity::Partial, source.name, None, 1, message.to_owned());
    }
}

/// A capture on its way into the trace.
struct Placing<'r> {
    records: &'r Records,
    source: Source<'r>,
    /// What becomes the trace's zero.
    zero: u64,
    tracks: usize,
    left_out: u64,
    unlinked: usize,
}

impl Placing<'_> {
    fn process(&mut self, number: u64, process: u32, mut work: Vec<&Work>, mut calls: Vec<&Call>, import: &mut Import) {
        kept::join(&work, process, self.source, import);
        let first = import.builder.rows();
        let lanes = lanes(&work);
        work.sort_by_key(|work| (self.number(work.agent), work.agent, lanes.of(work), work.start_ns));
        let mut devices: FxHashMap<u64, u32> = FxHashMap::default();
        let mut causes: FxHashMap<u64, u32> = FxHashMap::default();
        for call in calls.iter().filter(|call| call.kind == EventKind::Launch && call.number != 0) {
            let next = causes.len() as u32 + 1;
            causes.entry(call.number).or_insert(next);
        }
        // Causes that no call has keep a number of their own, so that they count as not found.
        let unknown = causes.len() as u32 + 1;
        for lane in work.chunk_by(|a, b| (a.agent, lanes.of(a)) == (b.agent, lanes.of(b))) {
            let agent = lane[0].agent;
            if self.tracks >= MAX_TRACKS || devices.len() >= MAX_DEVICES && !devices.contains_key(&agent) {
                self.left_out += lane.len() as u64;
                continue;
            }
            self.tracks += 1;
            let device = *devices.entry(agent).or_insert_with(|| self.device(process, agent, import));
            let (name, id) = lanes.name(lane[0]);
            let track = import.builder.add_track(process, Some(device), TrackKind::Stream, &name, id);
            for work in lane {
                let (start_ns, dur_ns) = self.times(work.start_ns, work.end_ns);
                let cause = if work.cause == 0 { 0 } else { causes.get(&work.cause).copied().unwrap_or(unknown) };
                let event = NewEvent::new(work.kind, work.name, start_ns, dur_ns);
                import.builder.push(track, NewEvent { detail: work.detail, correlation: cause, ..event });
            }
        }
        calls.sort_by_key(|call| (call.thread, call.start_ns, std::cmp::Reverse(call.end_ns)));
        for thread in calls.chunk_by(|a, b| a.thread == b.thread) {
            if self.tracks >= MAX_TRACKS {
                self.left_out += thread.len() as u64;
                continue;
            }
            self.tracks += 1;
            let id = thread[0].thread;
            let name = format!("thread {id}");
            let track = import.builder.add_track(process, None, TrackKind::HostThread, &name, id as i64);
            for call in thread {
                let (start_ns, mut dur_ns) = self.times(call.start_ns, call.end_ns);
                if call.kind == EventKind::Instant {
                    dur_ns = 0;
                }
                let correlation =
                    if call.kind == EventKind::Launch { causes.get(&call.number).copied().unwrap_or(0) } else { 0 };
                let event = NewEvent::new(call.kind, call.name, start_ns, dur_ns);
                import.builder.push(track, NewEvent { correlation, ..event });
            }
        }
        self.unlinked += import.builder.link_launches(first);
        counted::add(self.records, number, process, self.source, import);
        self.allocations(number, process, import);
    }

    fn times(&self, start_ns: u64, end_ns: u64) -> (i64, i64) {
        let start = i64::try_from(start_ns).unwrap_or(i64::MAX).saturating_sub(self.zero as i64);
        (start, i64::try_from(end_ns.saturating_sub(start_ns)).unwrap_or(i64::MAX))
    }

    fn number(&self, agent: u64) -> u64 {
        self.records.agents.get(&agent).map_or(agent, |agent| agent.number)
    }

    fn device(&self, process: u32, agent: u64, import: &mut Import) -> u32 {
        let row = import.builder.device(process, &format!("/device:GPU:{}", self.number(agent)));
        let unknown = Agent::default();
        let said = self.records.agents.get(&agent).unwrap_or(&unknown);
        let device = import.builder.device_mut(row);
        device.vendor = said.vendor.clone();
        device.model = said.product.clone().or_else(|| said.architecture.clone());
        (device.cores, device.clock_khz) = (said.cores, said.clock_khz);
        device.compute_capability = said.architecture.as_deref().and_then(version);
        row
    }

    /// What was allocated and freed, added up by device.
    fn allocations(&self, number: u64, process: u32, import: &mut Import) {
        let mut events: Vec<_> = self.records.allocations.iter().filter(|event| event.process == number).collect();
        events.sort_by_key(|event| event.time_ns);
        let mut in_use: FxHashMap<u64, (i64, i64)> = FxHashMap::default();
        for event in events {
            let (now, peak) = in_use.entry(event.agent).or_default();
            *now = now.saturating_add(event.delta_bytes);
            *peak = (*peak).max(*now);
            let allocator = format!("GPU {} device memory", self.number(event.agent));
            let allocator = import.builder.strings.intern(&allocator);
            let table = &mut import.builder.allocations;
            table.process.push(process);
            table.time_ns.push(self.times(event.time_ns, event.time_ns).0);
            table.allocator.push(allocator);
            table.delta_bytes.push(event.delta_bytes);
            table.requested_bytes.push(event.delta_bytes.saturating_abs());
            table.in_use_bytes.push(*now);
            table.peak_bytes.push(*peak);
            table.reserved_bytes.push(-1);
            table.fragmentation.push(0.0);
            table.address.push(event.address);
            table.owner.push(Default::default());
        }
    }
}

/// `gfx90a` is 9.0, `gfx942` 9.4: all but the last two digits, and the one before the last.
fn version(architecture: &str) -> Option<(u32, u32)> {
    let digits = architecture.strip_prefix("gfx")?;
    if !digits.is_ascii() || digits.len() < 3 {
        return None;
    }
    let (major, rest) = digits.split_at(digits.len() - 2);
    Some((major.parse().ok()?, rest.get(..1)?.parse().ok()?))
}

/// How the work of a process is split: by streams of HIP where any is named, else by queues.
#[derive(Debug, Clone, Copy)]
struct Lanes {
    by_stream: bool,
}

fn lanes(work: &[&Work]) -> Lanes {
    Lanes { by_stream: work.iter().any(|work| work.stream != 0) }
}

impl Lanes {
    fn of(self, work: &Work) -> (bool, u64) {
        match (self.by_stream, work.queue) {
            (true, _) => (false, work.stream),
            (false, Some(queue)) => (false, queue),
            (false, None) => (true, 0),
        }
    }

    fn name(self, work: &Work) -> (String, i64) {
        match (self.by_stream, work.queue) {
            (true, _) => (format!("Stream #{}", work.stream), work.stream as i64),
            (false, Some(queue)) => (format!("Queue #{queue}"), queue as i64),
            (false, None) => ("copies".to_owned(), -1),
        }
    }
}
