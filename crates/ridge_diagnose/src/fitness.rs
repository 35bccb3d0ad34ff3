//! Whether a capture can answer: what may be asked of it, and what speaks against an answer.

/// What may be asked of a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Question {
    /// How long device work took.
    Device,
    /// Why devices were idle.
    Idle,
    /// What the host did.
    Host,
    /// What one step took.
    Steps,
    /// What the compiled programs are.
    Hlo,
    /// How ranks compare.
    Ranks,
}

impl Question {
    /// Every question.
    pub const ALL: [Question; 6] =
        [Question::Device, Question::Idle, Question::Host, Question::Steps, Question::Hlo, Question::Ranks];

    /// It in words, after *cannot tell*.
    pub fn words(self) -> &'static str {
        match self {
            Question::Device => "how long device work took",
            Question::Idle => "why the device was idle",
            Question::Host => "what the host did",
            Question::Steps => "what a step took",
            Question::Hlo => "what was compiled",
            Question::Ranks => "how ranks compare",
        }
    }
}

/// Something that speaks against an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubt {
    /// What is wrong with the capture, a sentence without a period.
    pub message: String,
    /// The command that would make a better one.
    pub command: Option<String>,
    /// What cannot be answered because of it; nothing where it is only good to know.
    pub blocks: Vec<Question>,
}

/// Why a rule gave no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CannotTell {
    /// What is missing, a sentence without a period.
    pub why: String,
    /// The command that would let it judge.
    pub command: Option<String>,
}

impl CannotTell {
    /// Because of `why`; `command` would let it judge.
    pub fn because(why: impl Into<String>, command: impl Into<String>) -> CannotTell {
        CannotTell { why: why.into(), command: Some(command.into()) }
    }
}
