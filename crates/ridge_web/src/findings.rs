//! What holds the program back, as `ridgeline check` says it, with the events that each finding is about.

use crate::page::{MOST_JUDGED_UNASKED, Page};
use crate::request::Request;
use crate::subjects;
use ridge_report::check::{Options, json as check_json};
use serde_json::{Value, json};

/// Events that are named beside a subject.
const EVENTS_SHOWN: usize = 20;

/// `findings`, or `findings?ask=1` for a large capture, which is not judged unasked.
pub(crate) fn findings(page: &Page, request: &Request) -> Value {
    let events = page.session.trace().events.len();
    if !page.judges_unasked() && !request.has("ask") {
        return json!({
            "schema": check_json::CHECK_SCHEMA,
            "not_asked": { "events": events, "most": MOST_JUDGED_UNASKED, "ask": "findings?ask=1" },
            "findings": [],
        });
    }
    let check = page.check();
    let mut document = check_json::value(check, &Options { all: true, accepted: Vec::new() });
    for (position, finding) in check.diagnosis.findings.iter().enumerate() {
        for (at, subject) in finding.subjects.iter().enumerate() {
            let place = &mut document["findings"][position]["subjects"][at];
            subjects::describe(page, subject, EVENTS_SHOWN, place);
        }
        if page.is_redacted() && document["findings"][position]["location"].is_object() {
            // A line of the program's text.
            document["findings"][position]["location"]["text"] = Value::Null;
        }
        let links: Vec<Value> = document["findings"][position]["subjects"].as_array().cloned().unwrap_or_default();
        document["findings"][position]["links"] = json!(links);
        for (at, said) in finding.evidence.iter().enumerate() {
            if let Some(subject) = &said.subject {
                let place = &mut document["findings"][position]["evidence"][at]["subject"];
                subjects::describe(page, subject, EVENTS_SHOWN, place);
            }
        }
    }
    document
}
