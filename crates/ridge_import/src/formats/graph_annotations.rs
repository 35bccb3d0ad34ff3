//! PyTorch's annotations of CUDA graph nodes (`torch.cuda._graph_annotations`): JSON with the purpose of each node id.
//!
//! `{"4294967299": [{"name": "attention", "module_fqn": "layers.0.attention"}], …}`. An annotation is a text or an object; of
//! nested ones, the last wins for each key. `str` is an older spelling of `name`, and `fqn_map` of `module_fqn`; it names
//! parameters, and their common prefix is the module. Pickles are not read: `save_kernel_annotations` writes JSON.
//! The file is read together with the trace of the same process, in which these ids appear as `graph node id`.

use crate::choice::InFolder;
use crate::formats::Format;
use crate::import::{CaptureFacts, Import, ImportError, Source};
use crate::note::Severity;
use crate::source::{Annotations, Said};
use ridge_redact::Redactor;
use ridge_trace::StringId;
use rustc_hash::FxHashMap;
use serde_json::{Map, Value};

/// The format of annotations.
pub(super) struct GraphAnnotations;

/// Characters of a name that are kept.
const LONGEST: usize = 1024;

impl Format for GraphAnnotations {
    fn name(&self) -> &'static str {
        "graph-annotations"
    }

    fn in_folder(&self) -> InFolder {
        InFolder::Beside("annotations", &[])
    }

    fn sniff(&self, head: &[u8]) -> bool {
        let text = head.trim_ascii_start();
        let Some(text) =
            text.strip_prefix(b"{\"").or_else(|| text.strip_prefix(b"{")?.trim_ascii_start().strip_prefix(b"\""))
        else {
            return false;
        };
        let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let Some(rest) = text[digits..].strip_prefix(b"\"") else { return false };
        let Some(value) = rest.trim_ascii_start().strip_prefix(b":") else { return false };
        let value = value.trim_ascii_start();
        let first = value.strip_prefix(b"[").map_or(value, <[u8]>::trim_ascii_start);
        const KEYS: [&[u8]; 4] = [b"\"name\"", b"\"str\"", b"\"module_fqn\"", b"\"fqn_map\""];
        let has_key = || KEYS.iter().any(|key| memchr::memmem::find(head, key).is_some());
        (1..=20).contains(&digits) && (value.starts_with(b"[\"") || first.starts_with(b"{") && has_key())
    }

    fn redactor(&self, _head: &[u8]) -> Redactor {
        Redactor::Json
    }

    fn import(&self, source: Source<'_>, import: &mut Import) -> Result<(), ImportError> {
        let broken = |what: String| ImportError::Broken { source_name: source.name.to_owned(), offset: 0, what };
        let read: Map<String, Value> =
            serde_json::from_slice(source.bytes).map_err(|error| broken(error.to_string()))?;
        let mut nodes = FxHashMap::default();
        let mut odd = 0;
        for (node, said) in &read {
            match (node.parse::<u64>(), annotation(said, import)) {
                (Ok(node), Some(said)) => {
                    nodes.insert(node, said);
                }
                _ => odd += 1,
            }
        }
        if nodes.is_empty() {
            return Err(broken("expected annotations of graph nodes, found none".to_owned()));
        }
        if odd > 0 {
            let message = "nodes without a name or a module were left out";
            import.note(Severity::Info, source.name, None, odd, message.to_owned());
        }
        import.captures.push(CaptureFacts {
            source: source.name.to_owned(),
            format: "graph-annotations",
            bytes: source.bytes.len() as u64,
            ..CaptureFacts::default()
        });
        import.graph_annotations.push(Annotations { source: source.name.to_owned(), nodes });
        Ok(())
    }
}

/// What the annotations of one node say; `None` where they say neither a name nor a module.
fn annotation(said: &Value, import: &mut Import) -> Option<Said> {
    let one = std::slice::from_ref(said);
    let (mut name, mut scope) = (String::new(), String::new());
    for said in said.as_array().map_or(one, Vec::as_slice) {
        match said {
            Value::String(text) => name = text.clone(),
            Value::Object(said) => {
                let text = |key: &str| said.get(key).and_then(Value::as_str).map(str::to_owned);
                name = text("name").or_else(|| text("str")).unwrap_or(name);
                let of_map = || said.get("fqn_map").and_then(Value::as_object).map(common);
                scope = text("module_fqn").or_else(of_map).unwrap_or(scope);
            }
            _ => {}
        }
    }
    let mut kept = |text: String| -> StringId {
        let text: String = text.chars().take(LONGEST).collect();
        import.builder.strings.intern(&text)
    };
    (!name.is_empty() || !scope.is_empty()).then(|| Said { name: kept(name), scope: kept(scope) })
}

/// The module that all parameters are of: `encoder` of `encoder.weight` and `encoder.bias`.
fn common(map: &Map<String, Value>) -> String {
    let mut names = map.values().filter_map(Value::as_str).map(|name| name.split('.').collect::<Vec<_>>());
    let Some(first) = names.next() else { return String::new() };
    let mut count = first.len();
    for other in names {
        count = first.iter().zip(&other).take(count).take_while(|(one, other)| one == other).count();
    }
    first[..count].join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn annotations_are_told_from_other_json() {
        for (head, expected) in [
            (r#"{"4294967299": [{"name": "attention", "stream": 60}]}"#, true),
            (r#"{ "42": ["phase_A"] }"#, true),
            (r#"{"42": {"fqn_map": {"weight": "encoder.weight"}, "graph_id": 0}}"#, true),
            (r#"{"42": {"other": 1}}"#, false),
            (r#"{"42": [1, 2]}"#, false),
            (r#"{"traceEvents": []}"#, false),
            (r#"{"a1": [{"name": "x"}]}"#, false),
            ("{", false),
        ] {
            assert_eq!(GraphAnnotations.sniff(head.as_bytes()), expected, "{head}");
        }
    }

    #[test]
    fn every_spelling_gives_a_name_and_a_module() {
        let mut import = Import::default();
        let mut said = |text: &str| {
            let value: Value = serde_json::from_str(text).expect("JSON");
            annotation(&value, &mut import).map(|said| {
                let text = |id| import.builder.strings.get(id).to_owned();
                (text(said.name), text(said.scope))
            })
        };
        let expected = |name: &str, scope: &str| Some((name.to_owned(), scope.to_owned()));
        assert_eq!(said(r#"["phase_A"]"#), expected("phase_A", ""));
        assert_eq!(
            said(r#"[{"str": "outer", "module_fqn": "layers.0"}, {"name": "inner"}]"#),
            expected("inner", "layers.0")
        );
        assert_eq!(
            said(r#"{"fqn_map": {"w": "encoder.0.weight", "b": "encoder.0.bias"}, "graph_id": 3}"#),
            expected("", "encoder.0")
        );
        assert_eq!(said(r#"{"fqn_map": {"w": "encoder.weight"}}"#), expected("", "encoder.weight"));
        assert_eq!(said(r#"[{"stream": 60}, 7]"#), None);
    }
}
