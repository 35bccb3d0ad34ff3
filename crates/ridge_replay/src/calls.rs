//! What a host call is, by its name: the driver's and runtime's interfaces, and the waits of JAX.

/// What a call does to the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    /// Costs its own time and nothing more.
    Plain,
    /// Puts work on a device.
    Launch,
    /// Copies or sets memory, and may wait until that is done.
    Copy,
    /// Waits for all streams of its process.
    WaitDevice,
    /// Waits for one stream.
    WaitStream,
    /// Waits for an event on some stream.
    WaitEvent,
    /// Makes a stream wait for an event; the host goes on.
    StreamWait,
    /// Takes or gives back memory, and may wait for the device on the way.
    Memory,
}

impl Call {
    /// Whether it may wait for work that another call launched.
    pub(crate) fn may_wait(self) -> bool {
        matches!(self, Call::WaitDevice | Call::WaitStream | Call::WaitEvent | Call::Memory)
    }
}

/// The call that `name` names; `None` for a range that is no call.
pub(crate) fn call_of(name: &str) -> Option<Call> {
    if JAX_WAITS.iter().any(|word| name.contains(word)) {
        return Some(Call::WaitDevice);
    }
    is_interface(name).then(|| interface_call(name))
}

/// Ranges in which JAX waits for its devices, as jaxlib 0.4 to 0.11 name them.
const JAX_WAITS: [&str; 3] = ["block_until_ready", "BlockHostUntilReady", "np.asarray(jax.Array)"];

/// Whether `name` is a function of CUDA or HIP: `cudaMalloc`, `cuLaunchKernel`, `hipMemcpyAsync`.
fn is_interface(name: &str) -> bool {
    let after = |start: &str| name.strip_prefix(start).and_then(|rest| rest.bytes().next());
    ["cuda", "cu", "hip"].iter().any(|start| after(start).is_some_and(|letter| letter.is_ascii_uppercase()))
}

fn interface_call(name: &str) -> Call {
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    match () {
        () if has(&["DeviceSynchronize", "CtxSynchronize"]) => Call::WaitDevice,
        () if has(&["StreamSynchronize"]) => Call::WaitStream,
        () if has(&["EventSynchronize"]) => Call::WaitEvent,
        () if has(&["StreamWaitEvent"]) => Call::StreamWait,
        () if has(&["Memcpy", "Memset"]) => Call::Copy,
        () if has(&["Launch"]) => Call::Launch,
        () if has(&["Malloc", "Free", "HostAlloc", "MemAlloc", "ModuleLoad", "HostRegister", "HostUnregister"]) => {
            Call::Memory
        }
        () => Call::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_by_name() {
        for (name, expected) in [
            ("cudaStreamSynchronize", Some(Call::WaitStream)),
            ("hipDeviceSynchronize", Some(Call::WaitDevice)),
            ("cuCtxSynchronize", Some(Call::WaitDevice)),
            ("cudaStreamWaitEvent", Some(Call::StreamWait)),
            ("hipMemcpyWithStream", Some(Call::Copy)),
            ("cuLaunchKernelEx", Some(Call::Launch)),
            ("cudaFree", Some(Call::Memory)),
            ("cudaEventRecord", Some(Call::Plain)),
            ("$api.py:3105 block_until_ready", Some(Call::WaitDevice)),
            ("cutlass", None),
            ("custom", None),
            ("aten::mm", None),
        ] {
            assert_eq!(call_of(name), expected, "{name}");
        }
    }
}
