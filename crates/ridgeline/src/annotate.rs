//! The user's source with what each line did: time, idle time, copies, work and findings beside the text that ran.
//!
//! Sums of lines are those of `ridgeline stats --by source`; this lays them beside the text.

mod file;
mod files;
mod no_lines;

pub use file::{AnnotatedFile, AnnotatedLine, LineWork};

use crate::check::Check;
use crate::error::OpenError;
use crate::note::Note;
use crate::session::Session;
use crate::source_text::SourceText;
use files::{Names, chosen, named};
use no_lines::no_lines;
use ridge_analysis::{Analysis, Bound, LineSums, SourceIdle, SourceLine, TimeOf};
use ridge_diagnose::Selection;
use ridge_trace::EventKind;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What to lay beside the text.
#[derive(Debug, Clone, Default)]
pub struct AnnotateOptions {
    /// The files to show; where there is none, those with the most time.
    pub files: Vec<PathBuf>,
    /// How many files are shown where none is named.
    pub most_files: usize,
    /// Whether the rules are asked what they find.
    pub findings: bool,
}

/// Files of the program with what their lines did.
#[derive(Debug, Clone)]
pub struct Annotation {
    /// What a reader must know of the capture, gravest first.
    pub notes: Vec<Note>,
    /// The path that was opened.
    pub path: String,
    /// What the times are of.
    pub of: TimeOf,
    /// The time of all lines and of what has none, nanoseconds.
    pub all_ns: i64,
    /// What has no line.
    pub unknown: LineSums,
    /// Idle time of devices between their first and last work, nanoseconds.
    pub idle_ns: i64,
    /// The part of it that has a line, nanoseconds.
    pub idle_known_ns: i64,
    /// The files that are shown.
    pub files: Vec<AnnotatedFile>,
    /// Files with time that are not shown, most first.
    pub others: Vec<(String, LineSums)>,
    /// What the rules found, where they were asked.
    pub check: Option<Check>,
    /// What to know of the text and the numbers, a sentence each.
    pub footnotes: Vec<String>,
}

impl Session {
    /// Lays what each line did beside its text.
    ///
    /// # Errors
    /// [`OpenError`] where the capture knows no line of any program, or none of a file that was named.
    pub fn annotate(&self, options: &AnnotateOptions) -> Result<Annotation, OpenError> {
        let check = options.findings.then(|| self.check(&Selection::default()));
        self.with_analysis(|analysis| annotated(self, analysis, options, check))
    }
}

fn annotated(
    session: &Session,
    analysis: &Analysis<'_>,
    options: &AnnotateOptions,
    check: Option<Check>,
) -> Result<Annotation, OpenError> {
    let source = analysis.source_lines();
    let mut texts = SourceText::new(&session.imported().sources, session.run_folder());
    let known = texts.known();
    let names = Names::of(source.rows.iter().map(|row| &*row.file).chain(known.iter().map(String::as_str)));
    let idle = SourceIdle::of(analysis, &|file| names.full(file) != file);
    if source.rows.is_empty() && idle.rows.is_empty() {
        return Err(no_lines(session, analysis));
    }
    let mut files = files_of(analysis, &idle, check.as_ref(), &names);
    let whole_ns = source.all_ns().saturating_add(idle.whole_ns);
    let shown = match options.files.is_empty() {
        true => chosen(&files, options.most_files, whole_ns, &mut texts),
        false => named(&files, &options.files)?,
    };
    let mut annotation = Annotation {
        notes: session.notes().to_vec(),
        path: session.root().display().to_string(),
        of: source.of,
        all_ns: source.all_ns(),
        unknown: source.unknown,
        idle_ns: idle.whole_ns,
        idle_known_ns: idle.known_ns(),
        files: Vec::new(),
        others: Vec::new(),
        check,
        footnotes: Vec::new(),
    };
    for (name, path) in shown {
        let Some(mut file) = files.remove(&name) else { continue };
        file.text = texts.file(&name, path.as_deref()).map(|(origin, lines)| (origin, lines.to_vec()));
        annotation.files.push(file);
    }
    let with_time = files.into_values().filter(|file| file.sums.held_ns() > 0);
    annotation.others = with_time.map(|file| (file.name, file.sums)).collect();
    annotation.others.sort_by_key(|(_, sums)| std::cmp::Reverse(sums.held_ns()));
    let has_calls = analysis.trace.events.kind.contains(&(EventKind::PythonCall as u8));
    annotation.footnotes = footnotes(&annotation, source.has_functions, has_calls);
    annotation.footnotes.extend(texts.footnotes());
    Ok(annotation)
}

