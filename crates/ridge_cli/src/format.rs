//! The form of an answer.

use clap::ValueEnum;

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Aligned text for a terminal
    #[value(name = "text", alias = "table")]
    Table,
    /// A versioned document; see docs/json
    Json,
    /// One table: a header of keys, then raw values
    Csv,
    /// GitHub-flavored Markdown
    Markdown,
    /// One table as Arrow IPC: a stream on standard output, a file (Feather) with -o
    Arrow,
}

impl Format {
    /// Whether this form holds one table and nothing else.
    pub(crate) fn holds_one_table(self) -> bool {
        matches!(self, Format::Csv | Format::Arrow)
    }

    /// Whether a program reads it, which wants all rows.
    pub(crate) fn is_for_programs(self) -> bool {
        matches!(self, Format::Csv | Format::Arrow | Format::Json)
    }
}
