//! Predictions that a trial tested: what `check` finds in the program as it is, and no longer with the change.
//!
//! A gain can be held against a prediction only where it is that prediction's alone: one finding vanished, the verdict is of
//! captures, because findings are parts of their time, and an amount was predicted at all.

use crate::trial::{Judged, Tested, TrialRun};
use ridge_diff::{CauseChange, FindingStatus, FoundCause, PredictedSaving, State};

/// Gains below this part of the time are not held against a prediction, as in the published record.
const LEAST_GAIN: f64 = 0.02;

/// What became of the predictions.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TestedPredictions {
    /// The one that was tested.
    pub tested: Option<Tested>,
    /// Why none was, or what a reader must know of it, sentences without a period.
    pub notes: Vec<String>,
}

/// Holds the predictions for the program as it is against what the change saved; `named` is the rule that the change is about,
/// where the user says so. A finding counts for a side where at least half of its captures have it.
pub fn tested(runs: &[TrialRun], judged: Option<&Judged>, named: Option<&str>) -> TestedPredictions {
    let found = |is_after: bool| -> Option<Vec<FoundCause>> {
        let of_side = runs.iter().filter(|run| run.counts && run.is_after == is_after);
        let findings: Vec<_> = of_side.filter_map(|run| run.summary.as_ref()?.findings.clone()).collect();
        (!findings.is_empty()).then(|| usual(findings))
    };
    let (Some(judged), Some(before), Some(after)) = (judged, found(false), found(true)) else {
        return said(named.map(|_| "no prediction was tested: a side has no capture that can be opened".to_owned()));
    };
    judge(&before, &after, judged, named)
}

/// The findings that at least half of the captures of one side have, each with the mean of what these say.
fn usual(captures: Vec<Vec<FoundCause>>) -> Vec<FoundCause> {
    let count = captures.len();
    let place = |cause: &FoundCause| cause.place.as_ref().map(|place| (place.file.clone(), place.line));
    // By capture, because one capture may have the same twice.
    let mut groups: Vec<Vec<(usize, FoundCause)>> = Vec::new();
    for (capture, causes) in captures.into_iter().enumerate() {
        for cause in causes {
            let fits = |group: &&mut Vec<(usize, FoundCause)>| {
                group.iter().all(|(other, member)| {
                    *other != capture && member.rule == cause.rule && place(member) == place(&cause)
                })
            };
            match groups.iter_mut().find(fits) {
                Some(group) => group.push((capture, cause)),
                None => groups.push(vec![(capture, cause)]),
            }
        }
    }
    groups.into_iter().filter(|group| 2 * group.len() >= count).filter_map(mean).collect()
}

fn mean(group: Vec<(usize, FoundCause)>) -> Option<FoundCause> {
    let of = |number: &dyn Fn(&FoundCause) -> Option<f64>| {
        let numbers: Vec<f64> = group.iter().filter_map(|(_, cause)| number(cause)).collect();
        numbers.iter().sum::<f64>() / numbers.len().max(1) as f64
    };
    let share = of(&|cause| Some(cause.share));
    let low = of(&|cause| Some(cause.saving.as_ref()?.low));
    let high = of(&|cause| Some(cause.saving.as_ref()?.high));
    let (_, first) = group.into_iter().next()?;
    let saving = first.saving.map(|saving| PredictedSaving { low, high, ..saving });
    Some(FoundCause { share, saving, ..first })
}

fn said(notes: impl IntoIterator<Item = String>) -> TestedPredictions {
    TestedPredictions { tested: None, notes: notes.into_iter().collect() }
}

