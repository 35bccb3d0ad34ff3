//! What is known of a capture beside its trace: what the recorder wrote and the readers said.

use crate::finding::Place;
use ridge_analysis::CompilingCall;
use ridge_table::Note;

/// What is known beside the trace.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// What readers and the recorder had to say.
    pub notes: Vec<Note>,
    /// What the program compiled, where the recorder wrote it.
    pub compilations: Vec<Compiled>,
    /// How long the program's steps took while they were recorded, and while they were not.
    pub step_times: Option<StepTimes>,
    /// The part of the recorded time in which its threads waited for a CPU, 0 to 1.
    pub cpu_waited: f64,
    /// Main memory of the machine, bytes.
    pub main_memory_bytes: Option<u64>,
    /// Whether the program ended with an error.
    pub failed: bool,
    /// Operations of a benchmark that compile again when they are called again; `None` for all that is no benchmark.
    pub compiled_again: Option<Vec<CompiledAgain>>,
    /// Whether its times were predicted, and nothing ran.
    pub is_predicted: bool,
    /// What code, launches and HLO of its kernels show.
    pub seen: Vec<Seen>,
    /// The line that has JAX compute in double precision, where the recording has the program's text.
    pub doubles_asked_at: Option<Place>,
}

/// What the code, the launch or the HLO of a compiled kernel shows, before anything ran.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// The rule that says it.
    pub rule: &'static str,
    /// The kernel's module.
    pub module: String,
    /// XLA's number of the module.
    pub program_id: u64,
    /// The kernel's instruction in it.
    pub instruction: String,
    /// What is seen, a sentence without a period and without its subject: `stores 8 bytes`.
    pub what: String,
    /// Why it costs time, one sentence without a period.
    pub why: &'static str,
    /// What may help, one sentence without a period.
    pub help: &'static str,
    /// The part of the kernel's predicted time that would go, 0 to 1; `None` where that cannot be told.
    pub part: Option<f64>,
}

/// Medians of steps of the same program, nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepTimes {
    /// While a capture ran.
    pub recorded_ns: f64,
    /// While none did.
    pub not_recorded_ns: f64,
}

impl StepTimes {
    /// How many times as long recording makes a step.
    pub fn slowdown(&self) -> f64 {
        if self.not_recorded_ns > 0.0 { self.recorded_ns / self.not_recorded_ns } else { 1.0 }
    }
}

/// An operation of a benchmark that compiled after its first call had compiled all that it needed.
#[derive(Debug, Clone, PartialEq)]
pub struct CompiledAgain {
    /// What it was and what it compiled, a phrase: `median at 32 compiles again at every call: 4 modules in 4 calls`.
    pub says: String,
    /// The module that was compiled most often, where that is known.
    pub module: Option<String>,
    /// Time in the compiler for each call, nanoseconds.
    pub compile_ns: i64,
}

/// All compilations of one name.
#[derive(Debug, Clone, PartialEq)]
pub struct Compiled {
    /// Name of the module.
    pub module: String,
    /// How often a module of that name was compiled.
    pub count: u64,
    /// Time in the compiler, seconds.
    pub compile_s: f64,
    /// The different parameters, in the order in which they came; empty where they are not known.
    pub parameters: Vec<String>,
    /// The lines that had them compiled, those first that did so most often; empty where they are not known.
    pub calls: Vec<CompilingCall>,
}
