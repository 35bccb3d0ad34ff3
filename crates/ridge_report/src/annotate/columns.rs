//! The numbers of a line, in the order of need: where there is no room, the last go first.

use crate::cell::Cell;
use crate::number::show;
use ridgeline::{AnnotatedFile, AnnotatedLine, Unit};

/// One number of a line.
pub(super) struct Number {
    /// Its title.
    pub(super) title: &'static str,
    /// What it is.
    pub(super) definition: &'static str,
    /// Its text; `None` where there is nothing to say.
    pub(super) of: fn(&AnnotatedLine) -> Option<String>,
}

/// All numbers, what is needed most first.
const NUMBERS: [Number; 9] = [
    Number {
        title: "Self",
        definition: "time of work with this innermost line, measured",
        of: |line| nanos(line.sums.self_ns),
    },
    Number {
        title: "Inferred",
        definition: "time of work that no line created but that the data flow attributes to this one; not in the self time",
        of: |line| nanos(line.sums.inferred_ns),
    },
    Number {
        title: "Inclusive",
        definition: "time of work with this line anywhere on its stack, each once, measured",
        of: |line| nanos(line.sums.inclusive_ns),
    },
    Number {
        title: "Idle",
        definition: "time in which a device was idle while the host was in this function",
        of: |line| nanos(line.idle_ns),
    },
    Number {
        title: "Copies",
        definition: "time of copies among self and inferred time: of the runtime, and operations that copy an array",
        of: |line| nanos(line.sums.copy_ns),
    },
    Number {
        title: "Launches",
        definition: "kernels and operations that ran for the line, without copies",
        of: |line| (line.sums.launches() > 0).then(|| show(Cell::Whole(line.sums.launches()), Unit::Count).joined()),
    },
    Number {
        title: "FLOPs",
        definition: "floating-point operations of the line's own work, counted from the compiled programs",
        of: |line| real(line.work?.flops, Unit::Flops),
    },
    Number {
        title: "Bytes",
        definition: "bytes that memory has to carry at least for the line's own work, counted from the compiled programs",
        of: |line| real(line.work?.bytes, Unit::Bytes),
    },
    Number {
        title: "Headroom",
        definition: "measured time over the least time that the device needs",
        of: |line| Some(format!("{}×", show(Cell::Real(line.work?.headroom?), Unit::Number).joined())),
    },
];

/// The numbers that any line of `files` has.
pub(super) fn numbers<'f>(files: impl Iterator<Item = &'f AnnotatedFile> + Clone) -> Vec<&'static Number> {
    let says = |number: &&Number| files.clone().any(|file| file.lines.values().any(|line| (number.of)(line).is_some()));
    NUMBERS.iter().filter(says).collect()
}

fn nanos(ns: i64) -> Option<String> {
    (ns > 0).then(|| show(Cell::Int(ns), Unit::Nanos).joined())
}

fn real(value: f64, unit: Unit) -> Option<String> {
    (value > 0.0).then(|| show(Cell::Real(value), unit).joined())
}
