//! Whether a change leaves what the program prints, and the arrays that it calls its results, as they were.
//!
//! What a program prints holds times, too. A number that already differs between two runs of the program as it is tells nothing, so
//! only those that stay the same are held against the run with the change.

use super::ExperimentRun;
use crate::trial::numbers::{largest_difference, part};
use std::fs;
use std::path::Path;

/// Numbers of two runs of one program that differ by more than this part of the larger one are taken for times.
const SAME: f64 = 1e-12;
/// Bytes of a log that are read.
const MOST_BYTES: usize = 8 << 20;

/// How the results of two runs compare.
#[derive(Debug, Clone, PartialEq)]
pub enum Results {
    /// Everything that repeats is the same.
    Same {
        /// Numbers and arrays that were compared.
        compared: usize,
    },
    /// Numbers differ by up to this part of the larger one.
    Close {
        /// The largest difference.
        difference: f64,
        /// Numbers and arrays that were compared.
        compared: usize,
    },
    /// Something else differs.
    Differs {
        /// What.
        why: String,
    },
    /// The program prints no number that stays the same from run to run, and names no array.
    NotCompared,
}

impl Results {
    /// The name in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Results::Same { .. } => "same",
            Results::Close { .. } => "close",
            Results::Differs { .. } => "differs",
            Results::NotCompared => "not compared",
        }
    }
}

/// Lays the results of `changed` beside those of runs of the program as it is.
pub fn compare_results(as_it_is: &[&ExperimentRun], changed: &ExperimentRun) -> Results {
    let [first, rest @ ..] = as_it_is else { return Results::NotCompared };
    let arrays = of_arrays(first, rest, changed);
    let texts = rest.first().map_or(Results::NotCompared, |second| {
        let read = |run: &ExperimentRun| text(&run.log);
        of_texts(&read(first), &read(second), &read(changed))
    });
    worse(arrays, texts)
}

fn text(log: &Path) -> String {
    let bytes = fs::read(log).unwrap_or_default();
    String::from_utf8_lossy(&bytes[..bytes.len().min(MOST_BYTES)]).into_owned()
}

fn worse(one: Results, other: Results) -> Results {
    match (one, other) {
        (Results::NotCompared, other) | (other, Results::NotCompared) => other,
        (found @ Results::Differs { .. }, _) | (_, found @ Results::Differs { .. }) => found,
        (one, other) => {
            let (a, b) = (of_close(&one), of_close(&other));
            let (difference, compared) = (a.0.max(b.0), a.1 + b.1);
            if difference > 0.0 { Results::Close { difference, compared } } else { Results::Same { compared } }
        }
    }
}

fn of_close(results: &Results) -> (f64, usize) {
    match results {
        Results::Close { difference, compared } => (*difference, *compared),
        Results::Same { compared } => (0.0, *compared),
        _ => (0.0, 0),
    }
}

/// The arrays that the program calls its results.
fn of_arrays(first: &ExperimentRun, rest: &[&ExperimentRun], changed: &ExperimentRun) -> Results {
    let names = |run: &ExperimentRun| run.report.as_ref().map(|report| report.results.clone()).unwrap_or_default();
    let mut found = Results::NotCompared;
    for name in names(first) {
        let read = |run: &ExperimentRun| fs::read(run.folder.join(format!("result.{name}.npy"))).ok();
        let Some(before) = read(first) else { continue };
        let repeats = rest.iter().filter_map(|run| read(run)).all(|other| other == before);
        if !repeats && !rest.is_empty() {
            continue;
        }
        let this = match read(changed) {
            None => Results::Differs { why: format!("the array `{name}` is missing") },
            Some(after) => match largest_difference(&before, &after) {
                Ok(0.0) => Results::Same { compared: 1 },
                Ok(difference) => Results::Close { difference, compared: 1 },
                Err(why) => Results::Differs { why: format!("the array `{name}`: {why}") },
            },
        };
        found = worse(found, this);
    }
    found
}

/// Numbers in what was printed, where two runs of the program as it is agree.
fn of_texts(first: &str, second: &str, changed: &str) -> Results {
    let (first, second, changed) = (words(first), words(second), words(changed));
    if first.len() != second.len() {
        return Results::NotCompared;
    }
    if changed.len() != first.len() {
        let why = format!("it prints {} words and numbers instead of {}", changed.len(), first.len());
        return Results::Differs { why };
    }
    let (mut compared, mut difference) = (0, 0.0_f64);
    for ((one, other), new) in first.iter().zip(&second).zip(&changed) {
        match (number(one), number(other), number(new)) {
            (Some(a), Some(b), Some(c)) if part(a, b) <= SAME => {
                compared += 1;
                difference = difference.max(part(a, c));
            }
            (Some(_), Some(_), Some(_)) => {}
            (None, None, _) if one == other && one != new => {
                return Results::Differs { why: format!("it prints `{}` instead of `{}`", short(new), short(one)) };
            }
            (Some(a), Some(b), None) if part(a, b) <= SAME => {
                return Results::Differs { why: format!("it prints `{}` instead of `{}`", short(new), short(one)) };
            }
            _ => {}
        }
    }
    match (compared, difference) {
        (0, _) => Results::NotCompared,
        (compared, difference) if difference <= SAME => Results::Same { compared },
        (compared, difference) => Results::Close { difference, compared },
    }
}

/// Words and numbers of a text.
fn words(text: &str) -> Vec<&str> {
    text.split(|letter: char| letter.is_whitespace() || "()[]{},;:=|\"'<>".contains(letter))
        .filter(|word| !word.is_empty())
        .collect()
}

fn number(word: &str) -> Option<f64> {
    word.trim_end_matches(['%', '.']).parse().ok()
}

fn short(word: &str) -> String {
    word.chars().filter(|letter| !letter.is_control()).take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(first: &str, second: &str, changed: &str, expected: &str) {
        let found = of_texts(first, second, changed);
        assert_eq!(format!("{found:?}"), expected);
    }

    #[test]
    fn numbers_that_repeat_are_compared_and_times_are_not() {
        let same = "Same { compared: 2 }";
        check("100 steps in 3.2 s\nloss 0.5", "100 steps in 3.4 s\nloss 0.5", "100 steps in 1.1 s\nloss 0.5", same);
        let close = "Close { difference: 0.5, compared: 2 }";
        check("100 steps in 3.2 s\nloss 0.5", "100 steps in 3.4 s\nloss 0.5", "100 steps in 1.1 s\nloss 0.25", close);
        let missing = "Differs { why: \"it prints 2 words and numbers instead of 4\" }";
        check("loss 0.5 at 3", "loss 0.5 at 3", "loss 0.5", missing);
        check("loss 0.5", "loss 0.5", "loss failed", "Differs { why: \"it prints `failed` instead of `0.5`\" }");
        check("took 3.2", "took 3.3", "took 1.0", "NotCompared");
        check("", "", "", "NotCompared");
        check("loss nan", "loss nan", "loss nan", "Same { compared: 1 }");
    }
}