fn judge(before: &[FoundCause], after: &[FoundCause], judged: &Judged, named: Option<&str>) -> TestedPredictions {
    let changes = ridge_diff::cause_changes(before, after);
    let vanished: Vec<&CauseChange> =
        changes.iter().filter(|change| change.status == FindingStatus::Resolved).collect();
    if let Some(rule) = named {
        if !before.iter().any(|cause| cause.rule == rule) {
            return said([format!("no prediction was tested: check does not find {rule} in the program as it is")]);
        }
        if !vanished.iter().any(|change| change.cause.rule == rule) {
            return said([format!("no prediction was tested: check finds {rule} with the change, too")]);
        }
    }
    let [only] = &vanished[..] else {
        let rules: Vec<&str> = vanished.iter().map(|change| &*change.cause.rule).collect();
        let says = format!(
            "no prediction was tested: {} findings are resolved ({}), and the gain is of all",
            rules.len(),
            rules.join(", ")
        );
        return said((!rules.is_empty()).then_some(says));
    };
    let rule = &only.cause.rule;
    let Some(saving) = &only.cause.saving else {
        return said([format!("{rule} is resolved; no amount was predicted for it")]);
    };
    if !judged.is_by_captures {
        return said([format!(
            "{rule} is resolved; it is a part of a capture's time, but the measurement is of the whole program"
        )]);
    }
    let deciding = judged.deciding();
    let Some((change, Some((low, high)))) = deciding.parts() else {
        return said([format!("{rule} is resolved; with one run per side the gain is unknown")]);
    };
    let predicted = if saving.basis == "wall" { only.before_share } else { (saving.low + saving.high) / 2.0 };
    let is_gain = deciding.verdict.state == State::Faster && -change >= LEAST_GAIN;
    let tested = Tested {
        rule: rule.clone(),
        message: only.cause.message.clone(),
        basis: saving.basis.clone(),
        predicted,
        predicted_low: saving.low,
        predicted_high: saving.high,
        measured: -change,
        measured_low: -high,
        measured_high: -low,
        ratio: is_gain.then(|| predicted / -change),
    };
    TestedPredictions { tested: Some(tested), notes: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ridge_diff::{Options, SuiteRow, compare, suite};
    use std::slice;

    fn cause(rule: &str, basis: &str) -> FoundCause {
        let saving = PredictedSaving { low: 0.1, high: 0.3, basis: basis.to_owned() };
        FoundCause { rule: rule.to_owned(), message: String::new(), place: None, share: 0.25, saving: Some(saving) }
    }

    fn judged(after: [i64; 3], is_by_captures: bool) -> Judged {
        let runs = |times: [i64; 3]| times.map(|ns| suite(&[SuiteRow { name: "step".to_owned(), runs_ns: vec![ns] }]));
        let comparison = compare(&runs([1000, 1002, 998]), &runs(after), &Options::default());
        let captures =
            crate::Diff { comparison: comparison.clone(), notes: Vec::new(), summaries: (Vec::new(), Vec::new()) };
        Judged { program: comparison, captures: Some(captures), is_by_captures }
    }

    #[track_caller]
    fn check(before: &[FoundCause], after: &[FoundCause], judged: &Judged, named: Option<&str>, expected: &str) {
        let found = judge(before, after, judged, named);
        let ratio = |tested: &Tested| match tested.ratio {
            Some(ratio) => format!("{}: {:.2} of {:.2} is {ratio:.2}", tested.rule, tested.predicted, tested.measured),
            None => format!("{}: {:.2} and no gain", tested.rule, tested.predicted),
        };
        let said = found.tested.as_ref().map(ratio).into_iter().chain(found.notes).collect::<Vec<_>>().join("; ");
        assert_eq!(said, expected);
    }

    #[test]
    fn a_prediction_is_held_against_a_gain_that_is_its_own() {
        let (faster, same) = (judged([800, 801, 799], true), judged([1000, 999, 1001], true));
        let (copies, calls) = (cause("copies", "wall"), cause("calls", "replay"));
        check(slice::from_ref(&copies), &[], &faster, None, "copies: 0.25 of 0.20 is 1.25");
        check(slice::from_ref(&calls), &[], &faster, Some("calls"), "calls: 0.20 of 0.20 is 1.00");
        check(&[copies.clone(), calls.clone()], slice::from_ref(&calls), &faster, None, "copies: 0.25 of 0.20 is 1.25");
        check(slice::from_ref(&copies), &[], &same, None, "copies: 0.25 and no gain");
        check(slice::from_ref(&calls), slice::from_ref(&calls), &faster, None, "");
        let both = [copies.clone(), calls.clone()];
        let says = "no prediction was tested: 2 findings are resolved (copies, calls), and the gain is of all";
        check(&both, &[], &faster, Some("copies"), says);
        let says = "no prediction was tested: check finds calls with the change, too";
        check(slice::from_ref(&calls), slice::from_ref(&calls), &faster, Some("calls"), says);
        let says = "copies is resolved; it is a part of a capture's time, but the measurement is of the whole program";
        check(&[copies], &[], &judged([800, 801, 799], false), None, says);
    }

    #[test]
    fn a_finding_counts_where_half_of_the_captures_have_it() {
        let of = |rule: &str, share: f64| FoundCause { share, ..cause(rule, "wall") };
        let captures = vec![
            vec![of("copies", 0.2), of("pause", 0.04)],
            vec![of("copies", 0.4), of("copies", 0.1)],
            vec![of("copies", 0.3)],
        ];
        let found: Vec<String> =
            usual(captures).iter().map(|cause| format!("{} {:.2}", cause.rule, cause.share)).collect();
        assert_eq!(found, ["copies 0.30"]);
    }
}
