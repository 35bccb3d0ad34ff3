//! Opcodes: XLA's names, kept as text so that one newer than this crate still has its name, and what kind each is.
//!
//! [`KNOWN`] is the one list of them: who asks for a kind of opcode asks [`Opcode::class`].

use std::fmt;
use std::ops::Deref;

/// The name of an operation, `add` or `dynamic-update-slice`; compares with `&str`.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Opcode(Name);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Name {
    /// A position in [`KNOWN`].
    Known(u8),
    Other(Box<str>),
}

impl Default for Name {
    fn default() -> Name {
        Name::Other(Box::default())
    }
}

/// What an opcode does, as far as it is the same for every instruction that has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OpcodeClass {
    /// Computes each output element from the input elements at the same place.
    Elementwise(Elementwise),
    /// Moves values between devices, or between device and host.
    Collective(Phase),
    /// Begins, continues or ends something that runs beside the rest: `copy-start`, `async-done`.
    Async(Phase),
    /// Runs computations whose instructions are operations of their own: a loop, a branch, a call.
    Runs,
    /// Names, groups or orders values without touching them: `tuple`, `bitcast`.
    PassesBy,
    /// Makes a value of nothing: `constant`, `iota`, `parameter`.
    Makes,
    /// Moves elements, or marks their extents, without arithmetic: `copy`, `slice`, `gather`.
    Moves,
    /// Computes in a way of its own: `dot`, `sort`, `custom-call`.
    Computes,
    /// Not an opcode this crate knows.
    Unknown,
}

/// Which arithmetic an elementwise opcode does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Elementwise {
    /// Additions and what costs as much.
    Add,
    /// Multiplications.
    Multiply,
    /// Divisions and roots.
    DivideSqrt,
    /// Comparisons and choices.
    Compare,
    /// Work on bits and truth values.
    Logic,
    /// Roundings to whole numbers.
    Round,
    /// Conversions of type or precision.
    Convert,
    /// Takes numbers apart or puts them together, without arithmetic.
    Parts,
    /// Functions that are computed by series: `exponential`, `tanh`.
    Transcendental,
    /// What a computation of its own says.
    Map,
}

/// Which end of work that runs beside the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    /// All of it: nothing runs beside it.
    Whole,
    /// Its start.
    Start,
    /// Something between start and end.
    Middle,
    /// Its end: what waits for it.
    End,
}

impl Opcode {
    /// The opcode of this name; known ones take no memory.
    pub fn new(name: &str) -> Opcode {
        Opcode(match KNOWN.binary_search_by_key(&name, |known| known.0) {
            Ok(position) => Name::Known(position as u8),
            Err(_) => Name::Other(name.into()),
        })
    }

    /// Whether this crate knows the name.
    pub fn is_known(&self) -> bool {
        matches!(self.0, Name::Known(_))
    }

    /// Its name.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Name::Known(position) => KNOWN[usize::from(*position)].0,
            Name::Other(name) => name,
        }
    }

    /// What it does.
    pub fn class(&self) -> OpcodeClass {
        match self.0 {
            Name::Known(position) => KNOWN[usize::from(position)].1,
            Name::Other(_) => OpcodeClass::Unknown,
        }
    }

    /// Whether it computes each output element from the input elements at the same place; copies are told apart.
    pub fn is_elementwise(&self) -> bool {
        matches!(self.class(), OpcodeClass::Elementwise(_))
    }

    /// Whether it moves values between devices, or between device and host: all of it, its start or its end.
    pub fn is_collective(&self) -> bool {
        matches!(self.class(), OpcodeClass::Collective(_))
    }

    /// Which end of work that runs beside the rest it is; [`Phase::Whole`] for all other opcodes.
    pub fn phase(&self) -> Phase {
        match self.class() {
            OpcodeClass::Collective(phase) | OpcodeClass::Async(phase) => phase,
            OpcodeClass::Runs if *self == "async-start" => Phase::Start,
            _ => Phase::Whole,
        }
    }

    /// The name of all of what it starts or ends: `all-reduce` of `all-reduce-start`.
    pub fn whole(&self) -> &str {
        let name = self.as_str();
        match self.phase() {
            Phase::Start => name.strip_suffix("-start").unwrap_or(name),
            Phase::End => name.strip_suffix("-done").unwrap_or(name),
            Phase::Middle | Phase::Whole => name,
        }
    }
}

