//! The JSON lines that the compiling worker writes, one event each.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What the worker says.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub(super) enum WorkerEvent {
    Environment {
        jaxlib: String,
        ptxas: Option<String>,
    },
    Start {
        target: String,
        folder: PathBuf,
    },
    Compiled {
        target: String,
        folder: PathBuf,
        name: String,
        number: Option<u64>,
        files: Vec<String>,
        notes: Vec<String>,
        memory: BTreeMap<String, u64>,
        compile_s: f64,
        beyond_s: f64,
    },
    Failed {
        target: String,
        folder: PathBuf,
        why: String,
    },
    Interrupted,
    Broken {
        reason: String,
    },
}

/// The event of one line; `None` for a line that is none, which a newer or broken worker may write.
pub(super) fn parse(line: &str) -> Option<WorkerEvent> {
    serde_json::from_str(line).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_events_or_none() {
        let line = r#"{"event":"failed","target":"h100","folder":"a/b","why":"cut"}"#;
        let expected = WorkerEvent::Failed { target: "h100".into(), folder: "a/b".into(), why: "cut".into() };
        assert_eq!(parse(line), Some(expected));
        assert_eq!(parse(r#"{"event":"interrupted"}"#), Some(WorkerEvent::Interrupted));
        for line in ["", "[]", "{}", r#"{"event":"later"}"#, r#"{"event":"start","target":1}"#] {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
