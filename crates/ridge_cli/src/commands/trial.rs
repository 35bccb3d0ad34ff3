//! `ridgeline try`: whether a change helps.

use super::record::WindowArguments;
use crate::Ending;
use crate::arguments::{Globals, TextLayout};
use crate::failure::{Failure, USAGE};
use crate::output::{deliver_checked, write_file};
use anstream::stream::IsTerminal as _;
use clap::{Args, ValueEnum, ValueHint};
use indicatif::ProgressBar;
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

/// Its document in the folder of a trial.
const DOCUMENT: &str = "try.json";

/// Run a program with and without a change, alternating, and report whether the change helps
///
/// The change is a patch, a revision, environment variables or another command. Runs alternate, and each is recorded,
/// until the difference is known precisely enough or the budget is spent. Changed files are tried in copies, so your
/// working tree stays untouched. Output of the program goes to a log beside each capture. See docs/try.md.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct TryArguments {
    /// The unchanged program and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND", value_hint = ValueHint::CommandWithArguments)]
    command: Vec<OsString>,

    /// Try this patch, in the format of `git diff`, on top of the current working tree
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "What to try")]
    patch: Option<PathBuf>,

    /// Try a revision (`git:REV`) or an environment variable (`NAME=VALUE`); may be repeated
    #[arg(long, value_name = "WHAT", help_heading = "What to try")]
    against: Vec<String>,

    /// Try this command instead
    #[arg(long, value_name = "COMMAND", help_heading = "What to try")]
    candidate: Option<String>,

    /// The rule of `check` whose advice the change follows: its prediction is compared with what is measured
    #[arg(long, value_name = "RULE", help_heading = "What to try")]
    finding: Option<String>,

    /// Link this path of the working tree into the copies, which lack ignored files; may be repeated
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath, help_heading = "What to try")]
    link: Vec<PathBuf>,

    /// Stop when half the width of the difference's interval is at most this share of the time
    #[arg(long, value_name = "PERCENT", default_value = "2%", value_parser = crate::quantities::percent, help_heading = "How long")]
    until: f64,

    /// Start no pair of runs that would likely finish after this time
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = crate::quantities::time, help_heading = "How long")]
    budget: Duration,

    /// Maximum number of runs per side
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(2..=1000), help_heading = "How long")]
    runs: u32,

    /// Initial runs of each side to discard: they warm caches
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "How long")]
    discard: u32,

    /// A file that the program writes and that must be the same with the change; may be repeated
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, num_args = 1, help_heading = "What counts")]
    check_output: Vec<PathBuf>,

    /// Largest difference of numbers that counts as none, as a part of the larger one: of `.npy` and `.npz` files, and in texts
    #[arg(long, value_name = "PART", default_value_t = 0.0, help_heading = "What counts")]
    tolerance: f64,

    /// What the verdict is based on; `auto` uses the captures if they can be compared
    #[arg(long, value_name = "WHAT", default_value = "auto", help_heading = "What counts")]
    measure: Measure,

    /// Ignore differences below this share of the time
    #[arg(long, value_name = "PERCENT", default_value = "2%", value_parser = crate::quantities::percent, help_heading = "What counts")]
    practical: f64,

    /// Confidence level of intervals
    #[arg(long, value_name = "PERCENT", default_value = "95%", value_parser = confidence, help_heading = "What counts")]
    confidence: f64,

    /// Exit with status 1 if the change is slower by PERCENT or more, or if that cannot be judged
    #[arg(long, value_name = "PERCENT", value_parser = crate::quantities::percent, help_heading = "What counts")]
    fail_on: Option<f64>,

    #[command(flatten)]
    window: WindowArguments,

    /// Folder for captures, logs, outputs and results; an earlier trial there is replaced
    #[arg(long, short, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Output")]
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
  ridgeline try --against git:HEAD~1 -- python train.py               did the last commit?
  ridgeline try --against 'XLA_FLAGS=--xla_gpu_autotune_level=4' -- python train.py
  ridgeline try --candidate 'python other.py' -- python solver.py     another program for the same task
  ridgeline try --patch fix.diff --check-output out.npy --tolerance 1e-6 -- python solver.py
  ridgeline try --patch fix.diff --finding host-callback -- python train.py   does it save what check predicted?
  ridgeline try --patch fix.diff --until 1% --budget 30m --fail-on 5% -- python train.py

Exit status:
  0  the trial ran; with --fail-on, the change is not slower by that much
  1  the change failed, its outputs differ, or --fail-on is exceeded or cannot be judged
  2  the trial could not run";

/// Forms of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TryFormat {
    /// For a terminal
    #[value(alias = "table")]
    Text,
    /// A versioned document, as try.json in the folder; see docs/json
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

fn confidence(text: &str) -> Result<f64, String> {
    let part = crate::quantities::percent(text)?;
    if (0.5..=0.9999).contains(&part) { Ok(part) } else { Err(format!("expected 50% to 99.99%, found {text}")) }
}

