//! What kind of work decides the time of a region: intervals are calibrated kind by kind.

use serde::Deserialize;

/// A kind of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// Each item once, in order.
    Stream,
    /// Each item with its neighbors.
    Window,
    /// Products of matrices.
    Contraction,
    /// Accesses whose places data decide.
    Gather,
    /// Putting in order.
    Sort,
    /// Fourier transforms.
    Transform,
}

impl Class {
    /// All of them.
    pub const ALL: [Class; 6] =
        [Class::Stream, Class::Window, Class::Contraction, Class::Gather, Class::Sort, Class::Transform];

    /// The word in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Class::Stream => "stream",
            Class::Window => "window",
            Class::Contraction => "contraction",
            Class::Gather => "gather",
            Class::Sort => "sort",
            Class::Transform => "transform",
        }
    }
}
