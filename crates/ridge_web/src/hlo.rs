//! Compiled programs: which there are, the part around one instruction, and its text.

mod layout;

use crate::answer::Refusal;
use crate::page::Page;
use crate::request::Request;
use crate::subjects;
use ridge_report::json as report;
use ridgeline::{GraphAsked, GraphNode, HloGraph, HloStage};
use rustc_hash::FxHashMap;
use serde_json::{Map, Value, json};

/// Nodes of one answer: more cannot be looked at.
const MOST_NODES: usize = 400;
/// Edges away from the middle, where none were asked.
const DEPTH: usize = 2;
/// The most that may be asked.
const MOST_DEPTH: usize = 64;
/// Nodes inside of one.
const MOST_INSIDE: usize = 150;

/// `hlo/modules`: the rows of `ridgeline hlo`, each with its key and, as `id`, what it is asked by: its name, with its
/// program where several have the name.
pub(crate) fn modules(page: &Page) -> Value {
    let table = page.session().hlo_modules();
    let schema = table.batch.schema();
    let row = |row: usize| {
        let cells = schema.fields().iter().zip(table.batch.columns());
        let mut object: Map<String, Value> =
            cells.map(|(field, column)| (field.name().clone(), report::value(column, row))).collect();
        object.insert("subject".to_owned(), json!(table.subject(row).map(|subject| subjects::short(page, subject))));
        Value::Object(object)
    };
    let mut modules: Vec<Value> = (0..table.batch.num_rows()).map(row).collect();
    let names: Vec<String> =
        modules.iter().map(|module| module["module"].as_str().unwrap_or_default().to_owned()).collect();
    let mut called: FxHashMap<&str, usize> = FxHashMap::default();
    names.iter().for_each(|name| *called.entry(name).or_default() += 1);
    for (module, name) in modules.iter_mut().zip(&names) {
        let is_alone = called.get(name.as_str()) == Some(&1);
        let program = module["program_id"].as_str().map_or_else(|| module["program_id"].to_string(), str::to_owned);
        module["id"] = json!(if is_alone { name.clone() } else { format!("{name}({program})") });
    }
    json!({ "modules": modules, "notes": table.footnotes })
}

/// `hlo/graph?module=M&op=NAME&depth=2`: nodes with their places, and edges between them.
pub(crate) fn graph(page: &Page, request: &Request) -> Result<Value, Refusal> {
    let module = module_of(request)?;
    let depth = request.number::<usize>("depth")?.unwrap_or(DEPTH).min(MOST_DEPTH);
    let most = request.number::<usize>("most")?.unwrap_or(MOST_NODES).clamp(1, MOST_NODES);
    let graph = page.session().hlo_graph(GraphAsked { module, op: request.get("op"), depth, most })?;
    let mut drawing = drawing(&graph);
    drawing["module"] = json!(graph.module);
    drawing["depth"] = json!(depth);
    drawing["op"] = json!(graph.nodes.first().map(|node| &node.name));
    Ok(drawing)
}

/// `hlo/inside?module=M&op=NAME`: the computation that an instruction runs, drawn like a graph of its own.
pub(crate) fn inside(page: &Page, request: &Request) -> Result<Value, Refusal> {
    let module = module_of(request)?;
    let op = request.get("op").ok_or_else(|| Refusal::bad("expected `op=NAME`, found none"))?;
    let caller = page.session().hlo_graph(GraphAsked { module, op: Some(op), depth: 0, most: 1 })?;
    let inside = caller.nodes.first().and_then(|node| node.inside.first());
    let root = inside.and_then(|(_, root)| root.as_deref());
    let root = root.ok_or_else(|| Refusal::absent(format!("nothing is inside of `{op}`")))?;
    let asked = GraphAsked { module, op: Some(root), depth: MOST_DEPTH, most: MOST_INSIDE };
    let mut drawing = drawing(&page.session().hlo_graph(asked)?);
    (drawing["module"], drawing["op"]) = (json!(module), json!(op));
    Ok(drawing)
}

fn module_of(request: &Request) -> Result<&str, Refusal> {
    request.get("module").ok_or_else(|| Refusal::bad("expected `module=NAME`, found none"))
}

/// A graph with the places of its nodes, in columns and layers.
fn drawing(graph: &HloGraph) -> Value {
    let places = layout::places(graph.nodes.len(), &graph.edges);
    let nodes = graph.nodes.iter().zip(&places).enumerate().map(|(id, (node, place))| described(id, node, *place));
    json!({
        "computation": graph.computation,
        "nodes": nodes.collect::<Vec<_>>(),
        "edges": graph.edges,
        "cut": graph.is_cut,
        "omitted": graph.omitted,
    })
}

fn described(id: usize, node: &GraphNode, (x, y): (f64, f64)) -> Value {
    let inside = node.inside.iter().map(|(name, root)| json!({ "computation": name, "root": root }));
    json!({
        "id": id,
        "x": x,
        "y": y,
        "name": node.name,
        "opcode": node.opcode,
        "category": node.category,
        "shape": node.shape,
        "text": node.text,
        "distance": node.distance,
        "inside": inside.collect::<Vec<_>>(),
        "caller": node.caller,
        "source": node.source.as_ref().map(|(file, line)| json!({ "file": file, "line": line })),
        "scope": node.scope,
        "hidden": node.hidden,
        "subject": node.op.map(|op| format!("op:{op}")),
        "self_ns": node.self_ns,
        "share": node.share,
        "events": node.events,
    })
}

/// `hlo/text?module=M&op=NAME&stage=after`: a module, or an instruction of it, as text.
pub(crate) fn text(page: &Page, request: &Request) -> Result<Value, Refusal> {
    let module = module_of(request)?;
    let stage = match request.get("stage") {
        None | Some("after") => HloStage::After,
        Some("before") => HloStage::Before,
        Some("jaxpr") => HloStage::Jaxpr,
        Some("stablehlo") => HloStage::StableHlo,
        Some(other) => {
            return Err(Refusal::bad(format!("expected after, before, jaxpr or stablehlo, found `{other}`")));
        }
    };
    let text = page.session().hlo_text(module, request.get("op"), stage)?;
    Ok(json!({ "module": module, "op": request.get("op"), "text": text }))
}
