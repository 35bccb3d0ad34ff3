//! `ridgeline try`: whether a change helps.

use super::explain::unknown_rule;
use super::record::WindowArguments;
use crate::arguments::{Globals, TextLayout};
use crate::ending::Ending;
use crate::failure::{Failure, USAGE};
use crate::output::{deliver_checked, write_file};
use anstream::stream::IsTerminal as _;
use clap::{Args, ValueEnum, ValueHint};
use indicatif::ProgressBar;
use ridge_files::NewFolder;
use ridge_record::trial::{
    Agreement, Candidate, Ended, OutputCheck, Side, Source, TrialError, TrialEvent, TrialOptions, TrialOutcome,
    last_lines, try_candidate,
};
use ridge_record::{RecordOptions, default_out_dir, trial as recorded};
use ridge_report::terminal::Layout;
use ridge_report::trial::{json, text};
use ridgeline::comparison::Options;
use ridgeline::units::Nanos;
use ridgeline::{Judged, Trial, TrialMeasure, TrialOutput, TrialRun, judge, rule, tested};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Its document in the directory of a trial.
const DOCUMENT: &str = "try.json";

/// What a trial makes in its directory.
const MADE: [&str; 5] = [DOCUMENT, "before", "after", "warm-up", "outputs"];

/// The files of a side that nothing else was named for.
const WORKING_TREE: &str = "the working tree";

/// Run a program with and without a change, alternating, and report whether the change helps
///
/// The baseline is your working tree, or the revision that `--baseline` names. The candidate is a patch, a revision,
/// environment variables, another command, or with `--baseline` your working tree as it is. Runs alternate, and each is
/// recorded, until the difference is known precisely enough or the budget is spent. Changed files are tried in copies, so
/// your working tree stays untouched. The program's output goes to a log next to each capture. See docs/try.md.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct TryArguments {
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND", value_hint = ValueHint::CommandWithArguments)]
    command: Vec<OsString>,

    /// Compare with the files of this revision; the candidate is the working tree unless another is named
    #[arg(long, value_name = "REV", help_heading = "What to try")]
    baseline: Option<String>,

    /// Try the files of this revision; the baseline is the working tree unless another is named
    #[arg(long, value_name = "REV", conflicts_with = "patch", help_heading = "What to try")]
    candidate: Option<String>,

    /// Try this patch, in the format of `git diff`, on top of the current working tree
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "What to try")]
    patch: Option<PathBuf>,

    /// Try this environment variable; may be repeated, and combined with the others
    #[arg(long, value_name = "NAME=VALUE", help_heading = "What to try")]
    candidate_env: Vec<String>,

    /// Try this command instead
    #[arg(long, value_name = "COMMAND", help_heading = "What to try")]
    candidate_command: Option<String>,

    /// Rule of `check` that suggested the change: its prediction is compared with the measurement
    #[arg(long, value_name = "RULE", help_heading = "What to try")]
    finding: Option<String>,

    /// Link this path of the working tree into the copies, which lack ignored files; may be repeated
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath, help_heading = "What to try")]
    link: Vec<PathBuf>,

    /// Stop when half the width of the difference's interval is at most this share of the time
    #[arg(long = "precision", alias = "until", value_name = "PERCENT", default_value = "2%", value_parser = crate::quantities::percent, help_heading = "How long")]
    until: f64,

    /// Start no pair of runs that would probably finish after this time
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = crate::quantities::time, help_heading = "How long")]
    budget: Duration,

    /// Maximum number of runs per side
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(2..=1000), help_heading = "How long")]
    runs: u32,

    /// Initial runs of each side that fill caches and don't count
    #[arg(long = "warm-up-runs", alias = "discard", value_name = "N", default_value_t = 1, help_heading = "How long")]
    discard: u32,

    /// A file that the program writes and that must be the same with the change; may be repeated
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, num_args = 1, help_heading = "What counts")]
    check_output: Vec<PathBuf>,

    /// Relative tolerance for numbers in `--check-output` files: `.npy`, `.npz` and texts
    #[arg(long, value_name = "PART", default_value_t = 0.0, help_heading = "What counts")]
    tolerance: f64,

    /// What the verdict is based on; `auto` uses the captures if they can be compared
    #[arg(long, value_name = "WHAT", default_value = "auto", help_heading = "What counts")]
    measure: Measure,

    /// Ignore differences below this share of the time
    #[arg(long = "min-change", alias = "practical", value_name = "PERCENT", default_value = "2%", value_parser = crate::quantities::percent, help_heading = "What counts")]
    min_change: f64,

    /// Confidence level of intervals
    #[arg(long, value_name = "PERCENT", default_value = "95%", value_parser = crate::quantities::confidence, help_heading = "What counts")]
    confidence: f64,

    /// Exit with status 1 if the candidate is slower than the baseline by PERCENT or more, or if the result is inconclusive
    #[arg(long = "fail-on-regression", alias = "fail-on", value_name = "PERCENT", value_parser = crate::quantities::percent, help_heading = "What counts")]
    fail_on: Option<f64>,

    #[command(flatten)]
    window: WindowArguments,

    /// Directory for captures, logs, outputs and results; an earlier trial there is replaced
    #[arg(long = "output", short = 'o', alias = "out", value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Output")]
    out: Option<PathBuf>,

    /// Output format
    #[arg(long, short = 'f', value_name = "FORMAT", default_value = "text", help_heading = "Output")]
    format: TryFormat,

    #[command(flatten)]
    layout: TextLayout,
}

