//! The way from a capture to a decision about hardware: which questions it answers, which only in part, and what would
//! answer the rest.
//!
//! Each stage is one question. It is judged by what the capture holds and never by what somebody says was done.

mod checklist;
mod commands;
mod origin;
mod stage;
mod stages;

pub use checklist::{Checklist, ChecklistItem, ChecklistVerdict};
pub use stage::{FollowUp, GuideOptions, Stage, StageState};

use crate::error::OpenError;
use crate::note::Note;
use crate::session::Session;
use commands::Commands;
use origin::{Framework, Origin};

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
        self.guide_compiled(options, None)
    }

    /// The same, where `compiled` is this capture's program compiled for the device that is meant: what other hardware would gain
    /// is asked of that.
    ///
    /// # Errors
    /// As [`Session::guide`].
    pub fn guide_compiled(&self, options: &GuideOptions, compiled: Option<&Session>) -> Result<Guide, OpenError> {
        let commands = Commands::of(self, options.meant.as_deref());
        // What is handed over is a region of the capture itself.
        let offload = stages::offload_asked(self, options)?;
        let meant = compiled.map(|compiled| stages::offload_asked(compiled, &GuideOptions::default())).transpose()?;
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
        all.push(stages::offload(meant.as_ref().unwrap_or(&offload), &commands, origin));
        all.push(stages::hand_off(self, &offload, &commands, origin));
        Ok(Guide { notes: self.notes().to_vec(), stages: all, path: self.root().display().to_string() })
    }
}
