//! The notation for small traces.
//!
//! One thing a line, indented as one likes; `#` begins a comment:
//!
//! ```text
//! module jit_step 15 hlo=0       a compiled program: name, program id, position of its HLO if there is any
//! process worker rank=1 pid=7    begins another process; what stands before the first is of one called host0
//! device gpu model="NVIDIA H100 SXM5 80GB" vendor=Nvidia cores=132 capability=9.0 memory=85899345920   of the process above
//! thread python                  begins a host thread
//! stream 7 on gpu                begins a stream of the device called gpu
//! lane 0 on cpu                  begins a lane of operations, which nest
//! derived Steps on gpu           begins a line that a viewer derived
//!   0 +10 gemm op=dot.1          an event of the track above: start, duration, name, then any of the words below
//! allocation 10 +1024 GPU_0      an allocator's event: time, bytes taken or given back (-1024), its name; then reserved=4096
//! segment 11 +2097152 GPU_0      an allocator takes a segment from its driver, or gives one back (-2097152)
//! exhausted 12 1024 GPU_0        a request that the allocator could not meet
//! counter 10 "sm [%]" 55 on gpu   a sample of a counter of the device called gpu; without `on`, of none
//! profile gemm a__b.sum=3        a launch under a hardware profiler with its metrics
//! ```
//!
//! Words after an event's name; a name with spaces stands in double quotes:
//!
//! | word | meaning |
//! |---|---|
//! | a kind | `annotation`, `step=3`, `launch`, `pool`, `compile`, `instant`, `python`, `h2d`, `d2h`, `d2d`, `p2p`, `memset`, `graph`, `overhead`, `memory`, `operator`, `sync`, `range` |
//! | `op=name` | its operation |
//! | `in=module` | the module of the operation; `in=module(15)` where several share a name |
//! | `at=4` | position of its instruction in the module's HLO |
//! | `scope=path` | scope path of the operation |
//! | `id=9` | correlation id, on a launch and on the work it launched |
//! | `as=x`, `by=x` | a name for this event, and the event of that name that caused it; `as` comes first |
//! | `recorded=1` | autograd kept something for the gradient of this operator |
//! | `backward=x` | the operator of that name whose gradient this one computes |
//! | `bytes=1024` | what a copy moved |
//! | `async=1` | with `bytes=`: whether the copy's call returned before it ended, 0 or 1 |
//! | `from=pageable`, `to=device` | with `bytes=`: where the memory is; pinned to device where nothing is said |
//! | `grid=2,1,1`, `block=64,1,1`, `registers=64`, `shared=1024`, `occupancy=25` | how a kernel was launched |
//! | `dims=[[64,32],[32,8]]`, `types=["float","float"]` | what an operator was called with; in quotes where it has spaces |
//! | `collective=allreduce`, `group=g`, `sequence=3`, `ranks=8`, `moves=1024` | a kernel's part in a collective, the bytes that it puts in |
//!
//! Times are nanoseconds. Events on threads are host ranges, on streams kernels, on lanes device operations, unless
//! a word says otherwise.
//! Work whose operation is known counts as known by the capture's own stat; the notation cannot say otherwise.

use ridge_trace::{
    Backward, Collective, EventKind, KernelProfile, LaunchShape, MemoryKind, Module, NONE, NewEvent, Operation,
    OperatorShape, SegmentEventKind, Step, StringId, Trace, TraceBuilder, TrackKind, Transfer,
};
use std::collections::HashMap;

/// The trace that `text` describes.
///
/// # Panics
/// Where the text is not in the notation, with the line: it is a test that is wrong.
#[track_caller]
pub fn trace(text: &str) -> Trace {
    let mut reader = Reader::new();
    for line in text.lines() {
        let words = words(line);
        if let Err(why) = reader.line(&words) {
            panic!("{why} in the line `{}`", line.trim());
        }
    }
    reader.builder.link_launches(0);
    reader.builder.finish()
}

