//! What each Python process left in the work folder: its piece of the manifest and the list of its modules.
//!
//! A piece that does not parse is a note, not an error: its process may have been killed while it wrote.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// The piece of one process.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    /// What the harness wrote, an object.
    pub(crate) content: Value,
    /// One entry per compiled module.
    pub(crate) modules: Vec<Value>,
}

/// All pieces, in the order in which the processes began, and the names of those that could not be read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pieces {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) unreadable: Vec<String>,
}

impl Pieces {
    /// The pieces of processes that imported a library which can be recorded; one for each such library.
    pub(crate) fn recorded(&self) -> impl Iterator<Item = &Piece> {
        self.pieces.iter().filter(|piece| piece.content["jax"] == true || piece.content["torch"] == true)
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
    let started = |piece: &Piece| piece.content["started_unix_s"].as_f64().unwrap_or(f64::MAX);
    found.pieces.sort_by(|a, b| started(a).total_cmp(&started(b)));
    found
}

/// The lines of `path` that are JSON; the last may be cut.
fn read_lines(path: &Path) -> Vec<Value> {
    let text = fs::read(path).unwrap_or_default();
    String::from_utf8_lossy(&text).lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}
