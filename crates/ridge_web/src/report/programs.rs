//! What a report holds of compiled programs: schedules, drawings around what took most time, what is inside, texts.

use super::keys::key;
use crate::Page;
use serde_json::Value;
use std::collections::BTreeMap;

/// Modules whose drawings are there, and instructions of each, those with most time.
const MODULES: usize = 8;
const INSTRUCTIONS: usize = 12;
/// The levels of detail that the page draws a module at.
const DEPTH: &str = "2";
/// Forms of a module's text.
const STAGES: [&str; 4] = ["after", "before", "stablehlo", "jaxpr"];
/// How a text ends that was cut.
const CUT: char = '…';

/// Which drawings there are, in a sentence.
pub(super) fn drawn() -> String {
    format!(
        "compiled programs: drawings include up to {INSTRUCTIONS} instructions of the {MODULES} modules with the most time"
    )
}

/// Drawings by their addresses, and what belongs to their nodes.
#[derive(Debug, Default)]
pub(super) struct Drawings {
    pub(super) addresses: Vec<String>,
    /// Of what is inside of nodes, and of nodes inside of those; most time first.
    pub(super) insides: Vec<String>,
    /// Of the whole texts of nodes that drawings have only the beginning of.
    pub(super) cut_texts: Vec<String>,
}

/// The modules that memory is planned of, largest first, and their schedules.
pub(super) fn schedules(page: &Page) -> Vec<String> {
    let of_modules = names(page).into_iter().map(|module| key("chart/schedule", &[("module", &module)]));
    std::iter::once("hlo/modules".to_owned()).chain(of_modules).collect()
}

/// What modules with HLO are asked by.
fn names(page: &Page) -> Vec<String> {
    let listed = page.document("hlo/modules").unwrap_or_default();
    let modules = listed["modules"].as_array().into_iter().flatten();
    let with_hlo = modules.filter(|module| module["has_hlo"] != false);
    with_hlo.filter_map(|module| module["id"].as_str().map(str::to_owned)).take(MODULES).collect()
}

/// The modules, and what is around the instructions with most time.
pub(super) fn drawings(page: &Page) -> Drawings {
    let mut drawings = Drawings { addresses: vec!["hlo/modules".to_owned()], ..Drawings::default() };
    let mut insides = Vec::new();
    for module in names(page) {
        let mut nodes = Nodes::default();
        let whole = key("hlo/graph", &[("depth", DEPTH), ("module", &module)]);
        nodes.add(&page.document(&whole).unwrap_or_default());
        let around = nodes.by_time().into_iter().take(INSTRUCTIONS);
        let around = around.map(|op| key("hlo/graph", &[("depth", DEPTH), ("module", &module), ("op", &op)]));
        let addresses: Vec<String> = std::iter::once(whole).chain(around).collect();
        addresses[1..].iter().for_each(|address| nodes.add(&page.document(address).unwrap_or_default()));
        drawings.addresses.extend(addresses);
        // What is inside may have something inside in turn, such as the fusions of a loop's body.
        let inside = |op: &String| key("hlo/inside", &[("module", &module), ("op", op)]);
        let outer = nodes.opening();
        outer.iter().for_each(|op| nodes.add(&page.document(&inside(op)).unwrap_or_default()));
        insides.extend(nodes.opening().iter().map(|op| (nodes.time(op), inside(op))));
        drawings.cut_texts.extend(nodes.cut().iter().map(|op| key("hlo/text", &[("module", &module), ("op", op)])));
    }
    insides.sort_by_key(|(self_ns, _)| std::cmp::Reverse(*self_ns));
    drawings.insides = insides.into_iter().map(|(_, address)| address).collect();
    drawings
}

/// Texts of modules in every form that there is, and `of_nodes`.
pub(super) fn texts(page: &Page, of_nodes: &[String]) -> Vec<String> {
    let of_module = |module: String| STAGES.map(|stage| key("hlo/text", &[("module", &module), ("stage", stage)]));
    let of_modules = names(page).into_iter().flat_map(of_module);
    of_modules.chain(of_nodes.iter().cloned()).collect()
}

/// Nodes of drawings by their names.
#[derive(Debug, Default)]
struct Nodes(BTreeMap<String, Value>);

impl Nodes {
    fn add(&mut self, drawing: &Value) {
        for node in drawing["nodes"].as_array().into_iter().flatten() {
            let name = node["name"].as_str().unwrap_or_default();
            self.0.entry(name.to_owned()).or_insert_with(|| node.clone());
        }
    }

    fn time(&self, op: &str) -> i64 {
        self.0.get(op).and_then(|node| node["self_ns"].as_i64()).unwrap_or(-1)
    }

    fn by_time(&self) -> Vec<String> {
        let mut names: Vec<String> = self.0.keys().cloned().collect();
        names.sort_by_key(|op| std::cmp::Reverse(self.time(op)));
        names
    }

    fn which(&self, accept: impl Fn(&Value) -> bool) -> Vec<String> {
        self.0.iter().filter(|(_, node)| accept(node)).map(|(op, _)| op.clone()).collect()
    }

    /// Nodes that something is inside of.
    fn opening(&self) -> Vec<String> {
        let has_root =
            |node: &Value| node["inside"].as_array().is_some_and(|all| all.iter().any(|one| !one["root"].is_null()));
        self.which(has_root)
    }

    /// Nodes whose texts are longer than drawings have them.
    fn cut(&self) -> Vec<String> {
        self.which(|node| node["text"].as_str().is_some_and(|text| text.ends_with(CUT)))
    }
}
