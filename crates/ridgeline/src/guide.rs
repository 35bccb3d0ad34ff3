//! The way from a capture to a decision about hardware: which questions it answers, which only in part, and what would
//! answer the rest.
//!
//! Each stage is one question. It is judged by what the capture holds and never by what somebody says was done.

mod commands;
mod origin;
mod stages;

use crate::error::OpenError;
use crate::note::Note;
use crate::session::Session;
use commands::Commands;
use origin::{Framework, Origin};

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

/// The answer.
#[derive(Debug, Clone)]
pub struct Guide {
    /// What a reader must know of the capture, gravest first.
    pub notes: Vec<Note>,
    /// The stages in their order.
    pub stages: Vec<Stage>,
    /// The path that was opened.
    pub path: String,
}

impl Guide {
    /// Stages in `state`.
    pub fn count(&self, state: StageState) -> usize {
        self.stages.iter().filter(|stage| stage.state == state).count()
    }

    /// The first stage that is not answered.
    pub fn next(&self) -> Option<&Stage> {
        self.stages.iter().find(|stage| stage.state != StageState::Answered)
    }
}

impl Session {
    /// Asks how far the way from this capture to a decision about hardware is.
    ///
    /// # Errors
    /// [`OpenError`] where the device that is meant has no data sheet.
    pub fn guide(&self, options: &GuideOptions) -> Result<Guide, OpenError> {
        let commands = Commands::of(self, options.meant.as_deref());
        let offload = stages::offload_asked(self, options)?;
        let (origin, mut all) = self.with_analysis(|analysis| {
            let origin = Origin::of(self, analysis);
            let stages = vec![
                stages::timeline(self, analysis, &commands, origin),
                match origin.framework {
                    Framework::Torch => stages::operators(analysis, &commands, origin),
                    Framework::Xla | Framework::Unknown => stages::graph(analysis, &commands, origin),
                },
                stages::ground_truth(analysis, &commands, origin),
                stages::deep_dive(analysis, &commands, origin),
            ];
            (origin, stages)
        });
        all.push(stages::memory(self, &commands, origin));
        all.push(stages::offload(&offload, &commands, origin));
        all.push(stages::hand_off(self, &offload, &commands, origin));
        Ok(Guide { notes: self.notes().to_vec(), stages: all, path: self.root().display().to_string() })
    }
}
