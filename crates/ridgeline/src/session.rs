//! Session.
use super::*;
use std::path::{Path, PathBuf};

/// How grave a note is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Good to know.
    Info,
    /// Part of the capture could not be used.
    Partial,
    /// Data was lost: every report says so first.
    Lost,
}

/// Something a reader must know about a capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// How grave it is.
    pub severity: Severity,
    /// What happened, a sentence without a period.
    pub message: String,
    /// The file it is about, as the user gave it.
    pub file: Option<String>,
    /// Byte offset in that file.
    pub offset: Option<u64>,
    /// How often it happened.
    pub count: u64,
}

/// What to group device time by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By { Op, Kernel, Category, Module, Source, Scope, Operation, Step, Track }

/// Options of opening.
#[derive(Debug, Clone)]
pub struct OpenOptions {
    /// Read as this format rather than what the content says.
    pub format: Option<String>,
}

/// Why a capture could not be opened.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct OpenError { pub message: String, pub path: Option<PathBuf>, pub hints: Vec<String> }

/// An opened capture.
pub struct Session {}
impl Session {
    /// Opens.
    pub fn open(_paths: &[PathBuf], _options: &OpenOptions) -> Result<Session, OpenError> { unimplemented!() }
    /// What was lost.
    pub fn notes(&self) -> &[Note] { unimplemented!() }
    /// Overview.
    pub fn overview(&self) -> Vec<Section> { unimplemented!() }
    /// Info.
    pub fn info(&self) -> Vec<Section> { unimplemented!() }
    /// A table.
    pub fn table(&self, _by: By) -> Table { unimplemented!() }
    /// Modules as a table.
    pub fn hlo_modules(&self) -> Table { unimplemented!() }
    /// Instructions of modules.
    pub fn hlo_ops(&self, _module: &str) -> Result<Table, OpenError> { unimplemented!() }
    /// Text of a module (or one op).
    pub fn hlo_text(&self, _module: &str, _op: Option<&str>, _stage: HloStage) -> Result<String, OpenError> { unimplemented!() }
    /// Dot.
    pub fn hlo_dot(&self, _module: &str, _op: Option<&str>) -> Result<String, OpenError> { unimplemented!() }
    /// Root folder.
    pub fn root(&self) -> &Path { unimplemented!() }
}
/// Which form of a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HloStage { Before, After, Jaxpr, StableHlo }
