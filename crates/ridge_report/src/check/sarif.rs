//! Findings as SARIF 2.1.0, which code hosts and editors show beside the lines.

use super::words::{holds, level_of, saving};
use super::{Options, causes};
use crate::sarif;
use ridgeline::{Check, rule};
use serde_json::{Value, json};

/// The answer as a SARIF log.
pub fn log(check: &Check, options: &Options) -> String {
    let items = causes(check, options);
    let mut ids: Vec<&str> = items.iter().map(|item| item.finding.rule).collect();
    ids.sort_unstable();
    ids.dedup();
    let rules: Vec<(&str, &str)> = ids.iter().filter_map(|id| rule(id)).map(|rule| (rule.id, rule.summary)).collect();
    let results = items.iter().map(|item| {
        let finding = item.finding;
        let mut message = finding.message.clone();
        holds(check, finding).iter().for_each(|held| message.push_str(&format!("\n{held}")));
        if !finding.help.is_empty() {
            message.push_str(&format!("\nhelp: {}", finding.help));
        }
        finding.saving.iter().for_each(|found| message.push_str(&format!("\nsaving: {}", saving(found, finding.rule))));
        let location = finding.place.as_ref().map(|place| sarif::location(&place.file, place.line));
        json!({
            "ruleId": finding.rule,
            "ruleIndex": ids.iter().position(|id| *id == finding.rule),
            "level": level_of(finding),
            "message": { "text": message },
            "locations": location.into_iter().collect::<Vec<Value>>(),
            "partialFingerprints": { "ridgeline/v1": item.shown.fingerprint },
            "properties": { "static": finding.is_static },
            "baselineState": if options.accepts(item) { "unchanged" } else { "new" },
        })
    });
    sarif::log(&rules, results.collect())
}
