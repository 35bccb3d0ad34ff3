//! When a prediction is refused, and which part of a capture is replayed.

/// When a prediction is refused.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Most rigid share, 0 to 1.
    pub most_rigid: f64,
    /// Most error of the unedited replay with class delays, part of the wall.
    pub most_class_error: f64,
    /// Above this error only the direction is given.
    pub vague_class_error: f64,
    /// Fewest steps, where steps are marked.
    pub fewest_steps: usize,
    /// Most of the edited work whose launch may be unknown, by time.
    pub most_unlinked: f64,
    /// Only what begins between these times is replayed, nanoseconds on the trace clock; everything where there is none.
    ///
    /// Start-up and compilation hang on nothing that a capture explains, and would hide how well the rest is explained.
    pub window: Option<(i64, i64)>,
}

impl Default for Options {
    /// What held on sixty captures of five formats.
    fn default() -> Options {
        Options {
            most_rigid: 0.40,
            most_class_error: 0.10,
            vague_class_error: 0.05,
            fewest_steps: 3,
            most_unlinked: 0.25,
            window: None,
        }
    }
}
