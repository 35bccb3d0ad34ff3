//! Find the suite that was asked for.

use std::fs;
use std::path::{Path, PathBuf};

use super::built_in::{SUITES, SuiteFile};
use super::error::BenchError;

/// Where a suite is.
pub(super) enum SuiteSource {
    /// In this file.
    File(PathBuf),
    /// In the binary: its files.
    BuiltIn(&'static [SuiteFile]),
}

impl SuiteSource {
    /// The suite `asked`: a path, `suites/NAME.py`, or a built-in name, in this order.
    pub(super) fn find(asked: &str) -> Result<SuiteSource, BenchError> {
        let named = Path::new("suites").join(format!("{asked}.py"));
        if let Some(path) = [Path::new(asked), &named].into_iter().find(|path| path.is_file()) {
            return Ok(SuiteSource::File(path.to_path_buf()));
        }
        let built_in = SUITES.iter().find(|(name, _)| *name == asked);
        let (_, files) = built_in.ok_or_else(|| BenchError::UnknownSuite { name: asked.to_owned() })?;
        Ok(SuiteSource::BuiltIn(files))
    }

    /// A file that Python can run: the suite's own, or for a built-in one a copy in `folder`.
    pub(super) fn file_in(&self, folder: &Path) -> Result<PathBuf, BenchError> {
        match self {
            SuiteSource::File(path) => Ok(path.clone()),
            SuiteSource::BuiltIn(files) => {
                files.iter().try_for_each(|(name, text)| write(&folder.join(name), text))?;
                Ok(folder.join(files[0].0))
            }
        }
    }
}

fn write(path: &Path, text: &str) -> Result<(), BenchError> {
    let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(path, text));
    written.map_err(|source| BenchError::Write { path: path.to_path_buf(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each file of the folder of suites is carried under its name, with what it imports.
    #[test]
    fn every_suite_of_the_project_is_built_in() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites");
        let entries = fs::read_dir(folder).expect("the suites").filter_map(|entry| Some(entry.ok()?.path()));
        let python = entries.filter(|path| path.extension().is_some_and(|extension| extension == "py"));
        let mut names: Vec<String> =
            python.map(|path| path.file_stem().expect("a name").display().to_string()).collect();
        names.sort();
        assert_eq!(names, crate::bench::built_in_suites());
        let copy = tempfile::tempdir().expect("a temporary folder");
        let file = SuiteSource::find("shallow_water").and_then(|suite| suite.file_in(copy.path())).expect("a suite");
        assert!(file.is_file() && copy.path().join("programs/shallow_water.py").is_file());
    }
}
