//! Buffer assignment: which memory every value of a program was given.
//!
//! It holds what XLA decided before the program ran. What a program really used is in traces, not here.

use crate::{InstructionId, wire};
use rustc_hash::FxHashMap;

/// The buffers of one module.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BufferAssignment {
    /// Values that need memory.
    pub buffers: Vec<LogicalBuffer>,
    /// Places that share another value's memory.
    pub aliases: Vec<BufferAlias>,
    /// Pieces of memory, each holding one or more values.
    pub allocations: Vec<Allocation>,
    /// When values come to life and die inside an allocation.
    pub heap_traces: Vec<HeapTrace>,
}

/// One value that needs memory.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LogicalBuffer {
    /// Its number.
    pub id: i64,
    /// Bytes.
    pub size: i64,
    /// Where it is made.
    pub defined_at: BufferLocation,
    /// The memory space it must be in; 0 is the device's default.
    pub color: i64,
}

/// The value of an instruction, or a part of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BufferLocation {
    /// The instruction; `None` if the file names one that is not there.
    pub instruction: Option<InstructionId>,
    /// Path of tuple positions in its value.
    pub shape_index: Vec<i64>,
}

/// A place that shares the memory of a value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BufferAlias {
    /// Number of the value.
    pub source: i64,
    /// The place.
    pub location: BufferLocation,
}

/// One piece of memory.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Allocation {
    /// Its number.
    pub index: i64,
    /// Bytes.
    pub size: i64,
    /// Whether each thread has its own.
    pub is_thread_local: bool,
    /// Whether it is a parameter of the program.
    pub is_parameter: bool,
    /// Which parameter, if it is one.
    pub parameter: i64,
    /// Path of tuple positions in the parameter.
    pub parameter_index: Vec<i64>,
    /// Whether it may outlive the program's run, as results do.
    pub maybe_live_out: bool,
    /// The memory space it is in; 0 is the device's default.
    pub color: i64,
    /// Whether it is a tuple's pointer table.
    pub is_tuple: bool,
    /// Whether it holds a constant.
    pub is_constant: bool,
    /// Whether the parameter's memory is also an output's.
    pub is_parameter_aliased_with_output: bool,
    /// The values in it.
    pub assigned: Vec<AssignedBuffer>,
}

/// One value's place in an allocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AssignedBuffer {
    /// Number of the value.
    pub buffer: i64,
    /// Bytes from the start of the allocation.
    pub offset: i64,
    /// Bytes.
    pub size: i64,
}

/// What happens inside one allocation, in the order the program runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HeapTrace {
    /// The events in order.
    pub events: Vec<HeapEvent>,
    /// Whether one trace covers all computations.
    pub is_whole_module: bool,
    /// The allocation it is about.
    pub allocation: i64,
}

/// A value comes to life or dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeapEvent {
    /// What happens.
    pub kind: HeapEventKind,
    /// Number of the value.
    pub buffer: i64,
    /// The instruction at which it happens.
    pub instruction: Option<InstructionId>,
}

/// What happens to a value in a heap trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeapEventKind {
    /// It gets memory.
    Alloc,
    /// It gives its memory back.
    Free,
    /// It shares the memory of the value with this number.
    ShareWith(i64),
}

/// Reads a `BufferAssignmentProto`; `instruction_of` finds instructions by number, then by name.
pub(crate) fn read(
    reader: &mut crate::proto::Reader<'_>,
    message: &[u8],
    instruction_of: &impl Fn(i64, &[u8]) -> Option<InstructionId>,
) -> BufferAssignment {
    let mut assignment = BufferAssignment::default();
    reader.each(message, "buffer assignment", |reader, number, value| match (number, value.bytes()) {
        (1, Some(part)) => assignment.buffers.push(read_buffer(reader, part, instruction_of)),
        (2, Some(part)) => assignment.aliases.push(read_alias(reader, part, instruction_of)),
        (3, Some(part)) => assignment.allocations.push(read_allocation(reader, part)),
        (4, Some(part)) => assignment.heap_traces.push(read_trace(reader, part, instruction_of)),
        _ => {}
    });
    assignment.place_traces();
    assignment
}

impl BufferAssignment {
    /// Has each heap trace be about the allocation that holds its values.
    ///
    /// XLA numbers allocations anew where it joins the temporary ones, and leaves the numbers in its traces as they were.
    pub(crate) fn place_traces(&mut self) {
        let holders = self
            .allocations
            .iter()
            .flat_map(|allocation| allocation.assigned.iter().map(|assigned| (assigned.buffer, allocation.index)));
        let holder_of: FxHashMap<i64, i64> = holders.collect();
        for trace in &mut self.heap_traces {
            let mut held: FxHashMap<i64, u64> = FxHashMap::default();
            for holder in trace.events.iter().filter_map(|event| holder_of.get(&event.buffer)) {
                *held.entry(*holder).or_default() += 1;
            }
            let named = held.get(&trace.allocation).copied().unwrap_or(0);
            let most = held.into_iter().max_by_key(|(index, count)| (*count, std::cmp::Reverse(*index)));
            if let Some((index, _)) = most.filter(|(_, count)| *count > named) {
                trace.allocation = index;
            }
        }
    }
}

