//! Findings as SARIF 2.1.0, which code hosts and editors show beside the lines.

use super::words::{holds, level_of, saving};
use super::{Options, causes};
use crate::json::laid_out;
use ridgeline::{Check, Rule, rule};
use serde_json::{Value, json};

/// The answer as a SARIF log.
pub fn log(check: &Check, options: &Options) -> String {
    let items = causes(check, options);
    let mut ids: Vec<&str> = items.iter().map(|item| item.finding.rule).collect();
    ids.sort_unstable();
    ids.dedup();
    let rules: Vec<&'static Rule> = ids.iter().filter_map(|id| rule(id)).collect();
    let results = items.iter().map(|item| {
        let finding = item.finding;
        let mut message = finding.message.clone();
        holds(check, finding).iter().for_each(|held| message.push_str(&format!("\nholds {held}")));
        if !finding.help.is_empty() {
            message.push_str(&format!("\nhelp: {}", finding.help));
        }
        finding.saving.iter().for_each(|found| message.push_str(&format!("\nsaving: {}", saving(found, finding.rule))));
        let location = finding.place.as_ref().map(|place| {
            json!({ "physicalLocation": {
                "artifactLocation": { "uri": uri(&place.file) },
                "region": { "startLine": place.line.max(1) },
            } })
        });
        json!({
            "ruleId": finding.rule,
            "ruleIndex": ids.iter().position(|id| *id == finding.rule),
            "level": level_of(finding),
            "message": { "text": message },
            "locations": location.into_iter().collect::<Vec<Value>>(),
            "partialFingerprints": { "ridgeline/v1": item.shown.fingerprint },
            "baselineState": if options.accepts(item) { "unchanged" } else { "new" },
        })
    });
    laid_out(&json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "ridgeline",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules.iter().map(|rule| json!({
                    "id": rule.id,
                    "shortDescription": { "text": rule.summary },
                })).collect::<Vec<_>>(),
            } },
            "results": results.collect::<Vec<_>>(),
        }],
    }))
}

/// A path as a relative or absolute reference: what a reference may not hold is escaped.
pub(crate) fn uri(path: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/:".contains(&byte);
    let escaped: String = path
        .bytes()
        .map(|byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect();
    if path.starts_with('/') { format!("file://{escaped}") } else { escaped }
}
