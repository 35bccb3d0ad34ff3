//! What is known of a capture beside its trace: what the recorder wrote and the readers said.

use ridge_table::Note;

/// What is known beside the trace.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// What readers and the recorder had to say.
    pub notes: Vec<Note>,
    /// What the program compiled, where the recorder wrote it.
    pub compilations: Vec<Compiled>,
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
}
