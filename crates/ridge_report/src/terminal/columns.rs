//! The columns of a table turned into text, before anything is left out.

use super::line::width;
use super::words::plain_marks;
use super::{Glyphs, Layout};
use crate::Listing;
use crate::cell::{Cell, cell};
use crate::number::{Shown, UNKNOWN, show_in_column};
use ridgeline::{Rank, Table, Unit};
use std::collections::HashSet;

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
    let mut columns: Vec<TextColumn> = fields
        .map(|(field, column)| {
            let meaning = Table::meaning(field);
            let values = || (0..batch.num_rows()).map(move |row| cell(column, row));
            let shown = values().map(|value| show_in_column(value, &meaning));
            let words = matches!(meaning.unit, Unit::Text | Unit::Flag);
            let mut cells = if words { names(shown, layout.glyphs) } else { aligned(shown.collect(), layout.glyphs) };
            if meaning.unit == Unit::Nanos && meaning.rank == Rank::Key && field.name() == MOMENTS {
                moments(&mut cells, values());
            }
            let title = crate::escape_controls(meaning.title).into_owned();
            let natural = cells.iter().map(|cell| width(cell)).max().unwrap_or(0).max(width(&title));
            let says = Says::of(&cells, words);
            TextColumn { title, rank: meaning.rank, words, cells, natural, says }
        })
        .collect();
    tell_apart(&mut columns);
    columns
}

/// Keeps the columns of words without which rows of one name could not be told apart: `custom-call.1` of several modules.
fn tell_apart(columns: &mut [TextColumn]) {
    let Some(names) = columns.first().filter(|column| column.words) else { return };
    let mut seen: Vec<Vec<&str>> = names.cells.iter().map(|name| vec![name.as_str()]).collect();
    let mut told = distinct(&seen);
    let mut kept = Vec::new();
    while told < seen.len() {
        let spare = columns.iter().enumerate().skip(1);
        let spare = spare.filter(|(at, column)| column.words && column.rank < Rank::Key && !kept.contains(at));
        let with = |column: &TextColumn| {
            distinct(
                &seen
                    .iter()
                    .zip(&column.cells)
                    .map(|(row, cell)| [&row[..], &[cell.as_str()]].concat())
                    .collect::<Vec<_>>(),
            )
        };
        // Of columns that tell as much the first stays.
        let best = spare.map(|(at, column)| (with(column), std::cmp::Reverse(at))).max();
        let Some((more, std::cmp::Reverse(at))) = best.filter(|(more, _)| *more > told) else { break };
        seen.iter_mut().zip(&columns[at].cells).for_each(|(row, cell)| row.push(cell));
        told = more;
        kept.push(at);
    }
    kept.into_iter().for_each(|at| columns[at].rank = Rank::Key);
}

fn distinct(rows: &[Vec<&str>]) -> usize {
    rows.iter().collect::<HashSet<_>>().len()
}

/// The column of the moments at which something began.
const MOMENTS: &str = "start_ns";

/// Moments with as many digits as tell them apart, where three do not: late in a capture all are `156 s`.
fn moments<'a>(cells: &mut [String], values: impl Iterator<Item = Cell<'a>>) {
    let differ: HashSet<&String> = cells.iter().collect();
    if differ.len() == cells.len() {
        return;
    }
    for (shown, value) in cells.iter_mut().zip(values) {
        if let Cell::Int(nanos) = value {
            *shown = format!("{:.6} s", nanos as f64 / 1e9);
        }
    }
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
