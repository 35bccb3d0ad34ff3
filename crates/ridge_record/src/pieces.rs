//! What each Python process left in the work folder: its piece of the manifest and the list of its modules.
//!
//! A piece that does not parse is a note, not an error: its process may have been killed while it wrote.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::folder_content::traces;

/// How the names of files begin in which a process says why it has no piece.
const REFUSED: &str = "refused-";

/// The piece of one process.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    /// What the harness wrote, an object.
    pub(crate) content: Value,
    /// One entry per compiled module.
    pub(crate) modules: Vec<Value>,
}

impl Piece {
    /// True if its process imported a library which can be recorded.
    fn is_recorded(&self) -> bool {
        self.content["jax"] == true || self.content["torch"] == true
    }
}

/// All pieces, in the order in which the processes began, and what there is instead of pieces.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pieces {
    pub(crate) pieces: Vec<Piece>,
    /// Names of those that could not be read.
    pub(crate) unreadable: Vec<String>,
    /// Why Python processes could not load the harness.
    pub(crate) refused: Vec<String>,
    /// What a profiler around the program left, in the form of a piece; `None` where there was none.
    pub(crate) around: Option<Value>,
}

impl Pieces {
    /// The pieces of processes that imported a library which can be recorded; one for each such library.
    pub(crate) fn recorded(&self) -> impl Iterator<Item = &Piece> {
        self.pieces.iter().filter(|piece| piece.is_recorded())
    }
}

/// Read every `*.json` in `dir`, with the `*.modules.jsonl` beside it.
pub(crate) fn read_pieces(dir: &Path) -> Pieces {
    let mut found = Pieces::default();
    let Ok(entries) = fs::read_dir(dir) else { return found };
    let mut paths: Vec<_> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "json")) {
        let content = fs::read_to_string(path).ok().and_then(|text| serde_json::from_str::<Value>(&text).ok());
        match content {
            Some(content) if content.is_object() => {
                found.pieces.push(Piece { content, modules: read_lines(&path.with_extension("modules.jsonl")) });
            }
            _ => found.unreadable.push(path.file_name().unwrap_or_default().to_string_lossy().into_owned()),
        }
    }
    let refusals =
        paths.iter().filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(REFUSED)));
    found.refused = refusals.filter_map(|path| fs::read_to_string(path).ok()).collect();
    found.refused.dedup();
    let started = |piece: &Piece| piece.content["started_unix_s"].as_f64().unwrap_or(f64::MAX);
    found.pieces.sort_by(|a, b| started(a).total_cmp(&started(b)));
    found
}

/// Has the pieces name the whole traces in `out` that none of them does: a process may be killed right after it wrote one.
pub(crate) fn name_unlisted_traces(out: &Path, pieces: &mut Pieces) {
    let mut paths = traces(out);
    let listed: Vec<Value> = pieces.pieces.iter().flat_map(|piece| list(&piece.content, "traces")).cloned().collect();
    paths.retain(|path| !listed.iter().any(|trace| trace["path"] == path.as_str()));
    let recorded = pieces.pieces.iter_mut().filter(|piece| piece.is_recorded()).last();
    if let Some(traces) = recorded.and_then(|piece| piece.content["traces"].as_array_mut()) {
        traces.extend(paths.into_iter().map(|path| json!({"path": path, "ended_because": "the process was killed"})));
    }
}

/// The list `key` of a piece; nothing where it has none.
fn list<'a>(content: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    content[key].as_array().into_iter().flatten()
}

/// The lines of `path` that are JSON; the last may be cut.
fn read_lines(path: &Path) -> Vec<Value> {
    let text = fs::read(path).unwrap_or_default();
    String::from_utf8_lossy(&text).lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}
