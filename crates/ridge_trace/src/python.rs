//! Where the program's Python stood, look by look: what the recorder sampled beside a capture.
//!
//! Looks are taken by a thread of Python, so none falls into time in which another thread keeps the interpreter to itself for long.

use crate::strings::StringId;

/// What was sampled; empty where nothing was.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PythonSamples {
    /// Places in the program's own files.
    pub places: Vec<PythonPlace>,
    /// Stacks of them.
    pub stacks: Vec<PythonStack>,
    /// Looks at each thread of each process.
    pub threads: Vec<PythonThread>,
    /// What was watched of each process.
    pub watched: Vec<Watched>,
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
    /// What the innermost loop around the line goes over: `model.parameters()`; empty where there is none.
    pub over: StringId,
    /// Whether no turn of that loop needs a result of the turns before, as far as its text tells.
    pub is_apart: bool,
    /// How many loops are around the line in its file.
    pub loops: u32,
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

/// What was watched of one process.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Watched {
    /// Row of the processes table.
    pub process: u32,
    /// Modules that were given the same input again, with the same weights.
    pub repeated: Vec<RepeatedCalls>,
    /// Padding in the indices of an embedding, or in the arguments of a compiled function.
    pub padding: Option<Padding>,
    /// Gradients that were computed and that no optimizer has.
    pub unread_gradients: Option<UnreadGradients>,
    /// Gradients that an optimizer clears before it reads them.
    pub cleared_gradients: Vec<ClearedGradients>,
    /// Loaders that started their workers more than once.
    pub restarted_workers: Vec<RestartedWorkers>,
    /// Arguments of compiled functions that were the same arrays in every look at the program.
    pub steady: Vec<SteadyArguments>,
    /// Matrices that are mostly zeros, as products and compiled functions are given them.
    pub zeros: Vec<ZeroMatrix>,
    /// Conversions of lists to tensors, by place.
    pub conversions: Vec<Conversions>,
    /// Variables that are given a new array with the same numbers again and again.
    pub recomputed: Vec<RecomputedValue>,
}

/// A variable whose arrays had the same numbers in every look, each a new one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecomputedValue {
    /// The statement that assigns it in the program's own files: its first line.
    pub place: Option<PythonPlace>,
    /// Its last line.
    pub until: u32,
    /// The variable: `mask`, `self.grid`.
    pub name: String,
    /// The extents of the array.
    pub extents: Vec<i64>,
    /// New arrays that had the numbers of the one before.
    pub again: u64,
}

/// Conversions of lists or tuples to tensors at one place.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Conversions {
    /// What is converted: `torch.tensor` of a list of NumPy arrays.
    pub of: String,
    /// How often.
    pub calls: u64,
    /// The part of the time from the first to the last that they took, 0 to 1.
    pub part: f64,
    /// The place in the program's own files.
    pub place: Option<PythonPlace>,
}

/// A matrix that was mostly zeros in every look at it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ZeroMatrix {
    /// The place of the product or of the call in the program's own files.
    pub place: Option<PythonPlace>,
    /// The variable there: `self.adjacency`.
    pub name: String,
    /// Its extents.
    pub extents: Vec<i64>,
    /// The part of the numbers that were read, 0 to 1, that is zero.
    pub zeros: f64,
    /// Most numbers in one row that are not zero, of the rows that were read.
    pub most_in_row: u64,
    /// Arrays that were read.
    pub looks: u64,
}

/// Arguments of the compiled functions of one name that never changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SteadyArguments {
    /// The function.
    pub function: String,
    /// The arrays, as JAX names those of an argument: `params['w']`.
    pub arguments: Vec<String>,
    /// Looks in which each of them was the same.
    pub looks: u64,
    /// Those that were others from call to call.
    pub changing: Vec<String>,
}

/// A loader whose workers are started for each pass over the data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RestartedWorkers {
    /// Workers of one pass.
    pub workers: u64,
    /// Passes.
    pub passes: u64,
    /// The place of the loop in the program's own files.
    pub place: Option<PythonPlace>,
}

/// Gradients that one optimizer clears before it reads them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClearedGradients {
    /// The optimizer's class.
    pub optimizer: String,
    /// Their numbers.
    pub numbers: u64,
    /// How often they were cleared unread.
    pub times: u64,
    /// Clearings that were looked at.
    pub of: u64,
    /// The place of the clearing in the program's own files.
    pub place: Option<PythonPlace>,
}

/// Calls of the modules of one class from one place.
#[derive(Debug, Clone, PartialEq)]
pub struct RepeatedCalls {
    /// The class.
    pub module: String,
    /// Calls whose inputs were compared.
    pub calls: u64,
    /// Those with an input that an earlier call had.
    pub again: u64,
    /// The place in the program's own files.
    pub place: Option<PythonPlace>,
}

/// Padding, as means over looks at batches.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Padding {
    /// The part of all indices that is padding, 0 to 1.
    pub share: f64,
    /// The part beyond the longest row of its batch, 0 to 1.
    pub beyond_longest: f64,
    /// Batches that were looked at.
    pub looks: u64,
    /// The place in the program's own files.
    pub place: Option<PythonPlace>,
    /// The compiled function of JAX that is given the batches; empty for PyTorch.
    pub function: String,
    /// The padded extent of its arguments; 0 for PyTorch.
    pub extent: i64,
}

/// Gradients after one step of an optimizer that belong to no optimizer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnreadGradients {
    /// Their numbers.
    pub numbers: u64,
    /// Those of all gradients.
    pub of: u64,
    /// Their arrays.
    pub arrays: u64,
    /// The first names among these.
    pub names: Vec<String>,
}
