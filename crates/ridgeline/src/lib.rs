//! ridgeline.

mod session;
pub use ridge_trace::{Column, Fact, FactValue, Meaning, Rank, Section, Table, Unit};
pub use ridge_units as units;
pub use session::*;
