//! The columns of a table turned into text, before anything is left out.

use super::line::width;
use super::words::plain_marks;
use super::{Glyphs, Layout};
use crate::Listing;
use crate::cell::{Cell, cell};
use crate::number::{Shown, UNKNOWN, show_in_column};
use ridgeline::{Rank, Table, Unit};

/// A column as text.
pub(super) struct TextColumn {
    /// Heading.
    pub(super) title: String,
    /// Room it deserves.
    pub(super) rank: Rank,
    /// Whether its cells are words, which stand left and may be shortened.
    pub(super) words: bool,
    /// The cells, units aligned.
    pub(super) cells: Vec<String>,
    /// Columns of text that it takes uncut, heading included.
    pub(super) natural: usize,
    /// What is lost without it.
    pub(super) says: Says,
}

/// What the cells of a column say; those that say least go first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Says {
    /// Nothing is known in any row.
    Nothing,
    /// Zero in every row.
    Zero,
    /// More than that.
    Something,
}

impl Says {
    /// What `cells` say, words or numbers.
    pub(super) fn of(cells: &[String], words: bool) -> Says {
        let is_unknown = |cell: &String| matches!(cell.trim(), "" | UNKNOWN | "-");
        let is_zero = |cell: &String| !words && matches!(cell.split_whitespace().next(), Some("0" | "0.0"));
        if cells.iter().all(is_unknown) {
            Says::Nothing
        } else if cells.iter().all(|cell| is_unknown(cell) || is_zero(cell)) {
            Says::Zero
        } else {
            Says::Something
        }
    }
}

/// The shares that the bar column draws, and the column it stands behind.
pub(super) struct BarColumn {
    /// Index of the column of shares.
    pub(super) after: usize,
    /// The share of each row, as a part of the largest one.
    pub(super) parts: Vec<f64>,
}

/// All columns of `listing` as text.
pub(super) fn text_columns(listing: &Listing, layout: &Layout) -> Vec<TextColumn> {
    let batch = &listing.table.batch;
    let schema = batch.schema();
    let fields = schema.fields().iter().zip(batch.columns());
    fields
        .map(|(field, column)| {
            let meaning = Table::meaning(field);
            let shown = (0..batch.num_rows()).map(|row| show_in_column(cell(column, row), &meaning));
            let words = matches!(meaning.unit, Unit::Text | Unit::Flag);
            let cells = if words { names(shown, layout.glyphs) } else { aligned(shown.collect(), layout.glyphs) };
            let title = crate::escape_controls(meaning.title).into_owned();
            let natural = cells.iter().map(|cell| width(cell)).max().unwrap_or(0).max(width(&title));
            let says = Says::of(&cells, words);
            TextColumn { title, rank: meaning.rank, words, cells, natural, says }
        })
        .collect()
}

/// Words as they are: only the mark for an unknown value is the program's own.
fn names(shown: impl Iterator<Item = Shown>, glyphs: Glyphs) -> Vec<String> {
    let own_marks = |body: String| if body == UNKNOWN { plain_marks(&body, glyphs) } else { body };
    shown.map(|value| own_marks(value.body)).collect()
}

/// Numbers with their units under each other: the unit field is as wide as the widest unit of the column.
pub(super) fn aligned(shown: Vec<Shown>, glyphs: Glyphs) -> Vec<String> {
    let units = shown.iter().map(|value| width(&value.unit)).max().unwrap_or(0);
    let lines = shown.into_iter().map(|value| match units {
        0 => value.body,
        _ => format!("{} {}{}", value.body, value.unit, " ".repeat(units - width(&value.unit))),
    });
    lines.map(|line| plain_marks(&line, glyphs)).collect()
}

/// The first column of shares that is not a detail, as bars.
///
/// Bars are drawn against the largest share shown: they compare rows, and the number beside says how much of the whole.
pub(super) fn bar_column(listing: &Listing) -> Option<BarColumn> {
    let batch = &listing.table.batch;
    let schema = batch.schema();
    let after = schema.fields().iter().position(|field| {
        let meaning = Table::meaning(field);
        meaning.unit == Unit::Share && meaning.rank > Rank::Detail
    })?;
    let shares: Vec<f64> = (0..batch.num_rows())
        .map(|row| match cell(batch.column(after), row) {
            Cell::Real(share) => share,
            _ => 0.0,
        })
        .collect();
    let largest = shares.iter().copied().fold(0.0, f64::max);
    let parts = shares.iter().map(|share| if largest > 0.0 { share / largest } else { 0.0 }).collect();
    Some(BarColumn { after, parts })
}
