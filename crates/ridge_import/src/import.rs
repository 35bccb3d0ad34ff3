//! The way from sources to an immutable trace.

pub use crate::error::ImportError;
pub use crate::source::{CaptureFacts, Import, Imported, Release, Source, SourceFile};

use crate::demangle;
use crate::folder::Folder;
use crate::foreign;
use crate::formats::{self, FORMATS, Format, sniff_plain};
pub use crate::formats::{sniff, sniff_folder};
use crate::graph_captures;
use crate::graphs;
use crate::note::{ImportNote, Severity};
use crate::packed::Packed;
use crate::ranks;
use crate::recorder;
use crate::source::HEAD_BYTES;
use crate::xla::kernels;
use ridge_trace::{OutOfBounds, Trace};

impl ImportError {
    /// What the user can do about it.
    pub fn hints(&self) -> Vec<String> {
        if let Some(hint) = FORMATS.iter().find_map(|format| format.hint(self)) {
            return vec![hint];
        }
        match self {
            ImportError::Empty { .. } => vec!["the capture was not completely written; record it again".to_owned()],
            ImportError::Pointer { .. } => vec!["`git lfs pull` fetches the capture".to_owned()],
            ImportError::Unknown { .. } => {
                vec![format!("supported formats: {}; `--read-as NAME` skips detection", format_names())]
            }
            ImportError::Foreign { hint, .. } => vec![(*hint).to_owned()],
            ImportError::NoSuchFormat { .. } | ImportError::NotATrace { .. } | ImportError::Broken { .. } => Vec::new(),
        }
    }
}

fn format_names() -> String {
    FORMATS.iter().map(|format| format.name()).collect::<Vec<_>>().join(", ")
}

/// How to read sources.
#[derive(Debug, Clone, Default)]
pub struct ImportOptions<'a> {
    /// Name of the format of all of them; each is guessed by its content where this is `None`.
    pub format: Option<&'a str>,
    /// What one compressed source may grow to, in bytes; `None` for as much as captures do.
    pub max_unpacked_bytes: Option<u64>,
    /// What is done with bytes of a source that were read; nothing where this is `None`.
    pub release: Option<Release>,
    /// Dumps of modules that were kept beside the captures, for those that [take them](takes_modules).
    pub modules: &'a [Source<'a>],
}

