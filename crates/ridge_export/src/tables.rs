//! Everything that a trace holds as tables of plain numbers and texts: for SQL engines and data frames.
//!
//! A [`RawTable`] lists its columns; [`Tables::batch`] makes those that are wanted of some of its rows, so neither a
//! query nor a file holds more than a part in memory.
//! Times are whole nanoseconds on the trace's clock, ids are rows of the table that a column is named for, and what a
//! capture does not say is null.
//!
//! [`DIALECTS`] are views over these tables under the names of other tools, in SQL that DataFusion and DuckDB both run.

mod columns;
mod dialects;
mod event;
mod files;
mod list;
mod memory;
mod program;
mod table;
mod texts;
mod whole;

pub use dialects::{DIALECTS, Dialect};
pub use files::{write_events, write_folder};
pub use list::RAW_TABLES;
pub use table::{RawColumn, RawTable, Tables};
