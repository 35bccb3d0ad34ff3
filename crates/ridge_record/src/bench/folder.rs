//! The folder that a benchmark writes.
//!
//! An earlier benchmark in it is replaced as a whole, once this one has ended, so that rows of two runs never mix; anything else is
//! left alone.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use ridge_files::NewFolder;

use super::error::BenchError;
use super::mbirjax;

/// Make `out`; where an earlier benchmark is in it, a folder beside it that will take its place.
pub(super) fn prepare(out: &Path) -> Result<Option<NewFolder>, BenchError> {
    let failed = |source| BenchError::Write { path: out.to_path_buf(), source };
    fs::create_dir_all(out).map_err(failed)?;
    if refuse_others(out)? {
        return Ok(None);
    }
    NewFolder::beside(out).map(Some).map_err(failed)
}

/// Have an earlier benchmark at `out` give way to `new`.
pub(super) fn settle(new: NewFolder, out: &Path) -> Result<(), BenchError> {
    // What came into the earlier one meanwhile is not lost with it.
    let kept = match refuse_others(out) {
        Ok(_) => match new.keep_instead() {
            Ok(()) => return Ok(()),
            Err((new, _)) => new.keep_near(),
        },
        Err(_) => new.keep_near(),
    };
    let failed = |source| BenchError::Write { path: out.to_path_buf(), source };
    Err(BenchError::OtherDirectory { path: out.to_path_buf(), kept: kept.map_err(failed)? })
}

/// Whether the folder is empty; refuses one that is neither that nor an earlier benchmark.
fn refuse_others(out: &Path) -> Result<bool, BenchError> {
    let failed = |source| BenchError::Write { path: out.to_path_buf(), source };
    let entries: Vec<_> = fs::read_dir(out).and_then(Iterator::collect).map_err(failed)?;
    let in_use = entries.iter().any(|entry| !is_ours(&entry.file_name()));
    if in_use || !(entries.is_empty() || out.join("results.json").is_file()) {
        return Err(BenchError::FolderInUse { path: out.to_path_buf() });
    }
    Ok(entries.is_empty())
}

/// Write `text` so that a reader sees the old file or the new one, never a part.
pub(super) fn write_whole(path: &Path, text: &str) -> Result<(), BenchError> {
    ridge_files::write(path, text.as_bytes()).map_err(|source| BenchError::Write { path: path.to_path_buf(), source })
}

fn is_ours(name: &OsStr) -> bool {
    let files = ["results.json", "manifest.json", "suite"];
    let is_of_mbirjax = |name: &str| {
        let (begin, end) = mbirjax::FILE;
        mbirjax::FOLDERS.contains(&name) || (name.starts_with(begin) && name.ends_with(end))
    };
    let is_size =
        |name: &str| name.strip_prefix("size_").is_some_and(|size| size.bytes().all(|digit| digit.is_ascii_digit()));
    ridge_files::is_partial(name)
        || name.to_str().is_some_and(|name| files.contains(&name) || is_size(name) || is_of_mbirjax(name))
}
