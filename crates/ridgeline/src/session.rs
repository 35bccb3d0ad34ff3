//! An opened capture.

use crate::ceilings::{CeilingsChoice, ceilings};
use crate::compilations::{compilations, recompiled};
use crate::error::{Details, OpenError};
use crate::file_map::FileBytes;
use crate::find::{FoundFolder, find};
use crate::hlo::{HloStage, dumped, module_hlo, module_row};
use crate::info;
use crate::manifest::Manifest;
use crate::mixture::refuse_mixture;
use crate::note::{Note, Severity};
use crate::subject::SubjectText;
use ridge_analysis::scaling::{CaptureWork, capture_work};
use ridge_analysis::{
    Analysis, Ceilings, Compilation, DeviceTime, EventCategories, Ops, Owners, Prepared, Scopes, steps_tables,
};
use ridge_diagnose::CompiledAgain;
use ridge_hlo::HloModule;
use ridge_import::{Folder, ImportOptions, Imported, Input, Release, Source, import_inputs, takes_modules};
use ridge_table::{Section, Subject, Table};
use ridge_trace::{EventKind, Trace};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How to open a capture.
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    /// Read every file as this format rather than as what its content says.
    pub format: Option<String>,
    /// What one compressed file may unpack to, in bytes; the rest is left out with a note.
    ///
    /// `None` bounds it by 250 times its size and 16 GiB.
    pub max_unpacked_bytes: Option<u64>,
    /// What rates are compared with.
    pub ceilings: CeilingsChoice,
}

/// An opened capture: one trace of all its files, and every answer about it.
#[derive(Debug)]
pub struct Session {
    root: PathBuf,
    imported: Imported,
    manifest: Option<Manifest>,
    notes: Vec<Note>,
    compiled_again: Option<Vec<CompiledAgain>>,
    prepared: Prepared,
}

impl Session {
    /// Opens the capture that `paths` name: files, run folders or log folders, of one or several hosts.
    ///
    /// # Errors
    /// [`OpenError`] where a path does not exist, a folder holds no capture, or nothing useful can be read.
    /// What can be read in part opens, and [`Session::notes`] say what is missing.
    pub fn open(paths: &[PathBuf], options: &OpenOptions) -> Result<Session, OpenError> {
        let found = find(paths).map_err(|error| with_what_is_missing(error, paths))?;
        let (files, mut unreadable) = open_files(&found.files)?;
        let files = Arc::new(files);
        let folders = open_folders(&found.folders, &mut unreadable)?;
        let members: Vec<Vec<Source<'_>>> = folders.iter().map(|(_, files)| sources(files)).collect();
        let mut inputs: Vec<Input<'_>> = sources(&files).into_iter().map(Input::File).collect();
        let named = folders.iter().zip(&members);
        inputs.extend(named.map(|((name, _), files)| Input::Folder(Folder { name, files })));
        let root = paths.first().cloned().unwrap_or_default();
        let (manifest, manifest_notes) = Manifest::of(&root);
        let protos = manifest.as_ref().filter(|_| takes_modules(&inputs)).map(Manifest::module_protos);
        let modules = open_modules(&protos.unwrap_or_default(), &mut unreadable);
        let mapped = Arc::clone(&files);
        let how = ImportOptions {
            format: options.format.as_deref(),
            max_unpacked_bytes: options.max_unpacked_bytes,
            release: Some(Release::new(move |part| mapped.iter().for_each(|(_, file)| file.release(part)))),
            modules: &sources(&modules),
        };
        let mut imported = import_inputs(&inputs, how)?;
        refuse_mixture(imported.predicted, imported.captures.len())?;
        let mut notes: Vec<Note> =
            std::mem::take(&mut imported.notes).into_iter().map(crate::note::of_reader).collect();
        notes.extend(found.notes);
        notes.extend(unreadable);
        notes.extend(manifest_notes);
        // Of one capture in the folder of a benchmark the other operations say nothing.
        let compiled_again = manifest.as_ref().filter(|manifest| manifest.is_of_benchmark(&root)).map(|_| {
            let (said, again) = recompiled(&root);
            notes.extend(said);
            again
        });
        if let Some(manifest) = &manifest {
            crate::samples::add(&manifest.folder, &mut imported, &mut notes);
        }
        notes.sort_by_key(|note| std::cmp::Reverse(note.severity));
        let ceilings = ceilings(&imported.trace.devices, manifest.as_ref(), &options.ceilings)?;
        let compiled = manifest.as_ref().map(compilations).unwrap_or_default();
        let prepared = Prepared::with_ceilings(ceilings).and_compilations(compiled);
        Ok(Session { root, imported, manifest, notes, compiled_again, prepared })
    }

