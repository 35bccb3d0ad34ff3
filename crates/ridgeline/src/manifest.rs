//! What the recorder wrote beside a capture: `manifest.json`.
//!
//! Any part of it may be absent or damaged; nothing in it can stop a capture from opening.

use crate::document::text_of;
use crate::note::{Note, Severity, damaged};
use ridge_documents::{self as documents, DocumentError};
use ridge_table::FactValue;
use serde::Serialize;
use serde_json::Value;
use std::path::{Component, Path, PathBuf};

/// Its name.
const FILE: &str = "manifest.json";

/// Folders above a file in which its manifest may be, the file's own included.
///
/// A benchmark's is as far as it gets: `jax_traces/TIME/vol32/plugins/profile/OPERATION` may lie below it.
const MOST_FOLDERS: usize = 7;

/// Modules of one recording that are read beside a capture without any.
const MOST_MODULES: usize = 4096;

/// A run folder's manifest.
#[derive(Debug, Default)]
pub(crate) struct Manifest {
    pub(crate) folder: PathBuf,
    pub(crate) document: documents::Manifest,
}

impl Manifest {
    /// The manifest of `path`, a run folder or a file in one, and what a reader must know of it: what the recorder could not
    /// capture, whether the program ended while it did, and what of the manifest itself cannot be read.
    pub(crate) fn of(path: &Path) -> (Option<Manifest>, Vec<Note>) {
        let start = if path.is_dir() { Some(path) } else { path.parent() };
        let folders = start.into_iter().flat_map(|start| start.ancestors().take(MOST_FOLDERS));
        let found = folders.filter(|folder| folder.join(FILE).is_file()).find_map(Manifest::in_folder);
        found.unwrap_or_default()
    }

    /// The folder of one of its modules.
    pub(crate) fn folder_of(&self, module: &documents::Module) -> Option<PathBuf> {
        let dir = Path::new(module.dir.as_deref()?);
        let is_inside = dir.components().all(|part| matches!(part, Component::Normal(_)));
        is_inside.then(|| self.folder.join(dir))
    }

    /// The HLO protos that the recorder kept, optimized and with their buffers.
    pub(crate) fn module_protos(&self) -> Vec<PathBuf> {
        let folders = self.document.modules.iter().filter_map(|module| self.folder_of(module)).take(MOST_MODULES);
        folders.map(|folder| folder.join("after.hlo.pb")).filter(|path| path.is_file()).collect()
    }

    /// Whether `path` is the folder of a benchmark, and not one capture in it.
    pub(crate) fn is_of_benchmark(&self, path: &Path) -> bool {
        self.document.kind == "bench" && self.folder == path
    }

    /// `None` where the file is of another tool: others have files of that name.
    fn in_folder(folder: &Path) -> Option<(Option<Manifest>, Vec<Note>)> {
        let mut manifest = Manifest { folder: folder.to_owned(), ..Manifest::default() };
        let unusable = |why: String| Some((None, vec![note(folder, Severity::Partial, why)]));
        let text = match text_of::<documents::Manifest>(&folder.join(FILE)) {
            Ok(text) => text,
            Err(error) => return unusable(error.to_string()),
        };
        match documents::read(&text) {
            Ok(parsed) => {
                manifest.document = parsed.document;
                let mut notes = manifest.notes();
                notes.extend(parsed.damaged.iter().map(|damage| damaged(damage, &folder.join(FILE))));
                Some((Some(manifest), notes))
            }
            Err(DocumentError::OtherSchema { .. }) => None,
            Err(error) => unusable(error.to_string()),
        }
    }

    fn notes(&self) -> Vec<Note> {
        let mut notes: Vec<Note> = self.document.missing.iter().map(|part| self.missing_note(part)).collect();
        if self.document.complete == Some(false) && notes.is_empty() {
            notes.push(note(&self.folder, Severity::Lost, "the recording did not end properly".to_owned()));
        }
        let severity = |what: &Value| match what.as_str()? {
            "steps" | "torch.compile" => Some(Severity::Info),
            // Windows of a program that makes too many events to record all of it.
            "capture" => Some(Severity::Partial),
            // What lines and compile times say is of another run.
            "compilation cache" => Some(Severity::Partial),
            _ => None,
        };
        let said = self.document.notes.iter().flatten();
        let said = said.filter_map(|said| Some((severity(&said["what"])?, said["why"].as_str()?)));
        notes.extend(said.map(|(severity, why)| note(&self.folder, severity, why.to_owned())));
        notes
    }