/// Every file with what its lines did.
fn files_of(
    analysis: &Analysis<'_>,
    idle: &SourceIdle,
    check: Option<&Check>,
    names: &Names,
) -> BTreeMap<String, AnnotatedFile> {
    let mut files: BTreeMap<String, AnnotatedFile> = BTreeMap::new();
    for row in &analysis.source_lines().rows {
        let line = line_of(&mut files, &row.file, row.line);
        line.sums = row.sums;
        line.function.clone_from(&row.function);
        line.work = work_of(analysis, row);
    }
    for row in &idle.rows {
        let line = line_of(&mut files, names.full(&row.file), row.line);
        line.idle_ns = line.idle_ns.saturating_add(row.ns);
        line.idle.extend(&row.parts);
        if line.function.is_empty() {
            line.function.clone_from(&row.function);
        }
    }
    let findings = check.into_iter().flat_map(|check| &check.diagnosis.findings).enumerate();
    for (position, finding) in findings {
        if let Some(place) = &finding.place {
            line_of(&mut files, names.full(&place.file), place.line).findings.push(position);
        }
    }
    for file in files.values_mut() {
        for line in file.lines.values() {
            file.sums.add(&LineSums { inclusive_ns: 0, ..line.sums });
            file.idle_ns = file.idle_ns.saturating_add(line.idle_ns);
        }
    }
    files
}

/// The line of the file, made where it is new.
fn line_of<'f>(files: &'f mut BTreeMap<String, AnnotatedFile>, name: &str, line: u32) -> &'f mut AnnotatedLine {
    let file = files.entry(name.to_owned()).or_insert_with(|| AnnotatedFile {
        name: name.to_owned(),
        text: None,
        lines: BTreeMap::new(),
        sums: LineSums::default(),
        idle_ns: 0,
    });
    file.lines.entry(line).or_default()
}

fn work_of(analysis: &Analysis<'_>, row: &SourceLine) -> Option<LineWork> {
    let work = analysis.source_lines().work_of(analysis, row);
    (work.known_ns > 0.0).then(|| LineWork {
        flops: work.flops,
        bytes: work.bytes,
        headroom: work.headroom(),
        bound: work.bound().filter(|bound| *bound != Bound::Unknown),
        unknown_share: work.unknown_share().unwrap_or(0.0),
    })
}

/// What to know of the numbers, a sentence each.
fn footnotes(annotation: &Annotation, has_functions: bool, has_calls: bool) -> Vec<String> {
    let mut said = Vec::new();
    if has_functions || annotation.files.iter().any(|file| file.idle_ns > 0) {
        let of = if has_functions { "functions of Python are" } else { "idle time of a function is" };
        said.push(format!("{of} shown where the function begins: the profiler recorded no other line"));
        if !has_functions {
            said.push("files of functions are matched only by name: the profiler records no directories".to_owned());
        }
    }
    if annotation.of == TimeOf::Host {
        said.push("the capture has no work of a device: times are of operators of the host".to_owned());
    } else if annotation.idle_ns > 0 && annotation.idle_known_ns == 0 {
        said.push(match has_calls {
            true => "idle time isn't attributed to lines: no function of the program was running during it".to_owned(),
            false => "idle time is not given to lines: the capture has no calls of Python; `ridgeline record \
                      --python-tracer` records them, at a cost"
                .to_owned(),
        });
    }
    let beyond = |file: &&AnnotatedFile| {
        let length = file.text.as_ref().map_or(usize::MAX, |(_, lines)| lines.len());
        file.lines.keys().any(|line| *line as usize > length)
    };
    for file in annotation.files.iter().filter(beyond) {
        said.push(format!("`{}` is shorter than the file that ran: some of its lines have no text here", file.name));
    }
    said
}
