//! What `ridgeline try` found: [`text::render`] for a terminal, [`json::document`] for programs.

pub mod json;
pub mod text;

use ridgeline::comparison::{Comparison, State};
use ridgeline::units::{Nanos, Share, counted};
use ridgeline::{Ending, Trial};

/// The first line: the verdict with its interval.
pub fn headline(trial: &Trial) -> String {
    match (&trial.judged, trial.ended) {
        (_, Ending::CandidateFailed(code)) => format!("inconclusive: the candidate failed with exit status {code}"),
        (None, _) => "inconclusive: no run of both sides finished".to_owned(),
        (Some(judged), _) => format!("{}: {}", trial.state().words(), times(judged.what(), judged.deciding())),
    }
}

/// `step 12.4 ms → 15.1 ms, +21.8% (+18.2% to +25.3%, 95% confidence)`
fn times(what: &str, found: &Comparison) -> String {
    let mut text = format!("{what} {} → {}", Nanos(found.before.unit_ns), Nanos(found.after.unit_ns));
    if let Some((part, ends)) = found.parts() {
        text.push_str(&format!(", {}", Share(part).signed()));
        if let Some((low, high)) = ends {
            let (low, high) = (Share(low).signed(), Share(high).signed());
            text.push_str(&format!(" ({low} to {high}, {} confidence)", Share(found.options.confidence).rounded()));
        }
    }
    text
}

/// How many runs there were, and why there are no more.
fn course(trial: &Trial) -> String {
    let count = |is_after: bool| trial.runs.iter().filter(|run| run.counts && run.is_after == is_after).count();
    let (before, after) = (count(false), count(true));
    let runs = if before == after {
        format!("{} of each, in turn", counted(before as u64, "run", "runs"))
    } else {
        format!("{} of the baseline and {after} of the candidate", counted(before as u64, "run", "runs"))
    };
    let warm = trial.runs.iter().filter(|run| !run.counts).count();
    let warm = if warm > 0 { format!(", {warm} more to warm up") } else { String::new() };
    let until = Share(trial.until);
    let why = match trial.ended {
        Ending::Narrow => format!("precision ±{until} reached"),
        Ending::Budget => format!("time budget used up before reaching ±{until}"),
        Ending::Runs => format!("all runs done before reaching ±{until}"),
        Ending::Interrupted => "interrupted".to_owned(),
        Ending::CandidateFailed(_) => "the candidate failed".to_owned(),
    };
    format!("{runs}{warm}, in {}: {why}", Nanos(trial.took_ns))
}

/// Why it comes to that, a sentence each.
fn reasons(trial: &Trial) -> Vec<String> {
    match (&trial.judged, trial.state()) {
        (Some(judged), State::CannotJudge | State::NoChange) => judged.deciding().verdict.reasons.clone(),
        _ => Vec::new(),
    }
}
