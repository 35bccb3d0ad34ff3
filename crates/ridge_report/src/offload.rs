//! What `ridgeline offload` found, in every form that people and other programs read.
//!
//! [`text::full`] is for a terminal, [`json::document`] the whole answer, [`markdown::render`] for a report.

pub mod json;
pub mod markdown;
pub mod text;
mod words;

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Every region with every board, rather than the first few of each.
    pub all: bool,
}

/// Regions that are shown with all that is known of them, where no more are asked for.
const REGIONS: usize = 5;

/// Boards of a region that are shown, where no more are asked for.
const BOARDS: usize = 3;

impl Options {
    fn regions(self) -> usize {
        if self.all { usize::MAX } else { REGIONS }
    }

    fn boards(self) -> usize {
        if self.all { usize::MAX } else { BOARDS }
    }
}