const EXAMPLES: &str = "\
Examples:
  ridgeline try --patch fix.diff -- python train.py                   does the patch help?
  ridgeline try --baseline HEAD~1 -- python train.py                  did the last commit and uncommitted changes help?
  ridgeline try --baseline origin/main --fail-on-regression 5% -- python train.py   is the branch slower than main?
  ridgeline try --candidate HEAD~1 -- python train.py                 would going back help?
  ridgeline try --candidate-env 'XLA_FLAGS=--xla_gpu_autotune_level=4' -- python train.py
  ridgeline try --candidate-command 'python other.py' -- python solver.py   another program for the same task
  ridgeline try --patch fix.diff --check-output out.npy --tolerance 1e-6 -- python solver.py
  ridgeline try --patch fix.diff --finding host-callback -- python train.py   does it save what check predicted?
  ridgeline try --patch fix.diff --precision 1% --budget 30m --fail-on-regression 5% -- python train.py

Exit status:
  0  the trial ran; with --fail-on-regression, the candidate is not slower by that much
  1  the candidate failed, its outputs differ, or --fail-on-regression is exceeded or inconclusive, as after an interrupt
  2  the trial could not run";

/// Forms of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TryFormat {
    /// For a terminal
    #[value(alias = "table")]
    Text,
    /// A versioned document, as try.json in the directory; see docs/json
    Json,
}

/// What the verdict is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Measure {
    /// The captures if they can be compared, else the program
    Auto,
    /// A step, or the capture without its start-up
    Captures,
    /// The program from start to end, without the recorder's own work
    Program,
}

impl Measure {
    fn measure(self) -> TrialMeasure {
        match self {
            Measure::Auto => TrialMeasure::Auto,
            Measure::Captures => TrialMeasure::Captures,
            Measure::Program => TrialMeasure::Program,
        }
    }
}

/// Runs the command.
pub(crate) fn run(arguments: &TryArguments, globals: &Globals) -> Result<Ending, Failure> {
    tried(arguments, globals).map_err(|failure| failure.ending(USAGE))
}

