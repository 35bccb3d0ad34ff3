//! Which answers a report holds, in which order.

use super::keys::{key, same};
use super::part::Part;
use super::programs;
use crate::Page;
use crate::scaling::has_scaling;
use crate::timeline::outline;
use ridgeline::{SavingBasis, Topic};
use serde_json::Value;

/// Rows of each table.
const ROWS: usize = 1_000;
/// Source files.
const FILES: usize = 30;
/// Events whose details are there: the longest.
const EVENTS: usize = 200;

/// Something that is put into the report.
pub(super) enum Step {
    /// Answers, what they are called together, each with its key and its address.
    Answers(&'static str, Vec<(String, String)>),
    /// The same of what can be much: so many parts of the room in a hundred are theirs.
    Within(u64, &'static str, Vec<(String, String)>),
    /// Tiles, as far as they fit.
    Tiles,
    /// A sentence on what is left out.
    Said(String),
}

/// Predicted timelines.
const REPLAYS: usize = 6;

/// Parts of the room in a hundred: of tables, and of each kind of detail. At least a fifth stays for the timeline.
const TABLES: u64 = 30;
const DETAILS: u64 = 8;

/// What goes into the report of `page`: first what every view begins with, then what can be much, each within bounds.
pub(super) fn steps(page: &Page, parts: &[Part]) -> Vec<Step> {
    let has = |part: Part| parts.contains(&part);
    let mut steps = beginnings(page, parts);
    let topics = |topic: &Topic| has(Part::Operations) || part_of(*topic).is_some_and(has);
    let topics: Vec<Topic> = Topic::ALL.into_iter().filter(topics).collect();
    if !topics.is_empty() {
        let tables = tables(page, &topics);
        let long = tables.iter().filter(|(_, address)| is_longer(page, address)).count();
        steps.push(Step::Within(TABLES, "tables", tables));
        if long > 0 {
            steps.push(Step::Said(format!("tables end after {ROWS} rows, most important first: {long} do")));
        }
    }
    if has(Part::Source) && page.is_redacted() {
        steps.push(Step::Said("source files: they are left out of a redacted report".to_owned()));
    } else if has(Part::Source) {
        steps.push(Step::Within(DETAILS, "source files", sources(page)));
    }
    if has(Part::Memory) {
        steps.push(Step::Within(DETAILS, "live allocations over time", same(alive(page))));
        if page.session().has_hlo() {
            steps.push(Step::Within(DETAILS, "memory along schedules", same(programs::schedules(page))));
        }
    }
    if has(Part::Graph) && page.session().has_hlo() {
        let drawings = programs::drawings(page);
        let texts = programs::texts(page, &drawings.cut_texts);
        steps.push(Step::Within(DETAILS, "drawings of compiled programs", same(drawings.addresses)));
        steps.push(Step::Said(programs::drawn()));
        steps.push(Step::Within(DETAILS, "the contents of fusions and calls", same(drawings.insides)));
        steps.push(Step::Within(DETAILS, "texts of compiled programs", same(texts)));
    }
    if has(Part::Timeline) {
        steps.push(Step::Within(DETAILS, "details of the longest events", same(longest(page))));
        steps.push(Step::Tiles);
        steps.push(Step::Said(format!(
            "timeline: details of events but the {EVENTS} longest, search and sums of a selection; `ridgeline view` has them"
        )));
    }
    let is_there = |part: &Part| match part {
        Part::Compare => !page.against.is_empty(),
        Part::Steps => has_steps(page),
        _ => true,
    };
    let is_missing = |part: &Part| !has(*part) && is_there(part);
    let missing: Vec<&str> = Part::ALL.into_iter().filter(is_missing).map(Part::name).collect();
    if !missing.is_empty() {
        steps.push(Step::Said(format!("views that were left out: {}", missing.join(", "))));
    }
    steps
}

/// What views begin with.
fn beginnings(page: &Page, parts: &[Part]) -> Vec<Step> {
    let has = |part: Part| parts.contains(&part);
    let plain = |addresses: &[&str]| same(addresses.iter().map(|address| (*address).to_owned()).collect());
    let mut steps = Vec::new();
    let mut add = |is_there: bool, said, addresses: &[&str]| {
        if is_there {
            steps.push(Step::Answers(said, plain(addresses)));
        }
    };
    add(has(Part::Findings), "findings", &["findings"]);
    add(has(Part::Compare) && !page.against.is_empty(), "the comparison", &["compare", "beside?against=1"]);
    add(has(Part::Steps) && has_steps(page), "steps", &["steps", "beside"]);
    add(has(Part::Roofline), "the roofline", &["chart/roofline"]);
    add(has(Part::Idle), "idle time", &["chart/idle"]);
    add(has(Part::Scaling) && has_scaling(page), "growth over sizes", &["scaling"]);
    add(has(Part::Offload) && page.has_offload(), "other hardware", &["offload"]);
    add(has(Part::Memory), "memory", &["chart/memory"]);
    add(has(Part::Flame), "flames", &["flame/scope", "flame/module", "flame/python", "flame/host", "flame/memory"]);
    add(has(Part::Graph) && page.session().has_hlo(), "the list of compiled programs", &["hlo/modules"]);
    add(has(Part::Timeline), "the timeline", &["timeline"]);
    if has(Part::Timeline) {
        let (counters, idle) = beside(page);
        steps.push(Step::Answers("counters", same(counters)));
        steps.push(Step::Answers("causes of idle time", same(idle)));
    }
    // Which findings can be replayed is told by the findings.
    if has(Part::WhatIf) && has(Part::Findings) && page.judges_unasked() {
        steps.push(Step::Answers("predicted timelines", same(replays(page))));
    }
    if has(Part::Findings) && !page.judges_unasked() {
        let said = "findings: the capture is large, so they were left out; run `ridgeline check`";
        steps.push(Step::Said(said.to_owned()));
    }
    steps
}

/// Whether there are steps to compare.
fn has_steps(page: &Page) -> bool {
    page.session().trace().steps.len() > 1
}

/// The predicted timelines of findings, the most first.
fn replays(page: &Page) -> Vec<String> {
    let findings = page.check().diagnosis.findings.iter().enumerate();
    let is_replayed = |finding: &ridgeline::Finding| {
        finding.saving.as_ref().is_some_and(|saving| saving.basis == SavingBasis::Replay)
    };
    let replayed = findings.filter(|(_, finding)| is_replayed(finding)).take(REPLAYS);
    replayed.map(|(at, _)| key("replay", &[("finding", &at.to_string())])).collect()
}

/// The part whose view shows tables of a topic.
fn part_of(topic: Topic) -> Option<Part> {
    match topic {
        Topic::Time => None,
        Topic::Roofline => Some(Part::Roofline),
        Topic::Idle => Some(Part::Idle),
        Topic::Transfers => Some(Part::Transfers),
        Topic::Memory => Some(Part::Memory),
    }
}

/// The tables that the capture answers, whole up to a bound, by the address without a query.
fn tables(page: &Page, topics: &[Topic]) -> Vec<(String, String)> {
    let views = topics.iter().flat_map(|topic| page.session().answerable(*topic));
    views
        .map(|view| {
            let key = format!("table/{}/{}", view.topic.command(), view.id);
            (key.clone(), format!("{key}?limit={ROWS}"))
        })
        .collect()
}

/// Whether a table has rows behind those that are shown.
fn is_longer(page: &Page, address: &str) -> bool {
    let table = page.document(address).unwrap_or_default();
    table["rows_total"].as_u64().is_some_and(|rows| rows > ROWS as u64)
}

fn sources(page: &Page) -> Vec<(String, String)> {
    let listed = page.document("sources").unwrap_or_default();
    let files = listed["files"].as_array().into_iter().flatten().filter_map(|file| file["name"].as_str()).take(FILES);
    let of_files = files.map(|file| key("source", &[("file", file)]));
    same(std::iter::once("sources".to_owned()).chain(of_files).collect())
}

/// What is alive in each allocator at the end of each stretch that is drawn of it.
fn alive(page: &Page) -> Vec<String> {
    let drawn = page.document("chart/memory").unwrap_or_default();
    let of_allocator = |allocator: &Value| {
        let id = allocator["id"].as_str().unwrap_or_default().to_owned();
        let ends = allocator["ends_ns"].as_array().cloned().unwrap_or_default();
        ends.into_iter().map(move |end| key("chart/alive", &[("allocator", &id), ("at", &end.to_string())]))
    };
    drawn["allocators"].as_array().into_iter().flatten().flat_map(of_allocator).collect()
}

/// What the timeline shows beside events: its counters, and for each device the causes of its longest gaps.
fn beside(page: &Page) -> (Vec<String>, Vec<String>) {
    let outline = outline(page);
    let counters = outline["counters"].as_array().into_iter().flatten();
    let counters = counters.filter_map(|counter| Some(format!("counter/{}", counter["id"].as_str()?)));
    let groups = outline["groups"].as_array().into_iter().flatten();
    let devices = groups.filter(|group| group["kind"] == "device").filter_map(|group| group["row"].as_u64());
    (counters.collect(), devices.map(|row| format!("idle?device={row}")).collect())
}

/// The addresses of the longest events of devices, or of all where there are none.
fn longest(page: &Page) -> Vec<String> {
    let trace = page.session().trace();
    let of = |is_device: bool| {
        let tracks = trace.tracks.iter().filter(move |track| track.device.is_some() == is_device);
        tracks.flat_map(|track| track.rows.clone()).collect::<Vec<u32>>()
    };
    let mut rows = of(true);
    if rows.is_empty() {
        rows = of(false);
    }
    let length = |row: &u32| std::cmp::Reverse(trace.events.dur_ns[*row as usize]);
    if rows.len() > EVENTS {
        rows.select_nth_unstable_by_key(EVENTS, length);
        rows.truncate(EVENTS);
    }
    rows.iter().map(|row| format!("event/{row}")).collect()
}
