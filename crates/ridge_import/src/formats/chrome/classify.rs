//! What an event is, by its category and name.
//!
//! Categories: libkineto's `ActivityType.h` and its names of 2021; `Trace` is a viewer's own span.

use ridge_trace::{EventKind, MemoryKind, Transfer};

/// What the reader does with an event that has a duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// A range on the thread it names.
    Host(EventKind),
    /// A call of the driver or runtime, which may have launched work.
    RuntimeCall,
    /// On the stream that its arguments name.
    Device(EventKind),
    /// A copy between memories, by its name.
    Copy,
    /// No category that is known: the process decides.
    Plain,
    /// Drawn by a viewer from others.
    Derived,
}

/// The class of an event of `category`.
pub(super) fn class_of(category: &[u8], name: &[u8]) -> Class {
    match category {
        b"" => Class::Plain,
        b"python_function" => Class::Host(EventKind::PythonCall),
        b"cpu_op" | b"Operator" if is_profiler_step(name) => Class::Host(EventKind::Step),
        b"cpu_op" | b"Operator" if is_compilation(name) => Class::Host(EventKind::Compile),
        b"cpu_op" | b"Operator" => Class::Host(EventKind::Operator),
        b"user_annotation" if is_profiler_step(name) => Class::Host(EventKind::Step),
        b"user_annotation" => Class::Host(EventKind::Annotation),
        b"mtia_ccp_events" => class_of_mtia(name),
        b"kernel" | b"Kernel" | b"hpu_op" => Class::Device(EventKind::Kernel),
        b"gpu_memcpy" | b"Memcpy" => Class::Copy,
        b"gpu_memset" | b"Memset" => Class::Device(EventKind::Memset),
        b"gpu_user_annotation" => Class::Device(EventKind::DeviceRange),
        b"cuda_sync" | b"xpu_sync" | b"cuda_event" => Class::Device(EventKind::Synchronization),
        b"overhead" => Class::Host(EventKind::Overhead),
        b"Trace" => Class::Derived,
        b"Runtime" => Class::RuntimeCall,
        other if other.ends_with(b"_runtime") || other.ends_with(b"_driver") => Class::RuntimeCall,
        _ => Class::Plain,
    }
}

/// What the control processor of an MTIA accelerator did, by the names in traces of Meta's HolisticTraceAnalysis.
///
/// `event_wait` says on which stream it waits (`wait_on_stream`), `dma_request` in which direction it copies.
fn class_of_mtia(name: &[u8]) -> Class {
    match name {
        b"event_wait" | b"event_record" => Class::Device(EventKind::Synchronization),
        b"dma_request" => Class::Copy,
        _ => Class::Device(EventKind::Kernel),
    }
}

/// The kind of a copy whose direction MTIA's traces say: `DEVICE_TO_HOST`.
pub(super) fn kind_of_direction(direction: &[u8]) -> Option<EventKind> {
    match direction {
        b"HOST_TO_DEVICE" => Some(EventKind::CopyHostToDevice),
        b"DEVICE_TO_HOST" => Some(EventKind::CopyDeviceToHost),
        b"DEVICE_TO_DEVICE" => Some(EventKind::CopyDeviceToDevice),
        _ => None,
    }
}

/// `torch.profiler` names a step by its number.
fn is_profiler_step(name: &[u8]) -> bool {
    name.starts_with(PROFILER_STEP)
}

/// The ranges of `torch.compile` at work, which come as operators: dynamo's, and what its timer measures within.
///
/// Source: `dynamo_timed` in `torch/_dynamo/utils.py`, which opens two ranges for each phase, one with this ending.
fn is_compilation(name: &[u8]) -> bool {
    matches!(name, b"dynamo" | b"entire_frame_compile" | b"entire_backward_compile")
        || name.ends_with(b" (dynamo_timed)")
}

/// How the names of `torch.profiler`'s steps begin.
pub(super) const PROFILER_STEP: &[u8] = b"ProfilerStep#";

/// Whether a call of the driver or runtime is one that puts work on a device.
pub(super) fn is_launch(name: &[u8]) -> bool {
    [&b"Launch"[..], b"Memcpy", b"Memset"].iter().any(|word| memchr::memmem::find(name, word).is_some())
}

/// Whether a kernel belongs to a collective operation, by its name.
pub(super) fn is_collective(name: &[u8]) -> bool {
    let lower = name.to_ascii_lowercase();
    [&b"nccl"[..], b"rccl", b"cross_device_reduce"].iter().any(|word| memchr::memmem::find(&lower, word).is_some())
}

