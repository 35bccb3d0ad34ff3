//! Which files of a folder make one capture.
//!
//! A run folder, a TensorBoard log folder (`plugins/profile/<session>/<host>.xplane.pb`), a plain folder of captures, or
//! one whose files are together one capture.
//! Several hosts of one session belong together; of several TensorBoard sessions the latest is taken and the others
//! are named.

use crate::error::{Details, OpenError};
use crate::note::{Note, Severity};
use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Folders deeper than this are not searched.
const MAX_DEPTH: usize = 8;

/// Entries after which the search ends: this is no capture folder.
const MAX_ENTRIES: usize = 100_000;

/// How the names of captures end, in a folder; what they are is told by their content.
const CAPTURES: &[&str] = &[".xplane.pb", ".sqlite", ".ncu-rep"];

/// How the names of memory profiles end in the `memory` folder of a run.
const MEMORY_PROFILES: &[&str] = &[".pb.gz", ".pickle"];

/// The files of a capture.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) files: Vec<PathBuf>,
    /// Folders whose files together are one capture.
    pub(crate) folders: Vec<FoundFolder>,
    pub(crate) notes: Vec<Note>,
}

/// A folder that is one capture.
#[derive(Debug)]
pub(crate) struct FoundFolder {
    pub(crate) path: PathBuf,
    /// Its files, by their paths inside it with `/` between parts.
    pub(crate) files: Vec<String>,
}

/// The capture files that `paths` name.
pub(crate) fn find(paths: &[PathBuf]) -> Result<Found, OpenError> {
    let mut found = Found::default();
    for path in paths {
        let metadata = std::fs::metadata(path).map_err(|error| OpenError::io("open", path, &error))?;
        if metadata.is_dir() {
            find_in_folder(path, &mut found)?;
        } else {
            found.files.push(path.clone());
        }
    }
    if found.files.is_empty() && found.folders.is_empty() {
        return Err(OpenError::BadInput(Details::new("expected a capture, found no path")));
    }
    Ok(found)
}

fn find_in_folder(folder: &Path, found: &mut Found) -> Result<(), OpenError> {
    let mut all = Vec::new();
    let mut entries = 0;
    walk(folder, 0, &mut entries, &mut all, &mut found.notes)?;
    all.sort();
    if let Some(whole) = one_capture(folder, &all) {
        found.folders.push(whole);
        return Ok(());
    }
    let is_capture = |path: &&PathBuf| CAPTURES.iter().any(|suffix| has_suffix(path, suffix));
    let captures: Vec<PathBuf> = all.iter().filter(is_capture).cloned().collect();
    // XLA leaves a JSON copy beside each of its captures: it is read where there is nothing better.
    let mut captures: Vec<PathBuf> =
        if captures.is_empty() { all.iter().filter(|path| is_other_trace(path)).cloned().collect() } else { captures };
    captures.extend(all.iter().filter(|path| is_memory_profile(path)).cloned());
    if captures.is_empty() {
        let dumps: Vec<PathBuf> = all.into_iter().filter(|path| has_suffix(path, ".hlo.pb")).collect();
        if dumps.is_empty() {
            let message = "expected a capture folder, found no capture in it";
            let looked = format!(
                "looked for *{}, *.json, *.json.gz, *.zip and *.hlo.pb; `ridgeline record -- python program.py` makes a capture",
                CAPTURES.join(", *")
            );
            return Err(OpenError::NotACapture(Details::new(message).at(folder).hint(looked)));
        }
        found.files.extend(dumps);
        return Ok(());
    }
    let (sessions, plain): (Vec<PathBuf>, Vec<PathBuf>) =
        captures.into_iter().partition(|path| session_of(path).is_some());
    found.files.extend(plain);
    found.files.extend(latest_sessions(sessions, &mut found.notes));
    Ok(())
}

