//! SARIF 2.1.0: the log around results, and where a result is.

use crate::json::laid_out;
use serde_json::{Value, json};

/// A log of `results` of `rules`, each with its id and what it says in short.
pub(crate) fn log(rules: &[(&str, &str)], results: Vec<Value>) -> String {
    let rule = |(id, says): &(&str, &str)| json!({ "id": id, "shortDescription": { "text": says } });
    laid_out(&json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "ridgeline",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules.iter().map(rule).collect::<Vec<Value>>(),
            } },
            "results": results,
        }],
    }))
}

/// A line of a file; lines that begin at 0 elsewhere begin at 1 here.
pub(crate) fn location(file: &str, line: u32) -> Value {
    json!({ "physicalLocation": {
        "artifactLocation": { "uri": uri(file) },
        "region": { "startLine": line.max(1) },
    } })
}

/// A path as a relative or absolute reference: what a reference may not hold is escaped.
fn uri(path: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/:".contains(&byte);
    let escaped: String = path
        .bytes()
        .map(|byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect();
    if path.starts_with('/') { format!("file://{escaped}") } else { escaped }
}
