//! What the recorder tells while it works and when it is done.
//!
//! These are for a caller that prints; the same facts, and more, are in the manifest.

use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use crate::profiler::Profiler;

/// A moment in a recording, for progress on a terminal.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum RecordEvent {
    /// The capture folder is ready and the program is about to start.
    Prepared {
        /// The capture folder.
        out: PathBuf,
    },
    /// The folder that was asked for is being written for another program, so the recording goes elsewhere.
    OtherDirectory {
        /// Who is being recorded.
        busy: PathBuf,
        /// Where this recording goes.
        out: PathBuf,
    },
    /// The program runs.
    Started {
        /// Its process id.
        pid: u32,
    },
    /// A process is busy writing what it captured; told again each second.
    Writing {
        /// Its process id.
        pid: u64,
        /// For how long it has been.
        took: Duration,
    },
    /// A trace that PyTorch wrote as plain text is packed.
    Packing {
        /// Its size as text, bytes.
        bytes: u64,
    },
    /// A signal that was sent to the recorder alone was passed on to the program.
    Forwarded {
        /// Its number.
        signal: i32,
    },
    /// The program ended; gathering begins.
    Ended {
        /// How it ended.
        status: ProgramStatus,
        /// From start to end.
        wall: Duration,
    },
    /// A profiler around the program turns its report into what Ridgeline reads.
    Exporting {
        /// Which.
        profiler: Profiler,
    },
    /// The program is run again for the hardware counters of some kernels, each of which runs many times.
    Counting {
        /// Their names.
        kernels: Vec<String>,
    },
    /// The program is run again without the recorder, to compare.
    RunningWithoutRecorder,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramStatus {
    /// It exited with this code.
    Exited(i32),
    /// This signal ended it.
    Signaled(i32),
}

impl ProgramStatus {
    pub(crate) fn from_exit(status: ExitStatus) -> ProgramStatus {
        use std::os::unix::process::ExitStatusExt as _;
        match (status.code(), status.signal()) {
            (Some(code), _) => ProgramStatus::Exited(code),
            (None, Some(signal)) => ProgramStatus::Signaled(signal),
            (None, None) => ProgramStatus::Exited(1),
        }
    }

    /// The exit code that a shell would show: the program's own, or 128 plus the signal's number.
    pub fn shell_code(self) -> i32 {
        match self {
            ProgramStatus::Exited(code) => code,
            ProgramStatus::Signaled(signal) => 128 + signal,
        }
    }

    /// End this process as the program ended: the same exit code, or the same signal.
    pub fn end_like(self) -> ! {
        if let ProgramStatus::Signaled(signal) = self {
            // SIGKILL, which has no default handler to emulate, falls through to the shell's convention.
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
        std::process::exit(self.shell_code())
    }
}

/// Something that a complete capture would have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The thing.
    pub what: String,
    /// Why it is not there, in a sentence for a reader.
    pub why: String,
}

/// What recording cost.
///
/// Times are of the process in which the harness worked longest, and *measured* by the harness itself but for `events`;
/// what it cannot see (caches that the profiler fills) shows only in `unrecorded_wall`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overhead {
    /// All of the harness's own work.
    pub harness: Duration,
    /// Loading the harness and hooking `jax`.
    pub attach: Duration,
    /// Starting the profiler.
    pub start_trace: Duration,
    /// Stopping it and writing the capture.
    pub stop_trace: Duration,
    /// What the events cost when they happened, estimated by how many the capture holds.
    pub events: Duration,
    /// Packing the capture after the program had ended, which is not in its wall time.
    pub packing: Duration,
    /// Waiting for device work before stopping.
    pub drain: Duration,
    /// Collecting and writing compiled modules.
    pub modules: Duration,
    /// The part of it that goes into the forms of modules, which `--hlo none` would save.
    pub module_forms: Duration,
    /// Writing device memory profiles.
    pub memory: Duration,
    /// Looking where Python stands, now and then.
    pub samples: Duration,
    /// Watching what PyTorch's modules and optimizers are given.
    pub watching: Duration,
    /// Wall time of the same program without the recorder, where that was measured.
    pub unrecorded_wall: Option<Duration>,
}

/// A finished recording.
#[derive(Clone, Debug)]
pub struct RecordOutcome {
    /// The capture folder.
    pub out: PathBuf,
    /// How the program ended.
    pub status: ProgramStatus,
    /// From the program's start to its end, the harness's work included.
    pub wall: Duration,
    /// What recording cost.
    pub overhead: Overhead,
    /// Captures written, with their sizes in bytes.
    pub traces: Vec<(PathBuf, u64)>,
    /// Compiled modules kept.
    pub modules: usize,
    /// What is not there; empty for a complete capture.
    pub missing: Vec<Missing>,
}

impl RecordOutcome {
    /// True if nothing that was asked for is missing.
    pub fn is_complete(&self) -> bool {
        self.missing.is_empty()
    }
}

/// How a run of the program went.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub(crate) status: ProgramStatus,
    pub(crate) wall: Duration,
}
