//! `ridgeline experiment`: what a finding's advice would save, measured before anyone edits.

use super::record::WindowArguments;
use crate::arguments::{Globals, TextLayout};
use crate::ending::Ending;
use crate::failure::{Failure, USAGE};
use crate::output::{deliver_checked, write_file};
use clap::{Args, ValueEnum, ValueHint};
use ridge_record::experiment::{
    Change, ExperimentEnd, ExperimentError, ExperimentEvent, ExperimentOptions, ExperimentRun, Results,
    compare_results, experiment,
};
use ridge_record::trial::last_lines;
use ridge_record::{ProgramStatus, RecordOptions, default_out_dir, record};
use ridge_report::experiment::{json, text};
use ridge_report::terminal::Layout;
use ridgeline::comparison::Options;
use ridgeline::units::Nanos;
use ridgeline::{
    CHANGES, Check, Experiment, ExperimentChange, ExperimentResults, ExperimentSample, OpenOptions, Planned, Selection,
    Session, TimedLoop, Tried, change_named, chosen, is_known, plan, plan_of, worth_measuring,
};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Its document in the directory.
const DOCUMENT: &str = "experiment.json";
/// The recording of the program as it is, in the directory.
const RECORDING: &str = "recorded";

/// Measure the saving of a finding's fix, without editing anything
///
/// Records the program, runs `check` on it, and runs it again with the changes that its findings call for:
/// made in memory, from outside, so no file is touched. Runs with and without a change take turns until the saving is
/// known precisely enough or the budget is spent. Results are compared, and a changed result is reported. If no change
/// from outside fits, work is left out or done twice to measure its cost. See docs/experiment.md.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct ExperimentArguments {
    /// The program and its arguments
    #[arg(last = true, required_unless_present = "list", value_name = "COMMAND", value_hint = ValueHint::CommandWithArguments)]
    command: Vec<OsString>,

    /// Use the findings of this recording instead of recording the program first
    #[arg(long, value_name = "RUN", value_hint = ValueHint::DirPath, help_heading = "What to measure")]
    from: Option<PathBuf>,

    /// Measure only findings of this rule; may be repeated
    #[arg(long, value_name = "RULE", help_heading = "What to measure")]
    finding: Vec<String>,

    /// Try this change, whatever `check` finds; may be repeated
    #[arg(long, value_name = "CHANGE", help_heading = "What to measure", conflicts_with_all = ["from", "finding"])]
    change: Vec<String>,

    /// List the changes that can be tried
    #[arg(long, help_heading = "What to measure", exclusive = true)]
    list: bool,

    /// Stop when half the width of each saving's interval is at most this share of the time
    #[arg(long = "precision", alias = "until", value_name = "PERCENT", default_value = "3%", value_parser = crate::quantities::percent, help_heading = "How long")]
    until: f64,

    /// Time for all runs, up to half of it to try every change once; two more rounds always follow
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = crate::quantities::time, help_heading = "How long")]
    budget: Duration,

    /// Maximum number of rounds after the first, which tries every change once
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(2..=1000), help_heading = "How long")]
    rounds: u32,

    /// Confidence level of intervals
    #[arg(long, value_name = "PERCENT", default_value = "95%", value_parser = crate::quantities::confidence, help_heading = "How long")]
    confidence: f64,

    /// Do not add the results to the local record that `ridgeline rules` shows
    #[arg(long, help_heading = "Output")]
    no_record: bool,

    #[command(flatten)]
    window: WindowArguments,

    /// Directory for the recording, logs and results; earlier experiments there are replaced
    #[arg(long = "output", short = 'o', alias = "out", value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Output")]
    out: Option<PathBuf>,

    /// Output format
    #[arg(long, short = 'f', value_name = "FORMAT", default_value = "text", help_heading = "Output")]
    format: ExperimentFormat,

    #[command(flatten)]
    layout: TextLayout,
}

const EXAMPLES: &str = "\
Examples:
  ridgeline experiment -- python train.py                           measure the saving of every finding
  ridgeline experiment --finding defensive-copies -- python train.py
  ridgeline experiment --from run/ --budget 30m --precision 1% -- python train.py
  ridgeline experiment --change donate --change late -- python train.py    try these, whatever `check` finds
  ridgeline experiment -f json -o measured/ -- python train.py      findings with saving.basis \"measured\"
  ridgeline check measured/recorded --measured measured             show them again
  ridgeline experiment --list                                       the changes, and when each applies

Exit status:
  0  savings were measured, or there is nothing to measure
  1  there are findings, and no saving could be measured, or a measured change altered the results
  2  nothing could be run";

