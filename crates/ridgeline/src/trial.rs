//! A change that was tried: what the runs of both sides come to.
//!
//! What counts is the time that captures are compared by, per step where steps are marked; where a run left no capture that
//! can be compared, or that is asked for, it is the time of the whole program. Each run is one sample, so the interval says how
//! much runs differ, and the statistics are those of `ridgeline diff`.

use crate::diff::{CausesAsked, Diff, DiffOptions, summaries_of};
use crate::note::Note;
use crate::session::OpenOptions;
use ridge_diff::{Comparison, Options, State, SuiteRow, Summary, Unit, Weight, compare, suite};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What the verdict is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TrialMeasure {
    /// The captures where they can be compared, else the program.
    #[default]
    Auto,
    /// The time that captures are compared by: a step, or the capture without its start-up.
    Captures,
    /// The program from its start to its end, without the recorder's own work.
    Program,
}

/// One run of a side.
#[derive(Debug, Clone)]
pub struct TrialRun {
    /// Whether it is of the candidate.
    pub is_after: bool,
    /// Whether it counts.
    pub counts: bool,
    /// From the program's start to its end, without the recorder's own work, nanoseconds.
    pub program_ns: i64,
    /// The recorder's own work, nanoseconds.
    pub recorder_ns: i64,
    /// Exit code, as a shell shows it.
    pub exit_code: i32,
    /// Its capture folder, where there is a capture.
    pub capture: Option<PathBuf>,
    /// What it wrote to its standard output and error.
    pub log: PathBuf,
    /// What of its capture is compared, and what `check` finds in it, once it was opened.
    pub summary: Option<Summary>,
}

/// Why no further run was begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The interval is as narrow as was asked for.
    Narrow,
    /// The time was spent.
    Budget,
    /// All runs were made.
    Runs,
    /// It was interrupted.
    Interrupted,
    /// The candidate failed, with this exit code.
    CandidateFailed(i32),
}

impl Ending {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Ending::Narrow => "narrow",
            Ending::Budget => "budget",
            Ending::Runs => "runs",
            Ending::Interrupted => "interrupted",
            Ending::CandidateFailed(_) => "candidate failed",
        }
    }
}

/// A file that both sides must write alike.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialOutput {
    /// The file, as the user names it.
    pub file: String,
    /// `same`, `close`, `differs`, `not repeatable`, `missing` or `not compared`.
    pub state: &'static str,
    /// What differs, in words.
    pub why: Option<String>,
    /// Whether it agrees.
    pub agrees: bool,
}

/// What the runs so far come to.
#[derive(Debug, Clone)]
pub struct Judged {
    /// The time of the whole program.
    pub program: Comparison,
    /// What the captures come to, where every run that counts has one.
    pub captures: Option<Diff>,
    /// Whether the verdict is that of the captures.
    pub is_by_captures: bool,
}

impl Judged {
    /// The comparison that the verdict is of.
    pub fn deciding(&self) -> &Comparison {
        match &self.captures {
            Some(captures) if self.is_by_captures => &captures.comparison,
            _ => &self.program,
        }
    }

    /// Half the interval as a part of the time before; `None` where there is none.
    pub fn half_width(&self) -> Option<f64> {
        let (low, high) = self.deciding().parts()?.1?;
        Some((high - low) / 2.0)
    }

    /// What was measured, in a word.
    pub fn what(&self) -> &'static str {
        match (self.is_by_captures, self.deciding().unit) {
            (true, Some(Unit::Step)) => "step",
            (true, _) => "capture (startup excluded)",
            (false, _) => "program",
        }
    }
}

/// A change that was tried.
#[derive(Debug, Clone)]
pub struct Trial {
    /// What it is compared with, in words.
    pub baseline: String,
    /// What was tried, in words.
    pub candidate: String,
    /// The program as it is.
    pub command: Vec<String>,
    /// Where captures, logs and outputs are.
    pub folder: PathBuf,
    /// All runs in order.
    pub runs: Vec<TrialRun>,
    /// What they come to; `None` where no pair was run.
    pub judged: Option<Judged>,
    /// Why no further run was begun.
    pub ended: Ending,
    /// Files that both sides must write alike.
    pub outputs: Vec<TrialOutput>,
    /// The prediction of `check` that it tested.
    pub tested: Option<Tested>,
    /// What a reader must know, a sentence each.
    pub notes: Vec<String>,
    /// How long all of it took, nanoseconds.
    pub took_ns: i64,
    /// The half width that was asked for, as a part of the time before.
    pub until: f64,
    /// Whether a gate was asked for, which fails where nothing could be judged.
    pub is_gated: bool,
}

impl Trial {
    /// What it comes to: nothing where the candidate failed or nothing was measured.
    pub fn state(&self) -> State {
        match &self.judged {
            Some(judged) if !matches!(self.ended, Ending::CandidateFailed(_)) => judged.deciding().verdict.state,
            _ => State::CannotJudge,
        }
    }

    /// Whether the gate holds, the candidate ran, and outputs agree as far as that was asked for.
    pub fn passes(&self) -> bool {
        let has_ended = !matches!(self.ended, Ending::CandidateFailed(_));
        let gate = self.judged.as_ref().and_then(|judged| judged.deciding().verdict.passes);
        let holds = gate.unwrap_or(!self.is_gated);
        has_ended && holds && self.outputs.iter().all(|output| output.agrees)
    }
}