fn tried(arguments: &TryArguments, globals: &Globals) -> Result<Ending, Failure> {
    let candidate = arguments.what()?;
    if let Some(unknown) = arguments.finding.as_ref().filter(|id| rule(id).is_none()) {
        return Err(unknown_rule(format!("unknown rule `{unknown}`"), unknown));
    }
    let folder = arguments.folder()?;
    let place = Place::claim(&folder)?;
    let options = TrialOptions {
        record: RecordOptions {
            command: arguments.command.clone(),
            hlo: BTreeSet::new(),
            memory_profiles: false,
            memory_at: Vec::new(),
            ..arguments.window.options()
        },
        baseline: arguments.baseline.clone(),
        candidate,
        out: place.path().to_owned(),
        warm_up: arguments.discard,
        least_runs: arguments.runs.min(3),
        most_runs: arguments.runs,
        budget: arguments.budget,
        outputs: arguments.check_output.clone(),
        tolerance: arguments.tolerance,
        links: arguments.link.clone(),
    };
    ridgeline::start_threads();
    let (compare, measure) = (arguments.compare(), arguments.measure.measure());
    let mut progress = Progress::new(arguments, globals);
    let mut runs: Vec<TrialRun> = Vec::new();
    let mut enough = |done: &[recorded::TrialRun]| {
        runs.extend(done[runs.len()..].iter().map(shown));
        let judged = judge(&mut runs, measure, &compare);
        judged.as_ref().and_then(Judged::half_width).is_some_and(|half| half <= arguments.until)
    };
    let outcome = try_candidate(&options, &mut enough, &mut |event| progress.tell(&event));
    progress.end();
    let outcome = outcome.map_err(failure)?;
    runs.truncate(outcome.runs.len());
    runs.extend(outcome.runs[runs.len()..].iter().map(shown));
    let judged = judge(&mut runs, measure, &compare);
    let predictions = tested(&runs, judged.as_ref(), arguments.finding.as_deref());
    let trial = Trial { tested: predictions.tested, ..trial_of(arguments, outcome, runs, judged, &folder) };
    let mut trial = Trial { notes: [trial.notes.clone(), predictions.notes].concat(), ..trial };
    trial.runs.iter_mut().for_each(|run| place.rename(run, &folder));
    let document = json::document(&trial);
    write_file(&options.out.join(DOCUMENT), document.as_bytes())?;
    place.settle(&folder)?;
    let render = |layout: &Layout| match arguments.format {
        TryFormat::Text => text::render(&trial, layout),
        TryFormat::Json => document.clone(),
    };
    deliver_checked(render, None, &arguments.layout, globals)?;
    Ok(Ending::Code(i32::from(!trial.passes())))
}

fn trial_of(
    arguments: &TryArguments,
    outcome: TrialOutcome,
    runs: Vec<TrialRun>,
    judged: Option<Judged>,
    folder: &Path,
) -> Trial {
    let TrialOutcome { ended, outputs, mut notes, took, .. } = outcome;
    if let (Ended::Failed(_), Some(run)) = (&ended, runs.last()) {
        let said = last_lines(&run.log);
        notes
            .extend((!said.is_empty()).then(|| format!("last output of the candidate: {}", said.replace('\n', " / "))));
    }
    if arguments.measure == Measure::Auto && judged.as_ref().is_some_and(|judged| !judged.is_by_captures) {
        notes.push("measured over the whole program: not every run has a comparable capture".to_owned());
    }
    Trial {
        baseline: arguments.baseline_words(),
        candidate: arguments.words(),
        command: arguments.command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        folder: folder.to_owned(),
        runs,
        judged,
        ended: match ended {
            Ended::Enough => ridgeline::Ending::Narrow,
            Ended::Budget => ridgeline::Ending::Budget,
            Ended::Runs => ridgeline::Ending::Runs,
            Ended::Interrupted => ridgeline::Ending::Interrupted,
            Ended::Failed(status) => ridgeline::Ending::CandidateFailed(status.shell_code()),
        },
        outputs: outputs.into_iter().map(output).collect(),
        tested: None,
        notes,
        took_ns: nanos(took),
        until: arguments.until,
        is_gated: arguments.fail_on.is_some(),
    }
}

