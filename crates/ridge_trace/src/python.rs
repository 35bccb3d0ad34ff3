//! Where the program's Python stood, look by look: what the recorder sampled beside a capture.
//!
//! Looks are taken by a thread of Python, so none falls into time in which another thread keeps the interpreter to itself for long.

use crate::strings::StringId;

/// What was sampled; empty where nothing was.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PythonSamples {
    /// Places in the program's own files.
    pub places: Vec<PythonPlace>,
    /// Stacks of them.
    pub stacks: Vec<PythonStack>,
    /// Looks at each thread of each process.
    pub threads: Vec<PythonThread>,
}

/// A place in the program's own files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PythonPlace {
    /// The file.
    pub file: StringId,
    /// The line, from 1.
    pub line: u32,
    /// The function that it is in.
    pub function: StringId,
    /// What it calls, with its package where that is known (`numpy.concatenate`); else empty.
    pub call: StringId,
}

/// A stack.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PythonStack {
    /// Rows of [`PythonSamples::places`], innermost first; at least one.
    pub places: Vec<u32>,
    /// The function of a package that the innermost place called, by its file there; else empty.
    pub calls: StringId,
    /// The innermost function of all; empty where that is the program's own.
    pub innermost: StringId,
}

/// The looks at one thread.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PythonThread {
    /// Row of the processes table.
    pub process: u32,
    /// The system's number of the thread, where it is known.
    pub native_id: Option<i64>,
    /// Whether the program began in it.
    pub is_main: bool,
    /// When, ascending, nanoseconds on the trace clock.
    pub at_ns: Vec<i64>,
    /// The row of [`PythonSamples::stacks`] that was found, of each look.
    pub stack: Vec<u32>,
}
