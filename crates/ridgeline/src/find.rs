//! Which files of a folder make one capture.
//!
//! A run folder, a TensorBoard log folder (`plugins/profile/<session>/<host>.xplane.pb`), a plain folder of captures, or
//! one whose files are together one capture.
//! Several hosts of one session belong together, and so do the sessions that a recording made; of other TensorBoard sessions
//! the latest is taken and the others are named.

use crate::error::{Details, OpenError};
use crate::manifest::Manifest;
use crate::note::{Note, Severity};
use ridge_import::{Packed, Source};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Folders deeper than this are not searched.
const MAX_DEPTH: usize = 8;

/// Entries after which the search ends: this is no capture folder.
const MAX_ENTRIES: usize = 100_000;

/// First bytes of a file by which it is recognized.
const HEAD_BYTES: u64 = 4096;

/// First bytes of a compressed file that unpack to as many.
const PACKED_HEAD_BYTES: u64 = 1 << 16;

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
    let Below { files: all, links, others, notes, .. } = walk(folder)?;
    found.notes.extend(notes);
    found.notes.extend(others.iter().map(|(other, what)| not_opened(folder, other, what)));
    found.notes.extend(links.iter().filter_map(|link| lost_link(folder, link)));
    if let Some(whole) = one_capture(folder, &all) {
        found.folders.push(whole);
        return Ok(());
    }
    let captures = captures_among(folder, &all, found);
    if captures.is_empty() {
        let message = "no capture found";
        let looked =
            format!("looked into {} files; `ridgeline record -- python program.py` makes a capture", all.len());
        let said = found.notes.drain(..).map(|note| format!("{}: {}", note.file.unwrap_or_default(), note.message));
        return Err(OpenError::NotACapture(said.fold(Details::new(message).at(folder), Details::hint).hint(looked)));
    }
    let mut whole = Recordings::default();
    let (sessions, plain): (Vec<PathBuf>, Vec<PathBuf>) =
        captures.into_iter().partition(|path| session_of(path).is_some_and(|(log, _)| !whole.has(&log)));
    found.files.extend(plain);
    found.files.extend(latest_sessions(sessions, &mut found.notes));
    Ok(())
}

/// Those of `all` that are read, as their formats say.
fn captures_among(folder: &Path, all: &[PathBuf], found: &mut Found) -> Vec<PathBuf> {
    let mut claimed = Vec::new();
    for path in all {
        let head = head_of(path).unwrap_or_default();
        let inside = shown_inside(folder, path);
        if ridge_import::is_lfs_pointer(&head) {
            let message = "is a pointer of Git LFS, not the file itself; `git lfs pull` fetches it".to_owned();
            found.notes.push(note(Severity::Lost, message, path));
        } else if let Some(claim) = ridge_import::claim(&inside, &head) {
            claimed.push((path, inside, claim));
        }
    }
    let named: Vec<_> = claimed.iter().map(|(_, inside, claim)| (inside.as_str(), *claim)).collect();
    ridge_import::choose(&named).into_iter().map(|at| claimed[at].0.clone()).collect()
}

/// What is said of a link that is not followed, if what it leads to is called as a capture.
fn lost_link(folder: &Path, link: &Path) -> Option<Note> {
    ridge_import::claim(&shown_inside(folder, link), b"")?;
    let message = match link.exists() {
        true => "the link leads out of the directory and was not followed; name the file itself",
        false => "the link leads to nothing that can be opened",
    };
    Some(note(Severity::Lost, message.to_owned(), link))
}

/// What is said of a pipe, a socket or a device: it may have no end, and opening it may wait for ever.
fn not_opened(folder: &Path, other: &Path, what: &str) -> Note {
    let is_called_so = ridge_import::claim(&shown_inside(folder, other), b"").is_some();
    let severity = if is_called_so { Severity::Lost } else { Severity::Info };
    let hint = if what == "pipe" { "; name the pipe itself to read from it" } else { "" };
    note(severity, format!("is a {what} and was not opened: in a directory only regular files are{hint}"), other)
}

fn head_of(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut file = std::fs::File::open(path)?;
    let mut head = Vec::new();
    file.by_ref().take(HEAD_BYTES).read_to_end(&mut head)?;
    if Packed::of(Source { name: "", bytes: &head }, None).is_some() {
        file.take(PACKED_HEAD_BYTES - HEAD_BYTES).read_to_end(&mut head)?;
    }
    Ok(head)
}

/// The path of a file inside a folder as it is shown, with `/` between its parts.
fn shown_inside(folder: &Path, path: &Path) -> String {
    let parts: Vec<_> = path.strip_prefix(folder).unwrap_or(path).iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}

/// The path of a file inside a folder, with `/` between its parts; `None` where it is no text.
fn inside(folder: &Path, path: &Path) -> Option<String> {
    let parts: Option<Vec<&str>> = path.strip_prefix(folder).ok()?.iter().map(|part| part.to_str()).collect();
    Some(parts?.join("/"))
}

