//! Find the suite that was asked for.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::BenchError;

/// Suites carried in the binary, by name.
const SUITES: &[(&str, &str)] = &[("mbirjax", include_str!("../../../../suites/mbirjax.py"))];

/// Names of the suites that need no file.
pub fn built_in_suites() -> Vec<&'static str> {
    SUITES.iter().map(|(name, _)| *name).collect()
}

/// Where a suite is.
pub(super) enum SuiteSource {
    /// In this file.
    File(PathBuf),
    /// In the binary: name and text.
    BuiltIn(&'static str, &'static str),
}

impl SuiteSource {
    /// The suite `asked`: a path, `suites/NAME.py`, or a built-in name, in this order.
    pub(super) fn find(asked: &str) -> Result<SuiteSource, BenchError> {
        let named = Path::new("suites").join(format!("{asked}.py"));
        if let Some(path) = [Path::new(asked), &named].into_iter().find(|path| path.is_file()) {
            return Ok(SuiteSource::File(path.to_path_buf()));
        }
        let built_in = SUITES.iter().find(|(name, _)| *name == asked);
        let (name, text) = built_in.ok_or_else(|| BenchError::UnknownSuite { name: asked.to_owned() })?;
        Ok(SuiteSource::BuiltIn(name, text))
    }

    /// A file that Python can run: the suite's own, or for a built-in one a copy in `folder`.
    pub(super) fn file_in(&self, folder: &Path) -> Result<PathBuf, BenchError> {
        match self {
            SuiteSource::File(path) => Ok(path.clone()),
            SuiteSource::BuiltIn(name, text) => {
                let path = folder.join(format!("{name}.py"));
                let written = fs::create_dir_all(folder).and_then(|()| fs::write(&path, text));
                written.map_err(|source| BenchError::Write { path: path.clone(), source })?;
                Ok(path)
            }
        }
    }
}
