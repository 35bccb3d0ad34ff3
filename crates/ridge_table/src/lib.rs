//! Answers as tables and facts: what every analysis gives and every face shows.
//!
//! A [`Table`] is an Arrow batch whose columns carry their unit, title, definition and [`Basis`], and whose rows say
//! what they are about ([`Subject`]); a [`Section`] holds single numbers the same way.
//! Tables are made from typed rows by [`Columns`]. What a column means travels with it as Arrow field metadata, so that
//! an exported file explains itself.
//! Nothing is formatted here, and nothing is known of how answers are found.

mod basis;
mod column;
mod columns;
mod fact;
mod note;
mod quantity;
mod subject;
mod table;
mod unit;

pub use basis::Basis;
pub use column::{Column, Rank};
pub use columns::Columns;
pub use fact::{Fact, FactValue, Section};
pub use note::{Note, Severity};
pub use quantity::Quantity;
pub use subject::Subject;
pub use table::{Meaning, Table};
pub use unit::Unit;
