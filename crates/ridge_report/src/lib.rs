//! Answers as text and as files: terminal tables, JSON, CSV, Markdown and Arrow.
//!
//! A [`Report`] is what one command has to say: notes, sections of facts, and tables.
//! Each renderer is one module with one entry function and its own snapshot tests:
//! [`terminal::render`], [`json::stats`], [`csv::table`], [`markdown::render`], [`arrow::stream`].
//! The decision behind it: renderers read only what a column says of itself (unit, rank, definition), never its name,
//! so a new analysis needs no change here.
//!
//! Nothing is computed here, no file is opened, and no terminal is asked for its width: callers say what they want.
//!
//! ```
//! use ridge_report::{Listing, Report, terminal};
//! use ridgeline::{Column, Table};
//! let columns = vec![
//!     Column::text("op", "Operation", "HLO instruction", ["dot.1".to_owned()]),
//!     Column::nanos("total_ns", "Total", "sum of durations", [14_344_140]),
//! ];
//! let table = Table::from_columns("op", "Operations".to_owned(), columns)?;
//! let report = Report { tables: vec![Listing::whole(table)], ..Report::EMPTY };
//! let text = terminal::render(&report, &terminal::Layout::plain(80));
//! assert_eq!(text, "Operations\nOperation    Total\ndot.1      14.3 ms\n");
//! # Ok::<(), arrow_schema::ArrowError>(())
//! ```

pub mod annotate;
pub mod arrow;
mod cell;
pub mod check;
pub mod checklist;
pub mod csv;
pub mod diff;
pub mod doctor;
mod drawing;
pub mod experiment;
pub mod guide;
pub mod json;
pub mod markdown;
mod note;
mod number;
pub mod offload;
mod order;
mod plot;
#[cfg(feature = "png")]
mod png;
pub mod roofline;
mod sarif;
pub mod scaling;
mod select;
pub mod terminal;
pub mod trial;

pub use note::note_line;
pub use number::fact_text;
pub use order::{Direction, Order, rows_by};
#[cfg(feature = "png")]
pub use png::{PngError, png};
pub use ridgeline::escape::{escape_controls, escape_controls_in_text};
pub use select::texts;

use ridgeline::{Note, Section, Table};

/// What one command has to say.
#[derive(Debug, Clone)]
pub struct Report {
    /// What a reader must know about the capture; renderers put losses first.
    pub notes: Vec<Note>,
    /// Facts under headings, shown before the tables.
    pub sections: Vec<Section>,
    /// The tables, in the order to show.
    pub tables: Vec<Listing>,
}

impl Report {
    /// A report with nothing in it, to fill by struct update.
    pub const EMPTY: Report = Report { notes: Vec::new(), sections: Vec::new(), tables: Vec::new() };
}

/// A table as it is shown: its first rows, and how many there are.
#[derive(Debug, Clone)]
pub struct Listing {
    /// The rows to show.
    pub table: Table,
    /// Rows before the cut.
    pub rows_total: usize,
}

impl Listing {
    /// All rows of `table`.
    pub fn whole(table: Table) -> Listing {
        let rows_total = table.rows_total;
        Listing { table, rows_total }
    }

    /// The first `rows` rows of `table`; a footnote says how many there were.
    pub fn top(table: Table, rows: usize) -> Listing {
        let rows_total = table.rows_total;
        Listing { table: table.top(rows), rows_total }
    }
}
