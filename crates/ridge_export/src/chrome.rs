//! Trace event JSON, as chrome://tracing, Perfetto and many others read it.
//!
//! The form is that of the *Trace Event Format* document of the Chromium project; categories and arguments are those of PyTorch's
//! Kineto where it has them, so that readers of its traces find kernels, copies and launches.
//! Times are microseconds with three decimals, which is to the nanosecond.

use crate::args::{Arg, args, category, is_its_category_s, step};
use crate::names::Names;
use crate::tracks::{Progress, Tracks};
use ridgeline::Trace;
use ridgeline::trace::{Attribution, EventKind, NONE, StringId, Track, TrackKind};
use std::collections::HashMap;
use std::io::{self, Write};

/// The HLO text of the module at a row of the trace's modules, where the capture has it.
pub type Programs<'a> = dyn Fn(usize) -> Option<String> + 'a;

/// Writes `trace` to `out`.
pub(crate) fn write(
    trace: &Trace,
    programs: &Programs<'_>,
    names: &Names<'_>,
    out: &mut impl Write,
    progress: &mut Progress<'_>,
) -> io::Result<()> {
    let same_names = modules_of_same_names(trace);
    let mut writer = Writer { trace, names, tracks: Tracks::new(trace), same_names, out, is_first: true };
    writer.out.write_all(b"{\"displayTimeUnit\":\"ns\",")?;
    writer.devices()?;
    writer.out.write_all(b"\"traceEvents\":[")?;
    writer.describe()?;
    for (position, track) in writer.tracks.all.clone() {
        for row in Tracks::rows(track) {
            writer.event(position, track, row)?;
            progress.row();
        }
    }
    writer.counters()?;
    writer.out.write_all(b"\n]")?;
    writer.modules(programs)?;
    writer.out.write_all(b"}\n")
}

/// Whether other modules are called as each is, by the rows of the modules.
fn modules_of_same_names(trace: &Trace) -> Vec<bool> {
    let mut counts: HashMap<StringId, u32> = HashMap::new();
    trace.modules.iter().for_each(|module| *counts.entry(module.name).or_default() += 1);
    trace.modules.iter().map(|module| counts[&module.name] > 1).collect()
}

struct Writer<'a, W> {
    trace: &'a Trace,
    names: &'a Names<'a>,
    tracks: Tracks<'a>,
    /// By module, whether its name alone does not say which it is.
    same_names: Vec<bool>,
    out: &'a mut W,
    is_first: bool,
}

