//! Opcodes: XLA's names, kept as text so that one newer than this crate still has its name.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

/// The name of an operation, `add` or `dynamic-update-slice`; compares with `&str`.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Opcode(Cow<'static, str>);

impl Opcode {
    /// The opcode of this name; known ones take no memory.
    pub fn new(name: &str) -> Opcode {
        match KNOWN.binary_search(&name) {
            Ok(position) => Opcode(Cow::Borrowed(KNOWN[position])),
            Err(_) => Opcode(Cow::Owned(name.to_owned())),
        }
    }

    /// Whether this crate knows the name.
    pub fn is_known(&self) -> bool {
        matches!(self.0, Cow::Borrowed(_)) && !self.0.is_empty()
    }

    /// Its name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deref for Opcode {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Opcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Opcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

impl PartialEq<str> for Opcode {
    fn eq(&self, other: &str) -> bool {
        *self.0 == *other
    }
}

impl PartialEq<&str> for Opcode {
    fn eq(&self, other: &&str) -> bool {
        *self.0 == **other
    }
}

/// XLA's opcodes, sorted, from the list in its `hlo_opcode.h`.
#[rustfmt::skip]
const KNOWN: &[&str] = &[
    "abs", "acos", "acosh", "add", "add-dependency", "after-all", "all-gather", "all-gather-done", "all-gather-start",
    "all-reduce", "all-reduce-done", "all-reduce-start", "all-to-all", "and", "asin", "asinh", "async-done", "async-start",
    "async-update", "atan2", "atanh", "batch-norm-grad", "batch-norm-inference", "batch-norm-training", "bitcast",
    "bitcast-convert", "broadcast", "call", "cbrt", "ceil", "cholesky", "clamp", "collective-broadcast",
    "collective-permute", "collective-permute-done", "collective-permute-start", "compare", "complex", "concatenate",
    "conditional", "constant", "convert", "convolution", "copy", "copy-done", "copy-start", "cosh", "cosine",
    "count-leading-zeros", "custom-call", "divide", "domain", "dot", "dynamic-reshape", "dynamic-slice",
    "dynamic-update-slice", "erf", "exponential", "exponential-minus-one", "fft", "floor", "fusion", "gather",
    "get-dimension-size", "get-tuple-element", "imag", "infeed", "iota", "is-finite", "log", "log-plus-one", "logistic",
    "map", "maximum", "minimum", "multiply", "negate", "not", "opt-barrier", "optimization-barrier", "or", "outfeed",
    "pad", "parameter", "partition-id", "popcnt", "power", "ragged-all-to-all", "ragged-dot", "real", "recv", "recv-done",
    "reduce", "reduce-precision", "reduce-scatter", "reduce-window", "remainder", "replica-id", "reshape", "reverse",
    "rng", "rng-bit-generator", "rng-get-and-update-state", "round-nearest-afz", "round-nearest-even", "rsqrt", "scaled-dot",
    "scan", "scatter", "select", "select-and-scatter", "send", "send-done", "set-dimension-size", "shift-left",
    "shift-right-arithmetic", "shift-right-logical", "sign", "sine", "sinh", "slice", "sort", "sqrt",
    "stochastic-convert", "subtract", "tan", "tanh", "topk", "transpose", "triangular-solve", "tuple", "while", "xor",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_so_that_every_name_is_found() {
        for name in KNOWN {
            assert!(Opcode::new(name).is_known(), "{name} is out of order");
        }
        assert!(!Opcode::new("frobnicate").is_known());
        assert_eq!(Opcode::new("frobnicate"), "frobnicate");
    }
}