/// The direction and memories of a copy named `Memcpy HtoD (Pinned -> Device)`.
pub(super) fn copy_of(name: &str, bytes: u64) -> (EventKind, Transfer) {
    let kind = match name {
        _ if name.contains("HtoD") => EventKind::CopyHostToDevice,
        _ if name.contains("DtoH") => EventKind::CopyDeviceToHost,
        _ if name.contains("DtoD") => EventKind::CopyDeviceToDevice,
        _ if name.contains("PtoP") => EventKind::CopyPeer,
        _ => EventKind::CopyOther,
    };
    let ends = name.split_once('(').and_then(|(_, rest)| rest.trim_end_matches(')').split_once(" -> "));
    let (source, destination) = ends.map_or(Default::default(), |(from, to)| (memory(from), memory(to)));
    (kind, Transfer { bytes, source, destination, is_async: None })
}

/// What a memory set named `Memset (Device)` wrote.
pub(super) fn memset_of(name: &str, bytes: u64) -> Transfer {
    let destination = name.split_once('(').map_or(MemoryKind::Unknown, |(_, kind)| memory(kind.trim_end_matches(')')));
    Transfer { bytes, source: MemoryKind::Unknown, destination, is_async: None }
}

fn memory(word: &str) -> MemoryKind {
    match word {
        "Pageable" => MemoryKind::Pageable,
        "Pinned" => MemoryKind::Pinned,
        "Device" => MemoryKind::Device,
        "Array" => MemoryKind::Array,
        "Managed" => MemoryKind::Managed,
        _ => MemoryKind::Unknown,
    }
}

/// Bytes of one element as NCCL's arguments name it; `None` for types of no fixed or no known size.
///
/// Source: `c10::toString(ScalarType)`, whose names libkineto copies.
pub(super) fn element_bytes(name: &[u8]) -> Option<u64> {
    Some(match name {
        b"Byte" | b"Char" | b"Bool" | b"QInt8" | b"QUInt8" => 1,
        b"Half" | b"BFloat16" | b"Short" | b"UInt16" => 2,
        b"Float" | b"Int" | b"UInt32" => 4,
        b"Double" | b"Long" | b"UInt64" | b"ComplexFloat" => 8,
        b"ComplexDouble" => 16,
        other if other.starts_with(b"Float8_") => 1,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn categories_of_every_year() {
        let kernel = Class::Device(EventKind::Kernel);
        for (category, name, expected) in [
            ("kernel", "k", kernel),
            ("Kernel", "k", kernel),
            ("cpu_op", "aten::mm", Class::Host(EventKind::Operator)),
            ("cpu_op", "ProfilerStep#3", Class::Host(EventKind::Step)),
            ("cpu_op", "build_guards (dynamo_timed)", Class::Host(EventKind::Compile)),
            ("cpu_op", "dynamo", Class::Host(EventKind::Compile)),
            ("user_annotation", "ProfilerStep#3", Class::Host(EventKind::Step)),
            ("user_annotation", "Optimizer.step#SGD.step", Class::Host(EventKind::Annotation)),
            ("cuda_driver", "cuLaunchKernel", Class::RuntimeCall),
            ("xpu_runtime", "x", Class::RuntimeCall),
            ("gpu_user_annotation", "ProfilerStep#3", Class::Device(EventKind::DeviceRange)),
            ("cuda_sync", "Stream Wait Event", Class::Device(EventKind::Synchronization)),
            ("blink.user_timing", "paint", Class::Plain),
        ] {
            assert_eq!(class_of(category.as_bytes(), name.as_bytes()), expected, "{category} {name}");
        }
    }

    #[test]
    fn copies_say_where_they_go() {
        let (kind, transfer) = copy_of("Memcpy HtoD (Pinned -> Device)", 64);
        assert_eq!((kind, transfer.bytes), (EventKind::CopyHostToDevice, 64));
        assert_eq!((transfer.source, transfer.destination), (MemoryKind::Pinned, MemoryKind::Device));
        assert_eq!(copy_of("Memcpy", 1).0, EventKind::CopyOther);
        assert_eq!(memset_of("Memset (Device)", 1).destination, MemoryKind::Device);
    }

    #[test]
    fn launches_and_collectives_by_name() {
        for (name, expected) in
            [("cudaLaunchKernelExC", true), ("hipMemcpyWithStream", true), ("cudaStreamSynchronize", false)]
        {
            assert_eq!(is_launch(name.as_bytes()), expected, "{name}");
        }
        assert!(is_collective(b"ncclDevKernel_AllReduce") && is_collective(b"void vllm::cross_device_reduce_1stage"));
        assert!(!is_collective(b"void gemm"));
    }
}