fn read_buffer(
    reader: &mut crate::proto::Reader<'_>,
    message: &[u8],
    instruction_of: &impl Fn(i64, &[u8]) -> Option<InstructionId>,
) -> LogicalBuffer {
    let mut buffer = LogicalBuffer::default();
    reader.each(message, "logical buffer", |reader, number, value| match (number, value) {
        (1, wire::Value::Varint(id)) => buffer.id = id as i64,
        (2, wire::Value::Varint(size)) => buffer.size = size as i64,
        (3, wire::Value::Bytes(part)) => buffer.defined_at = read_location(reader, part, instruction_of),
        (4, wire::Value::Varint(color)) => buffer.color = color as i64,
        _ => {}
    });
    buffer
}

fn read_alias(
    reader: &mut crate::proto::Reader<'_>,
    message: &[u8],
    instruction_of: &impl Fn(i64, &[u8]) -> Option<InstructionId>,
) -> BufferAlias {
    let mut alias = BufferAlias::default();
    reader.each(message, "buffer alias", |reader, number, value| match (number, value) {
        (1, wire::Value::Varint(id)) => alias.source = id as i64,
        (2, wire::Value::Bytes(part)) => alias.location = read_location(reader, part, instruction_of),
        _ => {}
    });
    alias
}

fn read_location(
    reader: &mut crate::proto::Reader<'_>,
    message: &[u8],
    instruction_of: &impl Fn(i64, &[u8]) -> Option<InstructionId>,
) -> BufferLocation {
    let mut location = BufferLocation::default();
    let (mut id, mut name) = (0, &b""[..]);
    reader.each(message, "buffer location", |_, number, value| match (number, value) {
        (2, wire::Value::Bytes(text)) => name = text,
        (3, value) => crate::proto::extend(&mut location.shape_index, value),
        (4, wire::Value::Varint(value)) => id = value as i64,
        _ => {}
    });
    location.instruction = instruction_of(id, name);
    location
}

fn read_allocation(reader: &mut crate::proto::Reader<'_>, message: &[u8]) -> Allocation {
    let mut allocation = Allocation::default();
    reader.each(message, "buffer allocation", |reader, number, value| match (number, value) {
        (1, wire::Value::Varint(index)) => allocation.index = index as i64,
        (2, wire::Value::Varint(size)) => allocation.size = size as i64,
        (3, wire::Value::Varint(flag)) => allocation.is_thread_local = flag != 0,
        (5, wire::Value::Varint(flag)) => allocation.is_parameter = flag != 0,
        (6, wire::Value::Varint(parameter)) => allocation.parameter = parameter as i64,
        (7, wire::Value::Varint(flag)) => allocation.maybe_live_out = flag != 0,
        (8, wire::Value::Varint(color)) => allocation.color = color as i64,
        (9, wire::Value::Bytes(part)) => allocation.assigned.push(read_assigned(reader, part)),
        (10, value) => crate::proto::extend(&mut allocation.parameter_index, value),
        (11, wire::Value::Varint(flag)) => allocation.is_tuple = flag != 0,
        (12, wire::Value::Varint(flag)) => allocation.is_constant = flag != 0,
        (13, wire::Value::Varint(flag)) => allocation.is_parameter_aliased_with_output = flag != 0,
        _ => {}
    });
    allocation
}

fn read_assigned(reader: &mut crate::proto::Reader<'_>, message: &[u8]) -> AssignedBuffer {
    let mut assigned = AssignedBuffer::default();
    reader.each(message, "assigned buffer", |_, number, value| match (number, value) {
        (1, wire::Value::Varint(buffer)) => assigned.buffer = buffer as i64,
        (2, wire::Value::Varint(offset)) => assigned.offset = offset as i64,
        (3, wire::Value::Varint(size)) => assigned.size = size as i64,
        _ => {}
    });
    assigned
}

fn read_trace(
    reader: &mut crate::proto::Reader<'_>,
    message: &[u8],
    instruction_of: &impl Fn(i64, &[u8]) -> Option<InstructionId>,
) -> HeapTrace {
    let mut trace = HeapTrace::default();
    reader.each(message, "heap simulator trace", |reader, number, value| match (number, value) {
        (1, wire::Value::Bytes(part)) => trace.events.extend(read_event(reader, part, instruction_of)),
        (2, wire::Value::Varint(flag)) => trace.is_whole_module = flag != 0,
        (3, wire::Value::Varint(allocation)) => trace.allocation = allocation as i64,
        _ => {}
    });
    trace
}

fn read_event(
    reader: &mut crate::proto::Reader<'_>,
    message: &[u8],
    instruction_of: &impl Fn(i64, &[u8]) -> Option<InstructionId>,
) -> Option<HeapEvent> {
    let (mut kind, mut buffer, mut shared, mut name) = (0, 0, 0, &b""[..]);
    reader.each(message, "heap event", |_, number, value| match (number, value) {
        (1, wire::Value::Varint(value)) => kind = value,
        (2, wire::Value::Varint(value)) => buffer = value as i64,
        (4, wire::Value::Bytes(text)) => name = text,
        (5, wire::Value::Varint(value)) => shared = value as i64,
        _ => {}
    });
    let kind = match kind {
        0 => HeapEventKind::Alloc,
        1 => HeapEventKind::Free,
        2 => HeapEventKind::ShareWith(shared),
        other => {
            reader.note(message, || format!("expected a heap event of kind 0 to 2, found {other}"));
            return None;
        }
    };
    Some(HeapEvent { kind, buffer, instruction: instruction_of(0, name) })
}
