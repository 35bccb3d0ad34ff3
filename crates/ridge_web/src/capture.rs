//! What the page must know before it shows anything: what was lost, what is in the capture, what can be asked of it.

use crate::charts;
use crate::page::Page;
use crate::scaling::has_scaling;
use ridge_report::json;
use ridgeline::trace::Trace;
use ridgeline::{Topic, VIEWS, View, views_of};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Version of the answers, raised where one of them changes its meaning.
const VERSION: u32 = 2;

/// `capture`: the first thing that the page asks.
pub(crate) fn capture(page: &Page) -> Value {
    let session = &page.session;
    // The timeline is asked for next; it is made beside what is said here. By a thread of its own: a worker of the pool could find that
    // another request is making it, and wait for work that lies below on its own stack.
    let (span, (overview, info)) = std::thread::scope(|scope| {
        let span = scope.spawn(|| page.timeline().span());
        let others = rayon::join(
            || session.overview(),
            // Command lines and environments are private by what they are, wherever they stand.
            || if page.is_redacted() { Vec::new() } else { session.info() },
        );
        (span.join().unwrap_or_default(), others)
    });
    let trace = session.trace();
    let path = (!page.hides_folders()).then(|| session.root().display().to_string());
    let shown = |name: &str| match page.hides_folders() {
        true => name.rsplit('/').next().unwrap_or_default().to_owned(),
        false => name.to_owned(),
    };
    let files =
        session.files().map(|(name, format, bytes)| json!({ "name": shown(name), "format": format, "bytes": bytes }));
    json!({
        "version": VERSION,
        "ridgeline": env!("CARGO_PKG_VERSION"),
        "title": page.title(),
        "path": path,
        "files": files.collect::<Vec<_>>(),
        "lost": session.notes().iter().map(note).collect::<Vec<_>>(),
        "origin_ns": span.0,
        "span_ns": span.1.saturating_sub(span.0),
        "events": trace.events.len(),
        "overview": overview.iter().map(json::section).collect::<Vec<_>>(),
        "info": info.iter().map(json::section).collect::<Vec<_>>(),
        "topics": Topic::ALL.map(|topic| topic_of(page, topic)),
        "has": has(page, trace),
    })
}

/// A note as documents have it, with the line that reads alone.
fn note(note: &ridgeline::Note) -> Value {
    let mut value = json::note(note);
    value["text"] = json!(ridge_report::note_line(note));
    value
}

/// The title of a topic on the page.
fn title(topic: Topic) -> &'static str {
    match topic {
        Topic::Time => "Time",
        Topic::Roofline => "Roofline",
        Topic::Idle => "Idle",
        Topic::Transfers => "Transfers",
        Topic::Memory => "Memory",
    }
}

/// A topic with its views, those that this capture answers marked.
fn topic_of(page: &Page, topic: Topic) -> Value {
    let answered = page.session.answerable(topic);
    let views = views_of(topic).map(|view: &'static View| {
        json!({
            "id": view.id,
            "title": view.id.replace('-', " "),
            "about": view.about,
            "answered": answered.iter().any(|other| std::ptr::eq(*other, view)),
            "drawn": view.charts.is_some(),
        })
    });
    json!({ "id": topic.command(), "title": title(topic), "views": views.collect::<Vec<_>>() })
}

/// Whether some thread marks more than one step: each of several ranks may mark a single one.
fn has_several_steps(page: &Page, trace: &Trace) -> bool {
    let mut seen = BTreeSet::new();
    !trace.steps.iter().all(|step| seen.insert(page.timeline().track_of(step.event)))
}

/// Which views have something to show.
fn has(page: &Page, trace: &Trace) -> Value {
    let allocators = !trace.allocations.is_empty() || !trace.memory.blocks.is_empty();
    json!({
        "events": !trace.events.is_empty(),
        "devices": trace.device_tracks().any(|track| !track.rows.is_empty()),
        "hlo": page.session.has_hlo(),
        "steps": !trace.steps.is_empty(),
        "several_steps": has_several_steps(page, trace),
        "roofline": charts::has_roofline(page),
        "collectives": page.session.event_categories().names.iter().any(|name| name == "collective"),
        "memory": allocators || page.session.has_hlo(),
        "counters": !trace.counters.time_ns.is_empty(),
        "source": page.session.knows_source(),
        "profiles": !trace.profiles.is_empty(),
        "idle": !page.session.answerable(Topic::Idle).is_empty(),
        "transfers": !page.session.answerable(Topic::Transfers).is_empty(),
        "offload": page.has_offload(),
        "compare": !page.against.is_empty(),
        "scaling": has_scaling(page),
        "query": page.query.is_some(),
        "predicted": page.session.is_predicted(),
        "views": VIEWS.len(),
        "report": false,
    })
}