impl TryArguments {
    /// What is tried.
    fn what(&self) -> Result<Candidate, Failure> {
        let mut candidate = Candidate::default();
        if let Some(patch) = &self.patch {
            candidate.source = Source::Patch(patch.clone());
        }
        if let Some(revision) = &self.candidate {
            candidate.source = Source::Revision(revision.clone());
        }
        for what in &self.candidate_env {
            let variable = what.split_once('=').filter(|(name, _)| is_name(name));
            let (name, value) =
                variable.ok_or_else(|| Failure::usage(format!("expected `NAME=VALUE`, found `{what}`")))?;
            candidate.environment.push((name.into(), value.into()));
        }
        if let Some(command) = &self.candidate_command {
            let words = shlex::split(command).filter(|words| !words.is_empty());
            let words = words.ok_or_else(|| Failure::usage(format!("expected a command, found `{command}`")))?;
            candidate.command = Some(words.into_iter().map(Into::into).collect());
        }
        let is_nothing = candidate.source == Source::Same
            && self.baseline.is_none()
            && candidate.environment.is_empty()
            && candidate.command.is_none();
        if is_nothing {
            return Err(Failure::usage("nothing to try").hint(
                "pass `--patch`, `--candidate`, `--candidate-env` or `--candidate-command`, or `--baseline` to compare \
                 your tree with a revision",
            ));
        }
        Ok(candidate)
    }

    /// The same in words.
    fn words(&self) -> String {
        let patch = self.patch.iter().map(|patch| format!("patch {}", patch.display()));
        let revision = self.candidate.iter().map(|revision| format!("revision {revision}"));
        let command = self.candidate_command.iter().map(|command| format!("`{command}`"));
        let all: Vec<String> = patch.chain(revision).chain(self.candidate_env.iter().cloned()).chain(command).collect();
        if all.is_empty() { WORKING_TREE.to_owned() } else { all.join(", ") }
    }

    /// What it is compared with, in words.
    fn baseline_words(&self) -> String {
        self.baseline.as_ref().map_or(WORKING_TREE.to_owned(), |revision| format!("revision {revision}"))
    }

    fn compare(&self) -> Options {
        Options {
            min_change: self.min_change,
            confidence: self.confidence,
            fail_on: self.fail_on,
            ..Options::default()
        }
    }

    fn folder(&self) -> Result<PathBuf, Failure> {
        let folder = self.out.clone().unwrap_or_else(|| default_out_dir(&self.command));
        std::path::absolute(&folder).map_err(|error| Failure::io("cannot find the directory", &error).at(&folder))
    }
}

fn is_name(name: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    !name.is_empty() && name.chars().all(is_letter) && !name.starts_with(|letter: char| letter.is_ascii_digit())
}

/// Where a trial is written: in its directory, or beside an earlier trial until it takes that one's place.
enum Place {
    Here(PathBuf),
    Beside(NewFolder),
}

impl Place {
    /// Makes a directory for a trial in `folder`.
    fn claim(folder: &Path) -> Result<Place, Failure> {
        let failed = |error: std::io::Error| Failure::io("cannot write the directory", &error).at(folder);
        fs::create_dir_all(folder).map_err(failed)?;
        if !refuse_others(folder)? {
            return Ok(Place::Beside(NewFolder::beside(folder).map_err(failed)?));
        }
        // From here on the folder is a trial, whatever becomes of it.
        write_file(&folder.join(DOCUMENT), b"{}\n")?;
        Ok(Place::Here(folder.to_owned()))
    }

    fn path(&self) -> &Path {
        match self {
            Place::Here(path) => path,
            Place::Beside(new) => new.path(),
        }
    }

    /// Has a run be where it will be found.
    fn rename(&self, run: &mut TrialRun, folder: &Path) {
        let place = |path: &PathBuf| path.strip_prefix(self.path()).map_or(path.clone(), |inside| folder.join(inside));
        (run.log, run.capture) = (place(&run.log), run.capture.as_ref().map(place));
    }

