//! Which changes are tried for the findings of a recording, and which of them is measured.

use super::changes::{CHANGES, ChangeKind, ExperimentChange};
use super::effect::{ExperimentEffect, effect};
use super::sample::{ExperimentResults, ExperimentSample};
use crate::check::Check;
use ridge_diagnose::{Finding, Level, rule};
use ridge_diff::Options;
use std::collections::BTreeMap;

/// A change that saves less than this in its first run is measured only where no other saves more.
const WORTH_MEASURING: f64 = 0.02;
/// A change that costs more than this in its first run is not measured for a finding.
const SLOWER: f64 = 0.1;
/// Runs of a change beside those of the first round, before it may be known.
const LEAST_RUNS: usize = 2;

/// A change that is tried.
#[derive(Debug, Clone)]
pub struct Planned {
    /// The change.
    pub change: &'static ExperimentChange,
    /// Where it is made; everywhere if there are none.
    pub places: Vec<(String, u32)>,
    /// Positions of the findings that it is about.
    pub findings: Vec<usize>,
}

/// What became of a change.
#[derive(Debug, Clone)]
pub struct Tried {
    /// What it saves, of all its runs; of the first alone where it was not measured further.
    pub effect: Option<ExperimentEffect>,
    /// Whether it was measured further.
    pub is_measured: bool,
    /// Why it tells nothing.
    pub why_not: Option<String>,
}

/// Positions of the findings of `check` that are worth measuring; `only` names rules where not all are asked for.
pub fn worth_measuring(check: &Check, only: &[String]) -> Vec<usize> {
    let findings = check.diagnosis.findings.iter().enumerate();
    findings.filter(|(_, finding)| is_asked(finding, only)).map(|(at, _)| at).collect()
}

/// The changes for these findings of `check`, for a program of `library`: `jax` or `torch`.
pub fn plan(check: &Check, findings: &[usize], library: &str) -> Vec<Planned> {
    let mut planned: Vec<Planned> = Vec::new();
    for (at, finding) in findings.iter().filter_map(|at| Some((*at, check.diagnosis.findings.get(*at)?))) {
        let Some(rule) = rule(finding.rule) else { continue };
        let fits = |change: &&ExperimentChange| {
            change.is_about(rule) && (change.library.is_empty() || change.library == library)
        };
        for change in CHANGES.iter().filter(fits) {
            let place = finding.place.as_ref().map(|place| (place.file.clone(), place.line));
            if change.kind == ChangeKind::Doubled && place.is_none() {
                continue;
            }
            let places: Vec<_> = place.into_iter().filter(|_| change.is_local).collect();
            // One run serves all findings of one change, unless it doubles the work of a line.
            let known = planned
                .iter_mut()
                .find(|known| known.change == change && (change.kind != ChangeKind::Doubled || known.places == places));
            match known {
                Some(known) => {
                    known.findings.push(at);
                    let new = places.into_iter().filter(|place| !known.places.contains(place)).collect::<Vec<_>>();
                    known.places.extend(new);
                }
                None => planned.push(Planned { change, places, findings: vec![at] }),
            }
        }
    }
    in_turns(planned)
}

/// The changes in the order in which they are looked at, because time may end before all were: of each finding the first that computes
/// the same, then what tells the cost of any line, then the others.
fn in_turns(planned: Vec<Planned>) -> Vec<Planned> {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    let mut ranked: Vec<(usize, Planned)> = Vec::new();
    for plan in planned {
        let of = plan.findings.first().copied().unwrap_or_default();
        let rank = match plan.change.kind {
            ChangeKind::Doubled => 1,
            _ => {
                let count = counts.entry(of).or_default();
                *count += 1;
                // The first is 0, and the others follow 1.
                if *count == 1 { 0 } else { *count }
            }
        };
        ranked.push((rank, plan));
    }
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, plan)| plan).collect()
}

/// What is worth mending: warnings, what only informs where a line has much of the time, and what a user names.
fn is_asked(finding: &Finding, only: &[String]) -> bool {
    if !only.is_empty() {
        return only.iter().any(|id| id == finding.rule);
    }
    let is_hot = matches!(finding.rule, "hot-line" | "kernel-hotspot");
    finding.because.is_none() && (finding.level > Level::Info || is_hot)
}