impl Deref for Opcode {
    type Target = str;
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Display for Opcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl fmt::Debug for Opcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl PartialEq<str> for Opcode {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Opcode {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

use Elementwise::{Add, Compare, Convert, DivideSqrt, Logic, Map, Multiply, Parts, Round, Transcendental};
use OpcodeClass::{Async, Collective, Computes, Elementwise as Each, Makes, Moves, PassesBy, Runs};
use Phase::{End, Middle, Start, Whole};

/// XLA's opcodes, sorted, from the list in its `hlo_opcode.h`, and what each does.
#[rustfmt::skip]
const KNOWN: &[(&str, OpcodeClass)] = &[
    ("abs", Each(Add)), ("acos", Each(Transcendental)), ("acosh", Each(Transcendental)),
    ("add", Each(Add)), ("add-dependency", PassesBy), ("after-all", PassesBy),
    ("all-gather", Collective(Whole)), ("all-gather-done", Collective(End)), ("all-gather-start", Collective(Start)),
    ("all-reduce", Collective(Whole)), ("all-reduce-done", Collective(End)), ("all-reduce-start", Collective(Start)),
    ("all-to-all", Collective(Whole)), ("and", Each(Logic)), ("asin", Each(Transcendental)),
    ("asinh", Each(Transcendental)), ("async-done", Async(End)), ("async-start", Runs),
    ("async-update", Async(Middle)), ("atan2", Each(Transcendental)), ("atanh", Each(Transcendental)),
    ("batch-norm-grad", Computes), ("batch-norm-inference", Computes), ("batch-norm-training", Computes),
    ("bitcast", PassesBy), ("bitcast-convert", Each(Parts)), ("broadcast", Moves), ("call", Runs),
    ("cbrt", Each(Transcendental)), ("ceil", Each(Round)), ("cholesky", Computes),
    ("clamp", Each(Compare)), ("collective-broadcast", Collective(Whole)),
    ("collective-permute", Collective(Whole)), ("collective-permute-done", Collective(End)),
    ("collective-permute-start", Collective(Start)), ("compare", Each(Compare)),
    ("complex", Each(Parts)), ("concatenate", Moves), ("conditional", Runs), ("constant", Makes),
    ("convert", Each(Convert)), ("convolution", Computes), ("copy", Moves), ("copy-done", Async(End)),
    ("copy-start", Async(Start)), ("cosh", Each(Transcendental)), ("cosine", Each(Transcendental)),
    ("count-leading-zeros", Each(Logic)), ("custom-call", Computes), ("divide", Each(DivideSqrt)),
    ("domain", PassesBy), ("dot", Computes), ("dynamic-reshape", Moves), ("dynamic-slice", Moves),
    ("dynamic-update-slice", Moves), ("erf", Each(Transcendental)),
    ("exponential", Each(Transcendental)), ("exponential-minus-one", Each(Transcendental)),
    ("fft", Computes), ("floor", Each(Round)), ("fusion", Computes), ("gather", Moves),
    ("get-dimension-size", Moves), ("get-tuple-element", PassesBy), ("imag", Each(Parts)), ("infeed", Moves),
    ("iota", Makes), ("is-finite", Each(Compare)), ("log", Each(Transcendental)),
    ("log-plus-one", Each(Transcendental)), ("logistic", Each(Transcendental)),
    ("map", Each(Map)), ("maximum", Each(Compare)), ("minimum", Each(Compare)),
    ("multiply", Each(Multiply)), ("negate", Each(Add)), ("not", Each(Logic)),
    ("opt-barrier", PassesBy), ("optimization-barrier", PassesBy), ("or", Each(Logic)), ("outfeed", Moves),
    ("pad", Moves), ("parameter", Makes), ("partition-id", Makes), ("popcnt", Each(Logic)),
    ("power", Each(Transcendental)), ("ragged-all-to-all", Collective(Whole)), ("ragged-dot", Computes),
    ("real", Each(Parts)), ("recv", Collective(Whole)), ("recv-done", Collective(End)), ("reduce", Computes),
    ("reduce-precision", Each(Convert)), ("reduce-scatter", Collective(Whole)), ("reduce-window", Computes),
    ("remainder", Each(DivideSqrt)), ("replica-id", Makes), ("reshape", Moves), ("reverse", Moves),
    ("rng", Computes), ("rng-bit-generator", Computes), ("rng-get-and-update-state", Makes),
    ("round-nearest-afz", Each(Round)), ("round-nearest-even", Each(Round)),
    ("rsqrt", Each(DivideSqrt)), ("scaled-dot", Computes), ("scan", Computes), ("scatter", Computes),
    ("select", Each(Compare)), ("select-and-scatter", Computes), ("send", Collective(Whole)),
    ("send-done", Collective(End)), ("set-dimension-size", Moves), ("shift-left", Each(Logic)),
    ("shift-right-arithmetic", Each(Logic)), ("shift-right-logical", Each(Logic)),
    ("sign", Each(Compare)), ("sine", Each(Transcendental)), ("sinh", Each(Transcendental)),
    ("slice", Moves), ("sort", Computes), ("sqrt", Each(DivideSqrt)),
    ("stochastic-convert", Each(Convert)), ("subtract", Each(Add)),
    ("tan", Each(Transcendental)), ("tanh", Each(Transcendental)), ("topk", Computes),
    ("transpose", Moves), ("triangular-solve", Computes), ("tuple", PassesBy), ("while", Runs),
    ("xor", Each(Logic)),
];

const _: () = assert!(KNOWN.len() <= 1 << u8::BITS, "positions fit a byte");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_so_that_every_name_is_found() {
        for (name, class) in KNOWN {
            let opcode = Opcode::new(name);
            assert!(opcode.is_known(), "{name} is out of order");
            assert_eq!((opcode.as_str(), opcode.class()), (*name, *class));
        }
        assert!(!Opcode::new("frobnicate").is_known());
        assert_eq!(Opcode::new("frobnicate"), "frobnicate");
    }

    #[test]
    fn a_start_and_its_end_name_the_whole() {
        let of = |name: &str| (Opcode::new(name).phase(), Opcode::new(name).whole().to_owned());
        assert_eq!(of("all-reduce-start"), (Phase::Start, "all-reduce".to_owned()));
        assert_eq!(of("send-done"), (Phase::End, "send".to_owned()));
        assert_eq!(of("all-to-all"), (Phase::Whole, "all-to-all".to_owned()));
        assert_eq!(of("copy-done"), (Phase::End, "copy".to_owned()));
        for (name, class) in KNOWN.iter().filter(|(name, _)| name.ends_with("-start") || name.ends_with("-done")) {
            assert!(Opcode::new(name).phase() != Phase::Whole, "{name} is {class:?}");
        }
    }
}