/// `folder` as one capture, where the names of its files say that it is: an unpacked archive of nsys-jax, the
/// tables of an export of Nsight Systems.
fn one_capture(folder: &Path, all: &[PathBuf]) -> Option<FoundFolder> {
    let inside = |path: &PathBuf| {
        let parts: Option<Vec<&str>> = path.strip_prefix(folder).ok()?.iter().map(|part| part.to_str()).collect();
        Some(parts?.join("/"))
    };
    let files: Vec<String> = all.iter().filter_map(inside).collect();
    let names: Vec<&str> = files.iter().map(String::as_str).collect();
    ridge_import::sniff_folder(&names)?;
    Some(FoundFolder { path: folder.to_owned(), files })
}

/// Whether a file is a trace in JSON or an archive, by its name and its first bytes: most JSON is something else.
fn is_other_trace(path: &Path) -> bool {
    const HEAD_BYTES: u64 = 1 << 16;
    if ![".json", ".json.gz", ".json.zst", ".zip"].iter().any(|suffix| has_suffix(path, suffix)) {
        return false;
    }
    let mut head = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head));
    read.is_ok() && ridge_import::sniff(&head).is_some()
}

fn is_memory_profile(path: &Path) -> bool {
    let folder = path.parent().and_then(Path::file_name).is_some_and(|folder| folder == "memory");
    folder && MEMORY_PROFILES.iter().any(|suffix| has_suffix(path, suffix))
}

fn has_suffix(path: &Path, suffix: &str) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.ends_with(suffix))
}

/// All files below `folder`, with notes on folders that could not be listed.
pub(crate) fn walk(
    folder: &Path,
    depth: usize,
    entries: &mut usize,
    all: &mut Vec<PathBuf>,
    notes: &mut Vec<Note>,
) -> Result<(), OpenError> {
    let listing = match std::fs::read_dir(folder) {
        Ok(listing) => listing,
        Err(error) if depth == 0 => return Err(OpenError::io("list the folder", folder, &error)),
        Err(error) => {
            // One folder that cannot be read must not cost the captures beside it.
            notes.push(Note {
                severity: Severity::Partial,
                message: format!("could not list the folder: {error}"),
                file: Some(folder.display().to_string()),
                offset: None,
                count: 1,
            });
            return Ok(());
        }
    };
    for entry in listing.filter_map(Result::ok) {
        *entries += 1;
        if *entries > MAX_ENTRIES {
            let message = format!("expected a capture folder, found one with over {MAX_ENTRIES} entries");
            let details = Details::new(message).at(folder).hint("name the capture's own folder or file");
            return Err(OpenError::NotACapture(details));
        }
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && depth < MAX_DEPTH {
            walk(&entry.path(), depth + 1, entries, all, notes)?;
        } else if !kind.is_dir() {
            all.push(entry.path());
        }
    }
    Ok(())
}

/// The TensorBoard log folder and session that a capture is in, if it is in one.
fn session_of(path: &Path) -> Option<(PathBuf, PathBuf)> {
    let session = path.parent()?;
    let profile = session.parent()?;
    let is_profile = profile.file_name()? == "profile" && profile.parent()?.file_name()? == "plugins";
    is_profile.then(|| (profile.to_owned(), session.to_owned()))
}

/// Of each log folder the files of its last session; session names are times, so the last by name is the latest.
fn latest_sessions(files: Vec<PathBuf>, notes: &mut Vec<Note>) -> Vec<PathBuf> {
    let mut logs: BTreeMap<PathBuf, BTreeMap<PathBuf, Vec<PathBuf>>> = BTreeMap::new();
    for file in files {
        if let Some((log, session)) = session_of(&file) {
            logs.entry(log).or_default().entry(session).or_default().push(file);
        }
    }
    let mut latest = Vec::new();
    for (log, sessions) in logs {
        let count = sessions.len();
        let Some((session, files)) = sessions.into_iter().next_back() else { continue };
        if count > 1 {
            let name = session.file_name().unwrap_or_default().to_string_lossy().into_owned();
            notes.push(Note {
                severity: Severity::Info,
                message: format!("the latest of {count} sessions is shown, {name}; name another's folder to see it"),
                file: Some(log.display().to_string()),
                offset: None,
                count: 1,
            });
        }
        latest.extend(files);
    }
    latest
}
