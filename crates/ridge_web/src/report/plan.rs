//! Which answers a report holds, in which order.

use crate::Page;
use crate::timeline::outline;
use ridgeline::Topic;
use serde_json::Value;

/// Rows of each table.
const ROWS: usize = 1_000;
/// Source files.
const FILES: usize = 30;
/// Modules whose drawings are there, and instructions of each, those with most time.
const MODULES: usize = 8;
const INSTRUCTIONS: usize = 12;
/// The levels of detail that the page draws a module at.
const DEPTH: usize = 2;
/// Events whose details are there: the longest.
const EVENTS: usize = 200;

/// A part of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// What the capture is and where its time went; always there.
    Overview,
    /// What holds the program back.
    Findings,
    /// The timeline.
    Timeline,
    /// The tables.
    Operations,
    /// Flames.
    Flame,
    /// The roofline.
    Roofline,
    /// Memory over time.
    Memory,
    /// Why devices were idle.
    Idle,
    /// What was copied.
    Transfers,
    /// What other hardware would gain.
    Offload,
    /// What is otherwise than in another capture.
    Compare,
    /// Growth over sizes, or steps over time.
    Scaling,
    /// Compiled programs.
    Graph,
    /// The program's files.
    Source,
}

impl Part {
    /// Every part, in the order of the page.
    pub const ALL: [Part; 14] = [
        Part::Overview,
        Part::Findings,
        Part::Timeline,
        Part::Operations,
        Part::Flame,
        Part::Roofline,
        Part::Memory,
        Part::Idle,
        Part::Transfers,
        Part::Graph,
        Part::Source,
        Part::Offload,
        Part::Compare,
        Part::Scaling,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Part::Overview => "overview",
            Part::Findings => "findings",
            Part::Timeline => "timeline",
            Part::Operations => "operations",
            Part::Flame => "flame",
            Part::Roofline => "roofline",
            Part::Memory => "memory",
            Part::Idle => "idle",
            Part::Transfers => "transfers",
            Part::Offload => "offload",
            Part::Compare => "compare",
            Part::Scaling => "scaling",
            Part::Graph => "graph",
            Part::Source => "source",
        }
    }
}