/// What `runs` come to; captures that were not opened yet are opened now. `None` where a side has no run that counts.
pub fn judge(runs: &mut [TrialRun], measure: TrialMeasure, options: &Options) -> Option<Judged> {
    let mut notes: Vec<Note> = Vec::new();
    let how = DiffOptions { compare: *options, open: OpenOptions::default(), causes: CausesAsked::Always };
    for run in runs.iter_mut().filter(|run| run.counts && run.summary.is_none()) {
        // A capture that cannot be opened is none: then the program's time decides, which is said.
        let opened = run.capture.iter().map(|path| summaries_of(std::slice::from_ref(path), &how)).find_map(Result::ok);
        let Some((summaries, said)) = opened else { continue };
        run.summary = summaries.into_iter().next();
        notes.extend(said);
    }
    let counting = |is_after: bool| runs.iter().filter(move |run| run.counts && run.is_after == is_after);
    if counting(false).next().is_none() || counting(true).next().is_none() {
        return None;
    }
    let of_program = |is_after: bool| -> Vec<Summary> {
        let row = |run: &TrialRun| SuiteRow { name: "the program".to_owned(), runs_ns: vec![run.program_ns] };
        counting(is_after).map(|run| suite(&[row(run)])).collect()
    };
    let program = compare(&of_program(false), &of_program(true), options);
    let all = |is_after: bool| -> Option<Vec<Summary>> { counting(is_after).map(|run| run.summary.clone()).collect() };
    let captures = all(false).zip(all(true)).filter(|_| measure != TrialMeasure::Program).map(|(before, after)| {
        let comparison = compare(&before, &after, options);
        Diff { comparison, notes, summaries: (before, after) }
    });
    let refuses = |diff: &Diff| diff.comparison.doubts.iter().any(|doubt| doubt.weight == Weight::Refuses);
    let is_by_captures = match measure {
        TrialMeasure::Auto => captures.as_ref().is_some_and(|diff| !refuses(diff)),
        TrialMeasure::Captures => captures.is_some(),
        TrialMeasure::Program => false,
    };
    Some(Judged { program, captures, is_by_captures })
}

/// A prediction beside what was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tested {
    /// The rule.
    pub rule: String,
    /// What it said.
    pub message: String,
    /// Where the prediction comes from: `replay` or `wall`.
    pub basis: String,
    /// The part of the time that was predicted to go: what the finding held for `wall`, the middle of the interval for `replay`.
    pub predicted: f64,
    /// The interval that `check` gave.
    pub predicted_low: f64,
    /// Its upper end.
    pub predicted_high: f64,
    /// The part of the time that went.
    pub measured: f64,
    /// The interval of that, lower end.
    pub measured_low: f64,
    /// Its upper end.
    pub measured_high: f64,
    /// Predicted over measured; `None` where the gain is not certain or too small to divide by.
    pub ratio: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(before: &[i64], after: &[i64]) -> Vec<TrialRun> {
        let run = |is_after: bool, program_ns: &i64| TrialRun {
            is_after,
            counts: true,
            program_ns: *program_ns,
            recorder_ns: 0,
            exit_code: 0,
            capture: None,
            log: PathBuf::new(),
            summary: None,
        };
        before.iter().map(|ns| run(false, ns)).chain(after.iter().map(|ns| run(true, ns))).collect()
    }

    #[track_caller]
    fn check(before: &[i64], after: &[i64], expected: &str) {
        let judged = judge(&mut runs(before, after), TrialMeasure::Auto, &Options::default()).expect("both sides ran");
        let verdict = &judged.deciding().verdict;
        assert_eq!(format!("{}: {}", verdict.state.name(), judged.what()), expected, "{:?}", verdict.reasons);
    }

    #[test]
    fn programs_without_captures_are_judged_by_their_time() {
        check(&[1000, 1010, 990, 1005], &[800, 805, 795, 801], "faster: program");
        check(&[1000, 1010, 990, 1005], &[1200, 1190, 1210, 1204], "slower: program");
        check(&[1000, 1001, 999, 1000], &[1001, 1000, 1000, 999], "no change: program");
        check(&[1000, 1400, 800], &[900, 1300, 850], "cannot judge: program");
    }

    #[test]
    fn runs_agree_with_scipy() {
        let (before, after) = ([1010, 1040, 990, 1020], [1100, 1160, 1080]);
        let judged =
            judge(&mut runs(&before, &after), TrialMeasure::Auto, &Options::default()).expect("both sides ran");
        let interval = judged.deciding().interval.expect("several runs");
        // scipy 1.17.1: ttest_ind(after, before, equal_var=False).confidence_interval(0.95)
        assert!((interval.low - 10.633).abs() < 0.001 && (interval.high - 186.034).abs() < 0.001, "{interval:?}");
    }

    #[test]
    fn one_side_alone_is_not_judged() {
        assert!(judge(&mut runs(&[1000], &[]), TrialMeasure::Auto, &Options::default()).is_none());
    }
}
