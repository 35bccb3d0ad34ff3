//! What is known of a file of the program, line by line.

use crate::source_text::TextOrigin;
use ridge_analysis::{Activity, Bound, Cause, LineSums};
use std::collections::BTreeMap;

/// A file of the program.
#[derive(Debug, Clone)]
pub struct AnnotatedFile {
    /// Its name, as the capture has it.
    pub name: String,
    /// Its text by lines, where it can be read.
    pub text: Option<(TextOrigin, Vec<String>)>,
    /// The lines that anything is known of, by number.
    pub lines: BTreeMap<u32, AnnotatedLine>,
    /// The sums of its lines; what is inclusive cannot be summed and is zero.
    pub sums: LineSums,
    /// Idle time of its lines, nanoseconds.
    pub idle_ns: i64,
}

/// What is known of a line.
#[derive(Debug, Clone, Default)]
pub struct AnnotatedLine {
    /// The function it is in, or that begins there.
    pub function: String,
    /// Time, events and copies.
    pub sums: LineSums,
    /// What its own work had to compute and move, where that is counted.
    pub work: Option<LineWork>,
    /// Idle time while the host was in it, nanoseconds.
    pub idle_ns: i64,
    /// The parts of that, longest first, nanoseconds.
    pub idle: Vec<(Cause, Activity, i64)>,
    /// Positions of its findings in the diagnosis.
    pub findings: Vec<usize>,
}

/// What a line's own work had to compute and move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LineWork {
    /// Floating-point operations, and those of integer matrix products.
    pub flops: f64,
    /// Compulsory traffic, bytes.
    pub bytes: f64,
    /// Measured time over the least time the device needs, where its roofs are known.
    pub headroom: Option<f64>,
    /// What bounds most of the time, where that is known.
    pub bound: Option<Bound>,
    /// The part of the measured time whose work is not known.
    pub unknown_share: f64,
}
