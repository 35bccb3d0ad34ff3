//! ridge_trace.

mod table;
pub use table::{Column, Fact, FactValue, Meaning, Rank, Section, Table, Unit};
