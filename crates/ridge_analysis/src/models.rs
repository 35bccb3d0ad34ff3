//! The middle floor: typed answers, each owned, documented and kept ([`crate::Shared`]).
//!
//! A model knows nothing of tables and words for people; `tables/` shows it, rules and pages ask it.

pub mod collectives;
pub mod course;
pub(crate) mod each_work;
pub mod elsewhere;
pub mod frame;
pub mod idle;
pub mod life;
pub mod memory;
mod module_runs;
pub mod operators;
pub mod profiles;
pub mod python_looks;
pub mod ranges;
pub mod rank_times;
pub mod roofline;
pub mod scaling;
pub mod source;
pub mod source_idle;
pub mod steps;
pub mod transfers;
pub mod wall;
pub mod work;

pub(crate) use module_runs::module_runs;
