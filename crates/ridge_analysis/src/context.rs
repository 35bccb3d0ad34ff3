//! The ground floor: a trace with its HLO, device work in groups, who caused it, how often it ran, what it is called.
//!
//! Everything here is asked for by several answers and knows none of them.

mod analysis;
pub(crate) mod annotations;
pub(crate) mod category;
mod compilations;
pub(crate) mod coverage;
mod durations;
mod event_categories;
mod executions;
pub(crate) mod groups;
pub(crate) mod helping_threads;
pub(crate) mod host_paths;
pub(crate) mod in_order;
pub(crate) mod labels;
mod lines;
pub(crate) mod nested_likes;
pub(crate) mod observed_trips;
mod open_ranges;
pub(crate) mod partition;
pub(crate) mod places;
mod prepared;
mod primitives;
pub(crate) mod profile_numbers;
mod python_frame;
pub(crate) mod quantiles;
mod shared;
mod spans;
mod store;
pub(crate) mod stretches;
mod windows;

pub use analysis::Analysis;
pub use annotations::Owners;
pub use category::kernel_category;
pub use compilations::{Compilation, CompilingCall};
pub(crate) use durations::Durations;
pub use event_categories::EventCategories;
pub use executions::Executions;
pub use groups::{Group, WorkGroups};
pub use labels::device_labels;
pub use lines::{Line, Lines, OpLines};
pub use partition::{DeviceTime, WorkRow};
pub use prepared::Prepared;
pub use primitives::is_primitive;
pub use profile_numbers::ProfileNumbers;
pub use python_frame::PythonFrame;
pub(crate) use python_frame::makes_programs;
pub use shared::{Need, Shared};
pub use spans::Spans;
pub use store::Store;
pub use windows::windows_of_processes;
