//! Why a device was idle: the causes, in the order in which they are told apart.

/// Why a device had nothing to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Cause {
    /// From the start of the capture to the device's first work.
    BeforeFirst,
    /// From the device's last work to the end of the capture.
    AfterLast,
    /// The profiler itself was at work.
    Profiler,
    /// Between two pieces of work of one graph launch.
    Graph,
    /// Between two pieces of work that the runtime starts one by one for one call.
    Run,
    /// The host had not begun to launch the next work.
    HostLate,
    /// The host was inside the call that launches the next work.
    LaunchCall,
    /// The next work is a copy that was issued and had not begun, or waits for a copy of another device.
    Copy,
    /// The next work's stream waits for another stream, or for a collective of another device.
    OtherStream,
    /// The next work was launched after the device had run empty and had not begun.
    LaunchLatency,
    /// The next work was launched before the device ran empty and had not begun.
    Queued,
    /// Nothing in the capture says.
    Unknown,
}

impl Cause {
    /// Every cause, in the order in which they are told apart.
    pub const ALL: [Cause; 12] = [
        Cause::BeforeFirst,
        Cause::AfterLast,
        Cause::Profiler,
        Cause::Graph,
        Cause::Run,
        Cause::HostLate,
        Cause::LaunchCall,
        Cause::Copy,
        Cause::OtherStream,
        Cause::LaunchLatency,
        Cause::Queued,
        Cause::Unknown,
    ];

    /// The name in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Cause::BeforeFirst => "before the first work",
            Cause::AfterLast => "after the last work",
            Cause::Profiler => "profiler overhead",
            Cause::Graph => "inside a graph replay",
            Cause::Run => "inside a program run",
            Cause::HostLate => "host late",
            Cause::LaunchCall => "in the launch call",
            Cause::Copy => "waiting for a copy",
            Cause::OtherStream => "waiting for another stream",
            Cause::LaunchLatency => "launch latency",
            Cause::Queued => "between queued work",
            Cause::Unknown => "unknown",
        }
    }

    /// The key of its fact in JSON, a time in nanoseconds.
    pub fn key(self) -> &'static str {
        match self {
            Cause::BeforeFirst => "head_ns",
            Cause::AfterLast => "tail_ns",
            Cause::Profiler => "profiler_ns",
            Cause::Graph => "graph_ns",
            Cause::Run => "run_ns",
            Cause::HostLate => "host_late_ns",
            Cause::LaunchCall => "launch_call_ns",
            Cause::Copy => "copy_ns",
            Cause::OtherStream => "other_stream_ns",
            Cause::LaunchLatency => "launch_latency_ns",
            Cause::Queued => "queued_ns",
            Cause::Unknown => "unknown_ns",
        }
    }

    /// What is counted, one sentence.
    pub const fn definition(self) -> &'static str {
        match self {
            Cause::BeforeFirst => "from the first event of the device's process to the device's first work",
            Cause::AfterLast => "from the device's last work to the last event of its process",
            Cause::Profiler => "idle while the profiler wrote or flushed its own buffers",
            Cause::Graph => "idle between two pieces of work of one graph launch",
            Cause::Run => "idle between two pieces of work that the runtime starts one by one for one call",
            Cause::HostLate => "idle before the call that launched the next work began",
            Cause::LaunchCall => "idle while the call that launched the next work ran",
            Cause::Copy => "idle after the next copy was issued, or until a copy from or to another device ended",
            Cause::OtherStream => {
                "idle while the next work's stream waited for an event, or until a collective of another device ended"
            }
            Cause::LaunchLatency => {
                "idle after the launch call returned, the device empty at the call, up to the capture's usual latency"
            }
            Cause::Queued => "idle although the next work had been launched before, up to the capture's usual latency",
            Cause::Unknown => {
                "the next work's launch is not in the capture, or the wait is longer than the capture's usual latency and nothing recorded explains it"
            }
        }
    }
}
