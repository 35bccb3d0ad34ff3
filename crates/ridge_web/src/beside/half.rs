//! One of two stretches: what ran, track by track, counted from its start.

use crate::page::Page;
use crate::selection::Chosen;
use crate::timeline::color;
use ridgeline::trace::{EventKind, NONE, TrackKind};
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

/// Lanes of a track that are drawn: calls within calls.
pub(super) const MOST_LANES: usize = 6;

/// One event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bit {
    pub(crate) lane: usize,
    /// Nanoseconds from the start of the half.
    pub(crate) start: i64,
    pub(crate) end: i64,
    /// Of [`Names`], as the next.
    pub(crate) category: u32,
    pub(crate) name: u32,
    /// Row of the event columns of its capture.
    pub(crate) row: u32,
}

/// One of two stretches.
#[derive(Debug, Default)]
pub(crate) struct Half {
    pub(crate) title: String,
    /// The event that marks the step.
    pub(crate) row: Option<u32>,
    /// Nanoseconds from the capture's start.
    pub(crate) start_ns: i64,
    pub(crate) long_ns: i64,
    pub(crate) tracks: Vec<(String, Vec<Bit>)>,
    /// The names of tracks before they were told apart.
    pub(crate) called: Vec<String>,
    /// Events on lanes that are not drawn.
    pub(crate) deeper: u64,
}

/// Names and categories of both halves, by number: captures count theirs differently.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// The halves are of two captures, whose threads have other numbers.
    pub(crate) is_across: bool,
    pub(super) names: (Vec<String>, FxHashMap<String, u32>),
    pub(super) categories: (Vec<String>, FxHashMap<String, u32>),
}

fn number((all, of): &mut (Vec<String>, FxHashMap<String, u32>), text: &str) -> u32 {
    if let Some(known) = of.get(text) {
        return *known;
    }
    let next = all.len() as u32;
    all.push(text.to_owned());
    of.insert(text.to_owned(), next);
    next
}

impl Names {
    /// The numbers of an event's name, which is that of its operation where one is known, and of its category.
    pub(crate) fn of(&mut self, page: &Page, row: u32) -> (u32, u32) {
        let (session, at) = (page.session(), row as usize);
        let (trace, events) = (session.trace(), &session.trace().events);
        let op = Some(events.op[at]).filter(|op| *op != NONE).and_then(|op| trace.operations.get(op as usize));
        let name = op.map_or_else(|| trace.name(at), |op| trace.strings.get(op.name));
        let categories = session.event_categories();
        let category = categories.names.get(categories.of(events, at) as usize).map_or("", String::as_str);
        (number(&mut self.names, name), number(&mut self.categories, category))
    }

    /// What a track is called in both halves.
    pub(crate) fn of_track(&self, page: &Page, track: usize) -> String {
        let trace = page.session().trace();
        let found = &trace.tracks[track];
        let name = trace.strings.get(found.name);
        match found.device.and_then(|device| trace.devices.get(device as usize)) {
            Some(device) => format!("{name} · {}", device.plane),
            None if self.is_across => {
                name.trim_end_matches(|letter: char| letter.is_ascii_digit()).trim_end().to_owned()
            }
            None => name.to_owned(),
        }
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names.0
    }

    pub(super) fn categories(&self) -> Vec<Value> {
        self.categories.0.iter().map(|name| json!({ "name": name, "color_index": color(name) })).collect()
    }
}

impl Half {
    /// What is chosen of a page: work of devices, and calls and ranges of threads.
    pub(crate) fn of(page: &Page, chosen: &Chosen<'_>, title: String, names: &mut Names) -> Half {
        let trace = page.session().trace();
        let start_ns = chosen.from;
        let mut half = Half { title, start_ns, long_ns: chosen.to.saturating_sub(start_ns), ..Half::default() };
        for track in chosen.tracks.iter().copied().filter(|track| trace.tracks[*track].kind != TrackKind::Derived) {
            let is_device = trace.tracks[track].device.is_some();
            let mut bits: Vec<Bit> = Vec::new();
            for row in page.timeline().rows_within(trace, track, &chosen.window) {
                let is_shown = !is_device || EventKind::from_byte_is_work(trace.events.kind[row as usize]);
                if !is_shown || !chosen.has(row) {
                    continue;
                }
                let lane = page.timeline().lane_of(row);
                if lane >= MOST_LANES {
                    half.deeper += 1;
                    continue;
                }
                let (start, end) = chosen.clipped(row as usize);
                let (name, category) = names.of(page, row);
                let from = |time: i64| time.saturating_sub(chosen.window.start);
                bits.push(Bit { lane, start: from(start), end: from(end), category, name, row });
            }
            half.add(names.of_track(page, track), bits);
        }
        half
    }

    /// Adds a track, unless it has nothing; several of one name are told apart by their place.
    pub(crate) fn add(&mut self, name: String, bits: Vec<Bit>) {
        if bits.is_empty() {
            return;
        }
        let alike = self.called.iter().filter(|other| **other == name).count();
        self.called.push(name.clone());
        self.tracks.push((if alike > 0 { format!("{name} ({})", alike + 1) } else { name }, bits));
    }
}
