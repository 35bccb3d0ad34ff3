//! One table as lines of text.

use super::columns::{BarColumn, Says, TextColumn, bar_column, text_columns};
use super::fit::{Fit, GAP, fit};
use super::line::Line;
use super::shorten::shortened;
use super::words::{paragraph, shorten_middle, tagged};
use super::{Definitions, Layout, bar, heading};
use crate::Listing;
use crate::number::UNKNOWN;
use anstyle::Style;
use ridgeline::Table;

/// A table as text.
pub(super) struct Rendered {
    /// Title, header, rows and footnotes.
    pub(super) text: String,
    /// Whether some columns did not fit.
    pub(super) columns_hidden: bool,
}

/// `listing` as text.
pub(super) fn render(listing: &Listing, layout: &Layout) -> Rendered {
    let columns = text_columns(listing, layout);
    let bars = bar_column(listing);
    let fit = fit(&columns, bars.as_ref().map(|bars| bars.after), layout.width);
    let mut text = heading(&listing.table.title, layout);
    text.push_str(&lines(&columns, &fit, bars.as_ref(), listing.table.batch.num_rows(), layout));
    for footnote in &listing.table.footnotes {
        text.push_str(&paragraph(footnote, layout.theme.quiet, layout));
    }
    if layout.definitions == Definitions::Shown {
        text.push_str(&definitions(listing, &fit, layout));
    }
    let is_hidden = |index: usize| fit.columns.iter().all(|(shown, _)| *shown != index);
    let hidden = (0..columns.len()).any(|index| columns[index].says == Says::Something && is_hidden(index));
    Rendered { text, columns_hidden: hidden }
}

/// The header and `rows` rows of `columns`.
pub(super) fn lines(
    columns: &[TextColumn],
    fit: &Fit,
    bars: Option<&BarColumn>,
    rows: usize,
    layout: &Layout,
) -> String {
    let mut text = header(columns, fit, bars, layout);
    let names = |&(index, width): &(usize, usize)| {
        let column: &TextColumn = &columns[index];
        if column.words { shortened(&column.cells, width, layout.glyphs) } else { Vec::new() }
    };
    let names: Vec<Vec<String>> = fit.columns.iter().map(names).collect();
    text.extend((0..rows).map(|row| row_line(row, columns, &names, fit, bars, layout)));
    text
}

fn header(columns: &[TextColumn], fit: &Fit, bars: Option<&BarColumn>, layout: &Layout) -> String {
    let mut line = Line::new();
    for &(index, width) in &fit.columns {
        let column = &columns[index];
        let title = shorten_middle(&column.title, width, layout.glyphs);
        place(&mut line, layout.theme.header, &title, column.words, width);
        if bar_follows(index, fit, bars) {
            line.skip(fit.bar + GAP);
        }
    }
    line.end()
}

/// One row; `names` are the words of each column that is shown, as they fit.
fn row_line(
    row: usize,
    columns: &[TextColumn],
    names: &[Vec<String>],
    fit: &Fit,
    bars: Option<&BarColumn>,
    layout: &Layout,
) -> String {
    let mut line = Line::new();
    for (&(index, width), names) in fit.columns.iter().zip(names) {
        let column = &columns[index];
        let cell = names.get(row).unwrap_or(&column.cells[row]);
        let style = if cell.trim_end() == UNKNOWN { layout.theme.quiet } else { Style::new() };
        place(&mut line, style, cell, column.words, width);
        if let Some(bars) = bars.filter(|_| bar_follows(index, fit, bars)) {
            line.left(layout.theme.bar, &bar(bars.parts[row], fit.bar, layout.glyphs), fit.bar);
            line.skip(GAP);
        }
    }
    line.end()
}

fn bar_follows(index: usize, fit: &Fit, bars: Option<&BarColumn>) -> bool {
    fit.bar > 0 && bars.is_some_and(|bars| bars.after == index)
}

/// Words, which are short enough, at the left, and numbers at the right.
fn place(line: &mut Line, style: Style, text: &str, words: bool, width: usize) {
    if words {
        line.left(style, text, width);
    } else {
        // Blanks after a short unit belong to the field but not into the style.
        let shown = text.trim_end();
        let blanks = text.len() - shown.len();
        line.right(style, shown, width.saturating_sub(blanks));
        line.skip(blanks);
    }
    line.skip(GAP);
}

fn definitions(listing: &Listing, fit: &Fit, layout: &Layout) -> String {
    let schema = listing.table.batch.schema();
    let meanings = fit.columns.iter().map(|&(index, _)| Table::meaning(schema.field(index)));
    let defined = meanings.filter(|meaning| !meaning.definition.is_empty());
    defined.map(|meaning| tagged(meaning.title, layout.theme.quiet, meaning.definition, layout)).collect()
}
