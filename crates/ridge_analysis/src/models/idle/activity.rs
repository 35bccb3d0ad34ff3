//! What the host was doing, in the words of a user: from an event's kind and name, and what encloses it.

use super::attribute::Doing;
use super::context::{COMPILING, Context, IMPORTING, LOADING, is_drivers};
use ridge_trace::{EventKind, Trace};

/// What a thread did while a device was idle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Activity {
    /// Tracing, lowering, compiling.
    Compiling,
    /// Loading data, in the loader of a framework.
    Loading,
    /// A call that waits for a device, a lock or a time.
    Blocking,
    /// The runtime copying between memories on the host's time, as XLA's CPU backend does.
    Copying,
    /// Allocating or freeing memory.
    Allocating,
    /// A call that launches work.
    Launching,
    /// An operator of a framework.
    Operator,
    /// Python importing modules.
    Importing,
    /// A function of Python.
    Python,
    /// The program's own code inside a range that it named.
    Program,
    /// The runtime or a library.
    Runtime,
    /// One thread had handed work to another, which had not begun.
    HandOver,
    /// A pool worker that ran something no event names.
    Pool,
    /// The profiler.
    Profiler,
    /// Work of another device or another stream.
    Device,
    /// Nothing was recorded.
    Nothing,
}

impl Activity {
    /// The name in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Activity::Compiling => "compiling",
            Activity::Loading => "loading data",
            Activity::Blocking => "blocking call",
            Activity::Copying => "copying data",
            Activity::Allocating => "allocating memory",
            Activity::Launching => "launching",
            Activity::Operator => "operator",
            Activity::Importing => "importing libraries",
            Activity::Python => "Python",
            Activity::Program => "program's own code",
            Activity::Runtime => "runtime or library",
            Activity::HandOver => "hand-over to a thread",
            Activity::Pool => "pool worker",
            Activity::Profiler => "profiler",
            Activity::Device => "device",
            Activity::Nothing => "nothing recorded",
        }
    }
}

/// What makes parts alike in sums: everything that decides the activity, and the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct DoingKey {
    /// [`EventKind`] as a byte, or one of the two below.
    kind: u8,
    /// What encloses the event.
    around: u8,
    /// String id of the event's name; 0 without one.
    pub(crate) name: u32,
}

/// A kind byte that no event has: nothing recorded.
const NOTHING: u8 = u8::MAX;
/// A kind byte that no event has: a hand-over.
const HANDOVER: u8 = u8::MAX - 1;

impl DoingKey {
    /// The key of what the host did, knowing what encloses it.
    #[inline]
    pub(crate) fn of(trace: &Trace, context: &Context, doing: Doing) -> DoingKey {
        let events = &trace.events;
        match doing {
            Doing::Nothing => DoingKey { kind: NOTHING, around: 0, name: 0 },
            Doing::HandOver(row) => DoingKey { kind: HANDOVER, around: 0, name: events.name[row as usize] },
            Doing::Event(row) => {
                let (kind, name) = (events.kind[row as usize], events.name[row as usize]);
                DoingKey { kind, around: context.around(row), name }
            }
        }
    }

    /// The activity, given the event's name.
    pub(crate) fn activity(self, name: &str) -> Activity {
        match self.kind {
            NOTHING => return Activity::Nothing,
            HANDOVER => return Activity::HandOver,
            _ => {}
        }
        let kind = EventKind::from_byte(self.kind);
        match kind {
            _ if self.around & LOADING != 0 => Activity::Loading,
            _ if self.around & COMPILING != 0 => Activity::Compiling,
            EventKind::Overhead if !is_drivers(name) => Activity::Profiler,
            kind if kind.is_device_work() || kind == EventKind::Synchronization => Activity::Device,
            _ if name == "Driver Compiler" => Activity::Compiling,
            _ if matches!(name, "H2D Dispatch" | "D2H Dispatch" | "D2D Dispatch") => Activity::Copying,
            kind if blocks(kind, name) => Activity::Blocking,
            _ if allocates(name) => Activity::Allocating,
            EventKind::Launch => Activity::Launching,
            EventKind::Operator => Activity::Operator,
            EventKind::PythonCall | EventKind::HostRange if self.around & IMPORTING != 0 => Activity::Importing,
            EventKind::PythonCall => Activity::Python,
            EventKind::Annotation | EventKind::Step => Activity::Program,
            EventKind::PoolRegion => Activity::Pool,
            _ => Activity::Runtime,
        }
    }
}