/// Splits at spaces outside double quotes and drops the comment.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for letter in line.chars() {
        match letter {
            '"' => quoted = !quoted,
            '#' if !quoted => break,
            letter if letter.is_whitespace() && !quoted => words.push(String::new()),
            letter => words.last_mut().expect("there is one from the start").push(letter),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

struct Reader {
    builder: TraceBuilder,
    process: u32,
    track: Option<(u32, EventKind)>,
    modules: HashMap<String, u32>,
    named: HashMap<String, u32>,
}

impl Reader {
    fn new() -> Reader {
        let mut builder = TraceBuilder::new();
        let process = builder.add_process("host0", None);
        Reader { builder, process, track: None, modules: HashMap::new(), named: HashMap::new() }
    }

    fn line(&mut self, words: &[String]) -> Result<(), String> {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words[..] {
            [] => {}
            ["module", name, id, ref rest @ ..] => self.module(name, id, rest)?,
            ["process", name, ref rest @ ..] => self.process(name, rest)?,
            ["device", plane, ref rest @ ..] => self.device(plane, rest)?,
            ["thread", name] => self.begin(None, TrackKind::HostThread, name),
            ["stream", id, "on", device] => self.begin(Some(device), TrackKind::Stream, &format!("Stream #{id}")),
            ["lane", id, "on", device] => self.begin(Some(device), TrackKind::OperationLane, &format!("lane {id}")),
            ["derived", name, "on", device] => self.begin(Some(device), TrackKind::Derived, name),
            ["allocation", time, bytes, allocator, ref rest @ ..] => self.allocation(time, bytes, allocator, rest)?,
            ["segment", time, bytes, allocator] => {
                let kind = if bytes.starts_with('-') { SegmentEventKind::Freed } else { SegmentEventKind::Allocated };
                self.segment(time, bytes.trim_start_matches(['+', '-']), allocator, kind)?;
            }
            ["exhausted", time, bytes, allocator] => {
                self.segment(time, bytes, allocator, SegmentEventKind::OutOfMemory)?
            }
            ["counter", time, metric, value] => self.counter(time, metric, value, None)?,
            ["counter", time, metric, value, "on", device] => self.counter(time, metric, value, Some(device))?,
            ["profile", name, ref rest @ ..] => self.profile(name, rest)?,
            [start, dur, name, ref rest @ ..] => self.event(start, dur, name, rest)?,
            _ => return Err("expected a track, a module or `start +duration name`".to_owned()),
        }
        Ok(())
    }

    fn begin(&mut self, device: Option<&str>, kind: TrackKind, name: &str) {
        let device = device.map(|device| self.builder.device(self.process, device));
        let native_id = self.builder.tracks().len() as i64;
        let track = self.builder.add_track(self.process, device, kind, name, native_id);
        let usual = match kind {
            TrackKind::HostThread => EventKind::HostRange,
            TrackKind::Stream => EventKind::Kernel,
            TrackKind::OperationLane => EventKind::DeviceOp,
            TrackKind::Derived => EventKind::Derived,
        };
        self.track = Some((track, usual));
    }

    fn allocation(&mut self, time: &str, bytes: &str, allocator: &str, rest: &[&str]) -> Result<(), String> {
        let allocator = self.builder.strings.intern(allocator);
        let (process, bytes) = (self.process, number::<i64>(bytes.trim_start_matches('+'))?);
        let reserved = match rest {
            [] => -1,
            [word] => number(word.strip_prefix("reserved=").ok_or("expected reserved=N")?)?,
            _ => return Err("expected at most reserved=N".to_owned()),
        };
        let table = &mut self.builder.allocations;
        let before =
            (0..table.len()).rev().find(|row| table.allocator[*row] == allocator && table.process[*row] == process);
        let in_use = before.map_or(0, |row| table.in_use_bytes[row]) + bytes;
        let peak = before.map_or(0, |row| table.peak_bytes[row]).max(in_use);
        table.process.push(process);
        table.time_ns.push(number(time)?);
        table.allocator.push(allocator);
        table.delta_bytes.push(bytes);
        table.requested_bytes.push(bytes);
        table.in_use_bytes.push(in_use);
        table.peak_bytes.push(peak);
        table.reserved_bytes.push(reserved);
        table.fragmentation.push(0.0);
        table.address.push(0);
        table.owner.push(StringId(0));
        Ok(())
    }

    fn counter(&mut self, time: &str, metric: &str, value: &str, device: Option<&str>) -> Result<(), String> {
        let device = device.map_or(NONE, |device| self.builder.device(self.process, device));
        let metric = self.builder.strings.intern(metric);
        let counters = &mut self.builder.counters;
        counters.device.push(device);
        counters.metric.push(metric);
        counters.time_ns.push(number(time)?);
        counters.value.push(number(value)?);
        Ok(())
    }

    fn segment(&mut self, time: &str, bytes: &str, allocator: &str, kind: SegmentEventKind) -> Result<(), String> {
        let allocator = self.builder.strings.intern(allocator);
        let table = &mut self.builder.memory.segments;
        table.allocator.push(allocator);
        table.process.push(self.process);
        table.time_ns.push(number(time)?);
        table.kind.push(kind);
        table.bytes.push(number(bytes)?);
        table.free_bytes.push(None);
        table.stack.push(NONE);
        Ok(())
    }

    fn profile(&mut self, name: &str, metrics: &[&str]) -> Result<(), String> {
        let name = self.builder.strings.intern(name);
        let launches = &mut self.builder.profiles.launches;
        let row = launches.len() as u32;
        let (grid, block) = ([1; 3], [1; 3]);
        launches.push(KernelProfile {
            process: self.process,
            name,
            launch: row,
            grid,
            block,
            device: None,
            stream: None,
        });
        for metric in metrics {
            let (metric, value) = metric.split_once('=').ok_or("expected metric=value")?;
            let metric = self.builder.strings.intern(metric);
            self.builder.profiles.push(row, metric, number(value)?, StringId(0), StringId(0));
        }
        Ok(())
    }

    fn process(&mut self, name: &str, rest: &[&str]) -> Result<(), String> {
        self.process = self.builder.add_process(name, None);
        self.track = None;
        for word in rest {
            let process = self.builder.process_mut(self.process);
            match word.split_once('=') {
                Some(("rank", rank)) => process.rank = Some(number(rank)?),
                Some(("pid", pid)) => process.pid = Some(number(pid)?),
                _ => return Err("expected rank=N or pid=N".to_owned()),
            }
        }
        Ok(())
    }

    fn device(&mut self, plane: &str, rest: &[&str]) -> Result<(), String> {
        let row = self.builder.device(self.process, plane);
        let device = self.builder.device_mut(row);
        for word in rest {
            match word.split_once('=') {
                Some(("model", value)) => device.model = Some(value.to_owned()),
                Some(("vendor", value)) => device.vendor = Some(value.to_owned()),
                Some(("cores", value)) => device.cores = Some(number(value)?),
                Some(("memory", value)) => device.memory_bytes = Some(number(value)?),
                Some(("capability", value)) => {
                    let (major, minor) = value.split_once('.').ok_or("expected capability=MAJOR.MINOR")?;
                    device.compute_capability = Some((number(major)?, number(minor)?));
                }
                _ => return Err(format!("expected what a device is, found `{word}`")),
            }
        }
        Ok(())
    }

    fn module(&mut self, name: &str, id: &str, rest: &[&str]) -> Result<(), String> {
        let hlo = match rest {
            [] => None,
            [word] => Some(word.strip_prefix("hlo=").ok_or("expected hlo=N")?),
            _ => return Err("expected at most hlo=N".to_owned()),
        };
        let hlo = hlo.map(number::<u32>).transpose()?;
        let text = self.builder.strings.intern(name);
        let module = Module { process: self.process, name: text, program_id: number(id)?, hlo };
        self.builder.modules.push(module);
        let row = self.builder.modules.len() as u32 - 1;
        self.modules.insert(name.to_owned(), row);
        self.modules.insert(format!("{name}({id})"), row);
        Ok(())
    }

    fn event(&mut self, start: &str, dur: &str, name: &str, rest: &[&str]) -> Result<(), String> {
        let (track, usual) = self.track.ok_or("expected a track before the first event")?;
        let said = Words::read(rest)?;
        let name = self.builder.strings.intern(name);
        let kind = said.kind.unwrap_or(usual);
        let mut event =
            NewEvent::new(kind, name, number(start)?, number(dur.strip_prefix('+').ok_or("expected +duration")?)?);
        event.op = self.operation(&said)?;
        event.detail = self.detail(kind, &said);
        event.correlation = said.correlation;
        let row = self.builder.push(track, event);
        if let Some(number) = said.step {
            self.builder.steps.push(Step { event: row, number });
        }
        if let Some(name) = said.name {
            self.named.insert(name.to_owned(), row);
        }
        if let Some(name) = said.collective {
            let mut text = |text: &str| self.builder.strings.intern(text);
            let (name, group, element_type) = (text(name), text(said.group.unwrap_or_default()), text(""));
            self.builder.collectives.push(Collective {
                event: row,
                name,
                group,
                sequence: said.sequence,
                group_size: said.ranks,
                element_type,
                bytes_in: said.moves,
                bytes_out: said.moves,
            });
        }
        if let Some(forward) = said.backward {
            let forward = *self.named.get(forward).ok_or("expected backward=NAME of an event above")?;
            self.builder.backwards.push(Backward { event: row, forward });
        }
        if said.is_recorded {
            self.builder.recorded.push(row);
        }
        if let Some(cause) = said.cause {
            let cause = *self.named.get(cause).ok_or("expected by=NAME of an event above")?;
            self.builder.slices(row..row + 1).link[0] = cause;
        }
        Ok(())
    }

    /// The row of the operation that the words name; like ones share it.
    fn operation(&mut self, said: &Words<'_>) -> Result<u32, String> {
        let Some(name) = said.op else { return Ok(NONE) };
        let module = match said.module {
            None => NONE,
            Some(name) => *self.modules.get(name).ok_or("expected in=MODULE of a module above")?,
        };
        let scope = said.scope.map_or(StringId(0), |scope| self.builder.strings.intern(scope));
        let name = self.builder.strings.intern(name);
        let op = Operation { name, module, instruction: said.instruction, scope };
        let operations = &mut self.builder.operations;
        let known = operations.iter().position(|other| *other == op);
        Ok(known.unwrap_or_else(|| {
            operations.push(op);
            operations.len() - 1
        }) as u32)
    }

    fn detail(&mut self, kind: EventKind, said: &Words<'_>) -> u32 {
        if let Some(bytes) = said.bytes {
            let source = said.source.unwrap_or(MemoryKind::Pinned);
            let destination = said.destination.unwrap_or(MemoryKind::Device);
            let transfer = Transfer { bytes, source, destination, is_async: said.is_async };
            return known_or_new(&mut self.builder.transfers, transfer);
        }
        let is_shaped =
            said.grid.is_some() || said.block.is_some() || said.registers.is_some() || said.occupancy.is_some();
        if kind == EventKind::Kernel && is_shaped {
            let (grid, block) = (said.grid.unwrap_or([1; 3]), said.block.unwrap_or([1; 3]));
            let shape = LaunchShape {
                grid,
                block,
                registers: said.registers,
                dynamic_shared_bytes: said.shared,
                occupancy_pct: said.occupancy,
                ..LaunchShape::default()
            };
            return known_or_new(&mut self.builder.launch_shapes, shape);
        }
        if kind == EventKind::Operator && (said.dims.is_some() || said.types.is_some()) {
            let mut text = |text: Option<&str>| self.builder.strings.intern(text.unwrap_or_default());
            let types = said.types.map(json_names);
            let shape =
                OperatorShape { dims: text(said.dims), types: text(types.as_deref()), ..OperatorShape::default() };
            return known_or_new(&mut self.builder.operator_shapes, shape);
        }
        NONE
    }
}

fn known_or_new<T: PartialEq>(table: &mut Vec<T>, row: T) -> u32 {
    let known = table.iter().position(|other| *other == row);
    known.unwrap_or_else(|| {
        table.push(row);
        table.len() - 1
    }) as u32
}

/// The words after an event's name.
#[derive(Debug, Default)]
struct Words<'a> {
    kind: Option<EventKind>,
    step: Option<i64>,
    op: Option<&'a str>,
    module: Option<&'a str>,
    instruction: u32,
    scope: Option<&'a str>,
    correlation: u32,
    name: Option<&'a str>,
    cause: Option<&'a str>,
    backward: Option<&'a str>,
    is_recorded: bool,
    bytes: Option<u64>,
    is_async: Option<bool>,
    source: Option<MemoryKind>,
    destination: Option<MemoryKind>,
    registers: Option<u32>,
    shared: Option<u32>,
    occupancy: Option<f32>,
    dims: Option<&'a str>,
    types: Option<&'a str>,
    collective: Option<&'a str>,
    group: Option<&'a str>,
    sequence: Option<u64>,
    ranks: Option<u32>,
    moves: Option<u64>,
    grid: Option<[u32; 3]>,
    block: Option<[u32; 3]>,
}

