//! Two sides of recordings beside each other: opens what stands for each, and compares their summaries.
//!
//! A side is one or several runs. A run is a capture, a folder of `ridgeline bench`, or a file that [`Diff::summaries`] was
//! written to; a folder whose folders are recordings stands for all of them. Each capture is closed again as soon as it is
//! summarized, and both sides are read at once.

use crate::document::read_document;
use crate::error::{Details, OpenError};
use crate::manifest::Manifest;
use crate::note::{Note, Severity};
use crate::session::{OpenOptions, Session};
use crate::source_text::SourceText;
use ridge_diagnose::{Finding, Level, SavingBasis, Selection};
use ridge_diff::{
    Comparison, DeviceSeen, FoundCause, MOST_RUNS, Origin, Place, PredictedSaving, SuiteRow, Summaries, Summary,
    compare, suite, summarize,
};
use ridge_documents::{BenchResults, Cpu, Damage, Document};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Captures with more events are only asked for causes where that is wanted: it takes longer than reading them.
const MOST_JUDGED_UNASKED: usize = 1 << 20;
/// Several runs of each side that show no change by this factor show none; more of them show smaller ones.
const SHOWN_FACTOR: f64 = 2.5;
/// Bytes at the beginning of a file that tell whether it is a summary.
const HEAD_BYTES: u64 = 256;

/// Whether the rules are asked what holds each side back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CausesAsked {
    /// Where a capture is not large.
    #[default]
    Usually,
    /// Always.
    Always,
    /// Not at all.
    Never,
}

/// How to compare.
#[derive(Debug, Clone, Default)]
pub struct DiffOptions {
    /// What counts as a change.
    pub compare: ridge_diff::Options,
    /// How captures are opened.
    pub open: OpenOptions,
    /// Whether the rules are asked.
    pub causes: CausesAsked,
}

/// Two sides beside each other.
#[derive(Debug, Clone)]
pub struct Diff {
    /// What it comes to.
    pub comparison: Comparison,
    /// What a reader must know of the captures, gravest first.
    pub notes: Vec<Note>,
    /// The runs of the side before, then those after.
    pub summaries: (Vec<Summary>, Vec<Summary>),
}

/// Compares the runs that `before` and `after` stand for.
///
/// # Errors
/// [`OpenError`] where a side is empty, or a run cannot be opened.
pub fn diff(before: &[PathBuf], after: &[PathBuf], options: &DiffOptions) -> Result<Diff, OpenError> {
    let (before, after) = rayon::join(|| side(before, options), || side(after, options));
    let ((before, mut notes), (after, more)) = (before?, after?);
    notes.extend(more);
    notes.sort_by_key(|note| std::cmp::Reverse(note.severity));
    let how = ridge_diff::Options { shown_factor: Some(SHOWN_FACTOR), ..options.compare };
    let comparison = compare(&before, &after, &how);
    Ok(Diff { comparison, notes, summaries: (before, after) })
}

type Side = (Vec<Summary>, Vec<Note>);

fn side(paths: &[PathBuf], options: &DiffOptions) -> Result<Side, OpenError> {
    let mut runs: Vec<PathBuf> = Vec::new();
    for path in paths {
        runs.extend(recordings_in(path).unwrap_or_else(|| vec![path.clone()]));
    }
    if runs.is_empty() {
        return Err(OpenError::BadInput(Details::new("expected a capture on each side, found none")));
    }
    // Several runs of a side one after the other, so that no more than two captures are in memory.
    let mut found: Side = (Vec::new(), Vec::new());
    for run in &runs {
        let (summaries, notes) = summarized(run, options)?;
        found.0.extend(summaries);
        found.1.extend(notes);
    }
    Ok(found)
}

/// The recordings or benchmarks that are the folders of `path`, by name; `None` where it is something itself.
fn recordings_in(path: &Path) -> Option<Vec<PathBuf>> {
    let is_run = |folder: &Path| ["manifest.json", "results.json"].iter().any(|name| folder.join(name).is_file());
    if !path.is_dir() || is_run(path) {
        return None;
    }
    let inside = std::fs::read_dir(path).ok()?.filter_map(Result::ok).map(|entry| entry.path());
    let mut found: Vec<PathBuf> = inside.filter(|folder| is_run(folder)).take(MOST_RUNS).collect();
    found.sort();
    (!found.is_empty()).then_some(found)
}