/// The changes of these names, without findings.
pub fn plan_of(names: &[&'static ExperimentChange]) -> Vec<Planned> {
    names.iter().map(|change| Planned { change, places: Vec::new(), findings: Vec::new() }).collect()
}

/// Of each finding the change that is measured, by the runs of the first round: one that computes the same and saves most, else one
/// that computes something else, else one that leaves work out or doubles it. A change without findings is measured by itself.
pub fn chosen(planned: &[Planned], samples: &[ExperimentSample], options: &Options) -> Vec<(Option<usize>, usize)> {
    let mut findings: Vec<usize> = planned.iter().flat_map(|plan| plan.findings.iter().copied()).collect();
    findings.sort_unstable();
    findings.dedup();
    let first = |at: usize| looked_at(planned, samples, at, options);
    let best_of = |finding: usize| {
        let of_finding = (0..planned.len()).filter(|at| planned[*at].findings.contains(&finding));
        let ranked = of_finding.filter_map(|at| Some((at, first(at)?)));
        ranked.max_by(|(_, one), (_, other)| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1))).map(|(at, _)| at)
    };
    let of_findings = findings.iter().filter_map(|finding| Some((Some(*finding), best_of(*finding)?)));
    let alone = (0..planned.len()).filter(|at| planned[*at].findings.is_empty() && first(*at).is_some());
    of_findings.chain(alone.map(|at| (None, at))).collect()
}

/// How a change ranks, and what it saves in its first run; `None` where it tells nothing of the finding.
fn looked_at(planned: &[Planned], samples: &[ExperimentSample], at: usize, options: &Options) -> Option<(u8, f64)> {
    let change = planned[at].change;
    let before: Vec<_> = samples.iter().filter(|sample| sample.change.is_none() && sample.round == 0).collect();
    let after: Vec<_> = samples.iter().filter(|sample| sample.change == Some(at) && sample.round == 0).collect();
    let found = effect(&before, &after, change.kind, options)?;
    let agrees = after.iter().all(|sample| sample.results.as_ref().is_none_or(ExperimentResults::agree));
    let is_worth = found.saved >= WORTH_MEASURING;
    // A change that makes the program slower is not what an edit would be: it says nothing of what mending saves. A saving of nothing
    // is told by one that is about as fast. What was named is measured whatever it does.
    let costs = change.kind == ChangeKind::Real && found.saved < -SLOWER && !planned[at].findings.is_empty();
    if costs {
        return None;
    }
    let rank = match (change.kind, is_worth, agrees) {
        (ChangeKind::Real, true, true) => 4,
        (ChangeKind::Real, true, false) => 3,
        (ChangeKind::LeftOut | ChangeKind::Doubled, true, _) => 2,
        (ChangeKind::Real, false, _) => 1,
        _ => 0,
    };
    Some((rank, found.saved))
}

/// What the runs so far tell of a change that is measured: those of the first round chose it, and do not count.
pub(super) fn counted(
    planned: &[Planned],
    samples: &[ExperimentSample],
    at: usize,
    options: &Options,
) -> Option<ExperimentEffect> {
    let before: Vec<_> = samples.iter().filter(|sample| sample.change.is_none()).collect();
    let after: Vec<_> = samples.iter().filter(|sample| sample.change == Some(at) && sample.round > 0).collect();
    effect(&before, &after, planned[at].change.kind, options)
}

/// Whether what the change at `at` saves is known to within `until`.
pub fn is_known(planned: &[Planned], samples: &[ExperimentSample], at: usize, until: f64, options: &Options) -> bool {
    let last = samples.iter().rfind(|sample| sample.change == Some(at));
    if last.is_some_and(|sample| !sample.is_of_use()) {
        return true;
    }
    counted(planned, samples, at, options)
        .is_some_and(|found| found.runs >= LEAST_RUNS && found.half_width().is_some_and(|half| half <= until))
}

