//! The colors and weights of a report.
//!
//! Only the sixteen terminal colors, so that the reader's own palette decides. Every line reads without them.

use anstyle::{AnsiColor, Style};

/// One style per role in a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Theme {
    /// Headings of sections and tables.
    pub title: Style,
    /// Headings of columns.
    pub header: Style,
    /// The bars.
    pub bar: Style,
    /// What explains: footnotes, notes, unknown values.
    pub quiet: Style,
    /// The word `lost`.
    pub lost: Style,
    /// The word `partial`.
    pub partial: Style,
}

impl Theme {
    /// No styles at all.
    pub const PLAIN: Theme = Theme {
        title: Style::new(),
        header: Style::new(),
        bar: Style::new(),
        quiet: Style::new(),
        lost: Style::new(),
        partial: Style::new(),
    };

    /// Colors that read on dark and light backgrounds.
    pub const COLOR: Theme = Theme {
        title: Style::new().bold(),
        header: Style::new().underline(),
        bar: AnsiColor::Cyan.on_default(),
        quiet: Style::new().dimmed(),
        lost: AnsiColor::Red.on_default().bold(),
        partial: AnsiColor::Yellow.on_default().bold(),
    };
}
