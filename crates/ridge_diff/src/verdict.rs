//! Faster, slower, no change, or cannot judge: what the numbers carry and no more.

use crate::comparable::{Doubt, RECORD_STEPS, Weight};
use crate::options::Options;
use crate::statistics::Interval;
use ridge_units::Share;

/// What a comparison comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It takes less time than before.
    Faster,
    /// It takes more.
    Slower,
    /// No difference that matters.
    NoChange,
    /// The captures do not tell.
    CannotJudge,
}

impl State {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            State::CannotJudge => "cannot judge",
            state => state.words(),
        }
    }

    /// The verdict for people.
    pub fn words(self) -> &'static str {
        match self {
            State::Faster => "faster",
            State::Slower => "slower",
            State::NoChange => "no change",
            State::CannotJudge => "inconclusive",
        }
    }
}

/// Runs of each side that show how much runs differ.
const LEAST_RUNS: u32 = 3;

/// What makes several runs of a side.
const RECORD_RUNS: &str = "ridgeline record --runs 3 -o before/ -- python PROGRAM.py, the same into after/ with the change, \
                           then ridgeline diff before/ after/";

/// What a comparison comes to, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// What it comes to.
    pub state: State,
    /// Why, a sentence each without a period.
    pub reasons: Vec<String>,
    /// What would make it judgeable.
    pub command: Option<String>,
    /// Whether the gate lets it pass; `None` where none was asked for.
    pub passes: Option<bool>,
}

/// What the verdict is made of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Evidence<'e> {
    pub(crate) doubts: &'e [Doubt],
    /// Time per unit before, and the difference, nanoseconds.
    pub(crate) before_ns: f64,
    pub(crate) difference_ns: f64,
    /// Where the difference is.
    pub(crate) interval: Option<Interval>,
    /// What several runs of each side would have shown, around the difference; `None` where a side has one.
    pub(crate) shown: Option<Interval>,
    /// The chance that like runs have steps ranked as these; `None` where it is not asked.
    pub(crate) rank_p_value: Option<f64>,
    /// Runs of the side that has fewer; one does not show how much runs differ.
    pub(crate) runs: usize,
    /// Runs of each side that would tell; `None` where that is not known, or more than anyone would make.
    pub(crate) runs_needed: Option<u32>,
    /// The largest of the differences that count as none, in parts of the time before: the gate's, or twice what matters.
    pub(crate) options: &'e Options,
}

pub(crate) fn verdict(evidence: &Evidence<'_>) -> Verdict {
    let options = evidence.options;
    let refusals: Vec<&Doubt> = evidence.doubts.iter().filter(|doubt| doubt.weight == Weight::Refuses).collect();
    if !refusals.is_empty() {
        let command = refusals.iter().find_map(|doubt| doubt.command.clone());
        let reasons = refusals.iter().map(|doubt| doubt.message.clone()).collect();
        return cannot(reasons, command, options);
    }
    let Some(interval) = evidence.interval.filter(|_| evidence.before_ns > 0.0) else {
        let reason = "one side has a single step or capture, so its run-to-run variation is unknown";
        return cannot(vec![reason.to_owned()], Some(RECORD_STEPS.to_owned()), options);
    };
    let part = |ns: f64| ns / evidence.before_ns;
    let (change, low, high) = (part(evidence.difference_ns), part(interval.low), part(interval.high));
    let min_change = options.min_change();
    let signed = |part: f64| Share(part).signed();
    let confidence = Share(options.confidence).rounded();
    let between = format!("between {} and {} with {confidence} confidence", signed(low), signed(high));
    let is_certain = interval.excludes_zero();
    let ranks_alike = evidence.rank_p_value.is_some_and(|chance| chance > 1.0 - options.confidence);
    let tolerance = options.tolerance();
    let is_within = low > -tolerance && high < tolerance;
    let has_shown =
        |(shown, factor): (Interval, f64)| part(shown.low) > factor.recip() - 1.0 && part(shown.high) < factor - 1.0;
    let is_shown =
        evidence.runs >= LEAST_RUNS as usize && evidence.shown.zip(options.shown_factor).is_some_and(has_shown);
    let (state, reason) = match () {
        () if is_certain && change.abs() >= min_change && !ranks_alike => {
            let state = if change < 0.0 { State::Faster } else { State::Slower };
            (state, format!("{}: {between}", signed(change)))
        }
        () if is_within && is_certain => {
            let says = format!(
                "{}, {between}, is below the smallest change that counts ({})",
                signed(change),
                Share(min_change)
            );
            (State::NoChange, says)
        }
        () if is_within => (State::NoChange, format!("{}: {between}", signed(change))),
        () if is_certain && ranks_alike => {
            let says = format!("{} comes from a few steps; most take as long as before", signed(change));
            (State::CannotJudge, says)
        }
        () if is_shown && !is_certain => {
            let says = format!("{}, {between}, is within the run-to-run variation of one side", signed(change));
            (State::NoChange, says)
        }
        () => {
            let says = format!("{} is not significant: the change is {between}", signed(change));
            (State::CannotJudge, says)
        }
    };
    let mut reasons = vec![reason];
    let is_open = state == State::CannotJudge;
    let is_coarse = state == State::NoChange && !is_within;
    reasons.extend((is_open && !ranks_alike || is_coarse).then(|| more_runs(evidence, is_coarse)));
    let command = is_open.then(|| RECORD_RUNS.to_owned());
    let passes = options.fail_on.map(|bar| match state {
        State::Slower => change < bar,
        State::CannotJudge => high < bar,
        State::NoChange => is_within || high < bar,
        State::Faster => true,
    });
    Verdict { state, reasons, command, passes }
}