impl Tried {
    /// What became of the change at `at`.
    pub fn of(
        planned: &[Planned],
        samples: &[ExperimentSample],
        at: usize,
        is_chosen: bool,
        options: &Options,
    ) -> Tried {
        let of_change: Vec<_> = samples.iter().filter(|sample| sample.change == Some(at)).collect();
        let Some(last) = of_change.last() else {
            return Tried { effect: None, is_measured: false, why_not: Some("it was not run".to_owned()) };
        };
        if last.exit_code != 0 {
            let why = format!("the program ended with {} with it", last.exit_code);
            return Tried { effect: None, is_measured: false, why_not: Some(why) };
        }
        if last.applied.is_empty() {
            let why = last.failed.first().map(|(site, why)| format!("{site}: {why}"));
            let why = why.unwrap_or_else(|| "nothing that it changes is there".to_owned());
            return Tried { effect: None, is_measured: false, why_not: Some(why) };
        }
        if let Some(found) = counted(planned, samples, at, options).filter(|_| is_chosen) {
            return Tried { effect: Some(found), is_measured: true, why_not: None };
        }
        let before: Vec<_> = samples.iter().filter(|sample| sample.change.is_none() && sample.round == 0).collect();
        let found = effect(&before, &of_change[..1], planned[at].change.kind, options);
        Tried { effect: found, is_measured: false, why_not: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::changes::change_named;
    use crate::experiment::sample::TimedLoop;

    fn sample(change: Option<usize>, round: u32, seconds: f64, difference: Option<f64>) -> ExperimentSample {
        let results = difference.map(|difference| ExperimentResults {
            state: "close",
            difference: Some(difference),
            compared: 1,
            why: None,
        });
        ExperimentSample {
            change,
            round,
            exit_code: 0,
            wall_ns: 0,
            applied: vec![("a.py:1".to_owned(), 1)],
            failed: Vec::new(),
            loops: vec![TimedLoop { file: "a.py".to_owned(), line: 1, iterations: 10, seconds, compile_s: 0.0 }],
            program_s: seconds,
            compile_s: 0.0,
            results,
            log: std::path::PathBuf::new(),
        }
    }

    fn planned(names: &[&str]) -> Vec<Planned> {
        let plan = |name: &&str| Planned {
            change: change_named(name).expect("a change"),
            places: Vec::new(),
            findings: vec![0],
        };
        names.iter().map(plan).collect()
    }

    #[test]
    fn the_same_results_come_before_a_larger_saving() {
        let planned = planned(&["late", "pad", "no-callbacks", "donate"]);
        let options = Options::default();
        let mut samples = vec![
            sample(None, 0, 1.0, None),
            sample(Some(0), 0, 0.8, Some(0.0)),
            sample(Some(1), 0, 0.4, Some(0.5)),
            sample(Some(2), 0, 0.1, Some(0.5)),
            sample(None, 0, 1.01, None),
        ];
        assert_eq!(chosen(&planned, &samples, &options), [(Some(0), 0)]);
        samples.remove(1);
        assert_eq!(chosen(&planned, &samples, &options), [(Some(0), 1)], "real, though results differ");
        samples.remove(1);
        assert_eq!(chosen(&planned, &samples, &options), [(Some(0), 2)], "what leaves work out");
        samples[1].applied.clear();
        assert!(chosen(&planned, &samples, &options).is_empty());
    }

    #[test]
    fn a_change_that_makes_the_program_slower_tells_nothing_of_a_finding() {
        let mut planned = planned(&["late"]);
        let options = Options::default();
        let samples = [sample(None, 0, 1.0, None), sample(Some(0), 0, 2.0, Some(0.0)), sample(None, 0, 1.01, None)];
        assert!(chosen(&planned, &samples, &options).is_empty());
        planned[0].findings.clear();
        assert_eq!(chosen(&planned, &samples, &options), [(None, 0)], "it was named on the command line");
    }

    #[test]
    fn what_tells_the_cost_of_any_line_is_looked_at_second() {
        let order =
            |names: &[&str]| -> Vec<&str> { in_turns(planned(names)).iter().map(|plan| plan.change.name).collect() };
        assert_eq!(order(&["late", "pad", "no-callbacks", "twice"]), ["late", "twice", "pad", "no-callbacks"]);
    }

    #[test]
    fn the_runs_that_chose_a_change_do_not_count() {
        let planned = planned(&["late"]);
        let options = Options::default();
        let mut samples = vec![
            sample(None, 0, 1.0, None),
            sample(Some(0), 0, 0.1, Some(0.0)),
            sample(None, 0, 1.0, None),
            sample(None, 1, 1.01, None),
            sample(Some(0), 1, 0.8, Some(0.0)),
        ];
        assert!(!is_known(&planned, &samples, 0, 0.05, &options));
        samples.push(sample(Some(0), 2, 0.81, Some(0.0)));
        assert!(is_known(&planned, &samples, 0, 0.05, &options));
        let tried = Tried::of(&planned, &samples, 0, true, &options);
        let saved = tried.effect.expect("an effect").saved;
        assert!((saved - 0.197).abs() < 0.01, "{saved}");
    }
}
