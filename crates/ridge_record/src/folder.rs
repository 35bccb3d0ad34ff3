//! The capture folder: choosing it, claiming it, and clearing what an earlier recording left.
//!
//! Only files that a recording makes are ever removed.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::RecordError;

/// Where the harness and the pieces of a running recording live, inside the capture folder.
pub(crate) const WORK: &str = ".ridgeline";

/// Everything a recording puts in a capture folder.
const OURS: [&str; 6] = [WORK, "manifest.json", "trace", "hlo", "hlo_dump", "memory"];

/// Bytes set aside so that the manifest can be written on a disk that the program filled.
const RESERVE_BYTES: usize = 256 * 1024;

/// The folder a recording takes if none is named: `ridgeline-<script>-<n>`, or `ridgeline-run-<n>` if `command` names no script.
///
/// `<n>` is the first number, from 1, that no folder in the current one has.
pub fn default_out_dir(command: &[OsString]) -> PathBuf {
    let stem = script_stem(command).unwrap_or_else(|| "run".to_owned());
    (1_u32..)
        .map(|n| PathBuf::from(format!("ridgeline-{stem}-{n}")))
        .find(|path| !path.exists())
        .expect("one of four billion names is free")
}

/// `solver` for `python solver.py --n 384`, `pkg.train` for `python -m pkg.train`.
fn script_stem(command: &[OsString]) -> Option<String> {
    let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
    let script = words.iter().find(|word| word.ends_with(".py"));
    let module = words.iter().position(|word| word == "-m").and_then(|at| words.get(at + 1));
    let stem = match (script, module) {
        (Some(script), _) => Path::new(script.as_ref()).file_stem()?.to_string_lossy().into_owned(),
        (None, Some(module)) => module.to_string(),
        (None, None) => return None,
    };
    let plain: String = stem.chars().filter(|c| c.is_alphanumeric() || "_.-".contains(*c)).take(60).collect();
    let plain = plain.trim_start_matches(['.', '-']).to_owned();
    (!plain.is_empty()).then_some(plain)
}

/// A claimed capture folder; all paths are absolute.
#[derive(Debug)]
pub(crate) struct CaptureFolder {
    pub(crate) path: PathBuf,
}

impl CaptureFolder {
    /// Make or clear `path`.
    ///
    /// # Errors
    /// [`RecordError::FolderInUse`] if it holds files that no recording made, [`RecordError::Folder`] if it cannot be written.
    pub(crate) fn claim(path: &Path) -> Result<CaptureFolder, RecordError> {
        let failed = |source| RecordError::Folder { path: path.to_owned(), source };
        fs::create_dir_all(path).map_err(failed)?;
        let path = path.canonicalize().map_err(failed)?;
        if !holds_only_ours(&path).map_err(failed)? {
            return Err(RecordError::FolderInUse { path });
        }
        let folder = CaptureFolder { path };
        for name in OURS {
            remove(&folder.path.join(name)).map_err(failed)?;
        }
        fs::create_dir_all(folder.pieces()).map_err(failed)?;
        fs::write(folder.reserve(), vec![b' '; RESERVE_BYTES]).map_err(failed)?;
        Ok(folder)
    }

    /// Where the harness's Python files go.
    pub(crate) fn harness(&self) -> PathBuf {
        self.path.join(WORK).join("harness")
    }

    /// Where each process writes its piece of the manifest.
    pub(crate) fn pieces(&self) -> PathBuf {
        self.path.join(WORK).join("pieces")
    }

    /// What the harness is told.
    pub(crate) fn config(&self) -> PathBuf {
        self.path.join(WORK).join("config.json")
    }

    /// The result.
    pub(crate) fn manifest(&self) -> PathBuf {
        self.path.join("manifest.json")
    }

    fn reserve(&self) -> PathBuf {
        self.path.join(WORK).join("reserve")
    }

    /// Give back the bytes set aside for the manifest.
    pub(crate) fn release_reserve(&self) {
        // If it cannot be removed, writing the manifest says whether that mattered.
        let _ = fs::remove_file(self.reserve());
    }

    /// Remove what only a running recording needs.
    pub(crate) fn remove_work(&self) -> io::Result<()> {
        remove(&self.path.join(WORK))
    }
}

/// True if every entry of `path` is one that a recording makes, and at least one proves that a recording made them.
fn holds_only_ours(path: &Path) -> io::Result<bool> {
    let mut is_empty = true;
    for entry in fs::read_dir(path)? {
        is_empty = false;
        if !OURS.iter().any(|name| entry.as_ref().is_ok_and(|entry| entry.file_name() == *name)) {
            return Ok(false);
        }
    }
    Ok(is_empty || path.join(WORK).is_dir() || is_manifest(&path.join("manifest.json")))
}

fn is_manifest(path: &Path) -> bool {
    fs::read_to_string(path).is_ok_and(|text| text.contains(crate::manifest::SCHEMA))
}

fn remove(path: &Path) -> io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn a_folder_is_named_for_the_script() {
        let stems =
            ["python solver.py --n 384", "python -m pkg.train", "uv run python a/b/.py", "train", "python ../x/y z.py"];
        let lines: String = stems
            .iter()
            .map(|command| {
                let words: Vec<OsString> = command.split(' ').map(OsString::from).collect();
                format!("{command} -> {:?}\n", script_stem(&words))
            })
            .collect();
        expect![[r#"
            python solver.py --n 384 -> Some("solver")
            python -m pkg.train -> Some("pkg.train")
            uv run python a/b/.py -> Some("py")
            train -> None
            python ../x/y z.py -> Some("z")
        "#]]
        .assert_eq(&lines);
    }

    #[test]
    fn files_of_others_are_left_alone() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        fs::write(dir.path().join("thesis.tex"), "x").expect("a file");
        assert!(matches!(CaptureFolder::claim(dir.path()), Err(RecordError::FolderInUse { .. })));
        assert!(dir.path().join("thesis.tex").exists());
    }

    #[test]
    fn a_folder_named_like_ours_is_not_enough() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir(dir.path().join("memory")).expect("a folder");
        assert!(matches!(CaptureFolder::claim(dir.path()), Err(RecordError::FolderInUse { .. })));
    }

    #[test]
    fn an_earlier_capture_is_replaced() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        fs::write(dir.path().join("manifest.json"), crate::manifest::SCHEMA).expect("a file");
        fs::create_dir(dir.path().join("trace")).expect("a folder");
        fs::write(dir.path().join("trace/old.xplane.pb"), "x").expect("a file");
        CaptureFolder::claim(dir.path()).expect("ours");
        assert!(!dir.path().join("trace").exists());
    }
}