/// Runs the command.
pub(crate) fn run(arguments: &TryArguments, globals: &Globals) -> Result<Ending, Failure> {
    tried(arguments, globals).map_err(|failure| failure.ending(USAGE))
}

fn tried(arguments: &TryArguments, globals: &Globals) -> Result<Ending, Failure> {
    let candidate = arguments.what()?;
    if let Some(unknown) = arguments.finding.as_ref().filter(|id| rule(id).is_none()) {
        return Err(Failure::usage(format!("expected a rule, found `{unknown}`")).hint("`ridgeline rules` lists them"));
    }
    let options = TrialOptions {
        record: RecordOptions {
            command: arguments.command.clone(),
            hlo: BTreeSet::new(),
            memory_profiles: false,
            ..arguments.window.options()
        },
        candidate,
        out: claim(&arguments.folder()?)?,
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
    let trial = Trial { tested: predictions.tested, ..trial_of(arguments, outcome, runs, judged, &options.out) };
    let trial = Trial { notes: [trial.notes.clone(), predictions.notes].concat(), ..trial };
    let document = json::document(&trial);
    write_file(&options.out.join(DOCUMENT), document.as_bytes())?;
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
        notes.extend((!said.is_empty()).then(|| format!("the candidate said at last: {}", said.replace('\n', " / "))));
    }
    if arguments.measure == Measure::Auto && judged.as_ref().is_some_and(|judged| !judged.is_by_captures) {
        notes.push(
            "judged by the time of the whole program: not every run has a capture that can be compared".to_owned(),
        );
    }
    Trial {
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
    }
}

impl TryArguments {
    /// What is tried.
    fn what(&self) -> Result<Candidate, Failure> {
        let mut candidate = Candidate::default();
        if let Some(patch) = &self.patch {
            candidate.source = Source::Patch(patch.clone());
        }
        for what in &self.against {
            if let Some(revision) = what.strip_prefix("git:") {
                if candidate.source != Source::Same {
                    return Err(Failure::usage("expected one patch or one revision, found several")
                        .hint("`git diff REV` makes a patch of a revision"));
                }
                candidate.source = Source::Revision(revision.to_owned());
            } else if let Some((name, value)) = what.split_once('=').filter(|(name, _)| is_name(name)) {
                candidate.environment.push((name.into(), value.into()));
            } else {
                return Err(Failure::usage(format!("expected `git:REV` or `NAME=VALUE`, found `{what}`")));
            }
        }
        if let Some(command) = &self.candidate {
            let words = shlex::split(command).filter(|words| !words.is_empty());
            let words = words.ok_or_else(|| Failure::usage(format!("expected a command, found `{command}`")))?;
            candidate.command = Some(words.into_iter().map(Into::into).collect());
        }
        if candidate.source == Source::Same && candidate.environment.is_empty() && candidate.command.is_none() {
            return Err(Failure::usage("expected something to try, found nothing")
                .hint("name it with `--patch`, `--against` or `--candidate`"));
        }
        Ok(candidate)
    }

    /// The same in words.
    fn words(&self) -> String {
        let patch = self.patch.iter().map(|patch| format!("patch {}", patch.display()));
        let command = self.candidate.iter().map(|command| format!("`{command}`"));
        patch.chain(self.against.iter().cloned()).chain(command).collect::<Vec<_>>().join(", ")
    }

    fn compare(&self) -> Options {
        Options { practical: self.practical, confidence: self.confidence, fail_on: self.fail_on }
    }

    fn folder(&self) -> Result<PathBuf, Failure> {
        let folder = self.out.clone().unwrap_or_else(|| default_out_dir(&self.command));
        std::path::absolute(&folder).map_err(|error| Failure::io("cannot find the folder", &error).at(&folder))
    }
}

fn is_name(name: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    !name.is_empty() && name.chars().all(is_letter) && !name.starts_with(|letter: char| letter.is_ascii_digit())
}

/// Makes the folder, and takes an earlier trial out of it.
fn claim(folder: &Path) -> Result<PathBuf, Failure> {
    let failed = |error: std::io::Error| Failure::io("cannot write the folder", &error).at(folder);
    fs::create_dir_all(folder).map_err(failed)?;
    let is_empty = fs::read_dir(folder).map_err(failed)?.next().is_none();
    if !is_empty && !folder.join(DOCUMENT).is_file() {
        return Err(Failure::usage("expected an empty folder or an earlier trial, found other files")
            .at(folder)
            .hint("name another folder with `-o`"));
    }
    for name in ["before", "after", "warm-up", "outputs"] {
        let inside = folder.join(name);
        if inside.is_dir() {
            fs::remove_dir_all(inside).map_err(failed)?;
        }
    }
    // From here on the folder is a trial, whatever becomes of it.
    write_file(&folder.join(DOCUMENT), b"{}\n")?;
    Ok(folder.to_owned())
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
