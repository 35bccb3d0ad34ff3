//! Two captures beside each other: what changed, by how much, how sure that is, and why.
//!
//! A capture becomes a [`Summary`]: small, owned, and enough to compare, so that a file of it can stand for a capture.
//! [`compare`] then asks four things in this order:
//! 1. may they be compared at all ([`Doubt`])? Other devices, other units, lost records, captures with nothing in them;
//! 2. what is the same in both under whatever name: operations by structure and source line, kernels by name
//!    and template, idle time by its cause;
//! 3. how much did each part change ([`Change`])? The parts are a partition of the time, so they add up to the whole
//!    difference exactly, and what nothing explains is a row;
//! 4. how sure is that ([`statistics`])? From repeated steps, or better from repeated runs.
//!
//! The [`Verdict`] follows from these and is refused where they do not carry it.
//! No file is opened here, no format is known, and nothing is rendered but sentences.

mod causes;
mod change;
mod comparable;
mod compare;
mod matching;
mod names;
mod options;
mod partition;
mod place;
pub mod statistics;
mod structure;
mod suite;
mod summarize;
mod summary;
#[cfg(test)]
mod tests;
mod verdict;
mod wavering;
mod why;

pub use causes::{CauseChange, FindingStatus, FoundCause, PredictedSaving, cause_changes};
pub use change::{Certainty, Change, What};
pub use comparable::{Doubt, Weight};
pub use compare::{Comparison, MeasureChange, SideFacts, Steps, compare};
pub use options::Options;
pub use partition::By;
pub use place::Place;
pub use suite::{SuiteRow, suite};
pub use summarize::{LineText, summarize};
pub use summary::{DeviceSeen, Item, Kind, MOST_RUNS, Measure, Origin, Part, Summaries, Summary, Unit};
pub use verdict::{State, Verdict};
