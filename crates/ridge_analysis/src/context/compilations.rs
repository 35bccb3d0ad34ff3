//! What the program compiled, as who recorded it says: a trace does not know it.

/// All compilations of one name, of one operation of a benchmark where it is one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Compilation {
    /// The modules' name.
    pub module: String,
    /// Of a benchmark: the operation that they were compiled for.
    pub operation: Option<String>,
    /// Of a benchmark: the size at which they were.
    pub size: Option<u64>,
    /// How often a module of that name was compiled.
    pub count: u64,
    /// Time in the compiler, seconds, a hit in its cache included; modules may be compiled at the same time.
    pub compile_s: f64,
    /// Those of `count` whose time is not known and not in `compile_s`.
    pub untimed: u64,
    /// Of what was compiled more than once: the different parameters (`f32[8], s32[]`), in the order in which they came; empty
    /// where the modules' text was not kept.
    pub parameters: Vec<String>,
    /// The lines of the program that had them compiled, those first that did so most often; empty where the recorder did not say.
    pub calls: Vec<CompilingCall>,
}

/// A line of the program that had modules of one name compiled.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CompilingCall {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// How often.
    pub count: u64,
    /// The different lists of types of arguments, as JAX compares them (`f32[8]`, `f32[] weak`).
    pub types: Vec<Vec<String>>,
}
