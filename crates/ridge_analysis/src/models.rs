//! The middle floor: typed answers, each owned, documented and kept ([`crate::Shared`]).
//!
//! A model knows nothing of tables and words for people; `tables/` shows it, rules and pages ask it.

pub mod analyzed;
pub mod breakdown;
pub mod calls;
pub mod collectives;
pub mod compared;
pub mod compilations;
pub mod copies;
pub mod counters;
pub mod device_time;
pub(crate) mod each_work;
pub mod event_facts;
pub mod event_lines;
pub mod fused;
pub mod hlo;
pub mod idle;
pub mod launches;
pub mod layouts;
pub mod life;
pub mod memory;
pub mod metrics;
mod module_runs;
pub mod operators;
pub mod over_time;
pub mod profiles;
pub mod python_looks;
pub mod ranges;
pub mod rank_times;
pub mod ranks;
pub mod roofline;
pub mod scaled;
pub mod scaling;
pub mod scopes;
pub mod sequences;
pub mod source;
pub mod source_idle;
pub mod spread;
pub mod steps;
pub mod tracks;
pub mod transfers;
pub mod work;

pub use module_runs::ModuleRuns;
