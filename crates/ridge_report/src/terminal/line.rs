//! A line of text that is put together piece by piece: styled, padded by display width, no blanks at its end.

use anstyle::Style;
use std::borrow::Cow;
use unicode_width::UnicodeWidthStr;

/// Columns of text that `text` takes.
pub(super) fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// `text` in `style`, and after it in none.
pub(crate) fn styled(style: Style, text: &str) -> Cow<'_, str> {
    if style.is_plain() { Cow::Borrowed(text) } else { Cow::Owned(format!("{style}{text}{style:#}")) }
}

/// A line under construction.
pub(crate) struct Line {
    text: String,
    /// Blanks that are written only if something follows.
    pending: usize,
}

impl Line {
    /// An empty line.
    pub(crate) fn new() -> Line {
        Line { text: String::new(), pending: 0 }
    }

    /// Adds `blanks` blanks.
    pub(crate) fn skip(&mut self, blanks: usize) {
        self.pending += blanks;
    }

    /// Adds `text` in `style`.
    pub(crate) fn push(&mut self, style: Style, text: &str) {
        if text.is_empty() {
            return;
        }
        self.text.extend(std::iter::repeat_n(' ', std::mem::take(&mut self.pending)));
        self.text.push_str(&styled(style, text));
    }

    /// Adds `text` in a field of `field` columns, at its left end.
    pub(super) fn left(&mut self, style: Style, text: &str, field: usize) {
        self.push(style, text);
        self.skip(field.saturating_sub(width(text)));
    }

    /// Adds `text` in a field of `field` columns, at its right end.
    pub(crate) fn right(&mut self, style: Style, text: &str, field: usize) {
        self.skip(field.saturating_sub(width(text)));
        self.push(style, text);
    }

    /// The finished line.
    pub(crate) fn end(mut self) -> String {
        self.text.push('\n');
        self.text
    }
}
