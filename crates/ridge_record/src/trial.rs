//! Try a change: run a program as it is and with the change, one beside the other, until that tells enough.
//!
//! Runs alternate as A B B A A B B A …, so that what drifts on the machine meanwhile meets both alike.
//! Where the change is in files, both run in copies of the user's tree, which itself is never changed.
//! How sure the difference is, is not known here: the caller is asked after every pair whether it has enough.

mod archives;
mod candidate;
mod error;
pub(crate) mod numbers;
mod outputs;
mod words;
mod workplace;

pub use candidate::{Candidate, Side, Source, TrialOptions, TrialRun};
pub use error::TrialError;
pub use outputs::{Agreement, OutputCheck};

use crate::interrupts::Interrupts;
use crate::options::RecordOptions;
use crate::outcome::{ProgramStatus, RecordEvent};
use crate::recorder::record;
use outputs::Outputs;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};
use workplace::Workplace;

/// Why no further run was begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// The caller had enough.
    Enough,
    /// The time was spent.
    Budget,
    /// All runs were made.
    Runs,
    /// Ctrl-C or SIGTERM.
    Interrupted,
    /// The candidate failed.
    Failed(ProgramStatus),
}

/// What became of it.
#[derive(Debug, Clone)]
pub struct TrialOutcome {
    /// The runs, in order.
    pub runs: Vec<TrialRun>,
    /// Why no further one was begun.
    pub ended: Ended,
    /// What the files of both sides came to.
    pub outputs: Vec<OutputCheck>,
    /// What a reader must know, a sentence each.
    pub notes: Vec<String>,
    /// How long all of it took.
    pub took: Duration,
}

impl TrialOutcome {
    /// The counting runs of a side.
    pub fn of(&self, side: Side) -> impl Iterator<Item = &TrialRun> {
        of(&self.runs, side)
    }
}

/// The counting runs of a side.
pub fn of(runs: &[TrialRun], side: Side) -> impl Iterator<Item = &TrialRun> {
    runs.iter().filter(move |run| run.side == side && run.counts)
}

/// Tries the candidate: `enough` is asked after each pair of runs, once there are enough to ask; `tell` hears of each run.
///
/// # Errors
/// [`TrialError`] where no pair could be run: the tree cannot be copied, the patch does not fit, or the program fails as it is.
pub fn try_candidate(
    options: &TrialOptions,
    enough: &mut dyn FnMut(&[TrialRun]) -> bool,
    tell: &mut dyn FnMut(TrialEvent<'_>),
) -> Result<TrialOutcome, TrialError> {
    let began = Instant::now();
    let interrupts = Interrupts::watch().map_err(|source| TrialError::System { doing: "watch signals", source })?;
    tell(TrialEvent::Preparing);
    let place = Workplace::prepare(options)?;
    let mut trial = Trial { options, place, outputs: Outputs::new(options), runs: Vec::new(), tell };
    let ended = trial.run_all(began, &interrupts, enough)?;
    let (outputs, mut notes) = trial.outputs.done();
    notes.extend(trial.place.notes(&trial.runs));
    Ok(TrialOutcome { runs: trial.runs, ended, outputs, notes, took: began.elapsed() })
}

/// What happens.
#[derive(Debug)]
#[non_exhaustive]
pub enum TrialEvent<'e> {
    /// The tree is copied and changed.
    Preparing,
    /// A run begins.
    Begins {
        /// Its side.
        side: Side,
        /// Whether it counts.
        counts: bool,
    },
    /// A run ended.
    Ended {
        /// The run.
        run: &'e TrialRun,
    },
    /// What the recorder tells of a run.
    Recording {
        /// What it tells.
        event: &'e RecordEvent,
    },
}

/// Runs of each side without which there is no interval.
const LEAST_FOR_AN_INTERVAL: u32 = 2;