/// `folder` as one capture, where the names of its files say that it is: an unpacked archive of nsys-jax, the
/// tables of an export of Nsight Systems.
fn one_capture(folder: &Path, all: &[PathBuf]) -> Option<FoundFolder> {
    let files: Vec<String> = all.iter().filter_map(|path| inside(folder, path)).collect();
    let names: Vec<&str> = files.iter().map(String::as_str).collect();
    ridge_import::sniff_folder(&names)?;
    Some(FoundFolder { path: folder.to_owned(), files })
}

fn note(severity: Severity, message: String, path: &Path) -> Note {
    Note { severity, message, file: Some(path.display().to_string()), offset: None, count: 1 }
}

/// What is below a folder.
#[derive(Debug, Default)]
pub(crate) struct Below {
    /// Regular files, sorted.
    pub(crate) files: Vec<PathBuf>,
    /// Links to what is not below the folder, or to nothing: they are never followed. They may be somebody else's.
    pub(crate) links: Vec<PathBuf>,
    /// Pipes, sockets and devices, each with what it is.
    pub(crate) others: Vec<(PathBuf, &'static str)>,
    /// Folders that could not be listed.
    pub(crate) notes: Vec<Note>,
    entries: usize,
}

/// All that is below `folder`.
pub(crate) fn walk(folder: &Path) -> Result<Below, OpenError> {
    let mut below = Below::default();
    list(folder, 0, &mut below)?;
    below.files.sort();
    below.others.sort();
    let root = folder.canonicalize();
    let leads_in = |link: &PathBuf| Some(link.canonicalize().ok()?.starts_with(root.as_ref().ok()?));
    below.links.retain(|link| leads_in(link) != Some(true));
    Ok(below)
}

fn list(folder: &Path, depth: usize, below: &mut Below) -> Result<(), OpenError> {
    let listing = match std::fs::read_dir(folder) {
        Ok(listing) => listing,
        Err(error) if depth == 0 => return Err(OpenError::io("list the directory", folder, &error)),
        Err(error) => {
            // One folder that cannot be read must not cost the captures beside it.
            below.notes.push(note(Severity::Partial, format!("could not list the directory: {error}"), folder));
            return Ok(());
        }
    };
    for entry in listing.filter_map(Result::ok) {
        below.entries += 1;
        if below.entries > MAX_ENTRIES {
            let message = format!("expected a directory with captures, found one with over {MAX_ENTRIES} entries");
            let details = Details::new(message).at(folder).hint("name the capture's own directory or file");
            return Err(OpenError::NotACapture(details));
        }
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && depth < MAX_DEPTH {
            list(&entry.path(), depth + 1, below)?;
        } else if kind.is_file() {
            below.files.push(entry.path());
        } else if kind.is_symlink() {
            below.links.push(entry.path());
        } else if let Some(what) = special(kind) {
            below.others.push((entry.path(), what));
        }
    }
    Ok(())
}

/// What a file is that is neither regular nor a folder nor a link.
#[cfg(unix)]
fn special(kind: std::fs::FileType) -> Option<&'static str> {
    use std::os::unix::fs::FileTypeExt as _;
    match kind {
        _ if kind.is_fifo() => Some("pipe"),
        _ if kind.is_socket() => Some("socket"),
        _ if kind.is_char_device() || kind.is_block_device() => Some("device"),
        _ => None,
    }
}

#[cfg(not(unix))]
fn special(_: std::fs::FileType) -> Option<&'static str> {
    None
}

/// The sessions of profiles below `folder`, where it is a log folder of TensorBoard with several, by name and so by time.
pub fn sessions_below(folder: &Path) -> Vec<PathBuf> {
    let Ok(below) = walk(folder) else { return Vec::new() };
    let is_profile = |path: &&PathBuf| path.to_string_lossy().ends_with(".xplane.pb");
    let mut whole = Recordings::default();
    let sessions = below.files.iter().filter(is_profile).filter_map(|path| session_of(path));
    let sessions: BTreeSet<PathBuf> = sessions.filter(|(log, _)| !whole.has(log)).map(|(_, session)| session).collect();
    if sessions.len() > 1 { sessions.into_iter().collect() } else { Vec::new() }
}

/// Which log folders are a recording's or a benchmark's: their sessions are windows, processes and operations of one run, and
/// so belong together.
#[derive(Default)]
struct Recordings(BTreeMap<PathBuf, bool>);

impl Recordings {
    fn has(&mut self, log: &Path) -> bool {
        *self.0.entry(log.to_owned()).or_insert_with(|| {
            // `plugins/profile` of a recording, or of one size of a benchmark, which may be laid out as `jax_traces/TIME/vol32`.
            let roots: Vec<&Path> = log.ancestors().skip(2).take(4).collect();
            Manifest::of(log).0.is_some_and(|manifest| roots.contains(&manifest.folder.as_path()))
        })
    }
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
            let name = session.file_name().unwrap_or_default().to_string_lossy();
            let message =
                format!("the latest of {count} sessions is shown, {name}; name the directory of another one to see it");
            notes.push(note(Severity::Info, message, &log));
        }
        latest.extend(files);
    }
    latest
}
