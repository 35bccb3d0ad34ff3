//! What a rule found: what it is about, its evidence, and what it claims.

use crate::saving::Saving;
use ridge_replay::Edit;
use ridge_table::{Quantity, Subject};

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Good to know: little or nothing can be recovered.
    Info,
    /// A cause that holds a part of the time worth mending.
    Warning,
    /// The program fails or loses what it was meant to do.
    Error,
}

impl Level {
    /// The name in text and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Level::Info => "info",
            Level::Warning => "warning",
            Level::Error => "error",
        }
    }
}

/// A line of the program.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The file, as the capture names it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// Whether the line is inferred from the data flow, because no line made the work.
    pub is_inferred: bool,
}

/// One thing that speaks for a finding.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// What it is, a few words.
    pub says: String,
    /// How much.
    pub number: Option<Quantity>,
    /// Where to look.
    pub subject: Option<Subject>,
}

/// What a rule found.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The rule's id; the engine fills it in.
    pub rule: &'static str,
    /// How much it matters; the engine decides by what can be recovered, unless a rule asks for more.
    pub level: Level,
    /// What is wrong, one sentence without a period.
    pub message: String,
    /// The line of the program, where one is known.
    pub place: Option<Place>,
    /// What it is about.
    pub subjects: Vec<Subject>,
    /// What speaks for it.
    pub evidence: Vec<Evidence>,
    /// Why that is so, one sentence without a period.
    pub why: String,
    /// What to do, one sentence without a period.
    pub help: String,
    /// Rows of the breakdown that would go, each with the part of it, 0 to 1.
    pub claim: Vec<(usize, f32)>,
    /// The change to replay; where there is none, the claim is all that is known.
    pub edits: Vec<Edit>,
    /// The most that mending gives back, as a part of the judged time, where that is less than what is claimed.
    pub at_most: Option<f64>,
    /// The least and the most that mending gives back, as parts of the judged time, where what takes its place was priced.
    pub priced: Option<(f64, f64)>,
    /// Whether what mending it saves cannot be told from a capture, so that no amount is given.
    pub is_amount_unknown: bool,
    /// Time beside the judged time that would go, too, such as compilation of what was compiled before, nanoseconds.
    pub beside_ns: i64,
    /// Whether it only informs: it claims nothing that mending would give back.
    pub is_information: bool,
    /// Whether it is the host that holds the program back; the engine fills it in.
    pub is_of_host: bool,
    /// Whether code, launches or HLO show it, and nothing ran; the engine fills it in.
    pub is_static: bool,
    /// How much of the devices' time it holds, 0 to 1; the engine computes it of the claim.
    pub share: f64,
    /// What mending would save, where that is known.
    pub saving: Option<Saving>,
    /// The position of the finding that it is a symptom of.
    pub because: Option<usize>,
}

impl Finding {
    /// A finding that says `message`.
    pub fn new(message: impl Into<String>) -> Finding {
        Finding {
            rule: "",
            level: Level::Info,
            message: message.into(),
            place: None,
            subjects: Vec::new(),
            evidence: Vec::new(),
            why: String::new(),
            help: String::new(),
            claim: Vec::new(),
            edits: Vec::new(),
            at_most: None,
            priced: None,
            is_amount_unknown: false,
            beside_ns: 0,
            is_information: false,
            is_of_host: false,
            is_static: false,
            share: 0.0,
            saving: None,
            because: None,
        }
    }

    /// It is at this line.
    #[must_use]
    pub fn at(self, place: Option<Place>) -> Finding {
        Finding { place, ..self }
    }

    /// It is about `subject`, too.
    #[must_use]
    pub fn about(mut self, subject: impl Into<Option<Subject>>) -> Finding {
        self.subjects.extend(subject.into());
        self
    }

    /// A number speaks for it.
    #[must_use]
    pub fn number(mut self, says: impl Into<String>, number: Quantity) -> Finding {
        self.evidence.push(Evidence { says: says.into(), number: Some(number), subject: None });
        self
    }

    /// Words speak for it.
    #[must_use]
    pub fn fact(mut self, says: impl Into<String>) -> Finding {
        self.evidence.push(Evidence { says: says.into(), number: None, subject: None });
        self
    }

    /// A library's line made it, which the program's line calls.
    #[must_use]
    pub(crate) fn made_by(self, library: Option<String>) -> Finding {
        match library {
            Some(line) => self.fact(format!("made by {line}, which this line calls")),
            None => self,
        }
    }

    /// What speaks for it last is to be seen at `subject`.
    #[must_use]
    pub fn seen_at(mut self, subject: impl Into<Option<Subject>>) -> Finding {
        if let Some(last) = self.evidence.last_mut() {
            last.subject = subject.into();
        }
        self
    }

    /// Why that is so.
    #[must_use]
    pub fn why(self, why: impl Into<String>) -> Finding {
        Finding { why: why.into(), ..self }
    }

    /// What to do.
    #[must_use]
    pub fn help(self, help: impl Into<String>) -> Finding {
        Finding { help: help.into(), ..self }
    }

    /// These rows of the breakdown would go, each with the part of it.
    #[must_use]
    pub fn claims(mut self, rows: impl IntoIterator<Item = (usize, f32)>) -> Finding {
        self.claim.extend(rows);
        self
    }

    /// Mending gives back no more than this part of the judged time.
    #[must_use]
    pub fn at_most(self, share: f64) -> Finding {
        Finding { at_most: Some(share), ..self }
    }

    /// What takes its place was priced: mending gives back these parts of the judged time, at least and at most.
    #[must_use]
    pub fn priced(self, least: f64, most: f64) -> Finding {
        Finding { priced: Some((least, most)), ..self }
    }

    /// What mending it saves cannot be told from a capture.
    #[must_use]
    pub fn unknown_amount(self) -> Finding {
        Finding { is_amount_unknown: true, ..self }
    }

    /// Time beside the judged time would go, too.
    #[must_use]
    pub fn beside(self, beside_ns: i64) -> Finding {
        Finding { beside_ns, ..self }
    }

    /// Mending is this change of the capture.
    #[must_use]
    pub fn edit(mut self, edit: Edit) -> Finding {
        self.edits.push(edit);
        self
    }

    /// It claims nothing that mending would give back.
    #[must_use]
    pub fn information(self) -> Finding {
        Finding { is_information: true, ..self }
    }

    /// It is wrong however little time it takes.
    #[must_use]
    pub fn error(self) -> Finding {
        Finding { level: Level::Error, ..self }
    }
}
