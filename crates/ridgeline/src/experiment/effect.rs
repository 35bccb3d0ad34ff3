//! What a change saves: the time of one loop or of the whole program, run by run.

use super::changes::ChangeKind;
use super::sample::{ExperimentSample, TimedLoop};
use ridge_diff::{Comparison, Options, SuiteRow, compare, suite};

/// A loop is what is measured where it has at least this part of the time in which nothing else is compiled,
const LEAST_OF_PROGRAM: f64 = 0.4;
/// or at least as many iterations, in as many seconds: then it is what recurs, and all else is start-up.
const RECURS: (u64, f64) = (20, 0.05);

/// What a change saves.
#[derive(Debug, Clone)]
pub struct ExperimentEffect {
    /// The loop that is measured: its file and line, and iterations per run; `None` for the whole program.
    pub of_loop: Option<(String, u32, u64)>,
    /// The part of the time that it saves; of work that was doubled, the part that the work costs.
    pub saved: f64,
    /// The interval of that.
    pub ends: Option<(f64, f64)>,
    /// One iteration, or the program, as it is, nanoseconds.
    pub before_ns: i64,
    /// The same with the change.
    pub after_ns: i64,
    /// Runs with the change that count.
    pub runs: usize,
    /// The comparison behind it.
    pub comparison: Comparison,
}

impl ExperimentEffect {
    /// Half the interval.
    pub fn half_width(&self) -> Option<f64> {
        self.ends.map(|(low, high)| (high - low) / 2.0)
    }

    /// What was measured, in words.
    pub fn what(&self) -> String {
        match &self.of_loop {
            Some((file, line, _)) => format!("the loop at {file}:{line}"),
            None => "the program".to_owned(),
        }
    }
}

/// What `after` saves beside `before`; `None` where a side has no run of use.
pub(super) fn effect(
    before: &[&ExperimentSample],
    after: &[&ExperimentSample],
    kind: ChangeKind,
    options: &Options,
) -> Option<ExperimentEffect> {
    let is_of_use = |sample: &&&ExperimentSample| sample.is_of_use();
    let before: Vec<&ExperimentSample> = before.iter().filter(is_of_use).copied().collect();
    let after: Vec<&ExperimentSample> = after.iter().filter(is_of_use).copied().collect();
    let (first, _) = before.first().zip(after.first())?;
    let of_loop = first.loops.iter().find(|one| is_measured(one, first, &before, &after));
    let times = |side: &[&ExperimentSample]| -> Vec<i64> {
        side.iter().map(|sample| nanos(of_loop.map_or(sample.program_s, |one| per_iteration(sample, one)))).collect()
    };
    let (before_times, after_times) = (times(&before), times(&after));
    if before_times.iter().chain(&after_times).any(|ns| *ns <= 0) {
        return None;
    }
    // Each run is one sample, as in a trial.
    let of_side = |times: &[i64]| -> Vec<ridge_diff::Summary> {
        let row = |ns: i64| SuiteRow { name: "the program".to_owned(), runs_ns: vec![ns] };
        times.iter().map(|ns| suite(&[row(*ns)])).collect()
    };
    let comparison = compare(&of_side(&before_times), &of_side(&after_times), options);
    let (part, ends) = comparison.parts()?;
    let is_doubled = kind == ChangeKind::Doubled;
    let (saved, ends) = if is_doubled { (part, ends) } else { (-part, ends.map(|(low, high)| (-high, -low))) };
    Some(ExperimentEffect {
        of_loop: of_loop.map(|one| (one.file.clone(), one.line, one.iterations)),
        saved,
        ends: ends.filter(|_| before_times.len() > 1 && after_times.len() > 1),
        before_ns: comparison.before.unit_ns,
        after_ns: comparison.after.unit_ns,
        runs: after.len(),
        comparison,
    })
}