/// The summary of one run, or those that a file holds, and what a reader must know of them.
fn summarized(path: &Path, options: &DiffOptions) -> Result<Side, OpenError> {
    let head = head(path);
    // A file of several runs has the schema of one behind its own.
    if head.contains(Summaries::SCHEMA) {
        let read = read_document::<Summaries>(path)?;
        return Ok(from_file(path, read.document.sound(), &read.damaged));
    }
    if head.contains(Summary::SCHEMA) {
        let read = read_document::<Summary>(path)?;
        return Ok(from_file(path, vec![read.document.sound()], &read.damaged));
    }
    let (summary, notes) = if crate::scaling::is_benchmark(path) {
        of_benchmark(path)?
    } else {
        let session = Session::open(&[path.to_owned()], &options.open)?;
        (session.summary(options.causes), session.notes().to_vec())
    };
    Ok((vec![summary], notes))
}

/// Summaries that were read from a file: with a part that is left out they are no longer what was measured.
fn from_file(path: &Path, runs: Vec<Summary>, damaged: &[Damage]) -> Side {
    let marked = |mut run: Summary| {
        run.lost.extend((!damaged.is_empty()).then(|| "the file of its summary is damaged".to_owned()));
        run
    };
    let notes = damaged.iter().map(|damage| crate::note::damaged(damage, path));
    (runs.into_iter().map(marked).collect(), notes.collect())
}

/// The beginning of a file, which tells whether it is a summary.
fn head(path: &Path) -> String {
    let mut head = Vec::new();
    let file = path.is_file().then(|| File::open(path).ok()).flatten();
    let read = file.is_some_and(|file| file.take(HEAD_BYTES).read_to_end(&mut head).is_ok());
    if read { String::from_utf8_lossy(&head).into_owned() } else { String::new() }
}

impl Session {
    /// What of the capture is needed to compare it.
    pub fn summary(&self, causes: CausesAsked) -> Summary {
        let mut texts = SourceText::new(&self.imported().sources, self.run_folder());
        let mut summary = self.with_analysis(|analysis| summarize(analysis, &mut |file, line| texts.line(file, line)));
        summary.name = self.root().display().to_string();
        let mut formats: Vec<String> =
            self.imported().captures.iter().map(|capture| capture.format.to_owned()).collect();
        formats.sort();
        formats.dedup();
        let versions = self.imported().captures.iter().flat_map(|capture| &capture.facts);
        let versions = versions.filter(|(key, _)| key.to_ascii_lowercase().contains("version")).cloned();
        let origin = Origin { formats, versions: versions.collect(), ..summary.origin };
        summary.origin = with_manifest(origin, self.manifest());
        if let Some(compile_ns) = self.manifest().map(compile_ns).filter(|ns| *ns > 0.0) {
            summary
                .measures
                .iter_mut()
                .filter(|found| found.key == "compile_ns")
                .for_each(|found| found.value = compile_ns);
        }
        let lost = self.notes().iter().filter(|note| note.severity == Severity::Lost);
        summary.lost = lost.map(|note| note.message.clone()).collect();
        let asked = match causes {
            CausesAsked::Always => true,
            CausesAsked::Usually => self.trace().events.len() <= MOST_JUDGED_UNASKED,
            CausesAsked::Never => false,
        };
        summary.findings = asked.then(|| self.causes());
        summary
    }

    /// What holds the program back, as far as it is worth mending.
    fn causes(&self) -> Vec<FoundCause> {
        let check = self.check(&Selection::default());
        let found = check.diagnosis.findings.iter().zip(&check.shown);
        let causes = found.filter(|(finding, _)| finding.level > Level::Info && finding.because.is_none());
        let cause = causes.map(|(finding, shown)| FoundCause {
            rule: finding.rule.to_owned(),
            message: finding.message.clone(),
            place: finding.place.as_ref().map(|place| Place {
                file: place.file.clone(),
                line: place.line,
                function: String::new(),
                text: shown.line_text.clone(),
                is_inferred: place.is_inferred,
            }),
            share: finding.share,
            saving: predicted(finding),
        });
        cause.collect()
    }
}

/// What mending it is predicted to save; a bound is no prediction.
fn predicted(finding: &Finding) -> Option<PredictedSaving> {
    let saving =
        finding.saving.as_ref().filter(|saving| !matches!(saving.basis, SavingBasis::Bound | SavingBasis::Measured))?;
    let basis = saving.basis.name().to_owned();
    Some(PredictedSaving { low: saving.share_low, high: saving.share_high, basis })
}

