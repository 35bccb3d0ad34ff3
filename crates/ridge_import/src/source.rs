//! What is read, and what reading makes of it: sources, an import in the making, a capture that was read.

use crate::inductor::Inductor;
use crate::note::{ImportNote, Severity};
use ridge_hlo::HloModule;
use ridge_trace::{StringId, Trace, TraceBuilder};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::Arc;

/// How many bytes a format sees to recognize a file by.
pub(crate) const HEAD_BYTES: usize = 4096;

/// One named blob: a file's bytes, mapped or in memory.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// Name for messages, as the user would write it.
    pub name: &'a str,
    /// All its bytes.
    pub bytes: &'a [u8],
}

impl Source<'_> {
    /// Where `part`, a slice of this source, begins; 0 for any other slice.
    pub fn offset_of(&self, part: &[u8]) -> u64 {
        (part.as_ptr() as usize).checked_sub(self.bytes.as_ptr() as usize).map_or(0, |offset| offset as u64)
    }
}

/// What a capture says of the program and machine it came from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CaptureFacts {
    /// Name of the source.
    pub source: String,
    /// Name of the format.
    pub format: &'static str,
    /// Size of the source in bytes.
    pub bytes: u64,
    /// Keys and values as written, such as versions; private ones (host names) are left out.
    pub facts: Vec<(String, String)>,
    /// When its session began on the trace clock, nanoseconds.
    pub start_ns: i64,
    /// Unix time of the trace clock's zero, nanoseconds, where the capture says it.
    pub unix_zero_ns: Option<u64>,
}

/// Takes bytes that were read.
type Taker = dyn Fn(&[u8]) + Send + Sync;

/// What is done with bytes of a source that were read and are not needed soon.
#[derive(Clone)]
pub struct Release(Arc<Taker>);

impl Release {
    /// Calls `release` with such bytes; they may be read again all the same, and must then be what they were.
    pub fn new(release: impl Fn(&[u8]) + Send + Sync + 'static) -> Release {
        Release(Arc::new(release))
    }

    /// Hands over bytes that were read.
    pub(crate) fn give(&self, read: &[u8]) {
        (self.0)(read);
    }
}

impl std::fmt::Debug for Release {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Release")
    }
}

/// Collects what formats read; becomes an [`Imported`].
#[derive(Debug, Default)]
pub struct Import {
    /// The trace so far.
    pub builder: TraceBuilder,
    /// HLO modules, named by [`ridge_trace::Module::hlo`].
    pub hlo: Vec<HloModule>,
    /// What readers must know.
    pub notes: Vec<ImportNote>,
    /// What the captures say of themselves.
    pub captures: Vec<CaptureFacts>,
    /// Source files of the program that captures carry with them.
    pub sources: Vec<SourceFile>,
    /// What one compressed source may grow to, in bytes; `None` for as much as captures do.
    pub max_unpacked_bytes: Option<u64>,
    /// How many of the captures hold times that were predicted.
    pub predicted: usize,
    /// Modules that were kept beside captures which have none, until a capture says that it ran one.
    pub(crate) kept: Vec<HloModule>,
    /// Work of CUDA graphs, by their nodes.
    pub(crate) graph_work: Vec<GraphWork>,
    /// What files say of nodes of CUDA graphs.
    pub(crate) graph_annotations: Vec<Annotations>,
    /// What files of PyTorch's compiler say of the kernels that it made.
    pub(crate) inductor: Inductor,
    /// Whether there is more than one source.
    pub(crate) is_one_of_several: bool,
    /// Work of launches of CUDA graphs, where there is more than one source.
    pub(crate) graph_replays: Vec<Replay>,
    /// What was launched while CUDA graphs were captured.
    pub(crate) graph_captures: Vec<GraphCapture>,
    /// When the processes of XPlane captures were captured.
    pub(crate) windows: Vec<Window>,
    /// What is done with bytes that were read.
    pub(crate) release: Option<Release>,
}

/// When a capture of a process was open.
#[derive(Debug)]
pub(crate) struct Window {
    pub(crate) pid: u64,
    /// Unix time, nanoseconds.
    pub(crate) open: Range<u64>,
    /// The row of the process that was captured in the first window of these.
    pub(crate) first: u32,
}

/// Work of a CUDA graph's node, by its raw row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GraphWork {
    pub(crate) row: u32,
    pub(crate) node: u64,
    /// What the capture itself says of the node.
    pub(crate) said: Option<Said>,
}

/// What a node is for: its name, and the module that it is of, either of which may be empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Said {
    pub(crate) name: StringId,
    pub(crate) scope: StringId,
}

/// A file of annotations.
#[derive(Debug)]
pub(crate) struct Annotations {
    pub(crate) source: String,
    pub(crate) nodes: FxHashMap<u64, Said>,
}

/// The raw rows that one launch of a CUDA graph ran, by start.
#[derive(Debug)]
pub(crate) struct Replay {
    pub(crate) process: u32,
    pub(crate) rows: Vec<u32>,
}

/// A trace of the capture of CUDA graphs.
#[derive(Debug)]
pub(crate) struct GraphCapture {
    pub(crate) source: String,
    pub(crate) rank: Option<u32>,
    /// In the order of their capture.
    pub(crate) graphs: Vec<Vec<Launched>>,
}

/// A launch while a graph was captured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Launched {
    /// `None` for a kernel that the trace does not name.
    pub(crate) part: Option<GraphPart>,
    pub(crate) said: Said,
}

/// What a part of a graph is, in its capture and in its replays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum GraphPart {
    Copy,
    Memset,
    Kernel(StringId),
}

/// A source file of the program that was captured, as the capture carries it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// Its path on the machine where the program ran, as HLO names it.
    pub path: String,
    /// Its text.
    pub text: String,
}

impl Import {
    /// Says that `bytes` of a source were read: a large mapped file need not stay in memory as a whole.
    pub fn release(&self, bytes: &[u8]) {
        self.release.iter().for_each(|release| release.give(bytes));
    }

    /// Adds a note about `source`.
    pub fn note(&mut self, severity: Severity, source: &str, offset: Option<u64>, count: u64, message: String) {
        self.notes.push(ImportNote { severity, message, source: source.to_owned(), offset, count });
    }
}

/// A capture, read.
#[derive(Debug)]
pub struct Imported {
    /// The trace.
    pub trace: Trace,
    /// HLO modules, named by [`ridge_trace::Module::hlo`].
    pub hlo: Vec<HloModule>,
    /// What readers must know, gravest first.
    pub notes: Vec<ImportNote>,
    /// What the captures say of themselves.
    pub captures: Vec<CaptureFacts>,
    /// Source files of the program that captures carry with them.
    pub sources: Vec<SourceFile>,
    /// How many of the captures hold times that were predicted, and not measured.
    pub predicted: usize,
}