/// Something that is put into the report.
pub(super) enum Step {
    /// Answers, what they are called together, each with its key and its address.
    Answers(&'static str, Vec<(String, String)>),
    /// Tiles, as far as they fit.
    Tiles,
    /// A sentence on what is left out.
    Said(String),
}

/// What goes into the report of `page`, what matters most first.
pub(super) fn steps(page: &Page, parts: &[Part]) -> Vec<Step> {
    let has = |part: Part| parts.contains(&part);
    let same = |addresses: Vec<String>| addresses.into_iter().map(|address| (address.clone(), address)).collect();
    let plain = |addresses: &[&str]| same(addresses.iter().map(|address| (*address).to_owned()).collect());
    let mut steps = Vec::new();
    if has(Part::Findings) {
        steps.push(Step::Answers("findings", plain(&["findings"])));
        if !page.judges_unasked() {
            let said = "findings: the capture is large and judging it takes long; `ridgeline check` says them";
            steps.push(Step::Said(said.to_owned()));
        }
    }
    if has(Part::Compare) && !page.against.is_empty() {
        steps.push(Step::Answers("the comparison", plain(&["compare"])));
    }
    let topics = |topic: &Topic| has(Part::Operations) || part_of(*topic).is_some_and(has);
    let topics: Vec<Topic> = Topic::ALL.into_iter().filter(topics).collect();
    if !topics.is_empty() {
        let tables = tables(page, &topics);
        let long = tables.iter().filter(|(_, address)| is_longer(page, address)).count();
        steps.push(Step::Answers("tables", tables));
        if long > 0 {
            steps.push(Step::Said(format!("tables end after {ROWS} rows, those that matter most first: {long} do")));
        }
    }
    if has(Part::Roofline) {
        steps.push(Step::Answers("the roofline", plain(&["chart/roofline"])));
    }
    if has(Part::Idle) {
        steps.push(Step::Answers("idle time", plain(&["chart/idle"])));
    }
    if has(Part::Scaling) && page.has_scaling() {
        steps.push(Step::Answers("growth over sizes", plain(&["scaling"])));
    }
    if has(Part::Offload) && page.has_offload() {
        steps.push(Step::Answers("other hardware", plain(&["offload"])));
    }
    if has(Part::Memory) {
        steps.push(Step::Answers("memory", plain(&["chart/memory"])));
        if page.session().has_hlo() {
            steps.push(Step::Answers("memory along schedules", same(schedules(page))));
        }
    }
    if has(Part::Flame) {
        steps.push(Step::Answers("flames", plain(&["flame/scope", "flame/module", "flame/python", "flame/host"])));
    }
    if has(Part::Source) && page.is_redacted() {
        steps.push(Step::Said("source files: they are left out of a redacted report".to_owned()));
    } else if has(Part::Source) {
        steps.push(Step::Answers("source files", sources(page)));
    }
    if has(Part::Graph) && page.session().has_hlo() {
        steps.push(Step::Answers("compiled programs", graphs(page)));
        steps.push(Step::Said(format!(
            "compiled programs: drawings are there of up to {INSTRUCTIONS} instructions of {MODULES} modules, those with most time"
        )));
    }
    if has(Part::Timeline) {
        steps.push(Step::Answers("the timeline", plain(&["timeline"])));
        let (counters, idle) = beside(page);
        steps.push(Step::Answers("counters", same(counters)));
        steps.push(Step::Answers("causes of idle time", same(idle)));
        steps.push(Step::Answers("details of the longest events", same(longest(page))));
        steps.push(Step::Tiles);
        steps.push(Step::Said(format!(
            "timeline: details of events but the {EVENTS} longest, search and sums of a selection; `ridgeline view` has them"
        )));
    }
    let is_missing = |part: &Part| !has(*part) && (*part != Part::Compare || !page.against.is_empty());
    let missing: Vec<&str> = Part::ALL.into_iter().filter(is_missing).map(Part::name).collect();
    if !missing.is_empty() {
        steps.push(Step::Said(format!("views that were not asked for: {}", missing.join(", "))));
    }
    steps
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
    std::iter::once("sources".to_owned()).chain(of_files).map(|key| (key.clone(), key)).collect()
}

/// The modules that memory is planned of, largest first, and their schedules.
fn schedules(page: &Page) -> Vec<String> {
    let of_modules = names_of_modules(page).into_iter().take(MODULES);
    let keys = of_modules.map(|module| key("chart/schedule", &[("module", &module)]));
    std::iter::once("hlo/modules".to_owned()).chain(keys).collect()
}

/// What modules are asked by.
fn names_of_modules(page: &Page) -> Vec<String> {
    let listed = page.document("hlo/modules").unwrap_or_default();
    let modules = listed["modules"].as_array().into_iter().flatten();
    let with_hlo = modules.filter(|module| module["has_hlo"] != false);
    with_hlo.filter_map(|module| module["id"].as_str().map(str::to_owned)).collect()
}

/// The modules, and what is around the instructions with most time.
fn graphs(page: &Page) -> Vec<(String, String)> {
    let depth = DEPTH.to_string();
    let mut keys = vec!["hlo/modules".to_owned()];
    for module in names_of_modules(page).into_iter().take(MODULES) {
        let whole = key("hlo/graph", &[("depth", &depth), ("module", &module)]);
        let drawn = page.document(&whole).unwrap_or_default();
        keys.push(whole);
        let mut nodes: Vec<&Value> = drawn["nodes"].as_array().into_iter().flatten().collect();
        nodes.sort_by_key(|node| std::cmp::Reverse(node["self_ns"].as_i64().unwrap_or(-1)));
        let names = nodes.iter().take(INSTRUCTIONS).filter_map(|node| node["name"].as_str());
        keys.extend(names.map(|op| key("hlo/graph", &[("depth", &depth), ("module", &module), ("op", op)])));
    }
    keys.into_iter().map(|key| (key.clone(), key)).collect()
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

/// `path?query` as the page writes it: in the order of names, encoded as browsers do.
fn key(path: &str, query: &[(&str, &str)]) -> String {
    let pairs: Vec<String> = query.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
    format!("{path}?{}", pairs.join("&"))
}

/// As `encodeURIComponent`.
fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte);
    text.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

/// Tiles from the whole capture down; below one that holds its events there is nothing more to know.
pub(super) struct Tiles {
    level: Option<u32>,
    open: Vec<(u32, u64)>,
}

impl Tiles {
    pub(super) fn new(page: &Page) -> Tiles {
        let outline = outline(page);
        let tracks = outline["groups"].as_array().into_iter().flatten();
        let tracks = tracks.flat_map(|group| group["tracks"].as_array().into_iter().flatten());
        let open = tracks.filter_map(|track| Some((track["id"].as_u64()? as u32, 0))).collect();
        Tiles { level: Some(page.timeline().top_level()), open }
    }

    /// The level whose tiles come next.
    pub(super) fn next_level(&self) -> Option<u32> {
        self.level.filter(|_| !self.open.is_empty())
    }

    /// Its tiles, by their keys.
    pub(super) fn of_level(&mut self, page: &Page) -> Vec<(String, Vec<u8>)> {
        let Some(level) = self.level else { return Vec::new() };
        let mut below = Vec::new();
        let mut made = Vec::with_capacity(self.open.len());
        for (track, index) in self.open.drain(..) {
            let key = format!("tile/{track}/{level}/{index}");
            let Ok(answer) = page.answer(&key) else { continue };
            const MODE: usize = 4;
            if answer.body.get(MODE) == Some(&0) {
                below.extend([(track, index * 2), (track, index * 2 + 1)]);
            }
            made.push((key, answer.body));
        }
        self.open = below;
        self.level = level.checked_sub(1);
        made
    }
}