impl<'a> Words<'a> {
    fn read(words: &[&'a str]) -> Result<Words<'a>, String> {
        let mut said = Words { instruction: NONE, ..Words::default() };
        for word in words {
            match word.split_once('=') {
                None => said.kind = Some(kind(word)?),
                Some(("step", value)) => {
                    said.kind = Some(EventKind::Step);
                    said.step = Some(number(value)?);
                }
                Some(("op", value)) => said.op = Some(value),
                Some(("in", value)) => said.module = Some(value),
                Some(("at", value)) => said.instruction = number(value)?,
                Some(("scope", value)) => said.scope = Some(value),
                Some(("id", value)) => said.correlation = number(value)?,
                Some(("as", value)) => said.name = Some(value),
                Some(("by", value)) => said.cause = Some(value),
                Some(("backward", value)) => said.backward = Some(value),
                Some(("recorded", value)) => said.is_recorded = number::<u8>(value)? != 0,
                Some(("bytes", value)) => said.bytes = Some(number(value)?),
                Some(("async", value)) => said.is_async = Some(number::<u8>(value)? != 0),
                Some(("from", value)) => said.source = Some(memory(value)?),
                Some(("to", value)) => said.destination = Some(memory(value)?),
                Some(("registers", value)) => said.registers = Some(number(value)?),
                Some(("shared", value)) => said.shared = Some(number(value)?),
                Some(("occupancy", value)) => said.occupancy = Some(number(value)?),
                Some(("dims", value)) => said.dims = Some(value),
                Some(("types", value)) => said.types = Some(value),
                Some(("collective", value)) => said.collective = Some(value),
                Some(("group", value)) => said.group = Some(value),
                Some(("sequence", value)) => said.sequence = Some(number(value)?),
                Some(("ranks", value)) => said.ranks = Some(number(value)?),
                Some(("moves", value)) => said.moves = Some(number(value)?),
                Some(("grid", value)) => said.grid = Some(triple(value)?),
                Some(("block", value)) => said.block = Some(triple(value)?),
                Some((word, _)) => return Err(format!("expected a word of the notation, found `{word}=`")),
            }
        }
        Ok(said)
    }
}

/// `[float,double]`, of which quotes were taken, as a capture writes it.
fn json_names(list: &str) -> String {
    let names: Vec<String> = list.trim_matches(['[', ']']).split(',').map(|name| format!("\"{name}\"")).collect();
    format!("[{}]", names.join(", "))
}

fn kind(word: &str) -> Result<EventKind, String> {
    Ok(match word {
        "annotation" => EventKind::Annotation,
        "launch" => EventKind::Launch,
        "pool" => EventKind::PoolRegion,
        "compile" => EventKind::Compile,
        "instant" => EventKind::Instant,
        "python" => EventKind::PythonCall,
        "h2d" => EventKind::CopyHostToDevice,
        "d2h" => EventKind::CopyDeviceToHost,
        "d2d" => EventKind::CopyDeviceToDevice,
        "p2p" => EventKind::CopyPeer,
        "memset" => EventKind::Memset,
        "graph" => EventKind::GraphLaunch,
        "overhead" => EventKind::Overhead,
        "memory" => EventKind::DeviceMemory,
        "operator" => EventKind::Operator,
        "sync" => EventKind::Synchronization,
        "range" => EventKind::DeviceRange,
        _ => return Err(format!("expected a kind of event, found `{word}`")),
    })
}

fn memory(word: &str) -> Result<MemoryKind, String> {
    MemoryKind::from_name(word).ok_or_else(|| format!("expected a kind of memory, found `{word}`"))
}

fn number<T: std::str::FromStr>(word: &str) -> Result<T, String> {
    word.parse().map_err(|_| format!("expected a number, found `{word}`"))
}

fn triple(word: &str) -> Result<[u32; 3], String> {
    let parts: Vec<u32> = word.split(',').map(number).collect::<Result<_, _>>()?;
    parts.try_into().map_err(|_| format!("expected three numbers, found `{word}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_arrives_in_the_trace() {
        let found = trace(
            "module jit_f 15 hlo=0
             thread python
               0 +9 cuLaunch launch id=3 # a comment
               10 +5 \"a long name\" step=7 as=here
             stream 7 on gpu
               20 +4 gemm op=dot.1 in=jit_f at=2 scope=jit(f)/dot id=3 grid=2,1,1 block=64,1,1
               25 +0 MemcpyH2D h2d bytes=512
               24 +1 other by=here",
        );
        assert_eq!((found.events.link[2], found.events.link[3]), (0, 1));
        assert_eq!((found.steps[0].event, found.steps[0].number), (1, 7));
        assert_eq!(found.name(1), "a long name");
        let op = found.operation(2).copied().expect("it names one");
        assert_eq!((found.strings.get(op.name), op.instruction), ("dot.1", 2));
        assert_eq!(found.strings.get(op.scope), "jit(f)/dot");
        assert_eq!((found.modules[op.module as usize].program_id, found.modules[0].hlo), (15, Some(0)));
        assert_eq!(found.launch_shape(2).map(|shape| (shape.grid, shape.block)), Some(([2, 1, 1], [64, 1, 1])));
        assert_eq!(found.transfer(4).map(|transfer| transfer.bytes), Some(512));
    }

    #[test]
    fn processes_devices_and_collectives() {
        let found = trace(
            "device gpu model=\"NVIDIA H100 SXM5 80GB\" cores=132 capability=9.0
             stream 7 on gpu
               0 +5 nccl collective=allreduce group=g sequence=3 ranks=2 moves=64 registers=32 grid=8,1,1
               9 +5 copy h2d bytes=8 from=pageable
             process other rank=1
             thread python
               0 +9 aten::mm operator dims=[[2,3]]",
        );
        assert_eq!((found.processes.len(), found.processes[1].rank), (2, Some(1)));
        assert_eq!(found.devices[0].compute_capability, Some((9, 0)));
        assert_eq!((found.collectives[0].bytes_in, found.collectives[0].sequence), (Some(64), Some(3)));
        assert_eq!(found.launch_shape(0).and_then(|shape| shape.registers), Some(32));
        assert_eq!(found.transfer(1).map(|transfer| transfer.source), Some(MemoryKind::Pageable));
        assert_eq!(found.operator_shape(2).map(|shape| found.strings.get(shape.dims)), Some("[[2,3]]"));
    }
}