/// How many runs would tell.
fn more_runs(evidence: &Evidence<'_>, is_coarse: bool) -> String {
    match (evidence.runs == 1, evidence.runs_needed) {
        (false, Some(count)) if is_coarse => {
            format!("a smaller change would not show: with this variation, {count} runs per side would detect it")
        }
        (false, None) if is_coarse => {
            "a smaller change would not show: with this variation, not even 40 runs per side would detect it".to_owned()
        }
        (true, Some(count)) if count > LEAST_RUNS => {
            format!(
                "one side has a single run: {LEAST_RUNS} per side show the run-to-run variation; {count} would decide if it is as large as elsewhere"
            )
        }
        (true, _) => format!("one side has a single run: {LEAST_RUNS} per side show the run-to-run variation"),
        (false, Some(count)) => format!("with this variation, {count} runs per side would decide"),
        (false, None) => {
            "with this variation, more than 40 runs per side would be needed: a quieter machine helps more".to_owned()
        }
    }
}

fn cannot(reasons: Vec<String>, command: Option<String>, options: &Options) -> Verdict {
    Verdict { state: State::CannotJudge, reasons, command, passes: options.fail_on.map(|_| false) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(
        change: f64,
        low: f64,
        high: f64,
        chance: Option<f64>,
        options: &Options,
        expected: (State, Option<bool>),
    ) {
        check_of(1, (change, low, high), chance, options, expected);
    }

    #[track_caller]
    fn check_of(
        runs: usize,
        (change, low, high): (f64, f64, f64),
        chance: Option<f64>,
        options: &Options,
        expected: (State, Option<bool>),
    ) {
        let evidence = Evidence {
            doubts: &[],
            before_ns: 1000.0,
            difference_ns: 1000.0 * change,
            interval: Some(Interval { low: 1000.0 * low, high: 1000.0 * high }),
            shown: Some(Interval { low: 1000.0 * low, high: 1000.0 * high }),
            rank_p_value: chance,
            runs,
            runs_needed: None,
            options,
        };
        let found = verdict(&evidence);
        assert_eq!((found.state, found.passes), expected, "{:?}", found.reasons);
    }

    #[test]
    fn a_change_is_certain_and_matters() {
        let usual = Options::default();
        let gate = Options { fail_on: Some(0.05), ..usual };
        check(0.10, 0.08, 0.12, Some(0.001), &usual, (State::Slower, None));
        check(-0.10, -0.12, -0.08, None, &usual, (State::Faster, None));
        check(0.01, 0.005, 0.015, None, &usual, (State::NoChange, None));
        check(0.0, -0.03, 0.03, None, &usual, (State::NoChange, None));
        check(0.10, -0.02, 0.22, None, &usual, (State::CannotJudge, None));
        check(0.10, 0.08, 0.12, Some(0.4), &usual, (State::CannotJudge, None));
        check(0.10, 0.08, 0.12, None, &gate, (State::Slower, Some(false)));
        check(0.03, 0.025, 0.035, None, &gate, (State::Slower, Some(true)));
        check(-0.10, -0.22, 0.02, None, &gate, (State::CannotJudge, Some(true)));
        check(0.02, -0.04, 0.08, None, &gate, (State::CannotJudge, Some(false)));
    }

    #[test]
    fn several_runs_that_show_nothing_are_no_change_and_open_no_gate() {
        let usual = Options { shown_factor: Some(2.5), ..Options::default() };
        let gate = Options { fail_on: Some(0.05), ..usual };
        check_of(3, (0.03, -0.2, 0.26), None, &usual, (State::NoChange, None));
        check_of(3, (0.03, -0.2, 0.26), None, &gate, (State::NoChange, Some(false)));
        check_of(3, (-0.1, -0.23, 0.03), None, &gate, (State::NoChange, Some(true)));
        // Two runs, or runs that differ so much that two fifths of the time would not show, tell nothing.
        check_of(2, (0.03, -0.2, 0.26), None, &usual, (State::CannotJudge, None));
        check_of(3, (0.03, -0.61, 0.67), None, &usual, (State::CannotJudge, None));
        check_of(3, (0.3, 0.1, 0.5), None, &usual, (State::Slower, None));
        check_of(3, (0.03, -0.2, 0.26), None, &Options::default(), (State::CannotJudge, None));
    }
}
