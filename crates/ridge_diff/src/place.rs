//! A line of the program, by what stays the same when lines above it are added: its function and its text.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A line of the program.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// The file, as the capture names it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The function that it is in; empty where that is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub function: String,
    /// Its text without the space around it, where the file could be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Whether the line is inferred from the data flow.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_inferred: bool,
}

impl Place {
    /// The file's own name, without its folders: they differ from machine to machine.
    pub(crate) fn file_name(&self) -> &str {
        self.file.rsplit(['/', '\\']).next().unwrap_or(&self.file)
    }

    /// What it is in any version of the file: function and text, or the number where no text is known.
    pub(crate) fn identity(&self) -> String {
        match &self.text {
            Some(text) => format!("{}\u{1f}{text}", self.function),
            None => format!("{}\u{1f}{}", self.function, self.line),
        }
    }
}

/// `solver.py:12`.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file_name(), self.line)
    }
}
