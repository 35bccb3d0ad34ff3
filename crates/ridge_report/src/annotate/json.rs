//! The whole answer as a versioned document.

use super::share;
use crate::json::{laid_out, note};
use ridgeline::{AnnotatedFile, AnnotatedLine, Annotation, LineSums, TimeOf};
use serde_json::{Value, json as value};

/// Name and version of the schema of [`document`].
pub const ANNOTATE_SCHEMA: &str = "ridgeline.annotate.v1";

/// All that is known of the files that are shown, as a `ridgeline.annotate.v1` document.
pub fn document(annotation: &Annotation) -> String {
    laid_out(&document_value(annotation))
}

/// [`document`] before it is text.
pub fn document_value(annotation: &Annotation) -> Value {
    let mut findings: Vec<usize> =
        annotation.files.iter().flat_map(|file| file.lines.values().flat_map(|line| line.findings.clone())).collect();
    findings.sort_unstable();
    let time_of = match annotation.of {
        TimeOf::Devices => "devices",
        TimeOf::Host => "host",
    };
    value!({
        "schema": ANNOTATE_SCHEMA,
        "notes": annotation.notes.iter().map(note).collect::<Vec<_>>(),
        "path": annotation.path,
        "time_of": time_of,
        "totals": {
            "all_ns": annotation.all_ns,
            "unknown_ns": annotation.unknown.held_ns(),
            "unknown_events": annotation.unknown.events,
            "idle_ns": annotation.idle_ns,
            "idle_known_ns": annotation.idle_known_ns,
        },
        "files": annotation.files.iter().map(|file| of_file(annotation, file, &findings)).collect::<Vec<_>>(),
        "others": annotation.others.iter().map(|(name, sums)| other(name, sums)).collect::<Vec<_>>(),
        "findings": findings.iter().filter_map(|at| finding(annotation, *at)).collect::<Vec<_>>(),
        "footnotes": annotation.footnotes,
    })
}

fn of_file(annotation: &Annotation, file: &AnnotatedFile, findings: &[usize]) -> Value {
    let lines = file.lines.iter().map(|(number, line)| of_line(annotation, file, *number, line, findings));
    value!({
        "name": file.name,
        "text": file.text.as_ref().map(|(origin, _)| origin.name()),
        "self_ns": file.sums.self_ns,
        "inferred_ns": file.sums.inferred_ns,
        "idle_ns": file.idle_ns,
        "events": file.sums.events,
        "lines": lines.collect::<Vec<_>>(),
    })
}

fn of_line(
    annotation: &Annotation,
    file: &AnnotatedFile,
    number: u32,
    line: &AnnotatedLine,
    findings: &[usize],
) -> Value {
    let text = file.text.as_ref().and_then(|(_, lines)| lines.get((number as usize).checked_sub(1)?));
    let idle = line
        .idle
        .iter()
        .map(|(cause, activity, ns)| value!({ "cause": cause.name(), "activity": activity.name(), "ns": ns }));
    let own = line.findings.iter().filter_map(|at| findings.binary_search(at).ok());
    value!({
        "line": number,
        "text": text,
        "function": (!line.function.is_empty()).then_some(&line.function),
        "self_ns": line.sums.self_ns,
        "inferred_ns": line.sums.inferred_ns,
        "share": share(annotation, line),
        "inclusive_ns": line.sums.inclusive_ns,
        "events": line.sums.events,
        "launches": line.sums.launches(),
        "copies": line.sums.copies,
        "copy_ns": line.sums.copy_ns,
        "idle_ns": (annotation.idle_known_ns > 0).then_some(line.idle_ns),
        "idle": idle.collect::<Vec<_>>(),
        "flops": line.work.map(|work| work.flops),
        "bytes": line.work.map(|work| work.bytes),
        "headroom": line.work.and_then(|work| work.headroom),
        "bound": line.work.and_then(|work| work.bound).map(|bound| bound.name()),
        "unknown_work_share": line.work.map(|work| work.unknown_share),
        "findings": own.collect::<Vec<_>>(),
    })
}

fn other(name: &str, sums: &LineSums) -> Value {
    value!({ "name": name, "self_ns": sums.self_ns, "inferred_ns": sums.inferred_ns, "events": sums.events })
}

/// The finding at `position`; `ridgeline check` says more of it.
fn finding(annotation: &Annotation, position: usize) -> Option<Value> {
    let check = annotation.check.as_ref()?;
    let (finding, shown) = (check.diagnosis.findings.get(position)?, check.shown.get(position)?);
    let place = finding.place.as_ref()?;
    Some(value!({
        "rule": finding.rule,
        "level": finding.level.name(),
        "message": finding.message,
        "help": finding.help,
        "file": place.file,
        "line": place.line,
        "inferred": place.is_inferred,
        "holds_share": (!finding.is_information).then_some(finding.share),
        "fingerprint": shown.fingerprint,
    }))
}