/// Reads all sources into one trace; `format` names the format of all of them rather than guessing each.
///
/// A source that cannot be read becomes a note where another one can.
///
/// # Errors
/// [`ImportError`] of the first source where none could be read.
pub fn import(sources: &[Source<'_>], format: Option<&str>) -> Result<Imported, ImportError> {
    let inputs: Vec<Input<'_>> = sources.iter().copied().map(Input::File).collect();
    import_inputs(&inputs, ImportOptions { format, ..ImportOptions::default() })
}

/// Something to read: a file that is a capture of its own, or a folder whose files are one together.
#[derive(Debug, Clone, Copy)]
pub enum Input<'a> {
    /// A file.
    File(Source<'a>),
    /// A folder that [`sniff_folder`] knows.
    Folder(Folder<'a>),
}

/// Whether any of `inputs` names the modules that it ran and does not hold them.
pub fn takes_modules(inputs: &[Input<'_>]) -> bool {
    inputs.iter().any(|input| {
        let format = match input {
            Input::File(source) => sniff(source.bytes),
            Input::Folder(folder) => sniff_folder(&folder.files.iter().map(|file| file.name).collect::<Vec<_>>()),
        };
        format.is_some_and(Format::takes_modules)
    })
}

/// [`import`] of files and folders, with all that can be chosen.
///
/// # Errors
/// [`ImportError`] of the first input where none could be read.
pub fn import_inputs(inputs: &[Input<'_>], options: ImportOptions<'_>) -> Result<Imported, ImportError> {
    let forced = options.format.map(named_format).transpose()?;
    let mut import = Import {
        release: options.release.clone(),
        max_unpacked_bytes: options.max_unpacked_bytes,
        is_one_of_several: inputs.len() > 1,
        ..Import::default()
    };
    options.modules.iter().for_each(|source| keep(*source, &mut import));
    let mut failures = Vec::new();
    for input in inputs {
        let (name, read) = match input {
            Input::File(source) => (source.name, import_one(*source, forced, options.max_unpacked_bytes, &mut import)),
            Input::Folder(folder) => (folder.name, import_folder(*folder, forced, &mut import)),
        };
        if let Err(error) = read {
            failures.push((name, error));
        }
    }
    if failures.len() == inputs.len() {
        let first = failures.into_iter().next().map(|(_, error)| error);
        return Err(first.unwrap_or(ImportError::Empty { source_name: String::new() }));
    }
    for (name, error) in failures {
        match error {
            // Nothing of the capture is missing.
            ImportError::NotATrace { .. } => import.note(Severity::Info, name, None, 1, format!("left out: {error}")),
            error => {
                import.note(Severity::Lost, name, None, 1, format!("the whole file could not be read: {error}"));
            }
        }
    }
    Ok(finish(import))
}

/// Keeps a module for the capture that ran it.
fn keep(source: Source<'_>, import: &mut Import) {
    match formats::module(source) {
        Ok(module) => import.kept.push(module),
        Err(error) => import.note(Severity::Partial, source.name, None, 1, error.to_string()),
    }
}

fn import_folder(
    folder: Folder<'_>,
    forced: Option<&'static dyn Format>,
    import: &mut Import,
) -> Result<(), ImportError> {
    let names: Vec<&str> = folder.files.iter().map(|file| file.name).collect();
    let format = forced.or_else(|| sniff_folder(&names));
    format.ok_or_else(|| unknown(folder.name, b"", "a directory, "))?.import_folder(folder, import)
}

fn import_one(
    source: Source<'_>,
    forced: Option<&'static dyn Format>,
    max_unpacked_bytes: Option<u64>,
    import: &mut Import,
) -> Result<(), ImportError> {
    if source.bytes.is_empty() {
        return Err(ImportError::Empty { source_name: source.name.to_owned() });
    }
    if is_lfs_pointer(source.bytes) {
        return Err(ImportError::Pointer { source_name: source.name.to_owned() });
    }
    let foreign =
        |head: &[u8]| foreign::of(head).filter(|_| forced.is_none()).map(|foreign| foreign.error(source.name));
    if let Some(error) = foreign(&source.bytes[..source.bytes.len().min(HEAD_BYTES)]) {
        return Err(error);
    }
    // A format may itself be a packed one, and says so by recognizing the packed bytes.
    let plain = sniff_plain(source.bytes);
    let packed = if plain.is_some() { None } else { Packed::of(source, max_unpacked_bytes) };
    let Some(packed) = packed else {
        let format = forced.or(plain).ok_or_else(|| unknown(source.name, source.bytes, ""))?;
        return format.import(source, import);
    };
    let head = packed.head(HEAD_BYTES);
    if let Some(error) = foreign(&head) {
        return Err(error);
    }
    let format = forced.or_else(|| sniff_plain(&head)).ok_or_else(|| unknown(source.name, &head, "unpacked, "))?;
    format.import_packed(packed, import)
}

/// Whether `head` is that of a pointer as the specification of Git LFS has it (`docs/spec.md` of git-lfs).
pub fn is_lfs_pointer(head: &[u8]) -> bool {
    head.starts_with(b"version https://git-lfs.github.com/spec/")
}

fn unknown(source_name: &str, bytes: &[u8], how: &str) -> ImportError {
    let head = &bytes[..bytes.len().min(16)];
    ImportError::Unknown { source_name: source_name.to_owned(), found: format!("{how}\"{}\"", head.escape_ascii()) }
}

fn named_format(name: &str) -> Result<&'static dyn Format, ImportError> {
    FORMATS
        .iter()
        .copied()
        .find(|format| format.name() == name)
        .ok_or_else(|| ImportError::NoSuchFormat { name: name.to_owned(), known: format_names() })
}

fn finish(mut import: Import) -> Imported {
    kernels::attribute(&mut import);
    graphs::attribute(&mut import);
    graph_captures::attribute(&mut import);
    formats::tell_kernels(&mut import);
    ranks::align(&mut import);
    import.builder.recorder_names = recorder::names(&import.builder.strings);
    // What the compilers of modules call their kernels was compared as they write it.
    import.builder.strings.rename(demangle::readable);
    let Import { mut builder, hlo, mut notes, mut captures, sources, predicted, .. } = import;
    let earliest = captures.iter().map(|capture| capture.start_ns).min().filter(|start| *start < 0);
    if let Some(earliest) = earliest {
        builder.set_zero(earliest);
        for capture in &mut captures {
            capture.start_ns = capture.start_ns.saturating_sub(earliest);
            capture.unix_zero_ns = capture.unix_zero_ns.map(|zero| zero.saturating_add_signed(earliest));
        }
    }
    notes.extend(out_of_bounds(builder.bound(), &captures));
    let trace = builder.finish();
    notes.extend(without_device_activity(&trace));
    // What says that there is nothing to see comes before what says that something is missing.
    notes.sort_by_key(|note| (std::cmp::Reverse(note.severity), note.message != NO_DEVICE_ACTIVITY));
    Imported { trace, hlo, notes, captures, sources, predicted }
}

/// What is said first of a capture that launched kernels and holds none.
const NO_DEVICE_ACTIVITY: &str = "no device activity was recorded, although kernels were launched: \
                                  device activity and idle times are unknown";

fn without_device_activity(trace: &Trace) -> Vec<ImportNote> {
    let processes = trace.processes_without_device_activity().into_iter();
    let note = |(process, launches): (u32, u64)| ImportNote {
        severity: Severity::Lost,
        message: NO_DEVICE_ACTIVITY.to_owned(),
        source: trace.strings.get(trace.processes[process as usize].name).to_owned(),
        offset: None,
        count: launches,
    };
    processes.map(note).collect()
}

/// What is said of values that no capture can mean.
fn out_of_bounds(found: OutOfBounds, captures: &[CaptureFacts]) -> Option<ImportNote> {
    let kinds = [(found.durations, "durations"), (found.sizes, "sizes"), (found.times, "times")];
    let parts: Vec<String> =
        kinds.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    let source = match captures {
        [only] => only.source.clone(),
        _ => "the capture".to_owned(),
    };
    let count = (found.durations + found.sizes + found.times) as u64;
    (count > 0).then(|| ImportNote {
        severity: Severity::Lost,
        message: format!(
            "{} are implausibly large (years, exbibytes): such durations and sizes count as zero; is the file damaged?",
            parts.join(", ")
        ),
        source,
        offset: None,
        count,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_of_memory_gets_the_call_that_writes_numbers() {
        let page = b"<html>\n<head><meta charset=\"utf-8\" /></head>";
        let error = import(&[Source { name: "memory.html", bytes: page }], None).expect_err("it holds no numbers");
        assert!(error.hints().join("").contains("FILE.raw.json.gz"), "{:?}", error.hints());
    }

    #[test]
    fn a_pointer_of_git_lfs_says_so() {
        let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
        let error = import(&[Source { name: "a.sqlite", bytes: pointer }], None).expect_err("the capture is elsewhere");
        assert_eq!(error.to_string(), "expected a capture, found a Git LFS pointer");
        assert!(error.hints().join("").contains("git lfs pull"), "{:?}", error.hints());
    }

    #[test]
    fn a_report_of_nsight_systems_gets_the_command_that_exports_it() {
        let error = import(&[Source { name: "run/a.nsys-rep", bytes: b"\x01\x02what only it knows" }], None);
        let hints = error.expect_err("its format is not public").hints().join("");
        assert!(hints.contains("nsys export --type sqlite") && hints.contains("run/a.nsys-rep"), "{hints}");
    }
}
