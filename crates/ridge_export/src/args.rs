//! What is known of an event beyond its name and its time.

use crate::names::Names;
use ridgeline::Trace;
use ridgeline::trace::{EventKind, NONE, StringId};

/// A value beside an event.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Arg<'a> {
    Text(&'a str),
    Whole(i64),
    Real(f64),
    Three([u32; 3]),
}

/// Calls `each` with the name and value of what is known of `row`, names as in Kineto's traces where it has one.
pub(crate) fn args<'a>(
    trace: &'a Trace,
    names: &'a Names<'_>,
    row: usize,
    mut each: impl FnMut(&'static str, Arg<'a>),
) {
    let text = |id: StringId| Some(names.get(id)).filter(|text| !text.is_empty());
    if let Some(operation) = trace.operation(row) {
        let module = (operation.module != NONE).then(|| trace.modules.get(operation.module as usize)).flatten();
        let known = [
            ("operation", text(operation.name)),
            ("module", module.and_then(|module| text(module.name))),
            ("scope", text(operation.scope)),
        ];
        known
            .into_iter()
            .filter_map(|(key, value)| Some((key, value?)))
            .for_each(|(key, value)| each(key, Arg::Text(value)));
    }
    if let Some(shape) = trace.launch_shape(row) {
        each("grid", Arg::Three(shape.grid));
        each("block", Arg::Three(shape.block));
        let counts = [
            ("registers per thread", shape.registers),
            ("static shared memory", shape.static_shared_bytes),
            ("dynamic shared memory", shape.dynamic_shared_bytes),
        ];
        counts
            .into_iter()
            .filter_map(|(key, count)| Some((key, count?)))
            .for_each(|(key, count)| each(key, Arg::Whole(count.into())));
        if let Some(occupancy) = shape.occupancy_pct {
            each("theoretical occupancy %", Arg::Real(occupancy.into()));
        }
    }
    if let Some(shape) = trace.operator_shape(row) {
        let said = [("Input Dims", shape.dims), ("Input type", shape.types), ("Concrete Inputs", shape.values)];
        let said = said.into_iter().filter_map(|(key, id)| Some((key, text(id)?)));
        said.for_each(|(key, value)| each(key, Arg::Text(value)));
    }
    if let Some(transfer) = trace.transfer(row) {
        each("bytes", Arg::Whole(i64::try_from(transfer.bytes).unwrap_or(i64::MAX)));
        each("source", Arg::Text(transfer.source.name()));
        each("destination", Arg::Text(transfer.destination.name()));
        transfer.is_async.into_iter().for_each(|is_async| each("async", Arg::Whole(is_async.into())));
    }
}

/// The category of a kind, as Kineto names it where it does.
pub(crate) fn category(kind: EventKind) -> &'static str {
    match kind {
        EventKind::HostRange => "host",
        EventKind::Annotation | EventKind::Step => "user_annotation",
        EventKind::PythonCall => "python_function",
        EventKind::Launch => "cuda_runtime",
        EventKind::PoolRegion => "thread_pool",
        EventKind::Compile => "compile",
        EventKind::Instant => "instant",
        EventKind::Operator => "cpu_op",
        EventKind::Kernel | EventKind::DeviceOp | EventKind::GraphLaunch => "kernel",
        EventKind::CopyHostToDevice
        | EventKind::CopyDeviceToHost
        | EventKind::CopyDeviceToDevice
        | EventKind::CopyPeer
        | EventKind::CopyOther => "gpu_memcpy",
        EventKind::Memset => "gpu_memset",
        EventKind::DeviceMemory => "device_memory",
        EventKind::Overhead => "overhead",
        EventKind::Derived => "derived",
        EventKind::Synchronization => "cuda_sync",
        EventKind::DeviceRange => "gpu_user_annotation",
    }
}

/// Whether a reader finds the kind of an event by its category alone.
pub(crate) fn is_its_category_s(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::HostRange
            | EventKind::Annotation
            | EventKind::PythonCall
            | EventKind::Operator
            | EventKind::Instant
            | EventKind::Kernel
            | EventKind::Memset
            | EventKind::Synchronization
            | EventKind::DeviceRange
            | EventKind::Overhead
    )
}

/// The number of the step that `row` is, if it is one.
pub(crate) fn step(trace: &Trace, row: usize) -> Option<i64> {
    // Steps are sorted by their rows.
    let steps = &trace.steps;
    let last = steps.partition_point(|step| step.event as usize <= row).checked_sub(1).map(|last| &steps[last]);
    last.filter(|step| step.event as usize == row).map(|step| step.number)
}
