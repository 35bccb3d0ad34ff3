//! Finds real captures for tests: the project's own fixtures, and a corpus beside the project that may be absent.
//!
//! It reads nothing but folder listings; what is in the files is the tests' business.

use std::path::{Path, PathBuf};

/// The folder of `format` (`xplane`) in the corpus beside the project.
///
/// Where it is absent, says on standard error that `test` was skipped and gives `None`.
pub fn corpus(test: &str, format: &str) -> Option<PathBuf> {
    let folder = root().join("../shared/corpus").join(format);
    if !folder.is_dir() {
        eprintln!("skipped: {test}: no corpus folder");
        return None;
    }
    Some(folder)
}

/// The folder of the project's own fixtures of `format`.
pub fn fixtures(format: &str) -> PathBuf {
    root().join("fixtures").join(format)
}

/// The files of `folder` whose names end in `suffix`, by name; none where the folder is absent.
pub fn files(folder: &Path, suffix: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let ends = |path: &PathBuf| path.to_string_lossy().ends_with(suffix);
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(ends).collect();
    files.sort();
    files
}

/// The project's root.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