/// Whether a loop has most of the time, and as many iterations in every run.
fn is_measured(
    one: &TimedLoop,
    first: &ExperimentSample,
    before: &[&ExperimentSample],
    after: &[&ExperimentSample],
) -> bool {
    let elsewhere_compiled = first.compile_s - one.compile_s;
    let most = one.seconds >= LEAST_OF_PROGRAM * (first.program_s - elsewhere_compiled)
        || (one.iterations >= RECURS.0 && one.seconds >= RECURS.1);
    let has = |sample: &&ExperimentSample| {
        same(sample, one).is_some_and(|found| found.iterations == one.iterations && one.iterations > 0)
    };
    most && before.iter().all(has) && after.iter().all(has)
}

fn same<'s>(sample: &'s ExperimentSample, one: &TimedLoop) -> Option<&'s TimedLoop> {
    sample.loops.iter().find(|other| other.file == one.file && other.line == one.line)
}

fn per_iteration(sample: &ExperimentSample, one: &TimedLoop) -> f64 {
    same(sample, one).map_or(0.0, |found| found.seconds / found.iterations.max(1) as f64)
}

fn nanos(seconds: f64) -> i64 {
    // A loop of nothing takes some nanoseconds, too.
    ((seconds * 1e9) as i64).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn sample(change: Option<usize>, loop_s: f64, iterations: u64, program_s: f64) -> ExperimentSample {
        ExperimentSample {
            change,
            round: 1,
            exit_code: 0,
            wall_ns: 0,
            applied: vec![("bad.py:3".to_owned(), 1)],
            failed: Vec::new(),
            loops: vec![TimedLoop { file: "bad.py".to_owned(), line: 3, iterations, seconds: loop_s, compile_s: 0.0 }],
            program_s,
            compile_s: 1.0,
            results: None,
            log: PathBuf::new(),
        }
    }

    #[track_caller]
    fn check(before: &[(f64, f64)], after: &[(f64, f64)], iterations: u64, kind: ChangeKind, expected: &str) {
        let before: Vec<_> = before.iter().map(|(of_loop, all)| sample(None, *of_loop, 100, *all)).collect();
        let after: Vec<_> = after.iter().map(|(of_loop, all)| sample(Some(0), *of_loop, iterations, *all)).collect();
        let found =
            effect(&before.iter().collect::<Vec<_>>(), &after.iter().collect::<Vec<_>>(), kind, &Options::default());
        let found = found.expect("both sides ran");
        let ends = found.ends.map(|(low, high)| format!(" ({:.0} to {:.0})", 100.0 * low, 100.0 * high));
        let text = format!("{}: {:.0}%{}", found.what(), 100.0 * found.saved, ends.unwrap_or_default());
        assert_eq!(text, expected);
    }

    #[test]
    fn a_loop_with_most_of_the_time_is_measured_else_the_program() {
        let before = [(4.0, 6.0), (4.04, 6.1), (3.96, 6.0)];
        let after = [(2.0, 4.0), (2.02, 4.1), (1.98, 4.0)];
        check(&before, &after, 100, ChangeKind::Real, "the loop at bad.py:3: 50% (48 to 52)");
        check(&before, &after, 50, ChangeKind::Real, "the program: 33% (31 to 35)");
        let small = [(0.01, 6.0), (0.01, 6.1), (0.01, 6.0)];
        let smaller = [(0.01, 4.0), (0.01, 4.1), (0.01, 4.0)];
        check(&small, &smaller, 100, ChangeKind::Real, "the program: 33% (31 to 35)");
        let recurs = [(0.2, 6.0), (0.202, 6.0), (0.198, 6.0)];
        let faster = [(0.1, 6.0), (0.101, 6.0), (0.099, 6.0)];
        check(&recurs, &faster, 100, ChangeKind::Real, "the loop at bad.py:3: 50% (48 to 52)");
        check(&after, &before, 100, ChangeKind::Doubled, "the loop at bad.py:3: 100% (96 to 104)");
        check(&before[..1], &after[..1], 100, ChangeKind::Real, "the loop at bad.py:3: 50%");
    }
}
