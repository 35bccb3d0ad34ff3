//! What a recording makes in a capture folder, and so may remove: told by place and name, to the last file.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ridge_documents::{Document as _, Manifest, rank_of_folder};

/// Where the harness and the pieces of a running recording live, inside the capture folder.
pub(crate) const WORK: &str = ".ridgeline";

/// Folders of a capture, with how the names of their files end; an empty ending is any file.
const FOLDERS: [(&str, &[&str]); 9] = [
    (WORK, &[""]),
    ("plugins", &RUNS),
    ("trace", &TRACES),
    (
        "hlo",
        &["jaxpr.txt", ".mlir", ".mlirbc", "before.txt", "after.txt", ".hlo.pb", ".dot", "cost.json", "memory.json"],
    ),
    ("hlo_dump", &[""]),
    ("golden", &[".bin", "golden.json", "golden.partial"]),
    ("memory", &[".pb.gz", ".pickle"]),
    ("samples", &[".jsonl"]),
    ("sources", &[""]),
];

/// Captures of JAX's profiler, where TensorBoard and XProf look for them; then what XProf 2.24 leaves beside one that it opened.
const RUNS: [&str; 6] = [".xplane.pb", ".partial", ".pb", ".SSTABLE", "cache_version.txt", ".cached_tools.json"];

/// Captures of PyTorch's profiler, and JAX's of earlier versions; then of those around a program.
const TRACES: [&str; 11] = [
    ".xplane.pb",
    ".pt.trace.json",
    ".pt.trace.json.gz",
    ".partial",
    ".nsys-rep",
    ".qdstrm",
    ".sqlite",
    "_results.json",
    ".ncu-rep",
    ".ncu.csv",
    ".unread",
];

/// Where a run of TensorBoard's profile plugin is a folder.
const RUN_FOLDERS: &str = "plugins/profile";

/// Files beside those folders.
const FILES: [&str; 1] = ["manifest.json"];

/// Folders deeper than this are not a recording's.
const MAX_DEPTH: usize = 64;

/// What `path` is to a recording that would take it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// Nothing is there, or an empty folder.
    Nothing,
    /// A recording, and nothing else.
    Recording,
    /// Something that no recording made, such as this.
    Others(PathBuf),
}

/// What is at `path`.
///
/// # Errors
/// Whatever the system says of a folder that cannot be listed.
pub(crate) fn content(path: &Path) -> io::Result<Content> {
    let entries = match fs::read_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Content::Nothing),
        entries => entries?.collect::<io::Result<Vec<_>>>()?,
    };
    for entry in &entries {
        if let Some(found) = foreign(entry)? {
            return Ok(Content::Others(found));
        }
    }
    match entries.first() {
        None => Ok(Content::Nothing),
        Some(_) if path.join(WORK).is_dir() || is_manifest(&path.join("manifest.json")) => Ok(Content::Recording),
        Some(_) if !ranks(path).is_empty() => Ok(Content::Recording),
        Some(first) => Ok(Content::Others(first.path())),
    }
}

/// True if the recording at `path` has a trace, and not only the beginning of one.
pub(crate) fn has_trace(path: &Path) -> bool {
    let is_whole = |path: &String| !path.ends_with(".partial");
    names_in(path, "trace").iter().any(is_whole)
        || runs(path).iter().any(|path| path.ends_with(".xplane.pb"))
        || ranks(path).iter().any(|rank| has_trace(rank))
}

/// Paths of the captures in `out`, from it, those that are not whole yet among them.
pub(crate) fn traces(out: &Path) -> Vec<String> {
    let mut paths: Vec<String> = names_in(out, "trace").into_iter().chain(runs(out)).collect();
    paths.retain(|path| path.ends_with(".xplane.pb") || path.ends_with(".pt.trace.json"));
    paths.sort();
    paths
}

/// Paths of all that is in the folders of runs, from `out`.
fn runs(out: &Path) -> Vec<String> {
    names_in(out, RUN_FOLDERS).iter().flat_map(|run| names_in(out, run)).collect()
}

/// The entries of the folder `inside` of `out`, by their paths from `out`; none where it cannot be listed.
fn names_in(out: &Path, inside: &str) -> Vec<String> {
    let entries = fs::read_dir(out.join(inside)).into_iter().flatten().filter_map(Result::ok);
    entries.map(|entry| format!("{inside}/{}", entry.file_name().to_string_lossy())).collect()
}

/// The folders of the ranks of a job.
fn ranks(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).into_iter().flatten().filter_map(Result::ok);
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders.filter(|entry| is_of_rank(&entry.file_name().to_string_lossy())).map(|entry| entry.path()).collect()
}

/// Whether a name is that of a rank's folder, or of what is recorded for one.
fn is_of_rank(name: &str) -> bool {
    let rank = name.split_once('.').map_or(name, |(rank, kind)| match kind {
        kind if kind.starts_with("recording-") || kind.starts_with("process-") => rank,
        _ => name,
    });
    rank_of_folder(rank).is_some()
}

