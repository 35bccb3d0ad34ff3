//! The JSON lines that a worker writes, one event each.
//!
//! Rows, modules and costs stay JSON: they go into the documents as the worker wrote them.

use std::collections::BTreeMap;

use ridge_documents::{Environment, Measurement};
use serde::Deserialize;
use serde_json::Value;

/// What a worker says.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum WorkerEvent {
    Plan(Plan),
    Start { operation: String },
    Phase { operation: String, phase: String },
    Measurement(Measurement),
    Modules { operation: String, modules: Vec<Value>, costs: Value },
    Row { operation: String, row: Value },
    Environment(Box<Environment>),
    Interrupted,
    NoMatch { pattern: String, operations: Vec<String> },
    Broken { reason: String },
}

/// What a suite offers, and what of it was selected.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Plan {
    pub(super) suite: String,
    pub(super) sizes: Vec<u32>,
    pub(super) operations: Vec<String>,
    pub(super) variants: BTreeMap<String, Vec<(String, String)>>,
    /// When it was read: `20260102_030405`.
    pub(super) began: String,
    /// Of each operation that is a part of another, that other.
    pub(super) parts: Vec<(String, String)>,
    /// Operations that do the same, the slower first.
    pub(super) ratios: Vec<(String, String)>,
}

/// The event of one line; `None` for a line that is none, which a newer or broken worker may write.
pub(super) fn parse(line: &str) -> Option<WorkerEvent> {
    let mut value: Value = serde_json::from_str(line).ok()?;
    let kind = value.as_object_mut()?.shift_remove("event")?;
    let operation = text(&value["operation"]);
    Some(match kind.as_str()? {
        "plan" => WorkerEvent::Plan(plan(&value)),
        "start" => WorkerEvent::Start { operation: operation? },
        "phase" => WorkerEvent::Phase { operation: operation?, phase: text(&value["phase"])? },
        "measurement" => WorkerEvent::Measurement(Measurement::deserialize(value).ok()?),
        "modules" => WorkerEvent::Modules {
            operation: operation?,
            modules: value["modules"].as_array().cloned().unwrap_or_default(),
            costs: value["costs"].take(),
        },
        "row" => WorkerEvent::Row { operation: operation?, row: value },
        "environment" => WorkerEvent::Environment(Box::new(ridge_documents::part(&value["environment"])?.document)),
        "interrupted" => WorkerEvent::Interrupted,
        "no_match" => {
            WorkerEvent::NoMatch { pattern: text(&value["pattern"])?, operations: texts(&value["operations"]) }
        }
        "broken" => WorkerEvent::Broken { reason: text(&value["reason"])? },
        _ => return None,
    })
}

fn plan(value: &Value) -> Plan {
    let variants = value["variants"].as_object().into_iter().flatten();
    Plan {
        suite: text(&value["suite"]).unwrap_or_default(),
        began: text(&value["began"]).filter(|began| is_plain(began)).unwrap_or_else(|| "run".to_owned()),
        sizes: items(&value["sizes"]).filter_map(|size| u32::try_from(size.as_u64()?).ok()).collect(),
        operations: texts(&value["operations"]),
        variants: variants.map(|(name, env)| (name.clone(), pairs(env))).collect(),
        parts: pairs(&value["parts"]),
        ratios: items(&value["ratios"]).filter_map(|pair| Some((text(&pair[0])?, text(&pair[1])?))).collect(),
    }
}

/// Whether it may be a part of a name of a file.
fn is_plain(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn pairs(env: &Value) -> Vec<(String, String)> {
    env.as_object().into_iter().flatten().filter_map(|(key, value)| Some((key.clone(), text(value)?))).collect()
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn texts(value: &Value) -> Vec<String> {
    items(value).filter_map(text).collect()
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_plan() {
        let line = r#"{"event":"plan","suite":"s","began":"20260102_030405","sizes":[32],"operations":["a"],"variants":{"v":{"K":"1"}},"parts":{"a":"b"},"ratios":[["b","a"]]}"#;
        let variants = [("v".to_owned(), vec![("K".to_owned(), "1".to_owned())])].into();
        let pair = |one: &str, other: &str| vec![(one.to_owned(), other.to_owned())];
        let (parts, ratios) = (pair("a", "b"), pair("b", "a"));
        let began = "20260102_030405".to_owned();
        let plan =
            Plan { suite: "s".into(), began, sizes: vec![32], operations: vec!["a".into()], variants, parts, ratios };
        assert_eq!(parse(line), Some(WorkerEvent::Plan(plan)));
    }

    #[test]
    fn a_line_that_is_no_event_is_none() {
        for line in [
            "",
            "hello",
            "[]",
            "{}",
            r#"{"event":"later"}"#,
            r#"{"event":"row"}"#,
            r#"{"event":"start","operation":1}"#,
        ] {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