    /// Has an earlier trial give way.
    fn settle(self, folder: &Path) -> Result<(), Failure> {
        let Place::Beside(new) = self else { return Ok(()) };
        // What came into the earlier one meanwhile is not lost with it.
        let others = refuse_others(folder).err();
        let (kept, error) = match others {
            None => match new.keep_instead() {
                Ok(()) => return Ok(()),
                Err((new, error)) => {
                    (new.keep_near(), Failure::io("cannot replace the earlier trial", &error).at(folder))
                }
            },
            Some(others) => (new.keep_near(), others),
        };
        Err(match kept {
            Ok(kept) => error.hint(format!("this trial is in {}", kept.display())),
            Err(_) => error,
        })
    }
}

/// Whether the directory is empty; refuses one that is neither that nor an earlier trial, which is replaced.
fn refuse_others(folder: &Path) -> Result<bool, Failure> {
    let failed = |error: std::io::Error| Failure::io("cannot read the directory", &error).at(folder);
    let names: Vec<OsString> = fs::read_dir(folder)
        .and_then(|entries| entries.map(|entry| entry.map(|entry| entry.file_name())).collect())
        .map_err(failed)?;
    let is_trial = names.iter().any(|name| name == DOCUMENT);
    let is_ours = |name: &OsString| MADE.iter().any(|made| name == made) || ridge_files::is_partial(name);
    match names.iter().find(|name| !is_trial || !is_ours(name)) {
        None => Ok(names.is_empty()),
        Some(_) => Err(Failure::usage("expected an empty directory or an earlier trial, found other files")
            .at(folder)
            .hint("name another directory with `-o`")),
    }
}

fn failure(error: TrialError) -> Failure {
    Failure::failed(error.to_string()).hints(error.hints())
}

fn shown(run: &recorded::TrialRun) -> TrialRun {
    TrialRun {
        is_after: run.side == Side::After,
        counts: run.counts,
        program_ns: nanos(run.wall),
        recorder_ns: nanos(run.harness),
        exit_code: run.status.shell_code(),
        capture: run.has_trace.then(|| run.out.clone()),
        log: run.log.clone(),
        summary: None,
    }
}

fn output(check: OutputCheck) -> TrialOutput {
    let why = match &check.agreement {
        Agreement::Close(difference) => Some(format!("numbers differ by up to {difference:.1e} of the larger one")),
        Agreement::Differs(why) => Some(why.clone()),
        Agreement::Missing(Side::Before) => Some("by the program as it is".to_owned()),
        Agreement::Missing(Side::After) => Some("by the candidate".to_owned()),
        _ => None,
    };
    let (state, agrees) = (check.agreement.name(), check.agreement.agrees());
    TrialOutput { file: check.file.display().to_string(), state, why, agrees }
}

fn nanos(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}

/// What happens, on standard error: a line a run, and a sign of life where that is a terminal.
struct Progress {
    bar: Option<ProgressBar>,
    done: u32,
    verbose: bool,
}

impl Progress {
    fn new(arguments: &TryArguments, globals: &Globals) -> Progress {
        let bar = std::io::stderr().is_terminal().then(ProgressBar::new_spinner);
        bar.iter().for_each(|bar| bar.enable_steady_tick(Duration::from_millis(200)));
        let _ = arguments;
        Progress { bar, done: 0, verbose: globals.verbose }
    }

    fn tell(&mut self, event: &TrialEvent<'_>) {
        match event {
            TrialEvent::Preparing => self.say("preparing".to_owned()),
            TrialEvent::Begins { side, counts } => {
                let warm = if *counts { "" } else { ", to warm up" };
                self.say(format!("run {}: {}{warm}", self.done + 1, side.name()));
            }
            TrialEvent::Ended { run } => {
                self.done += 1;
                if self.verbose {
                    let line = format!("ridgeline: {} {}", run.side.name(), Nanos(nanos(run.wall)));
                    match &self.bar {
                        Some(bar) => bar.println(line),
                        None => anstream::eprintln!("{line}"),
                    }
                }
            }
            _ => {}
        }
    }

    fn say(&self, words: String) {
        if let Some(bar) = &self.bar {
            bar.set_message(words);
        }
    }

    fn end(&self) {
        self.bar.iter().for_each(ProgressBar::finish_and_clear);
    }
}