/// Time in the compiler over all modules, nanoseconds.
fn compile_ns(manifest: &Manifest) -> f64 {
    manifest.document.modules.iter().filter_map(|module| module.compile_s).sum::<f64>() * 1e9
}

/// What the recorder says of versions, options and the processor.
fn with_manifest(mut origin: Origin, manifest: Option<&Manifest>) -> Origin {
    let Some(manifest) = manifest else { return origin };
    let document = &manifest.document;
    origin.versions.extend(document.versions.iter().flat_map(words));
    origin.options.extend(words(&document.options));
    origin.processor = document.cpu.as_ref().and_then(processor);
    origin.is_whole_program = is_whole_program(manifest);
    origin
}

/// Whether the recorder saw all of a program that ran to its end.
fn is_whole_program(manifest: &Manifest) -> bool {
    let document = &manifest.document;
    let asked = |what: &str| document.options.get(what).and_then(|option| option.get("kind")).and_then(Value::as_str);
    // A limit left a part out.
    let is_cut =
        document.notes.iter().flatten().any(|note| note.get("what").and_then(Value::as_str) == Some("capture"));
    let ended = document.program.as_ref().and_then(|program| program.exit_code) == Some(0);
    ended
        && !is_cut
        && document.finished != Some(false)
        && document.complete == Some(true)
        && asked("window") == Some("whole")
        && asked("warm_up") == Some("none")
}

fn processor(cpu: &Cpu) -> Option<String> {
    let model = cpu.model.clone()?;
    Some(match cpu.usable_cores {
        Some(cores) => format!("{model} with {cores} cores"),
        None => model,
    })
}

fn words(map: &Map<String, Value>) -> BTreeMap<String, String> {
    let word = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    map.iter().filter(|(_, value)| !value.is_null()).map(|(key, value)| (key.clone(), word(value))).collect()
}

/// The summary of a folder that `ridgeline bench` wrote: the timed runs of each operation at each size.
fn of_benchmark(folder: &Path) -> Result<(Summary, Vec<Note>), OpenError> {
    let file = folder.join("results.json");
    let read = read_document::<BenchResults>(&file)?;
    let results = read.document;
    let mut rows: Vec<SuiteRow> = Vec::new();
    for run in results.measurements.iter().filter(|run| !run.traced && run.time.is_finite() && run.time > 0.0) {
        let name = format!("{} @ {}", run.operation, run.volume_size);
        let at = rows.iter().position(|row| row.name == name).unwrap_or(rows.len());
        if at == rows.len() {
            rows.push(SuiteRow { name, runs_ns: Vec::new() });
        }
        rows[at].runs_ns.push((run.time * 1e9).round() as i64);
    }
    let mut summary = suite(&rows);
    summary.name = folder.display().to_string();
    if let Some(environment) = &results.environment {
        let devices = environment.devices.iter().flatten().map(|device| DeviceSeen {
            model: device.kind.clone().or_else(|| device.platform.clone()).unwrap_or_default(),
            is_processor: device.platform.as_deref() == Some("cpu"),
            clock_khz: None,
        });
        summary.origin.devices = devices.collect();
        summary.origin.versions = environment.versions.iter().flat_map(words).collect();
        summary.origin.processor = environment.cpu.as_ref().and_then(processor);
    }
    if results.interrupted {
        summary.lost.push("the benchmark was interrupted".to_owned());
    }
    let notes = read.damaged.iter().map(|damage| crate::note::damaged(damage, &file)).collect();
    Ok((summary, notes))
}

/// The summaries of the runs that `paths` stand for, to be kept.
///
/// # Errors
/// [`OpenError`] where there are none, or one cannot be opened.
pub fn summaries_of(paths: &[PathBuf], options: &DiffOptions) -> Result<(Vec<Summary>, Vec<Note>), OpenError> {
    side(paths, options)
}

/// Summaries as the text of a file that stands for their captures.
pub fn summary_text(runs: &[Summary]) -> String {
    // A summary has no maps with other keys than texts, so it is always JSON.
    let text = match runs {
        [only] => serde_json::to_string(only),
        _ => serde_json::to_string(&Summaries { schema: Summaries::SCHEMA.to_owned(), runs: runs.to_vec() }),
    };
    text.unwrap_or_default() + "\n"
}
