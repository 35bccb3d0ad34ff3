//! The program's files with what each line did, as `ridgeline annotate` says it.

use crate::answer::Refusal;
use crate::page::Page;
use crate::request::Request;
use ridge_report::annotate::json as annotate;
use ridgeline::{AnnotateOptions, Annotation, TextOrigin};
use serde_json::{Value, json};
use std::path::PathBuf;

/// `sources`: the files that time is known of, most first.
pub(crate) fn sources(page: &Page) -> Result<Value, Refusal> {
    let options = AnnotateOptions { files: Vec::new(), most_files: 1, findings: false };
    let annotation = page.session().annotate(&options)?;
    let shown = annotation.files.iter().map(|file| (&file.name, file.sums.held_ns(), file.idle_ns));
    let others = annotation.others.iter().map(|(name, sums)| (name, sums.held_ns(), 0));
    let mut files: Vec<(&String, i64, i64)> = shown.chain(others).collect();
    files.sort_by_key(|(_, ns, _)| std::cmp::Reverse(*ns));
    let file = |(name, ns, idle_ns): &(&String, i64, i64)| {
        let share = if annotation.all_ns > 0 { *ns as f64 / annotation.all_ns as f64 } else { 0.0 };
        json!({ "name": name, "device_ns": ns, "share": share, "idle_ns": idle_ns })
    };
    Ok(json!({
        "all_ns": annotation.all_ns,
        "unknown_ns": annotation.unknown.held_ns(),
        "files": files.iter().map(file).collect::<Vec<_>>(),
        "notes": annotation.footnotes,
    }))
}

/// `source?file=NAME`: one of them, with its text where that may be shown.
pub(crate) fn source(page: &Page, request: &Request) -> Result<Value, Refusal> {
    let name = request.get("file").ok_or_else(|| Refusal::bad("expected `file=NAME`, found none"))?;
    let known = sources(page)?;
    let is_known = known["files"].as_array().is_some_and(|files| files.iter().any(|file| file["name"] == name));
    if !is_known {
        return Err(Refusal::absent("nothing in the capture came from a line of this file"));
    }
    let options = AnnotateOptions { files: vec![PathBuf::from(name)], most_files: 1, findings: page.judges_unasked() };
    let mut annotation = page.session().annotate(&options)?;
    annotation.files.retain(|file| file.name == name);
    hide_other_files(&mut annotation);
    let mut document = annotate::document_value(&annotation);
    for (file, said) in annotation.files.iter().zip(document["files"].as_array_mut().into_iter().flatten()) {
        said["source"] = json!(file.text.as_ref().map(|(_, lines)| lines));
    }
    Ok(document)
}

/// A capture says which files are sources, and may name any file of this machine. What it did not bring along is shown
/// only where it is a program's text by its name, so that no page shows, and no report carries away, anything else.
fn hide_other_files(annotation: &mut Annotation) {
    let mut hidden = 0;
    for file in &mut annotation.files {
        let is_here = file.text.as_ref().is_some_and(|(origin, _)| *origin == TextOrigin::Today);
        if is_here && !file.name.ends_with(".py") {
            file.text = None;
            hidden += 1;
        }
    }
    if hidden > 0 {
        annotation.footnotes.push("only Python source files are shown".to_owned());
    }
}