/// Forms of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ExperimentFormat {
    /// For a terminal
    #[value(alias = "table")]
    Text,
    /// A versioned document, as experiment.json in the directory; see docs/json
    Json,
}

/// Runs the command.
pub(crate) fn run(arguments: &ExperimentArguments, globals: &Globals) -> Result<Ending, Failure> {
    measured(arguments, globals).map_err(|failure| failure.ending(USAGE))
}

fn measured(arguments: &ExperimentArguments, globals: &Globals) -> Result<Ending, Failure> {
    if arguments.list {
        deliver_checked(list, None, &arguments.layout, globals)?;
        return Ok(Ending::Code(0));
    }
    let began = Instant::now();
    let names = arguments.changes()?;
    let known = |id: &&String| ridgeline::rule(id).is_none();
    if let Some(unknown) = arguments.finding.iter().find(known) {
        return Err(Failure::usage(format!("unknown rule `{unknown}`")).hint("`ridgeline rules` lists them"));
    }
    let out = claim(&arguments.folder()?)?;
    let (check, library) = match names.is_empty() {
        true => arguments.found(&out)?,
        false => (None, "jax"),
    };
    let findings = check.as_ref().map(|check| worth_measuring(check, &arguments.finding)).unwrap_or_default();
    let planned = match &check {
        Some(check) => plan(check, &findings, library),
        None => plan_of(&names),
    };
    let predicted = check.iter().flat_map(|check| &check.diagnosis.findings).map(|found| found.saving.clone());
    let mut experiment = Experiment {
        command: arguments.command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        folder: out.clone(),
        samples: Vec::new(),
        tried: Vec::new(),
        asked: findings.len() + names.len(),
        findings,
        chosen: Vec::new(),
        ended: ExperimentEnd::Enough.name(),
        took_ns: 0,
        predicted: predicted.collect(),
        notes: Vec::new(),
        check,
        planned,
    };
    if !experiment.planned.is_empty() {
        arguments.run_all(&mut experiment, &out)?;
    }
    experiment.took_ns = nanos(began.elapsed());
    experiment.measure();
    finish(arguments, globals, &experiment, &out)
}

fn finish(
    arguments: &ExperimentArguments,
    globals: &Globals,
    experiment: &Experiment,
    out: &Path,
) -> Result<Ending, Failure> {
    let document = json::document(experiment);
    write_file(&out.join(DOCUMENT), document.as_bytes())?;
    let is_measured = |(_, at): &(Option<usize>, usize)| experiment.tried[*at].is_measured;
    let has_any = experiment.chosen.iter().any(is_measured);
    let is_of_findings = experiment.chosen.iter().any(|chosen| chosen.0.is_some() && is_measured(chosen));
    if is_of_findings && !arguments.no_record {
        super::rules::keep(out)?;
    }
    let render = |layout: &Layout| match arguments.format {
        ExperimentFormat::Text => text::render(experiment, layout),
        ExperimentFormat::Json => document.clone(),
    };
    deliver_checked(render, None, &arguments.layout, globals)?;
    let has_nothing = experiment.asked > 0 && !has_any;
    let is_altered = |chosen: &(Option<usize>, usize)| {
        is_measured(chosen)
            && experiment.planned[chosen.1].change.kind == ridgeline::ChangeKind::Real
            && experiment
                .samples
                .iter()
                .filter(|sample| sample.change == Some(chosen.1))
                .filter_map(|sample| sample.results.as_ref())
                .any(|results| !results.agree())
    };
    Ok(Ending::Code(i32::from(has_nothing || experiment.chosen.iter().any(is_altered))))
}

