//! A stage of the way to a decision: its question, how far it is, and what comes next.

/// What is asked.
#[derive(Debug, Clone, Default)]
pub struct GuideOptions {
    /// The device that is meant, by its data sheet or a word of it (`h100`), where the capture is of another.
    pub meant: Option<String>,
}

/// How far a stage is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StageState {
    /// The capture answers it.
    Answered,
    /// The capture answers a part of it.
    Partly,
    /// Nothing here answers it.
    Missing,
}

impl StageState {
    /// The word in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            StageState::Answered => "answered",
            StageState::Partly => "partly",
            StageState::Missing => "missing",
        }
    }
}

/// One stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stage {
    /// Its name, `timeline`.
    pub name: &'static str,
    /// What it asks.
    pub question: &'static str,
    /// How far it is.
    pub state: StageState,
    /// What is known, or why nothing is, in one sentence without a period.
    pub answer: String,
    /// What is not known yet, where it is known in part.
    pub lacks: Option<String>,
    /// The command that shows what is known; `None` where nothing is.
    pub shown_by: Option<String>,
    /// Commands that answer the rest, in the order to run them; what the user has to fill in is in capitals.
    pub next: Vec<String>,
    /// What the answer asks for, beyond the question.
    pub then: Option<FollowUp>,
}

/// What follows from an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FollowUp {
    /// What to do, as a sentence without a period.
    pub what: String,
    /// The command that does it.
    pub command: String,
}
