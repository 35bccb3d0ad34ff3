//! Why no number is given.

use ridge_units::{Nanos, Share};
use std::fmt;

/// Why a prediction is refused.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reason {
    /// The capture has neither calls nor device work to replay.
    Nothing,
    /// The capture holds device work and hardly any of the calls that launched it: nothing says what the work waited for.
    NoLaunches,
    /// Too much of the wall hangs on waits that the capture does not explain; the share, 0 to 1.
    Rigid(f64),
    /// With usual delays the replay misses the capture by this part of the wall.
    ClassError(f64),
    /// The replay with its own delays misses the capture by this many nanoseconds: a fault of the replay.
    NotExact(i64),
    /// Steps are marked, but fewer than needed.
    FewSteps(usize),
    /// The edited work's launches are not in the capture; the share of its time, 0 to 1.
    Unlinked(f64),
    /// The edit lies where something waits for what the capture does not hold; the wait in nanoseconds.
    Unexplained(i64),
    /// The edit names nothing that the graph holds.
    NothingEdited,
}

impl Reason {
    /// Whether the replay says nothing of the capture: its errors and its path are no numbers to go by.
    pub fn is_out_of_reach(self) -> bool {
        matches!(self, Reason::Nothing | Reason::NoLaunches | Reason::Rigid(_))
    }

    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Reason::Nothing => "nothing_to_replay",
            Reason::NoLaunches => "no_launches",
            Reason::Rigid(_) => "rigid",
            Reason::ClassError(_) => "class_error",
            Reason::NotExact(_) => "not_exact",
            Reason::FewSteps(_) => "few_steps",
            Reason::Unlinked(_) => "unlinked",
            Reason::Unexplained(_) => "unexplained_wait",
            Reason::NothingEdited => "nothing_edited",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Nothing => write!(f, "the capture has neither calls nor device work"),
            Reason::NoLaunches => {
                write!(
                    f,
                    "the capture doesn't have the calls that launched its device work, so the cause of its waits is unknown"
                )
            }
            Reason::Rigid(share) => {
                write!(f, "{} of the time depends on waits that the capture doesn't explain", Share(*share).rounded())
            }
            Reason::ClassError(error) => {
                write!(f, "with median latencies the replay is off by {}", Share(*error).rounded())
            }
            Reason::NotExact(ns) => write!(f, "the replay of the unchanged capture is off by {}", Nanos(*ns)),
            Reason::FewSteps(1) => write!(f, "only one step is marked"),
            Reason::FewSteps(steps) => write!(f, "only {steps} steps are marked"),
            Reason::Unlinked(share) => {
                write!(f, "the launches of {} of this work are not in the capture", Share(*share).rounded())
            }
            Reason::Unexplained(ns) => {
                write!(f, "it is inside a wait of {} for something that isn't in the capture", Nanos(*ns))
            }
            Reason::NothingEdited => write!(f, "nothing in the capture's graph matches"),
        }
    }
}
