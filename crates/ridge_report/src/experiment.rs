//! What `ridgeline experiment` found: [`text::render`] for a terminal, [`json::document`] for programs.

pub mod json;
pub mod text;

use ridgeline::units::Share;
use ridgeline::{ChangeKind, Experiment, ExperimentEffect, ExperimentResults};

/// `54% (51% to 57%)`
fn saved(effect: &ExperimentEffect) -> String {
    match effect.ends {
        Some((low, high)) => {
            let confidence = Share(effect.comparison.options.confidence).rounded();
            format!("{} ({} to {}, {confidence} confidence)", Share(effect.saved), Share(low), Share(high))
        }
        None => format!("{} in one run", Share(effect.saved)),
    }
}

/// What a change of this kind does with what is measured.
fn verb(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Real => "saves",
        ChangeKind::LeftOut => "without it",
        ChangeKind::Doubled => "costs",
    }
}

/// How the results compare, in words.
fn results(results: Option<&ExperimentResults>) -> String {
    let Some(results) = results else { return "not compared".to_owned() };
    let of = format!("{} compared", results.compared);
    match (results.state, results.difference) {
        ("same", _) => format!("the same: {of}"),
        ("close", Some(part)) if results.agree() => format!("agree to within {part:.0e}: {of}"),
        ("close", Some(part)) => format!("CHANGED: numbers differ by up to {part:.1e} of the larger one"),
        ("differs", _) => format!("CHANGED: {}", results.why.as_deref().unwrap_or("the output differs")),
        _ => "not compared: the program prints no number that stays the same from run to run".to_owned(),
    }
}

/// The results of the last run with the change at `at`.
fn results_of(experiment: &Experiment, at: usize) -> Option<&ExperimentResults> {
    let of_change = experiment.samples.iter().filter(|sample| sample.change == Some(at));
    // The worst of all runs is what counts.
    let rank = |found: &&ExperimentResults| match found.state {
        "differs" => f64::INFINITY,
        "not compared" => -1.0,
        _ => found.difference.unwrap_or(0.0),
    };
    of_change.filter_map(|sample| sample.results.as_ref()).max_by(|one, other| rank(one).total_cmp(&rank(other)))
}

/// The first line.
pub fn headline(experiment: &Experiment) -> String {
    let measured = experiment.chosen.iter().filter(|(_, at)| experiment.tried[*at].is_measured).count();
    let asked = experiment.asked;
    let runs = experiment.samples.len();
    if asked == 0 && experiment.chosen.is_empty() {
        return format!("no finding to measure; changes tried: {}", experiment.planned.len());
    }
    format!("savings measured: {measured} of {asked}, in {runs} runs")
}
