//! Where damage starts from: fixtures, files found by earlier runs, and captures beside the project where there are any.

use crate::Target;
use std::path::{Path, PathBuf};

/// Larger files are left out: they run slowly and hold little that small ones lack.
const MAX_SEED_BYTES: u64 = 512 << 10;

/// The project's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Every seed of `target`: from `fixtures/`, `fuzz/corpus/<target>/`, and `../shared/corpus` where that folder exists.
///
/// Sorted by path, so that the same checkout gives the same run.
pub fn seeds(target: &Target) -> Vec<Vec<u8>> {
    let mut paths = Vec::new();
    for folder in ["fixtures", "../shared/corpus/xplane"] {
        collect(&root().join(folder), target.seeds_end_with, 3, &mut paths);
    }
    collect(&root().join("fuzz/corpus").join(target.name), "", 1, &mut paths);
    paths.sort();
    paths.retain(|path| !is_answer(path));
    let small = paths.iter().filter(|path| path.metadata().is_ok_and(|file| file.len() <= MAX_SEED_BYTES));
    small.filter_map(|path| std::fs::read(path).ok()).collect()
}

/// Whether a file beside a capture says what is true of it.
fn is_answer(path: &Path) -> bool {
    let path = path.to_string_lossy();
    [".truth.json", ".golden.json", ".xprof."].iter().any(|part| path.contains(part))
}

fn collect(folder: &Path, end: &str, depth: u32, paths: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() && depth > 0 {
            collect(&path, end, depth - 1, paths);
        } else if path.to_string_lossy().ends_with(end) && path.is_file() {
            paths.push(path);
        }
    }
}
