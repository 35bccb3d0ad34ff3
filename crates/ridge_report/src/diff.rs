//! What `ridgeline diff` found, in every form that people and other programs read.
//!
//! [`text::render`] is for a terminal, one screen; [`json::document`] is the whole answer; [`markdown::render`] is for pull
//! requests; [`junit::report`], [`sarif::log`] and [`github::annotations`] are what continuous integration shows.

pub mod github;
pub mod json;
pub mod junit;
mod lines;
pub mod markdown;
pub mod sarif;
pub mod text;
mod words;

pub use words::headline;

use ridgeline::comparison::By;

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// What is shown.
    pub by: Shown,
    /// Rows of a division that have a line of their own.
    pub rows: usize,
}

/// What is shown of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// The rows of a division of the time.
    Division(By),
    /// Times of single steps.
    Steps,
    /// Numbers about memory.
    Memory,
    /// Numbers about compilation.
    Compile,
}

impl Default for Options {
    fn default() -> Options {
        Options { by: Shown::Division(By::Part), rows: 8 }
    }
}

impl Shown {
    /// What measures are about that are shown; all of them where a division is.
    fn measures(self) -> Option<&'static str> {
        match self {
            Shown::Division(_) | Shown::Steps => None,
            Shown::Memory => Some("memory"),
            Shown::Compile => Some("compile"),
        }
    }
}
