//! A comparison as SARIF 2.1.0: what takes more time at its line, and findings that are new.

use super::Options;
use super::lines::{RULES, remarks_at_lines};
use crate::sarif;
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
            "locations": [sarif::location(&remark.place.file, remark.place.line)],
            "baselineState": "new",
        })
    });
    sarif::log(&RULES, results.collect())
}
