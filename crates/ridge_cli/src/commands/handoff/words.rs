//! What the command says on its way: a line for each check, how far the work is.

use crate::failure::Failure;
use ridge_report::escape_controls;
use ridgeline::handing_over::bundle::{Check, CheckState};
use ridgeline::handing_over::jobs::Progress;
use ridgeline::handing_over::stop;
use std::io::Write as _;
use std::time::{Duration, Instant};

/// Says on standard error how far the checks, or other work, are, once they have taken a while.
pub(super) fn progress(what: &'static str) -> impl FnMut(&Progress) {
    let began = Instant::now();
    let mut told = began;
    move |progress| {
        let now = Instant::now();
        // Seldomer the longer it takes.
        let pause = BETWEEN_WORDS.max((now - began) / 8);
        if now - began < WORTH_A_WORD || now - told < pause || progress.running.is_empty() {
            return;
        }
        told = now;
        let Progress { done, of, running } = progress;
        let text = format!(
            "ridgeline: {done} of {of} {what} done after {} s; running: {}\n",
            (now - began).as_secs(),
            running.join(", ")
        );
        // Nothing is left to tell it to where standard error is closed.
        let _ = anstream::stderr().write_all(text.as_bytes());
    }
}

/// From when on progress is told, and how often.
const WORTH_A_WORD: Duration = Duration::from_secs(3);

const BETWEEN_WORDS: Duration = Duration::from_secs(3);

/// A line for each check, and one for all.
pub(super) fn lines(ledger: &[Check]) -> String {
    let states = ledger.iter().map(|check| check.state.name().len()).max().unwrap_or(0);
    let width = ledger.iter().map(|check| check.name.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for check in ledger {
        let time = if check.state == CheckState::NotRun { String::new() } else { format!(" ({:.1} s)", check.wall_s) };
        let found = escape_controls(&check.found).into_owned();
        text.push_str(&format!("{:states$}  {:width$}  {found}{time}\n", check.state.name(), check.name));
    }
    let count = |state| ledger.iter().filter(|check| check.state == state).count();
    let [passed, failed, not_run] = [CheckState::Passed, CheckState::Failed, CheckState::NotRun].map(count);
    let late = count(CheckState::NotFinished);
    let late = if late > 0 { format!("{late} not finished, ") } else { String::new() };
    text.push_str(&format!("{passed} checks passed, {failed} failed, {late}{not_run} not run\n"));
    text
}

/// An error where a signal came: what was begun has ended, and directories go with what made them.
pub(super) fn refuse_stopped() -> Result<(), Failure> {
    match stop::signal() {
        Some(number) => Err(Failure::failed("interrupted").ending(128 + number)),
        None => Ok(()),
    }
}

pub(super) fn say(text: &str) -> Result<(), Failure> {
    anstream::stdout().write_all(text.as_bytes()).map_err(|error| Failure::io("could not write", &error))
}