impl<W: Write> Writer<'_, W> {
    fn begin(&mut self) -> io::Result<()> {
        let separator: &[u8] = if std::mem::take(&mut self.is_first) { b"\n" } else { b",\n" };
        self.out.write_all(separator)
    }

    /// What each device is: the format has no place for it, and readers of ours find it here.
    fn devices(&mut self) -> io::Result<()> {
        write!(self.out, "\"ridgeline\":{},", self.tracks.devices())
    }

    /// The programs that ran, which say what the operations are and cost: the format has no place for them, either.
    fn modules(&mut self, programs: &Programs<'_>) -> io::Result<()> {
        let mut separator = ",\"ridgeline modules\":[";
        for (row, module) in self.trace.modules.iter().enumerate() {
            let id = module.program_id;
            write!(self.out, "{separator}\n{{\"id\":{row},\"program_id\":{id},\"name\":")?;
            self.text(self.names.get(module.name))?;
            if let Some(text) = programs(row) {
                self.out.write_all(b",\"hlo\":")?;
                self.text(&self.names.shown(&text))?;
            }
            self.out.write_all(b"}")?;
            separator = ",";
        }
        self.out.write_all(if self.trace.modules.is_empty() { b"" } else { b"\n]" })
    }

    /// Names of processes, devices and tracks.
    fn describe(&mut self) -> io::Result<()> {
        for row in 0..self.trace.processes.len() {
            let (pid, name) = (self.tracks.process_pid(row), self.names.process(self.trace, row));
            self.metadata("process_name", pid, 0, &name)?;
        }
        for row in 0..self.trace.devices.len() {
            self.metadata("process_name", row as u64, 0, &Names::device(self.trace, row))?;
        }
        for (position, track) in self.tracks.all.clone() {
            let (pid, name) = (self.tracks.pid(track), self.tracks.name(track, self.names));
            self.metadata("thread_name", pid, self.tracks.tid(position), &name)?;
        }
        Ok(())
    }

    fn metadata(&mut self, what: &str, pid: u64, tid: i64, name: &str) -> io::Result<()> {
        self.begin()?;
        write!(self.out, "{{\"ph\":\"M\",\"name\":\"{what}\",\"pid\":{pid},\"tid\":{tid},\"args\":{{\"name\":")?;
        self.text(name)?;
        self.out.write_all(b"}}")
    }

    fn event(&mut self, position: usize, track: &Track, row: usize) -> io::Result<()> {
        let events = &self.trace.events;
        let (kind, pid, tid) = (events.kind(row), self.tracks.pid(track), self.tracks.tid(position));
        self.begin()?;
        let phase = if kind == EventKind::Instant { "\"ph\":\"i\",\"s\":\"t\"" } else { "\"ph\":\"X\"" };
        write!(self.out, "{{{phase},\"cat\":\"{}\",\"pid\":{pid},\"tid\":{tid},\"ts\":", category(kind))?;
        self.micros(events.start_ns[row])?;
        if kind != EventKind::Instant {
            self.out.write_all(b",\"dur\":")?;
            self.micros(events.dur_ns[row])?;
        }
        self.out.write_all(b",\"name\":")?;
        self.text(self.names.get(ridgeline::trace::StringId(events.name[row])))?;
        self.args(track, tid, row)?;
        self.out.write_all(b"}")?;
        self.flow(tid, pid, row)
    }

    fn args(&mut self, track: &Track, tid: i64, row: usize) -> io::Result<()> {
        let mut known: Vec<(&str, Arg<'_>)> = Vec::new();
        if let (Some(device), TrackKind::Stream) = (track.device, track.kind) {
            known.extend([("device", Arg::Whole(device.into())), ("stream", Arg::Whole(tid))]);
        }
        // A launch is told apart by its row, and work names the launch that caused it: the correlation of CUDA's traces.
        let link = self.trace.events.link[row];
        let is_linked = link != NONE || self.tracks.is_cause(row);
        if is_linked {
            let cause = if link == NONE { row as i64 } else { link.into() };
            known.push(("correlation", Arg::Whole(cause + 1)));
        }
        let kind = self.trace.events.kind(row);
        if !is_its_category_s(kind) || is_linked {
            known.push(("event kind", Arg::Text(kind.name())));
        }
        known.extend(step(self.trace, row).map(|number| ("step_num", Arg::Whole(number))));
        if let Some(operation) = self.trace.operation(row) {
            let is_ambiguous = self.same_names.get(operation.module as usize).is_some_and(|same| *same);
            known.extend(is_ambiguous.then_some(("module id", Arg::Whole(operation.module.into()))));
            let is_named = !self.names.get(operation.name).is_empty();
            let usual = if is_named { Attribution::ByStat } else { Attribution::ModuleOnly };
            let how = Attribution::from_byte(self.trace.events.attribution[row]);
            let is_unusual = kind.is_device_work() && how != usual;
            known.extend(is_unusual.then_some(("attribution", Arg::Text(how.name()))));
        }
        args(self.trace, self.names, row, |key, value| known.push((key, value)));
        let mut separator = ",\"args\":{";
        for (key, value) in &known {
            write!(self.out, "{separator}\"{key}\":")?;
            self.value(*value)?;
            separator = ",";
        }
        self.out.write_all(if known.is_empty() { b"" } else { b"}" })
    }

    fn value(&mut self, value: Arg<'_>) -> io::Result<()> {
        match value {
            Arg::Text(text) => self.text(text),
            Arg::Whole(number) => write!(self.out, "{number}"),
            Arg::Real(number) if number.is_finite() => write!(self.out, "{number}"),
            Arg::Real(_) => self.out.write_all(b"null"),
            Arg::Three([x, y, z]) => write!(self.out, "[{x},{y},{z}]"),
        }
    }

    /// An arrow from the event that caused `row`.
    fn flow(&mut self, tid: i64, pid: u64, row: usize) -> io::Result<()> {
        let Some((cause, from)) = self.tracks.cause(row) else { return Ok(()) };
        let (from_pid, from) = (self.tracks.pid(&self.trace.tracks[from]), self.tracks.tid(from));
        let (begins, ends) = (self.trace.events.start_ns[cause as usize], self.trace.events.start_ns[row]);
        self.begin()?;
        write!(
            self.out,
            "{{\"ph\":\"s\",\"id\":{row},\"cat\":\"ac2g\",\"name\":\"ac2g\",\"pid\":{from_pid},\"tid\":{from},\"ts\":"
        )?;
        self.micros(begins)?;
        write!(
            self.out,
            "}},\n{{\"ph\":\"f\",\"bp\":\"e\",\"id\":{row},\"cat\":\"ac2g\",\"name\":\"ac2g\",\"pid\":{pid},\"tid\":{tid},\"ts\":"
        )?;
        self.micros(ends)?;
        self.out.write_all(b"}")
    }

    fn counters(&mut self) -> io::Result<()> {
        let counters = &self.trace.counters;
        for row in 0..counters.value.len() {
            let device = counters.device[row];
            let pid = if device == NONE { self.tracks.process_pid(0) } else { device.into() };
            self.counter(
                pid,
                self.names.get(counters.metric[row]),
                counters.time_ns[row],
                Arg::Real(counters.value[row]),
            )?;
        }
        let memory = &self.trace.allocations;
        for row in 0..memory.in_use_bytes.len() {
            let pid = self.tracks.process_pid(memory.process[row] as usize);
            let name = format!("{} in use, bytes", self.names.get(memory.allocator[row]));
            self.counter(pid, &name, memory.time_ns[row], Arg::Whole(memory.in_use_bytes[row]))?;
        }
        Ok(())
    }

    fn counter(&mut self, pid: u64, name: &str, time_ns: i64, value: Arg<'_>) -> io::Result<()> {
        self.begin()?;
        write!(self.out, "{{\"ph\":\"C\",\"pid\":{pid},\"name\":")?;
        self.text(name)?;
        self.out.write_all(b",\"ts\":")?;
        self.micros(time_ns)?;
        self.out.write_all(b",\"args\":{\"value\":")?;
        self.value(value)?;
        self.out.write_all(b"}}")
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        serde_json::to_writer(&mut *self.out, text).map_err(io::Error::from)
    }

    /// Nanoseconds as microseconds, exactly.
    fn micros(&mut self, nanos: i64) -> io::Result<()> {
        let sign = if nanos < 0 { "-" } else { "" };
        write!(self.out, "{sign}{}.{:03}", nanos.unsigned_abs() / 1000, nanos.unsigned_abs() % 1000)
    }
}
