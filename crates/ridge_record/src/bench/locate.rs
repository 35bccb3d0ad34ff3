//! Find the suite and the interpreter that were asked for.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use super::error::BenchError;

/// Suites carried in the binary, by name.
const SUITES: &[(&str, &str)] = &[("mbirjax", include_str!("../../../../suites/mbirjax.py"))];

/// Names of the suites that need no file.
pub fn built_in_suites() -> Vec<&'static str> {
    SUITES.iter().map(|(name, _)| *name).collect()
}

/// The file of the suite `asked`; a built-in one is written under `out`, where its source lines can be looked up later.
pub(super) fn suite_file(asked: &str, out: &Path) -> Result<PathBuf, BenchError> {
    let named = Path::new("suites").join(format!("{asked}.py"));
    if let Some(path) = [Path::new(asked), &named].into_iter().find(|path| path.is_file()) {
        return Ok(path.to_path_buf());
    }
    let Some((name, text)) = SUITES.iter().find(|(name, _)| *name == asked) else {
        return Err(BenchError::UnknownSuite { name: asked.to_owned() });
    };
    let path = out.join("suite").join(format!("{name}.py"));
    let written = fs::create_dir_all(out.join("suite")).and_then(|()| fs::write(&path, text));
    written.map_err(|source| BenchError::Write { path: path.clone(), source })?;
    Ok(path)
}

/// The interpreter to use: the one asked for, else that of `$VIRTUAL_ENV`, else of `.venv`, else `python3` from the path.
pub(super) fn interpreter(asked: Option<&Path>) -> PathBuf {
    if let Some(python) = asked {
        return python.to_path_buf();
    }
    let active = env::var_os("VIRTUAL_ENV").map(PathBuf::from);
    let candidates = active.into_iter().chain([PathBuf::from(".venv")]).map(|venv| venv.join("bin/python"));
    candidates.into_iter().find(|python| python.is_file()).unwrap_or_else(|| PathBuf::from("python3"))
}
