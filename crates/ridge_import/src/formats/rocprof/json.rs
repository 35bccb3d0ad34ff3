//! The JSON of rocprofv3: one object with a list of processes, each with its agents, names and records.
//!
//! Records name interfaces and operations by numbers into `strings.buffer_records`; ranges of roctx have their texts in
//! `strings.marker_api`, by the number of the call. Every field may be absent: tools of 2024 lack streams and allocations.

use super::place::place;
use super::records::{Agent, Allocation, Call, Counted, Records, Work, kind_of_call};
use crate::import::{Import, ImportError, Source};
use ridge_trace::{EventKind, StringId};
use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde::de::IgnoredAny;

#[derive(Deserialize)]
struct Document {
    #[serde(rename = "rocprofiler-sdk-tool")]
    tool: Vec<Tool>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Tool {
    metadata: Metadata,
    agents: Vec<AgentSaid>,
    counters: Vec<Counter>,
    strings: Texts,
    kernel_symbols: Vec<Symbol>,
    callback_records: Callbacks,
    buffer_records: Buffers,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Metadata {
    pid: u64,
    init_time: u64,
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(default)]
struct Handle {
    handle: u64,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct AgentSaid {
    id: Handle,
    r#type: u64,
    logical_node_type_id: Option<i64>,
    cu_count: u64,
    /// Megahertz.
    max_engine_clk_fcompute: u64,
    wave_front_size: u64,
    name: String,
    vendor_name: String,
    product_name: String,
}

/// What a counter is called.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Counter {
    id: Handle,
    name: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Texts {
    buffer_records: Vec<Interface>,
    marker_api: Vec<Message>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Interface {
    kind: String,
    operations: Vec<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Message {
    key: u64,
    value: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Symbol {
    kernel_id: u64,
    kernel_name: String,
    formatted_kernel_name: String,
    group_segment_size: u64,
    arch_vgpr_count: u64,
    accum_vgpr_count: u64,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Callbacks {
    counter_collection: Vec<CountedSaid>,
    /// Values sampled while kernels run.
    spm_counter_collection: Vec<IgnoredAny>,
}

/// What was counted of a kernel: the kernel as the trace of kernels has it, and a value for each part of the device.
#[derive(Deserialize, Default)]
#[serde(default)]
struct CountedSaid {
    dispatch_data: Dispatch,
    records: Vec<Value>,
    stream_id: Handle,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Value {
    counter_id: Handle,
    value: Option<f64>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Buffers {
    kernel_dispatch: Vec<Dispatch>,
    hip_api: Vec<Called>,
    hsa_api: Vec<Called>,
    marker_api: Vec<Called>,
    rccl_api: Vec<Called>,
    memory_copy: Vec<Copied>,
    memory_allocation: Vec<Allocated>,
    scratch_memory: Vec<IgnoredAny>,
    rocdecode_api: Vec<IgnoredAny>,
    rocjpeg_api: Vec<IgnoredAny>,
    pc_sample_host_trap: Vec<IgnoredAny>,
    pc_sample_stochastic: Vec<IgnoredAny>,
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(default)]
struct Correlation {
    internal: u64,
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(default)]
struct Three {
    x: u64,
    y: u64,
    z: u64,
}

impl Three {
    fn all(&self) -> [u64; 3] {
        [self.x, self.y, self.z]
    }
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(default)]
struct Dispatch {
    correlation_id: Correlation,
    start_timestamp: u64,
    end_timestamp: u64,
    dispatch_info: DispatchInfo,
    stream_id: Handle,
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(default)]
struct DispatchInfo {
    agent_id: Handle,
    queue_id: Handle,
    kernel_id: u64,
    group_segment_size: u64,
    workgroup_size: Three,
    grid_size: Three,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Called {
    kind: usize,
    operation: usize,
    correlation_id: Correlation,
    start_timestamp: u64,
    end_timestamp: u64,
    thread_id: u64,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Copied {
    #[serde(flatten)]
    call: Called,
    dst_agent_id: Handle,
    src_agent_id: Handle,
    stream_id: Handle,
    bytes: u64,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Allocated {
    #[serde(flatten)]
    call: Called,
    agent_id: Handle,
    address: Address,
    allocation_size: u64,
}

/// An address, as the versions write it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Address {
    Number(u64),
    Object {
        #[serde(alias = "value")]
        handle: u64,
    },
    Other(IgnoredAny),
}

impl Default for Address {
    fn default() -> Address {
        Address::Number(0)
    }
}

/// Symbols of kernels by their numbers.
type Symbols<'t> = FxHashMap<u64, &'t Symbol>;

/// Reads `source` into `import`.
pub(super) fn read(source: Source<'_>, import: &mut Import) -> Result<(), ImportError> {
    let document: Document = serde_json::from_slice(source.bytes).map_err(|error| ImportError::Broken {
        source_name: source.name.to_owned(),
        offset: offset(source.bytes, error.line(), error.column()),
        what: format!("cannot read rocprofv3's JSON: {error}"),
    })?;
    for tool in document.tool {
        let mut records = Records::default();
        take(tool, &mut records, import);
        place(records, source, import);
    }
    Ok(())
}

/// Where `line` and `column`, counted from 1, are in `bytes`.
fn offset(bytes: &[u8], line: usize, column: usize) -> u64 {
    let before =
        bytes.split_inclusive(|byte| *byte == b'\n').take(line.saturating_sub(1)).map(<[u8]>::len).sum::<usize>();
    (before + column) as u64
}

fn take(tool: Tool, records: &mut Records, import: &mut Import) {
    let Tool { metadata, agents, counters, strings, kernel_symbols, callback_records, buffer_records } = tool;
    let process = metadata.pid;
    records.begin_ns = Some(metadata.init_time);
    for said in agents {
        let filled = |text: String| Some(text).filter(|text| !text.is_empty());
        let number = said.logical_node_type_id.and_then(|id| u64::try_from(id).ok());
        let number = number.unwrap_or_else(|| records.agents.values().filter(|agent| agent.is_gpu).count() as u64);
        let agent = Agent {
            is_gpu: said.r#type == 2,
            number,
            vendor: filled(said.vendor_name),
            product: filled(said.product_name),
            architecture: filled(said.name),
            cores: Some(said.cu_count).filter(|count| *count > 0),
            clock_khz: Some(said.max_engine_clk_fcompute.saturating_mul(1000)).filter(|clock| *clock > 0),
            wave_size: Some(said.wave_front_size).filter(|size| *size > 0),
        };
        records.agents.insert(said.id.handle, agent);
    }
    let symbols: Symbols<'_> = kernel_symbols.iter().map(|symbol| (symbol.kernel_id, symbol)).collect();
    let Callbacks { counter_collection, spm_counter_collection } = callback_records;
    let counted = counted(counter_collection, &counters, &symbols, process, import);
    let mut dispatches = buffer_records.kernel_dispatch;
    // Where only counters were asked for, the kernels are told with them alone.
    if dispatches.is_empty() {
        dispatches.extend(counted.iter().map(|(dispatch, _)| *dispatch));
    }
    records.counted.extend(counted.into_iter().map(|(_, counted)| counted));
    for dispatch in dispatches {
        let info = &dispatch.dispatch_info;
        let symbol = symbols.get(&info.kernel_id);
        let registers = symbol.map(|symbol| symbol.arch_vgpr_count.saturating_add(symbol.accum_vgpr_count));
        let of_kernel = symbol.map_or(0, |symbol| symbol.group_segment_size);
        let key = (info.grid_size.all(), info.workgroup_size.all(), of_kernel, info.group_segment_size, registers);
        let detail = records.shape(key, import);
        records.work.push(Work {
            process,
            agent: info.agent_id.handle,
            queue: Some(info.queue_id.handle),
            stream: dispatch.stream_id.handle,
            start_ns: dispatch.start_timestamp,
            end_ns: dispatch.end_timestamp,
            name: name_of(info.kernel_id, &symbols, import),
            kind: EventKind::Kernel,
            detail,
            cause: dispatch.correlation_id.internal,
        });
    }
    let names = Names { interfaces: &strings.buffer_records };
    for copied in buffer_records.memory_copy {
        let (_, name) = names.of(&copied.call);
        let ends = (copied.src_agent_id.handle, copied.dst_agent_id.handle);
        let Some((kind, agent, detail)) = records.copy(name, ends, copied.bytes, import) else {
            records.calls.push(call(process, &copied.call, name, EventKind::HostRange, import));
            continue;
        };
        records.work.push(Work {
            process,
            agent,
            queue: None,
            stream: copied.stream_id.handle,
            start_ns: copied.call.start_timestamp,
            end_ns: copied.call.end_timestamp,
            name: import.builder.strings.intern(name),
            kind,
            detail,
            cause: copied.call.correlation_id.internal,
        });
    }
    let messages: FxHashMap<u64, &str> = strings.marker_api.iter().map(|one| (one.key, one.value.as_str())).collect();
    let calls = [buffer_records.hip_api, buffer_records.hsa_api, buffer_records.marker_api, buffer_records.rccl_api];
    for called in calls.into_iter().flatten() {
        let (interface, operation) = names.of(&called);
        let kind = kind_of_call(interface, operation);
        let is_marker = matches!(kind, EventKind::Annotation | EventKind::Instant);
        let message = messages.get(&called.correlation_id.internal).filter(|_| is_marker);
        let name = message.copied().unwrap_or(operation);
        records.calls.push(call(process, &called, name, kind, import));
    }
    allocations(buffer_records.memory_allocation, &names, process, records);
    records.leave_out("samples of hardware counters", spm_counter_collection.len() as u64);
    records.leave_out("uses of scratch memory", buffer_records.scratch_memory.len() as u64);
    records.leave_out("calls of rocDecode", buffer_records.rocdecode_api.len() as u64);
    records.leave_out("calls of rocJPEG", buffer_records.rocjpeg_api.len() as u64);
    let samples = buffer_records.pc_sample_host_trap.len() + buffer_records.pc_sample_stochastic.len();
    records.leave_out("samples of program counters", samples as u64);
}

/// The name of a kernel, as it is in a program's text.
fn name_of(kernel: u64, symbols: &Symbols<'_>, import: &mut Import) -> StringId {
    let names = symbols.get(&kernel).map(|symbol| [&symbol.formatted_kernel_name, &symbol.kernel_name]);
    let name = names.and_then(|names| names.into_iter().find(|name| !name.is_empty()));
    match name {
        Some(name) => import.builder.strings.intern(name),
        None => import.builder.strings.intern(&format!("(kernel {kernel})")),
    }
}

/// Kernels with their counters.
fn counted(
    said: Vec<CountedSaid>,
    counters: &[Counter],
    symbols: &Symbols<'_>,
    process: u64,
    import: &mut Import,
) -> Vec<(Dispatch, Counted)> {
    let known = counters.iter().map(|counter| (counter.id.handle, import.builder.strings.intern(&counter.name)));
    let known: FxHashMap<u64, StringId> = known.collect();
    let mut one = |said: CountedSaid| {
        let CountedSaid { mut dispatch_data, records, stream_id } = said;
        if dispatch_data.stream_id.handle == 0 {
            dispatch_data.stream_id = stream_id;
        }
        let info = &dispatch_data.dispatch_info;
        let values = records.into_iter().filter_map(|value| {
            let id = value.counter_id.handle;
            let unknown = || import.builder.strings.intern(&format!("(counter {id})"));
            Some((known.get(&id).copied().unwrap_or_else(unknown), value.value?))
        });
        let values = values.collect();
        let counted = Counted {
            process,
            agent: info.agent_id.handle,
            stream: dispatch_data.stream_id.handle,
            name: name_of(info.kernel_id, symbols, import),
            start_ns: dispatch_data.start_timestamp,
            end_ns: dispatch_data.end_timestamp,
            items: info.grid_size.all(),
            group: info.workgroup_size.all(),
            values,
        };
        (dispatch_data, counted)
    };
    said.into_iter().map(&mut one).collect()
}

fn call(process: u64, called: &Called, name: &str, kind: EventKind, import: &mut Import) -> Call {
    Call {
        process,
        thread: called.thread_id,
        start_ns: called.start_timestamp,
        end_ns: called.end_timestamp,
        name: import.builder.strings.intern(name),
        kind,
        number: called.correlation_id.internal,
    }
}

/// Releases say an address alone: the size is that of the allocation there.
fn allocations(mut all: Vec<Allocated>, names: &Names<'_>, process: u64, records: &mut Records) {
    all.sort_by_key(|one| one.call.start_timestamp);
    let mut sizes: FxHashMap<u64, (u64, u64)> = FxHashMap::default();
    for one in all {
        let address = match one.address {
            Address::Number(address) | Address::Object { handle: address } => address,
            Address::Other(_) => 0,
        };
        let (_, operation) = names.of(&one.call);
        let found = if operation.contains("FREE") {
            sizes
                .remove(&address)
                .map(|(agent, size)| (agent, i64::try_from(size).unwrap_or(i64::MAX).saturating_neg()))
        } else {
            sizes.insert(address, (one.agent_id.handle, one.allocation_size));
            Some((one.agent_id.handle, i64::try_from(one.allocation_size).unwrap_or(i64::MAX)))
        };
        let is_gpu = |agent: u64| records.agents.get(&agent).is_some_and(|agent| agent.is_gpu);
        if let Some((agent, delta_bytes)) = found.filter(|(agent, _)| is_gpu(*agent)) {
            let time_ns = one.call.start_timestamp;
            records.allocations.push(Allocation { process, agent, time_ns, address, delta_bytes });
        }
    }
}

/// What the numbers of interfaces and operations stand for.
struct Names<'t> {
    interfaces: &'t [Interface],
}

impl<'t> Names<'t> {
    /// The interface and the operation of a record.
    fn of(&self, called: &Called) -> (&'t str, &'t str) {
        let interface = self.interfaces.get(called.kind);
        let operation = interface.and_then(|interface| interface.operations.get(called.operation));
        let kind = interface.map_or("", |interface| interface.kind.as_str());
        (kind, operation.map_or("(operation without a name)", String::as_str))
    }
}