/// Removes the recording at `path`, but for its manifest and those of the ranks of a job.
///
/// # Errors
/// Whatever the system says of what cannot be removed.
pub(crate) fn remove_recording(path: &Path) -> io::Result<()> {
    FOLDERS
        .iter()
        .filter(|(folder, _)| *folder != WORK)
        .try_for_each(|(folder, _)| ridge_files::remove(&path.join(folder)))
}

/// What no recording made, in or at an entry of a capture folder.
fn foreign(entry: &fs::DirEntry) -> io::Result<Option<PathBuf>> {
    let name = entry.file_name().to_string_lossy().into_owned();
    let is_folder = entry.file_type()?.is_dir();
    match FOLDERS.iter().find(|(folder, _)| is_folder && *folder == name) {
        Some((_, endings)) => foreign_below(&entry.path(), endings, 0),
        None if !is_folder && FILES.contains(&name.as_str()) => Ok(None),
        None if ridge_files::is_partial(&entry.file_name()) => Ok(None),
        None if is_folder && is_of_rank(&name) => Ok(match content(&entry.path())? {
            Content::Others(found) => Some(found),
            Content::Nothing | Content::Recording => None,
        }),
        None => Ok(Some(entry.path())),
    }
}

/// The first file below `folder` that ends in none of `endings`.
fn foreign_below(folder: &Path, endings: &[&str], depth: usize) -> io::Result<Option<PathBuf>> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let found = match entry.file_type()? {
            kind if kind.is_dir() && depth < MAX_DEPTH => foreign_below(&entry.path(), endings, depth + 1)?,
            kind if !kind.is_dir() && endings.iter().any(|ending| name.ends_with(ending)) => None,
            _ => Some(entry.path()),
        };
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

fn is_manifest(path: &Path) -> bool {
    fs::read_to_string(path).is_ok_and(|text| text.contains(Manifest::SCHEMA))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(files: &[(&str, &str)]) -> (tempfile::TempDir, Content) {
        let dir = tempfile::tempdir().expect("a temporary folder");
        for (name, text) in files {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().expect("it has one")).expect("a directory");
            fs::write(path, text).expect("a file");
        }
        let found = content(dir.path()).expect("it can be listed");
        (dir, found)
    }

    #[test]
    fn a_recording_is_known_by_its_manifest_or_its_work() {
        assert_eq!(made(&[]).1, Content::Nothing);
        assert_eq!(made(&[("manifest.json", Manifest::SCHEMA), ("trace/host0.xplane.pb", "x")]).1, Content::Recording);
        assert_eq!(made(&[(".ridgeline/config.json", "{}"), ("hlo/jit_f.1/after.txt", "x")]).1, Content::Recording);
    }

    #[test]
    fn what_xprof_leaves_beside_a_capture_goes_with_it() {
        let run = "plugins/profile/trace";
        let cache = ["cache_version.txt", "host0.SSTABLE", "jit_f(3).hlo_proto.pb", ".cached_tools.json"];
        let cache = cache.map(|name| format!("{run}/{name}"));
        let (capture, notes) = (format!("{run}/host0.xplane.pb"), format!("{run}/notes.txt"));
        let mut files = vec![("manifest.json", Manifest::SCHEMA), (capture.as_str(), "x")];
        files.extend(cache.iter().map(|name| (name.as_str(), "x")));
        let (dir, found) = made(&files);
        assert_eq!((found, traces(dir.path())), (Content::Recording, vec![capture.clone()]));
        files.push((&notes, "mine"));
        let (dir, found) = made(&files);
        assert_eq!(found, Content::Others(dir.path().join(&notes)));
    }

    #[test]
    fn the_beginning_of_a_trace_is_none() {
        assert!(!has_trace(made(&[("trace/host0.xplane.pb.partial", "x")]).0.path()));
        assert!(has_trace(made(&[("trace/host0.xplane.pb.partial", "x"), ("trace/host0.xplane.pb", "x")]).0.path()));
        assert!(!has_trace(made(&[("plugins/profile/trace/host0.xplane.pb.partial", "x")]).0.path()));
        assert!(has_trace(made(&[("plugins/profile/trace/host0.xplane.pb", "x")]).0.path()));
    }

    #[test]
    fn what_others_made_is_found_anywhere() {
        for other in ["thesis.tex", "trace/notes.txt", "hlo/jit_f.1/my.dot.bak", "memory/deep/er/x"] {
            let (dir, found) = made(&[("manifest.json", Manifest::SCHEMA), (other, "mine")]);
            assert_eq!(found, Content::Others(dir.path().join(other)), "{other}");
        }
        let (dir, found) = made(&[("memory/a.pb.gz", "a directory named like ours is not enough")]);
        assert_eq!(found, Content::Others(dir.path().join("memory")));
    }
}