    /// What each device can do, by row of the devices table.
    pub fn ceilings(&self) -> &[Ceilings] {
        self.prepared.ceilings()
    }

    /// What the program compiled, the longest first; empty without a manifest.
    pub fn compilations(&self) -> &[Compilation] {
        self.prepared.compilations()
    }

    /// What a reader must know, gravest first.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// The first path that was opened.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The trace, for questions that no table answers.
    pub fn trace(&self) -> &Trace {
        &self.imported.trace
    }

    /// Operations of a benchmark that compile again when they are called again; `None` for all that is no benchmark.
    pub(crate) fn compiled_again(&self) -> Option<&[CompiledAgain]> {
        self.compiled_again.as_deref()
    }

    /// What the recorder wrote of the run.
    pub(crate) fn manifest(&self) -> Option<&Manifest> {
        self.manifest.as_ref()
    }

    /// The folder of the recording that the capture is in.
    pub fn run_folder(&self) -> Option<&Path> {
        self.manifest.as_ref().map(|manifest| manifest.folder.as_path())
    }

    /// All that was read.
    pub(crate) fn imported(&self) -> &Imported {
        &self.imported
    }

    /// Files, versions, devices and contents.
    pub fn info(&self) -> Vec<Section> {
        info::sections(&self.imported, self.manifest.as_ref())
    }

    /// Warm-up, drift and outliers of the steps that the program marked.
    pub fn steps(&self) -> Vec<Table> {
        self.with_analysis(steps_tables)
    }

    /// What every module cost together, as often as it ran; `None` where no module is known to have run.
    pub(crate) fn work(&self) -> Option<CaptureWork> {
        self.with_analysis(capture_work)
    }

    /// Every module with the device time it took.
    pub fn hlo_modules(&self) -> Table {
        self.with_analysis(ridge_analysis::modules)
    }

    /// The instructions of one module, named by name or program id.
    ///
    /// # Errors
    /// [`OpenError`] where the name means no module or several.
    pub fn hlo_ops(&self, module: &str) -> Result<Table, OpenError> {
        let row = module_row(&self.imported, module)?;
        Ok(self.with_analysis(|analysis| ridge_analysis::instructions(analysis, row)))
    }

    /// A module, or one instruction of it, as text.
    ///
    /// # Errors
    /// [`OpenError`] where the module, the instruction or that form of it is not there.
    pub fn hlo_text(&self, module: &str, op: Option<&str>, stage: HloStage) -> Result<String, OpenError> {
        let row = module_row(&self.imported, module)?;
        if stage != HloStage::After {
            return dumped(&self.imported, row, stage.file_name(), self.manifest.as_ref());
        }
        let hlo = module_hlo(&self.imported, row)?;
        match op {
            None => Ok(hlo.to_text()),
            Some(name) => Ok(hlo.instruction_text(find_instruction(hlo, name)?)),
        }
    }

    /// The program at a row of the trace's modules as HLO text; `None` where the capture does not have it.
    pub fn program_text(&self, module: usize) -> Option<String> {
        let hlo = self.imported.trace.modules.get(module)?.hlo?;
        self.imported.hlo.get(hlo as usize).map(HloModule::to_text)
    }

