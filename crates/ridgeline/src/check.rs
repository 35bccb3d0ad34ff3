//! What holds a program back: the diagnosis of a session, with what faces need to show it.

use crate::session::Session;
use crate::source_text::{SourceText, kept_line};
use crate::subject::{SubjectText, subject_text};
use ridge_diagnose::{Case, Compiled, Diagnosis, Finding, Known, Place, Rule, Selection, StepTimes, diagnose};
use ridge_table::{Note, Subject};

/// The diagnosis of a capture, ready to show.
#[derive(Debug, Clone)]
pub struct Check {
    /// What a reader must know of the capture, gravest first.
    pub notes: Vec<Note>,
    /// What the rules came to.
    pub diagnosis: Diagnosis,
    /// What each finding is about, in words, and the text of its line; in the order of the findings.
    pub shown: Vec<Shown>,
    /// What to know of the source lines that are shown.
    pub footnotes: Vec<String>,
    /// The path that was opened.
    pub path: String,
}

/// What faces need of a finding beside it.
#[derive(Debug, Clone, Default)]
pub struct Shown {
    /// What it is about.
    pub subjects: Vec<SubjectText>,
    /// Where each piece of evidence is to be seen, in the order of the evidence.
    pub evidence: Vec<Option<SubjectText>>,
    /// The text of its line, where its file can be read.
    pub line_text: Option<String>,
    /// What stays the same from one capture of a program to the next: rule, place, or the names it is about.
    pub fingerprint: String,
}

impl Session {
    /// Asks the rules of `selection` what holds the program back.
    pub fn check(&self, selection: &Selection) -> Check {
        let doubles = self.run_folder().and_then(|folder| kept_line(folder, asks_for_doubles));
        let known = Known {
            notes: self.notes().to_vec(),
            compilations: self.compilations().iter().cloned().map(compiled).collect(),
            step_times: self.manifest().and_then(|manifest| step_times(&manifest.document)),
            cpu_waited: self.manifest().map_or(0.0, |manifest| cpu_waited(&manifest.document)),
            main_memory_bytes: self.manifest().and_then(|manifest| manifest.document.cpu.as_ref()?.memory_bytes),
            failed: self.manifest().is_some_and(|manifest| has_failed(&manifest.document)),
            compiled_again: self.compiled_again().map(<[_]>::to_vec),
            is_predicted: self.is_predicted(),
            seen: self.seen_statically(),
            doubles_asked_at: doubles.map(|(file, line)| Place { file, line, is_inferred: false }),
        };
        let diagnosis = self.with_analysis(|analysis| {
            let case = Case { analysis: *analysis, known: &known };
            diagnose(&case, selection)
        });
        let mut texts = SourceText::new(&self.imported().sources, self.run_folder());
        let mut shown: Vec<Shown> = Vec::with_capacity(diagnosis.findings.len());
        for finding in &diagnosis.findings {
            let text = |subject: &Subject| subject_text(self.trace(), subject);
            let subjects: Vec<SubjectText> = finding.subjects.iter().map(text).collect();
            let evidence = finding.evidence.iter().map(|said| said.subject.as_ref().map(text)).collect();
            let line_text = finding.place.as_ref().and_then(|place| texts.line(&place.file, place.line));
            let fingerprint = fingerprint(finding, &subjects);
            shown.push(Shown { subjects, evidence, line_text, fingerprint });
        }
        Check {
            notes: known.notes,
            diagnosis,
            shown,
            footnotes: texts.footnotes(),
            path: self.root().display().to_string(),
        }
    }
}

/// What the recorder timed with and without the profiler, in the first process that has such steps.
fn step_times(manifest: &ridge_documents::Manifest) -> Option<StepTimes> {
    manifest.processes.iter().flatten().find_map(|process| {
        let times = process.get("step_times")?;
        let ns = |key: &str| Some(times.get(key)?.as_f64()? * 1e9);
        Some(StepTimes { recorded_ns: ns("recorded_s")?, not_recorded_ns: ns("not_recorded_s")? })
    })
}

/// The part of its recorded time in which a process waited for a CPU, of the one that waited longest.
fn cpu_waited(manifest: &ridge_documents::Manifest) -> f64 {
    let of = |process: &serde_json::Value| {
        let waits = process.get("cpu_waits")?;
        let seconds = |key: &str| waits.get(key)?.as_f64();
        let (waited, of) = (seconds("waited_s")?, seconds("of_s")?);
        (of > 0.0).then(|| (waited / of).clamp(0.0, 1.0))
    };
    manifest.processes.iter().flatten().filter_map(of).fold(0.0, f64::max)
}

/// Whether the recorder saw the program end with an error.
fn has_failed(manifest: &ridge_documents::Manifest) -> bool {
    let ended = manifest.program.as_ref();
    ended.is_some_and(|ended| ended.exit_code.is_some_and(|code| code != 0) || ended.signal.is_some())
}

/// Whether a line of Python has JAX compute in double precision.
fn asks_for_doubles(line: &str) -> bool {
    let code = line.split('#').next().unwrap_or_default();
    let names_it = ["jax_enable_x64", "JAX_ENABLE_X64"].iter().any(|name| code.contains(name));
    names_it && ["True", "1"].iter().any(|on| code.contains(on)) || code.contains("enable_x64()")
}

fn compiled(found: ridge_analysis::Compilation) -> Compiled {
    let ridge_analysis::Compilation { module, count, compile_s, parameters, calls, .. } = found;
    Compiled { module, count, compile_s, parameters, calls }
}

/// The rule with its place; without one, with the names of what it is about.
fn fingerprint(finding: &Finding, subjects: &[SubjectText]) -> String {
    match &finding.place {
        Some(place) => format!("{} {}:{}", finding.rule, place.file, place.line),
        None => {
            let names: Vec<&str> = subjects.iter().filter_map(|subject| subject.name.as_deref()).collect();
            format!("{} {}", finding.rule, names.join(" ")).trim_end().to_owned()
        }
    }
}

/// The document of a rule without its examples, which are for those who change it.
pub fn explanation(rule: &Rule) -> &'static str {
    let document = rule.document;
    document.find("\n## Examples").map_or(document, |end| document.get(..=end).unwrap_or(document))
}