/// Whether a call of that name returns only when something else has ended.
///
/// The CUDA and HIP runtime and driver APIs name their waits `…Synchronize`, and their copies that wait have no `Async`;
/// XLA and JAX say `Await`, `BlockUntil…`, `block_until_ready` and `wait for …`; PyTorch reads a value back in `aten::item`.
/// CUPTI says `Command Buffer Full` where a launch waits until the device has taken earlier ones.
/// The system's calls are those that Nsight Systems records and that wait for another thread, a file or a time.
/// Of Python's own functions these are the waits of `threading`, `time`, `select` and `queue`.
fn blocks(kind: EventKind, name: &str) -> bool {
    const WAITS: [&str; 11] = [
        "Synchronize",
        "block_until_ready",
        "try_to_block",
        "BlockUntil",
        "BlockHost",
        "::Await",
        "Wait for ",
        "wait for completion",
        "np.asarray(jax.Array)",
        "_local_scalar_dense",
        "Command Buffer Full",
    ];
    const PYTHON_WAITS: [&str; 7] = ["acquire", "wait", "sleep", "select", "poll", "synchronize", "join"];
    const COPIES: [&str; 9] = [
        "cudaMemcpy",
        "cudaMemcpy2D",
        "cuMemcpy",
        "cuMemcpyHtoD",
        "cuMemcpyDtoH",
        "hipMemcpy",
        "hipMemcpyWithStream",
        "hipMemcpyHtoD",
        "hipMemcpyDtoH",
    ];
    const SYSTEM_WAITS: [&str; 22] = [
        "poll",
        "ppoll",
        "select",
        "pselect",
        "epoll_wait",
        "epoll_pwait",
        "pthread_cond_wait",
        "pthread_cond_timedwait",
        "pthread_mutex_lock",
        "pthread_rwlock_rdlock",
        "pthread_rwlock_wrlock",
        "pthread_join",
        "pthread_barrier_wait",
        "sem_wait",
        "sem_timedwait",
        "sem_clockwait",
        "nanosleep",
        "clock_nanosleep",
        "usleep",
        "sleep",
        "futex",
        "waitpid",
    ];
    if kind == EventKind::PythonCall {
        let method = name.split_once("built-in method ").and_then(|(_, rest)| rest.split(' ').next());
        let function = method.or_else(|| name.trim_end_matches('>').rsplit([' ', '.']).next()).unwrap_or(name);
        return PYTHON_WAITS.contains(&function) || WAITS.iter().any(|word| name.contains(word));
    }
    let is_systems = kind == EventKind::HostRange && SYSTEM_WAITS.contains(&name);
    name == "aten::item"
        || is_systems
        || COPIES.contains(&without_version(name))
        || WAITS.iter().any(|word| name.contains(word))
}

/// Whether a call of that name allocates or frees memory, in the words of CUDA, HIP and XLA.
fn allocates(name: &str) -> bool {
    const WORDS: [&str; 9] = [
        "cudaMalloc",
        "cudaFree",
        "cudaHostAlloc",
        "cuMemAlloc",
        "cuMemFree",
        "hipMalloc",
        "hipFree",
        "hipHostMalloc",
        "Allocator::Alloc",
    ];
    WORDS.iter().any(|word| name.contains(word))
}

/// The name of an API call without the version that Nsight Systems and the driver add (`_v3020`, `_v2`).
fn without_version(name: &str) -> &str {
    match name.rsplit_once("_v") {
        Some((call, version)) if !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit()) => call,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: EventKind, name: &str, expected: Activity) {
        let key = DoingKey { kind: kind as u8, around: 0, name: 0 };
        assert_eq!(key.activity(name), expected, "{name}");
    }

    #[test]
    fn calls_by_their_names() {
        check(EventKind::Launch, "cudaStreamSynchronize", Activity::Blocking);
        check(EventKind::HostRange, "cudaMemcpy_v3020", Activity::Blocking);
        check(EventKind::Launch, "cuMemcpyHtoD_v2", Activity::Blocking);
        check(EventKind::Launch, "cuMemcpyHtoDAsync_v2", Activity::Launching);
        check(EventKind::Launch, "cudaStreamWaitEvent", Activity::Launching);
        check(EventKind::HostRange, "cudaMallocAsync_v11020", Activity::Allocating);
        check(EventKind::HostRange, "CommonPjRtBuffer::Await", Activity::Blocking);
        check(EventKind::HostRange, "cudaStreamSynchronize", Activity::Blocking);
        check(EventKind::HostRange, "cudaEventSynchronize", Activity::Blocking);
        check(EventKind::HostRange, "Command Buffer Full", Activity::Blocking);
        check(EventKind::HostRange, "pthread_cond_wait", Activity::Blocking);
        check(EventKind::Annotation, "poll", Activity::Program);
        check(EventKind::Overhead, "Command Buffer Full", Activity::Blocking);
        check(EventKind::Overhead, "Lazy Function Loading", Activity::Runtime);
        check(EventKind::Overhead, "Driver Compiler", Activity::Compiling);
        check(EventKind::Overhead, "Buffer Flush", Activity::Profiler);
        check(EventKind::Operator, "aten::item", Activity::Blocking);
        check(EventKind::Operator, "aten::mm", Activity::Operator);
        check(EventKind::PythonCall, "<built-in method acquire of _thread.lock object at 0x7f>", Activity::Blocking);
        check(EventKind::PythonCall, "$threading.py:637 wait", Activity::Blocking);
        check(EventKind::PythonCall, "<built-in function sleep>", Activity::Blocking);
        check(EventKind::PythonCall, "$solver.py:5 step", Activity::Python);
        check(EventKind::Step, "train", Activity::Program);
    }

    #[test]
    fn what_encloses_decides_first() {
        let loading = DoingKey { kind: EventKind::PythonCall as u8, around: LOADING, name: 0 };
        assert_eq!(loading.activity("$PIL/Image.py:3 open"), Activity::Loading);
        let compiling = DoingKey { kind: EventKind::PythonCall as u8, around: COMPILING, name: 0 };
        assert_eq!(compiling.activity("$mlir.py:9 lower"), Activity::Compiling);
    }
}
