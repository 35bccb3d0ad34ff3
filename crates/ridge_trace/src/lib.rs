//! The columnar trace: what an accelerator program really did, as typed columns.
//!
//! A [`Trace`] holds one row per event in plain columns ([`Events`]), grouped by [`Track`] (a stream, a thread, a lane of
//! operations) and sorted by start inside each, so a track is a range of rows and needs no column of its own.
//! Names are ids into one string table.
//! What only some events have lives in side tables: [`LaunchShape`] for kernels, [`Transfer`] for copies, [`Counters`],
//! [`Allocations`], [`Memory`] snapshots, [`Step`]s, [`Module`]s, [`Operation`]s, [`OperatorShape`]s and [`Collective`]s.
//!
//! One row costs [`Events::BYTES_PER_ROW`] bytes; the side tables are shared between like events.
//! The decision behind it: captures hold millions of events with a few hundred distinct shapes, so whatever repeats is an id.
//!
//! A trace is built once with a [`TraceBuilder`] and does not change afterwards: row ids are stable evidence.
//! No file is opened here, and nothing is known of capture formats or HLO.
//!
//! ```
//! use ridge_trace::{EventKind, NewEvent, TraceBuilder, TrackKind};
//! let mut builder = TraceBuilder::new();
//! let process = builder.add_process("host0", None);
//! let thread = builder.add_track(process, None, TrackKind::HostThread, "python", 1);
//! let name = builder.strings.intern("step");
//! builder.push(thread, NewEvent::new(EventKind::HostRange, name, 10, 5));
//! let trace = builder.finish();
//! assert_eq!(trace.events.start_ns[0], 10);
//! assert_eq!(trace.name(0), "step");
//! ```

mod arrow_view;
mod builder;
mod event;
mod framework_tables;
mod links;
mod memory;
mod nesting;
mod profiles;
mod python;
mod rows;
mod side_tables;
mod strings;
mod trace;

pub use arrow_view::{event_batch, track_batch};
pub use builder::{EventSlices, NewEvent, OutOfBounds, RecorderNames, TraceBuilder};
pub use event::{Attribution, EventKind, Events, NONE};
pub use framework_tables::{Backward, Collective, FusedKernel, OperatorShape};
pub use memory::{BlockState, Memory, MemoryBlocks, SegmentEventKind, SegmentEvents, Stacks};
pub use nesting::nest;
pub use profiles::{KernelProfile, KernelProfiles, ProfileRule, RuleKind};
pub use python::{
    ClearedGradients, Conversions, Padding, PythonPlace, PythonSamples, PythonStack, PythonThread, RecomputedValue,
    RepeatedCalls, RestartedWorkers, SteadyArguments, UnreadGradients, Watched, ZeroMatrix,
};
pub use rows::{DeviceRow, EventRow, ModuleRow, OpRow, ProcessRow, ProfileRow, SegmentRow, StackRow, TrackRow};
pub use side_tables::{
    Allocations, Counters, Device, LaunchShape, MemoryKind, Module, Operation, Process, Step, Track, TrackKind,
    Transfer,
};
pub use strings::{StringId, Strings};
pub use trace::Trace;
