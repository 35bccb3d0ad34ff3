//! The critical path: the work, calls and waits that the capture's duration depended on.

use crate::answer::Refusal;
use crate::page::Page;
use crate::request::Request;
use crate::subjects::place_of;
use ridgeline::{OnPath, PathPart};
use rustc_hash::FxHashMap;
use serde_json::{Value, json};
use std::cmp::Reverse;

/// A larger capture's dependencies take more memory than its page may.
const MOST_EVENTS: usize = 2_000_000;
/// Events that are lit, the longest, and names that are listed.
const MOST_LIT: usize = 2_000;
const MOST_NAMES: usize = 40;
const KINDS: [(OnPath, &str); 4] = [
    (OnPath::Device, "device work"),
    (OnPath::Call, "calls"),
    (OnPath::Host, "host between calls"),
    (OnPath::Wait, "waits"),
];

/// `critical?from=NS&to=NS`: the part of the critical path in that time, or the whole.
pub(crate) fn critical(page: &Page, request: &Request) -> Result<Value, Refusal> {
    let (trace, timeline) = (page.session().trace(), page.timeline());
    let known = page.critical.get_or_init(|| match trace.events.len() {
        ..=MOST_EVENTS => page.session().critical_path(),
        many => Err(format!("the critical path of {many} events is not computed; the limit is {MOST_EVENTS}")),
    });
    let parts = match known {
        Ok(parts) => parts,
        Err(why) => return Ok(json!({ "refused": why })),
    };
    let from = request.number::<i64>("from")?.unwrap_or(i64::MIN);
    let to = request.number::<i64>("to")?.unwrap_or(i64::MAX);
    let inside = |part: &PathPart| {
        let (start, end) = (timeline.relative(part.from_ns).max(from), timeline.relative(part.until_ns).min(to));
        (end > start).then(|| (*part, end - start))
    };
    let inside: Vec<(PathPart, i64)> = parts.iter().filter_map(inside).collect();
    let total_ns: i64 = inside.iter().map(|(_, ns)| ns).sum();
    let kinds = KINDS.map(|(kind, name)| {
        let ns: i64 = inside.iter().filter(|(part, _)| part.what == kind).map(|(_, ns)| ns).sum();
        json!({ "name": name, "ns": ns })
    });
    let mut events: Vec<(PathPart, i64)> = inside.iter().copied().filter(|(part, _)| has_event(part.what)).collect();
    let count = events.len();
    let mut names: FxHashMap<&str, (i64, u64, u32)> = FxHashMap::default();
    for (part, ns) in &events {
        let name = names.entry(trace.name(part.row as usize)).or_insert((0, 0, part.row));
        (name.0, name.1) = (name.0 + ns, name.1 + 1);
    }
    let mut names: Vec<(&str, (i64, u64, u32))> = names.into_iter().collect();
    names.sort_unstable_by_key(|(name, (ns, ..))| (Reverse(*ns), *name));
    events.sort_unstable_by_key(|(part, ns)| (Reverse(*ns), part.from_ns));
    events.truncate(MOST_LIT);
    events.sort_unstable_by_key(|(part, _)| part.from_ns);
    let name = |(name, (ns, events, row)): &(&str, (i64, u64, u32))| json!({ "name": name, "ns": ns, "events": events, "row": row });
    Ok(json!({
        "refused": null,
        "total_ns": total_ns,
        "kinds": kinds,
        "count": count,
        "events": events.iter().map(|(part, _)| place_of(page, part.row)).collect::<Vec<_>>(),
        "names": names.iter().take(MOST_NAMES).map(name).collect::<Vec<_>>(),
        "names_total": names.len(),
    }))
}

fn has_event(what: OnPath) -> bool {
    matches!(what, OnPath::Device | OnPath::Call)
}