    fn missing_note(&self, part: &documents::Missing) -> Note {
        let why = part.why.as_deref().unwrap_or("no reason given");
        if part.what == "end of the recording" {
            return note(&self.folder, Severity::Lost, why.to_owned());
        }
        let severity = if part.what.contains("trace") { Severity::Lost } else { Severity::Partial };
        note(&self.folder, severity, format!("not recorded: {}: {why}", part.what))
    }

    /// Top-level values as words: command, exit status, versions, devices, overhead.
    pub(crate) fn facts(&self) -> Vec<(String, FactValue)> {
        let document = &self.document;
        let mut facts = Vec::new();
        let mut add = |key: &str, value: Value| flatten(key, &value, 0, &mut facts);
        if !document.command.is_empty() {
            add("command", json(&document.command));
        }
        add("program", json(&document.program));
        add("versions", json(&document.versions));
        add("cpu", json(&document.cpu));
        add("os", json(&document.os));
        add("devices", json(&document.devices));
        add("added_environment", json(&document.added_environment));
        add("timings", json(&document.timings));
        add("overhead", json(&document.overhead));
        facts
    }
}

fn note(folder: &Path, severity: Severity, message: String) -> Note {
    Note { severity, message, file: Some(folder.join(FILE).display().to_string()), offset: None, count: 1 }
}

fn json(part: &impl Serialize) -> Value {
    // A part came from JSON, so it can go back.
    serde_json::to_value(part).unwrap_or_default()
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

#[cfg(test)]
mod tests {
    use super::*;

    fn noted(text: &str) -> (bool, Vec<String>) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join(FILE), text).expect("written");
        let (manifest, notes) = Manifest::of(folder.path());
        (manifest.is_some(), notes.into_iter().map(|note| note.message).collect())
    }

    #[test]
    fn what_is_damaged_is_said_and_the_rest_is_read() {
        let text = r#"{"schema":"ridgeline.manifest.v1","complete":false,"missing":[{"what":"trace","why":"cut"}, 7],"cpu":3}"#;
        let expected = [
            "not recorded: trace: cut",
            "damaged and left out: missing[]: invalid type: integer `7`, expected struct Missing",
            "damaged and left out: cpu: invalid type: integer `3`, expected struct Cpu",
        ];
        assert_eq!(noted(text), (true, expected.map(str::to_owned).to_vec()));
    }

    #[test]
    fn a_file_of_that_name_that_is_another_document_is_passed_over() {
        assert_eq!(noted(r#"{"name":"app","version":3}"#), (false, Vec::new()));
        let (is_read, notes) = noted(r#"{"schema":"ridgeline.manifest.v2"}"#);
        assert!(!is_read && notes[0].ends_with("found ridgeline.manifest.v2"), "{notes:?}");
        let (is_read, notes) = noted(r#"{"schema":"ridgeline.manifest.v1","com"#);
        assert!(!is_read && notes[0].contains("found no JSON"), "{notes:?}");
    }

    #[test]
    fn facts_are_flat_with_their_units() {
        let text = r#"{"schema":"ridgeline.manifest.v1","command":["python","x.py"],"program":{"exit_code":0,"signal":null,"wall_s":2},
            "devices":[{"id":0,"kind":"H","platform":"gpu","memory_bytes":7}],"overhead":{"share_of_wall":0.5}}"#;
        let document = documents::read(text.as_bytes()).expect("a manifest").document;
        let facts = Manifest { document, ..Manifest::default() }.facts();
        let facts: Vec<String> = facts.iter().map(|(key, value)| format!("{key} = {value:?}")).collect();
        let expected = [
            r#"command = Text("python x.py")"#,
            r#"program.exit_code = Text("0")"#,
            "program.wall = Nanos(2000000000)",
            r#"devices.0.id = Text("0")"#,
            r#"devices.0.kind = Text("H")"#,
            r#"devices.0.platform = Text("gpu")"#,
            "devices.0.memory = Bytes(7)",
            r#"overhead.share_of_wall = Text("50.0%")"#,
        ];
        assert_eq!(facts, expected);
    }
}
