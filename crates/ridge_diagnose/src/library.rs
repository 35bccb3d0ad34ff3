//! What is known of a part of a library that costs more than another part of it.

/// How an operation is known to be of a part.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Sign {
    /// The innermost frame of its stack that is of any part is in this file of a package, in a function whose name begins so; in any
    /// function where that is empty.
    Frame(&'static str, &'static str),
    /// The same of any frame, whatever that calls: the part is about how often it calls.
    Around(&'static str, &'static str),
    /// A function that JAX compiles by itself, by its name: `_shuffle` in `jit(step)/jit(_shuffle)/sort`.
    Function(&'static str),
    /// An operator of PyTorch on a CPU, without its namespace.
    Operator(&'static str),
    /// A call of an operator of PyTorch on a CPU, without its namespace, with all that it calls.
    Call(&'static str),
    /// What autograd calls for an operator's gradient, by its node, with all that it calls: `SelectBackward0`.
    Gradient(&'static str),
    /// The host was in a function of a package whose file and name begin so, called by the program or innermost.
    Host(&'static str),
}

/// In which direction an operation with such a frame runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pass {
    /// In both.
    Any,
    /// Backward: it is the transpose of something.
    Backward,
    /// Backward through the iterations of a loop, not a gradient that each iteration computes.
    ThroughLoop,
}

/// A part of a library.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part {
    /// What tells its operations, any of these.
    pub(crate) signs: &'static [Sign],
    /// Which of those with a frame count.
    pub(crate) pass: Pass,
    /// What it does: "… % of the time" goes before.
    pub(crate) does: &'static str,
    /// Why that takes long.
    pub(crate) why: &'static str,
    /// What does the same in less time, and when.
    pub(crate) help: &'static str,
    /// Where the library's document says so.
    pub(crate) source: &'static str,
    /// Whether the other one gives the same in every program, as far as its document tells: then the finding warns.
    pub(crate) is_sure: bool,
}

impl Part {
    /// The first advice of the help, which the message gives as well.
    pub(crate) fn first_advice(&self) -> &'static str {
        self.help.split_once("; ").map_or(self.help, |(first, _)| first)
    }
}
