//! A comparison as SARIF 2.1.0: what takes more time at its line, and findings that are new.

use super::Options;
use super::lines::{RULES, remarks_at_lines};
use crate::check::sarif::uri;
use crate::json::laid_out;
use ridgeline::Diff;
use serde_json::json;

/// The answer as a SARIF log. What has no line is not in it: code hosts refuse results without a place.
pub fn log(diff: &Diff, options: &Options) -> String {
    let results = remarks_at_lines(diff, options).into_iter().map(|remark| {
        json!({
            "ruleId": remark.rule,
            "ruleIndex": RULES.iter().position(|(id, _)| *id == remark.rule),
            "level": if remark.is_error { "error" } else { "warning" },
            "message": { "text": remark.message },
            "locations": [{ "physicalLocation": {
                "artifactLocation": { "uri": uri(&remark.place.file) },
                "region": { "startLine": remark.place.line.max(1) },
            } }],
            "baselineState": "new",
        })
    });
    laid_out(&json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "ridgeline",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": RULES.map(|(id, says)| json!({ "id": id, "shortDescription": { "text": says } })),
            } },
            "results": results.collect::<Vec<_>>(),
        }],
    }))
}
