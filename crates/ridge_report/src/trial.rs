//! What `ridgeline try` found: [`text::render`] for a terminal, [`json::document`] for programs.

pub mod json;
pub mod text;

use ridgeline::comparison::{Comparison, State};
use ridgeline::units::Nanos;
use ridgeline::{Ending, Trial};

/// The first line: the verdict with its interval.
pub fn headline(trial: &Trial) -> String {
    match (&trial.judged, trial.ended) {
        (_, Ending::CandidateFailed(code)) => format!("cannot judge: the candidate failed, it ended with {code}"),
        (None, _) => "cannot judge: no run of both sides ended".to_owned(),
        (Some(judged), _) => format!("{}: {}", trial.state().name(), times(judged.what(), judged.deciding())),
    }
}

/// `step 12.4 ms → 15.1 ms, +21.8 % (+18.2 % to +25.3 %, 95 % confidence)`
fn times(what: &str, found: &Comparison) -> String {
    let mut text = format!("{what} {} → {}", Nanos(found.before.unit_ns), Nanos(found.after.unit_ns));
    if let Some((part, ends)) = found.parts() {
        text.push_str(&format!(", {}", signed(part)));
        if let Some((low, high)) = ends {
            let confidence = 100.0 * found.options.confidence;
            text.push_str(&format!(" ({} to {}, {confidence:.0} % confidence)", signed(low), signed(high)));
        }
    }
    text
}

fn signed(part: f64) -> String {
    format!("{:+.1} %", 100.0 * part)
}

/// How many runs there were, and why there are no more.
fn course(trial: &Trial) -> String {
    let count = |is_after: bool| trial.runs.iter().filter(|run| run.counts && run.is_after == is_after).count();
    let (before, after) = (count(false), count(true));
    let runs = if before == after {
        format!("{before} {} of each, one beside the other", if before == 1 { "run" } else { "runs" })
    } else {
        format!("{before} runs as it is and {after} of the candidate")
    };
    let warm = trial.runs.iter().filter(|run| !run.counts).count();
    let warm = if warm > 0 { format!(", {warm} more to warm up") } else { String::new() };
    let until = format!("{:.1} %", 100.0 * trial.until);
    let why = match trial.ended {
        Ending::Narrow => format!("known to ±{until}"),
        Ending::Budget => format!("the budget is spent before it is known to ±{until}"),
        Ending::Runs => format!("all runs were made before it is known to ±{until}"),
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