    /// A module's entry computation, or the computation that `op` calls, as a Graphviz graph.
    ///
    /// # Errors
    /// [`OpenError`] where the module or the instruction is not there.
    pub fn hlo_dot(&self, module: &str, op: Option<&str>) -> Result<String, OpenError> {
        let hlo = module_hlo(&self.imported, module_row(&self.imported, module)?)?;
        let Some(name) = op else { return Ok(hlo.to_dot(None)) };
        let instruction = hlo.instruction(find_instruction(hlo, name)?);
        Ok(hlo.to_dot(Some(instruction.called.first().copied().unwrap_or(instruction.computation))))
    }

    /// The analysis; what several answers need is made once, when the first of them asks.
    pub(crate) fn analysis(&self) -> Analysis<'_> {
        self.prepared.analysis(&self.imported.trace, &self.imported.hlo)
    }

    /// Device time, or that of operators of the host, as a tree of scopes.
    pub fn scopes(&self) -> &Scopes {
        self.analysis().get()
    }

    /// Each operation's module and name with its device time, most self time first.
    pub fn ops(&self) -> Vec<(Option<String>, String, &DeviceTime)> {
        let analysis = self.analysis();
        let Ops(rows) = analysis.get();
        rows.iter().map(|row| (row.key.module(&analysis), row.key.label(&analysis), &row.time)).collect()
    }

    /// The category of every event.
    pub fn event_categories(&self) -> &EventCategories {
        self.analysis().get()
    }

    /// The range of the program that caused each event.
    pub fn owners(&self) -> &Owners {
        self.analysis().owners()
    }

    /// Name and module of an operation, and its scope path, which is empty where it has none.
    pub fn op_place(&self, op: u32) -> Option<(String, Option<String>, String)> {
        let analysis = self.analysis();
        let operation = analysis.operation(op)?;
        let name = analysis.text(operation.name).to_owned();
        Some((name, ridge_analysis::op_module(&analysis, op), analysis.text(operation.scope).to_owned()))
    }

    /// The line of the program that an event came from: file, line; `None` where nothing tells.
    pub fn line_of(&self, row: u32) -> Option<(String, u32)> {
        let found = ridge_analysis::lines_of_event(&self.analysis(), row)?;
        found.stack.into_iter().nth(found.own).map(|line| (line.file, line.line))
    }

    /// A label for every process, of what tells it from the others; empty where there is one.
    pub fn process_labels(&self) -> Vec<String> {
        ridge_analysis::process_labels(&self.imported.trace)
    }

    /// The files that were read: name, format, bytes.
    pub fn files(&self) -> impl Iterator<Item = (&str, &'static str, u64)> {
        self.imported.captures.iter().map(|capture| (capture.source.as_str(), capture.format, capture.bytes))
    }

    /// Whether anything may say which line of a program the time belongs to.
    pub fn knows_source(&self) -> bool {
        let calls = &self.imported.trace.events.kind;
        self.has_hlo() || !self.imported.sources.is_empty() || calls.contains(&(EventKind::PythonCall as u8))
    }

    /// The events that a line of the program made; those with it on their stack where it made none itself.
    pub fn rows_of_line(&self, file: &str, line: u32) -> Vec<u32> {
        self.with_analysis(|analysis| ridge_analysis::rows_of_line(analysis, file, line))
    }

    /// The events of a scope and of those below it.
    pub fn rows_of_scope(&self, path: &str) -> Vec<u32> {
        self.with_analysis(|analysis| ridge_analysis::rows_of_scope(analysis, path))
    }

    /// `subject` in words and numbers.
    pub fn subject_text(&self, subject: &Subject) -> SubjectText {
        crate::subject::subject_text(&self.imported.trace, subject)
    }

    /// Whether any module has its HLO.
    pub fn has_hlo(&self) -> bool {
        !self.imported.hlo.is_empty()
    }

    /// Lends the analysis; what several answers need is made once, when the first of them asks.
    pub(crate) fn with_analysis<T>(&self, ask: impl FnOnce(&Analysis<'_>) -> T) -> T {
        ask(&self.prepared.analysis(&self.imported.trace, &self.imported.hlo))
    }
}

