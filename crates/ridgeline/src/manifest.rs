//! What the recorder wrote beside a capture: `manifest.json`.
//!
//! Any part of it may be absent; nothing in it can stop a capture from opening.

use crate::note::{Note, Severity};
use ridge_table::FactValue;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Manifests larger than this are not ours.
const MAX_BYTES: u64 = 64 << 20;

/// A run folder's manifest.
#[derive(Debug)]
pub(crate) struct Manifest {
    pub(crate) folder: PathBuf,
    pub(crate) json: Value,
}

impl Manifest {
    /// The manifest of `path`, a run folder or a file in one.
    pub(crate) fn of(path: &Path) -> Option<Manifest> {
        let start = if path.is_dir() { path } else { path.parent()? };
        start.ancestors().take(4).find_map(|folder| {
            let file = folder.join("manifest.json");
            let small = std::fs::metadata(&file).is_ok_and(|metadata| metadata.len() <= MAX_BYTES);
            let text = small.then(|| std::fs::read(&file).ok()).flatten()?;
            let json: Value = serde_json::from_slice(&text).ok()?;
            let schema = json.get("schema")?.as_str()?;
            schema.starts_with("ridgeline.manifest.").then(|| Manifest { folder: folder.to_owned(), json })
        })
    }

    /// What the recorder could not capture, and whether the program ended while it did.
    pub(crate) fn notes(&self) -> Vec<Note> {
        let missing = self.json.get("missing").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let mut notes: Vec<Note> = missing.iter().filter_map(|part| self.missing_note(part)).collect();
        if self.json.get("complete").and_then(Value::as_bool) == Some(false) && notes.is_empty() {
            notes.push(self.note(Severity::Lost, "the recording did not end properly".to_owned()));
        }
        notes
    }

    fn missing_note(&self, part: &Value) -> Option<Note> {
        let what = part.get("what")?.as_str()?;
        let why = part.get("why").and_then(Value::as_str).unwrap_or("no reason given");
        if what == "end of the recording" {
            return Some(self.note(Severity::Lost, why.to_owned()));
        }
        let severity = if what.contains("trace") { Severity::Lost } else { Severity::Partial };
        Some(self.note(severity, format!("not recorded: {what}: {why}")))
    }

    fn note(&self, severity: Severity, message: String) -> Note {
        let file = Some(self.folder.join("manifest.json").display().to_string());
        Note { severity, message, file, offset: None, count: 1 }
    }

    /// Top-level values as words: command, exit status, versions, devices, overhead.
    pub(crate) fn facts(&self) -> Vec<(String, FactValue)> {
        let mut facts = Vec::new();
        for key in ["command", "program", "versions", "devices", "added_environment", "timings", "overhead"] {
            if let Some(value) = self.json.get(key) {
                flatten(key, value, 0, &mut facts);
            }
        }
        facts
    }
}

/// `{"a": {"b": 1}}` → `a.b = 1`; lists of plain values on one line.
fn flatten(path: &str, value: &Value, depth: usize, facts: &mut Vec<(String, FactValue)>) {
    match value {
        Value::Object(members) if depth < 4 => {
            members.iter().for_each(|(key, value)| flatten(&format!("{path}.{key}"), value, depth + 1, facts));
        }
        Value::Array(items) if items.iter().all(|item| !item.is_object() && !item.is_array()) => {
            let words: Vec<String> = items.iter().map(plain).collect();
            facts.push((path.to_owned(), FactValue::Text(words.join(" "))));
        }
        Value::Array(items) if depth < 4 => {
            let named = items.iter().enumerate().take(64);
            named.for_each(|(index, item)| flatten(&format!("{path}.{index}"), item, depth + 1, facts));
        }
        Value::Null => {}
        other => facts.push(quantity(path, other)),
    }
}

/// A value with the unit its key ends in: `wall_s` is seconds, `…_bytes` is bytes, a share is of one.
fn quantity(path: &str, value: &Value) -> (String, FactValue) {
    let bare = |suffix: &str| path.strip_suffix(suffix).map(str::to_owned);
    if let (Some(name), Some(secs)) = (bare("_s"), value.as_f64()) {
        return (name, FactValue::Nanos((secs * 1e9) as i64));
    }
    if let (Some(name), Some(bytes)) = (bare("_bytes"), value.as_u64()) {
        return (name, FactValue::Bytes(bytes));
    }
    if let (true, Some(share)) = (path.contains("share"), value.as_f64()) {
        return (path.to_owned(), FactValue::Text(ridge_units::Share(share).to_string()));
    }
    (path.to_owned(), FactValue::Text(plain(value)))
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
