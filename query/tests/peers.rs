//! Queries as other tools' documents have them, beside what those tools answer.
//!
//! The answers beside the queries are those of the tools: `scripts/query_peers.py --write` keeps them.

mod support;

use serde_json::Value;
use std::path::Path;
use support::{fixture, is_same, rows};

#[test]
fn queries_of_other_tools_have_their_answers() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/queries");
    let mut count = 0;
    for tool in ["nsys", "perfetto", "rocpd"] {
        for entry in folder.join(tool).read_dir().expect("queries") {
            let path = entry.expect("a query").path();
            if path.extension().is_none_or(|ending| ending != "json") {
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("text");
            let kept: Value = serde_json::from_str(&text).expect("JSON");
            let sql = std::fs::read_to_string(path.with_extension("sql")).expect("a query");
            for (capture, expected) in kept.as_object().expect("captures") {
                let mut expected = expected["rows"].as_array().expect("rows").clone();
                let found = rows(&fixture(capture), &sql);
                let mut found: Vec<Value> = found.into_iter().map(Value::from).collect();
                // Not every query says in which order its rows are.
                [&mut expected, &mut found].into_iter().for_each(|rows| rows.sort_by_key(texts_first));
                assert_eq!(found.len(), expected.len(), "{} on {capture}", path.display());
                for (found, expected) in found.iter().zip(&expected) {
                    let pairs = found.as_array().into_iter().flatten().zip(expected.as_array().into_iter().flatten());
                    for (found_value, expected_value) in pairs {
                        assert!(
                            is_same(found_value, expected_value),
                            "{} on {capture}: {found} is not {expected}",
                            path.display()
                        );
                    }
                }
                count += 1;
            }
        }
    }
    assert!(count >= 15, "{count}");
}

/// Texts order rows before numbers, which may differ in how they are added.
fn texts_first(row: &Value) -> String {
    let cells = || row.as_array().into_iter().flatten();
    let texts: Vec<String> = cells().filter(|cell| !cell.is_f64()).map(ToString::to_string).collect();
    texts.join("\u{1}")
}
