//! Finds captures for tests: the project's own fixtures, and a corpus of larger ones beside the project that may be absent.
//!
//! It reads nothing but folder listings; what is in the files is the tests' business.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The folder of `format` (`xplane`) in the corpus beside the project.
///
/// Where it is absent, says on standard error that `test` was skipped and gives `None`.
pub fn corpus(test: &str, format: &str) -> Option<PathBuf> {
    let folder = root().join("../shared/corpus").join(format);
    if !folder.is_dir() {
        eprintln!("skipped: {test}: no corpus directory");
        return None;
    }
    Some(folder)
}

/// The folder of the project's own fixtures of `format`.
pub fn fixtures(format: &str) -> PathBuf {
    root().join("fixtures").join(format)
}

/// The folder of real captures of `format` (`xplane`, `kineto`, `nsys`) among the fixtures.
pub fn real(format: &str) -> PathBuf {
    fixtures("real").join(format)
}

/// Real captures of `format` whose names end in `suffix`: the project's own, then the corpus's others where it is at hand.
///
/// For tests that walk: they run on what the project has, so nothing is said where there is no corpus.
pub fn real_files(format: &str, suffix: &str) -> Vec<PathBuf> {
    let corpus = root().join("../shared/corpus").join(format);
    let mut names = BTreeSet::new();
    let all = [real(format), corpus].into_iter().flat_map(|folder| files_below(&folder));
    let wanted = all.filter(|path| path.to_string_lossy().ends_with(suffix));
    wanted.filter(|path| names.insert(path.file_name().map(ToOwned::to_owned))).collect()
}

/// Every file of the fixtures; those that describe them are among them.
pub fn every_fixture() -> Vec<PathBuf> {
    files_below(&root().join("fixtures"))
}

/// Every file that may be a capture: all fixtures, and what the corpus has beside them.
pub fn every_capture() -> Vec<PathBuf> {
    let corpus = ["xplane", "kineto", "nsys", "nsys-jax"].map(|format| real_files(format, ""));
    every_fixture().into_iter().chain(corpus.into_iter().flatten()).collect::<BTreeSet<_>>().into_iter().collect()
}

/// The files of `folder` and of the folders inside it, by name; none where it is absent.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let (folders, found): (Vec<PathBuf>, Vec<PathBuf>) = files(folder, "").into_iter().partition(|path| path.is_dir());
    found.into_iter().chain(folders.iter().flat_map(|folder| files_below(folder))).collect()
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
