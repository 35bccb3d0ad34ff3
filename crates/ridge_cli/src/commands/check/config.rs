//! What a project wants of `check`, kept in `ridgeline.toml`.

use super::fail_on::FailOn;
use crate::failure::Failure;
use serde::Deserialize;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Where it is looked for where no file is named.
const USUAL: &str = "ridgeline.toml";

/// The table `[check]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(super) struct Config {
    /// Rules or groups that are asked.
    pub(super) select: Vec<String>,
    /// Rules or groups that are not.
    pub(super) ignore: Vec<String>,
    /// From which level on the command fails.
    pub(super) fail_on: Option<FailOn>,
    /// Findings that were accepted.
    pub(super) baseline: Option<PathBuf>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct File {
    check: Config,
}

impl Config {
    /// Reads the file at `path`, or the usual one where there is one.
    pub(super) fn read(path: Option<&Path>) -> Result<Config, Failure> {
        let at = path.unwrap_or(Path::new(USUAL));
        let text = match std::fs::read_to_string(at) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound && path.is_none() => return Ok(Config::default()),
            Err(error) => return Err(Failure::io("cannot read the configuration", &error).at(at)),
        };
        let found: File = toml::from_str(&text).map_err(|error| Failure::failed(error.message().to_owned()).at(at))?;
        Ok(found.check)
    }
}
