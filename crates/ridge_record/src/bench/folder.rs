//! The folder that a benchmark writes.
//!
//! An earlier benchmark in it is replaced as a whole, so that rows of two runs never mix; anything else is left alone.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::error::BenchError;

/// Make `out`, or empty it of an earlier benchmark.
pub(super) fn prepare(out: &Path) -> Result<(), BenchError> {
    let failed = |source| BenchError::Write { path: out.to_path_buf(), source };
    fs::create_dir_all(out).map_err(failed)?;
    let entries: Vec<_> = fs::read_dir(out).and_then(Iterator::collect).map_err(failed)?;
    let in_use = entries.iter().any(|entry| !is_ours(&entry.file_name().to_string_lossy()));
    if in_use || !(entries.is_empty() || out.join("results.json").is_file()) {
        return Err(BenchError::FolderInUse { path: out.to_path_buf() });
    }
    entries.iter().try_for_each(|entry| remove(&entry.path())).map_err(failed)
}

/// Folder of one size, named so that names sort as sizes do up to four digits.
pub(super) fn size_dir(size: u32) -> String {
    format!("size_{size:03}")
}

/// Write `text` so that a reader sees the old file or the new one, never a part.
pub(super) fn write_whole(path: &Path, text: &str) -> Result<(), BenchError> {
    let partial = PathBuf::from(format!("{}.partial", path.display()));
    let written = fs::write(&partial, text).and_then(|()| fs::rename(&partial, path));
    written.map_err(|source| BenchError::Write { path: path.to_path_buf(), source })
}

fn is_ours(name: &str) -> bool {
    let files = ["results.json", "manifest.json", "results.json.partial", "manifest.json.partial", "suite"];
    files.contains(&name) || name.strip_prefix("size_").is_some_and(|size| size.bytes().all(|b| b.is_ascii_digit()))
}

fn remove(path: &Path) -> io::Result<()> {
    if path.symlink_metadata()?.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}