/// `error` with what the recorder says is missing, where it was the recorder that left nothing to open.
fn with_what_is_missing(error: OpenError, paths: &[PathBuf]) -> OpenError {
    let notes = paths.first().map(|path| Manifest::of(path).1).unwrap_or_default();
    let notes = notes.into_iter();
    notes.fold(error, |error, note| error.hint(note.message))
}

/// Opened files with their names, and what could not be opened.
type Opened = (Vec<(String, FileBytes)>, Vec<Note>);

/// Opens modules that were kept beside a capture, which opens without them, too.
fn open_modules(protos: &[PathBuf], notes: &mut Vec<Note>) -> Vec<(String, FileBytes)> {
    let mut opened = Vec::with_capacity(protos.len());
    for path in protos {
        match FileBytes::open(path) {
            Ok(bytes) => opened.push((path.display().to_string(), bytes)),
            Err(error) => notes.push(Note {
                severity: Severity::Partial,
                message: error.to_string(),
                file: Some(path.display().to_string()),
                offset: None,
                count: 1,
            }),
        }
    }
    opened
}

/// A folder that is one capture: its name, and its files by their paths inside it.
type OpenedFolder = (String, Vec<(String, FileBytes)>);

/// Opens the files of folders that are captures; one that cannot be opened is a note where another one can.
fn open_folders(folders: &[FoundFolder], notes: &mut Vec<Note>) -> Result<Vec<OpenedFolder>, OpenError> {
    let mut opened = Vec::with_capacity(folders.len());
    for folder in folders {
        let paths: Vec<PathBuf> = folder.files.iter().map(|name| folder.path.join(name)).collect();
        let (files, unreadable) = open_files(&paths)?;
        notes.extend(unreadable);
        let inside = |(name, bytes): (String, FileBytes)| {
            // As names are shown: the folder's own may have letters that no text has.
            let inside =
                name.strip_prefix(&*folder.path.to_string_lossy()).map(|name| name.trim_start_matches('/').to_owned());
            (inside.unwrap_or(name), bytes)
        };
        opened.push((folder.path.display().to_string(), files.into_iter().map(inside).collect()));
    }
    Ok(opened)
}

fn sources(files: &[(String, FileBytes)]) -> Vec<Source<'_>> {
    files.iter().map(|(name, file)| Source { name, bytes: file.bytes() }).collect()
}

/// Opens what can be opened; a file that cannot be is a note where another one can.
fn open_files(paths: &[PathBuf]) -> Result<Opened, OpenError> {
    let (mut files, mut notes, mut first_error) = (Vec::with_capacity(paths.len()), Vec::new(), None);
    for path in paths {
        match FileBytes::open(path) {
            Ok(bytes) => files.push((path.display().to_string(), bytes)),
            Err(error) => {
                let file = Some(path.display().to_string());
                notes.push(Note { severity: Severity::Lost, message: error.to_string(), file, offset: None, count: 1 });
                first_error.get_or_insert(error);
            }
        }
    }
    match first_error {
        Some(error) if files.is_empty() => Err(error),
        _ => Ok((files, notes)),
    }
}

fn find_instruction(hlo: &ridge_hlo::HloModule, name: &str) -> Result<ridge_hlo::InstructionId, OpenError> {
    hlo.instruction_named(name).ok_or_else(|| {
        let details = Details::new(format!("module `{}` has no instruction `{name}`", hlo.name));
        OpenError::UnknownName(details.hint("`ridgeline hlo PATH --module M` lists its instructions"))
    })
}