impl ExperimentArguments {
    /// The changes that are named.
    fn changes(&self) -> Result<Vec<&'static ExperimentChange>, Failure> {
        let one = |name: &String| {
            change_named(name).ok_or_else(|| {
                Failure::usage(format!("unknown change `{name}`")).hint("`ridgeline experiment --list` shows them")
            })
        };
        self.change.iter().map(one).collect()
    }

    fn folder(&self) -> Result<PathBuf, Failure> {
        let folder = self.out.clone().unwrap_or_else(|| default_out_dir(&self.command));
        std::path::absolute(&folder).map_err(|error| Failure::io("cannot find the directory", &error).at(&folder))
    }

    /// What `check` finds in a recording of the program, and its library.
    fn found(&self, out: &Path) -> Result<(Option<Check>, &'static str), Failure> {
        let path = match &self.from {
            Some(path) => path.clone(),
            None => self.record(&out.join(RECORDING))?,
        };
        ridgeline::start_threads();
        let session = Session::open(std::slice::from_ref(&path), &OpenOptions::default())
            .map_err(|error| Failure::failed(error.to_string()).at(&path))?;
        let check = session.check(&Selection::default());
        let manifest = fs::read_to_string(path.join("manifest.json")).unwrap_or_default();
        let is_of_torch = manifest.contains("\"torch\"") && !manifest.contains("\"jax\"");
        Ok((Some(check), if is_of_torch { "torch" } else { "jax" }))
    }

    fn record(&self, out: &Path) -> Result<PathBuf, Failure> {
        say("recording the program as it is");
        let log = out.with_extension("log");
        let options = RecordOptions {
            command: self.command.clone(),
            out: Some(out.to_owned()),
            log: Some(log.clone()),
            ..self.window.options()
        };
        let outcome = record(&options, &mut |_| {}).map_err(|error| Failure::failed(error.to_string()))?;
        if outcome.status != ProgramStatus::Exited(0) {
            let code = outcome.status.shell_code();
            return Err(Failure::failed(format!("the unchanged program ended with {code}")).hints(
                Some(last_lines(&log)).filter(|said| !said.is_empty()).map(|said| format!("it printed: {said}")),
            ));
        }
        Ok(outcome.out)
    }

    fn compare(&self) -> Options {
        Options { confidence: self.confidence, ..Options::default() }
    }

    /// Runs the changes and keeps what they come to.
    fn run_all(&self, experiment_of: &mut Experiment, out: &Path) -> Result<(), Failure> {
        let planned = experiment_of.planned.clone();
        let changes =
            planned.iter().map(|plan| Change { name: plan.change.name.to_owned(), places: plan.places.clone() });
        let options = ExperimentOptions {
            command: self.command.clone(),
            out: out.to_owned(),
            changes: changes.collect(),
            budget: self.budget,
            most_rounds: self.rounds,
        };
        let compare = self.compare();
        let mut picked: Option<Vec<(Option<usize>, usize)>> = None;
        let mut wanted = |runs: &[ExperimentRun]| {
            let samples = samples_of(runs);
            let picked = picked.get_or_insert_with(|| chosen(&planned, &samples, &compare));
            let mut more: Vec<usize> = picked.iter().map(|(_, at)| *at).collect();
            more.sort_unstable();
            more.dedup();
            more.retain(|at| !is_known(&planned, &samples, *at, self.until, &compare));
            more
        };
        let mut number = 0;
        let mut tell = |event: ExperimentEvent<'_>| match event {
            ExperimentEvent::Begins { change, .. } => {
                number += 1;
                say(&format!("run {number}: {}", change.map_or("as it is", |change| &change.name)));
            }
            ExperimentEvent::Ended { run } => say(&format!("run {number}: {}", told(run))),
            _ => {}
        };
        let (runs, ended) = experiment(&options, &mut wanted, &mut tell).map_err(failure)?;
        let samples = samples_of(&runs);
        let picked = picked.unwrap_or_else(|| chosen(&planned, &samples, &compare));
        let is_chosen = |at: usize| picked.iter().any(|(_, chosen)| *chosen == at);
        experiment_of.tried =
            (0..planned.len()).map(|at| Tried::of(&planned, &samples, at, is_chosen(at), &compare)).collect();
        experiment_of.notes = notes(&planned, &picked, experiment_of, ended);
        (experiment_of.chosen, experiment_of.samples, experiment_of.ended) = (picked, samples, ended.name());
        Ok(())
    }
}

fn notes(
    planned: &[Planned],
    picked: &[(Option<usize>, usize)],
    experiment: &Experiment,
    ended: ExperimentEnd,
) -> Vec<String> {
    let mut notes = Vec::new();
    let mut shared: Vec<usize> = picked.iter().map(|(_, at)| *at).collect();
    shared.sort_unstable();
    let is_shared = shared.windows(2).any(|two| two[0] == two[1]);
    if is_shared {
        notes.push("findings with the same change share its saving: it belongs to all of them together".to_owned());
    }
    let is_virtual = |(_, at): &(Option<usize>, usize)| planned[*at].change.kind != ridgeline::ChangeKind::Real;
    if picked.iter().any(is_virtual) {
        notes
            .push("leaving work out or doing it twice shows its cost; its replacement also costs something".to_owned());
    }
    if ended == ExperimentEnd::Interrupted && experiment.tried.iter().all(|tried| !tried.is_measured) {
        notes.push("interrupted before any change was measured twice".to_owned());
    }
    notes
}

