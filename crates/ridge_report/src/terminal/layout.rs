//! How a report is laid out: the caller's choice of width, glyphs and colors.

use super::Theme;

/// How a report is laid out.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    /// Columns of text that fit on a line.
    pub width: usize,
    /// Which characters bars and marks are made of.
    pub glyphs: Glyphs,
    /// Colors and weights.
    pub theme: Theme,
    /// Whether the definition of each column and fact is written out.
    pub definitions: Definitions,
}

/// Which characters bars and marks are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Glyphs {
    /// Eighth blocks, `µ`, `…` and `–`.
    Unicode,
    /// `#`, `u`, `...` and `-`; names keep their own characters.
    Ascii,
}

/// Whether what a number means is written beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Definitions {
    /// Titles only.
    Hidden,
    /// One line per column and fact that has a definition.
    Shown,
}

impl Layout {
    /// `width` columns, Unicode bars, no colors, no definitions.
    pub fn plain(width: usize) -> Layout {
        Layout { width, glyphs: Glyphs::Unicode, theme: Theme::PLAIN, definitions: Definitions::Hidden }
    }
}