struct Trial<'t> {
    options: &'t TrialOptions,
    place: Workplace,
    outputs: Outputs,
    runs: Vec<TrialRun>,
    tell: &'t mut dyn FnMut(TrialEvent<'_>),
}

/// The sides of the pair at `position`: A B, then B A.
fn pair(position: u32) -> [Side; 2] {
    if position.is_multiple_of(2) { [Side::Before, Side::After] } else { [Side::After, Side::Before] }
}

impl Trial<'_> {
    fn run_all(
        &mut self,
        began: Instant,
        interrupts: &Interrupts,
        enough: &mut dyn FnMut(&[TrialRun]) -> bool,
    ) -> Result<Ended, TrialError> {
        let (warm_up, most) = (self.options.warm_up, self.options.most_runs);
        let mut longest = Duration::ZERO;
        for position in 0..warm_up.saturating_add(most) {
            let counted = position.saturating_sub(warm_up);
            let has_least = counted >= LEAST_FOR_AN_INTERVAL;
            // Without them nothing can be said, so they are run for as long as there is any time.
            let needed = if has_least { longest } else { Duration::ZERO };
            if position > 0 && began.elapsed() + needed > self.options.budget {
                return Ok(Ended::Budget);
            }
            let pair_began = Instant::now();
            for side in pair(position) {
                let status = self.run(side, position >= warm_up)?;
                if interrupts.arrived() {
                    // It ended early, and says nothing.
                    self.runs.pop();
                    return Ok(Ended::Interrupted);
                }
                match (status, side) {
                    (ProgramStatus::Exited(0), _) => {}
                    (status, Side::After) => return Ok(Ended::Failed(status)),
                    (status, Side::Before) => return Err(self.failed(status)),
                }
            }
            longest = longest.max(pair_began.elapsed());
            if position >= warm_up && counted + 1 >= self.options.least_runs && enough(&self.runs) {
                return Ok(Ended::Enough);
            }
        }
        Ok(Ended::Runs)
    }

    /// The program failed as it is: what it said last, and what may help.
    fn failed(&self, status: ProgramStatus) -> TrialError {
        let said = self.runs.last().map(|run| last_lines(&run.log)).unwrap_or_default();
        let mut hints = self.place.hints();
        if !said.is_empty() {
            hints.insert(0, format!("last output: {said}"));
        }
        TrialError::Failed { status, hints }
    }

    fn run(&mut self, side: Side, counts: bool) -> Result<ProgramStatus, TrialError> {
        (self.tell)(TrialEvent::Begins { side, counts });
        let number = 1 + self.runs.iter().filter(|run| run.side == side && run.counts == counts).count();
        let out = match counts {
            true => self.options.out.join(side.name()).join(format!("{number:03}")),
            false => self.options.out.join("warm-up").join(format!("{}-{number:03}", side.name())),
        };
        let log = out.with_extension("log");
        if let Some(folder) = log.parent() {
            fs::create_dir_all(folder)
                .map_err(|source| TrialError::System { doing: "create a directory for captures", source })?;
        }
        let options = RecordOptions { log: Some(log.clone()), ..self.place.options(self.options, side, &out) };
        self.outputs.expect(side, &self.place);
        let tell = &mut self.tell;
        let outcome = record(&options, &mut |event| tell(TrialEvent::Recording { event: &event }))?;
        let run = TrialRun {
            side,
            counts,
            wall: outcome.wall.saturating_sub(outcome.overhead.harness),
            harness: outcome.overhead.harness,
            status: outcome.status,
            out: outcome.out,
            log,
            has_trace: !outcome.traces.is_empty(),
        };
        (self.tell)(TrialEvent::Ended { run: &run });
        self.runs.push(run);
        if outcome.status == ProgramStatus::Exited(0) {
            self.outputs.gather(side, &self.place)?;
        }
        Ok(outcome.status)
    }
}

/// The last lines of a log.
pub fn last_lines(log: &Path) -> String {
    const LINES: usize = 3;
    let text = fs::read(log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(LINES)..].join("\n")
}