fn failure(error: ExperimentError) -> Failure {
    let hint = match &error {
        ExperimentError::Failed { log, .. } => Some(format!("it printed: {}", last_lines(log))),
        _ => None,
    };
    Failure::failed(error.to_string()).hints(hint)
}

/// Runs as the façade knows them; results are held against the first two runs of the program as it is.
fn samples_of(runs: &[ExperimentRun]) -> Vec<ExperimentSample> {
    let as_it_is: Vec<&ExperimentRun> = runs.iter().filter(|run| run.change.is_none()).take(2).collect();
    runs.iter().map(|run| sample(run, &as_it_is)).collect()
}

fn sample(run: &ExperimentRun, as_it_is: &[&ExperimentRun]) -> ExperimentSample {
    let report = run.report.clone().unwrap_or_default();
    let is_compared = run.change.is_some() && run.status == ProgramStatus::Exited(0);
    ExperimentSample {
        change: run.change,
        round: run.round,
        exit_code: if run.report.is_some() { run.status.shell_code() } else { run.status.shell_code().max(1) },
        wall_ns: nanos(run.wall),
        applied: report.applied.into_iter().map(|applied| (applied.site, applied.times)).collect(),
        failed: report.failed.into_iter().map(|site| (site.site, site.why)).collect(),
        loops: report
            .loops
            .into_iter()
            .map(|one| TimedLoop {
                file: one.file,
                line: one.line,
                iterations: one.iterations,
                seconds: one.seconds,
                compile_s: one.compile_s,
            })
            .collect(),
        program_s: report.program_s,
        compile_s: report.compile_s,
        results: is_compared.then(|| results(compare_results(as_it_is, run))),
        log: run.log.clone(),
    }
}

fn results(found: Results) -> ExperimentResults {
    let state = found.name();
    let (difference, compared, why) = match found {
        Results::Same { compared } => (Some(0.0), compared, None),
        Results::Close { difference, compared } => (Some(difference), compared, None),
        Results::Differs { why } => (None, 0, Some(why)),
        Results::NotCompared => (None, 0, None),
    };
    ExperimentResults { state, difference, compared, why }
}

/// What a run came to, in a few words.
fn told(run: &ExperimentRun) -> String {
    let took = Nanos(nanos(run.wall));
    match (&run.report, run.status) {
        (_, status) if status != ProgramStatus::Exited(0) => format!("ended with {} after {took}", status.shell_code()),
        (None, _) => format!("{took}, without a report"),
        (Some(report), _) if run.change.is_some() && report.applied.is_empty() => {
            format!("{took}, the change does not apply")
        }
        (Some(report), _) => match report.loops.first() {
            Some(one) if one.iterations > 0 => {
                let each = Nanos((1e9 * one.seconds / one.iterations as f64) as i64);
                format!("{took}, {each} per iteration of {}:{}", one.file, one.line)
            }
            _ => format!("{took}"),
        },
    }
}

fn say(words: &str) {
    anstream::eprintln!("ridgeline: {}", ridgeline::escape::escape_controls(words));
}

fn nanos(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}

/// The changes, with when each applies.
fn list(_: &Layout) -> String {
    let one = |change: &ExperimentChange| {
        let library = match change.library {
            "" => "JAX and PyTorch",
            "jax" => "JAX",
            _ => "PyTorch",
        };
        format!(
            "{} ({library}, {})\n  change   {}\n  results  {}\n  not if   {}\n",
            change.name,
            change.kind.name(),
            change.what,
            change.results,
            change.unless
        )
    };
    CHANGES.iter().map(one).collect::<Vec<_>>().join("\n")
}

/// Makes the directory, and takes earlier experiments out of it.
fn claim(folder: &Path) -> Result<PathBuf, Failure> {
    let failed = |error: std::io::Error| Failure::io("cannot write the directory", &error).at(folder);
    fs::create_dir_all(folder).map_err(failed)?;
    let is_empty = fs::read_dir(folder).map_err(failed)?.next().is_none();
    if !is_empty && !folder.join(DOCUMENT).is_file() {
        return Err(Failure::usage("the directory has other files: expected an empty one or earlier experiments")
            .at(folder)
            .hint("name another directory with `-o`"));
    }
    for name in ["runs", RECORDING] {
        let inside = folder.join(name);
        if inside.is_dir() {
            fs::remove_dir_all(inside).map_err(failed)?;
        }
    }
    write_file(&folder.join(DOCUMENT), b"{}\n")?;
    Ok(folder.to_owned())
}
