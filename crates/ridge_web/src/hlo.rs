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

/// Modules of one answer; `find=TEXT` leads to the others.
const MOST_MODULES: usize = 1000;
/// Nodes of one answer: more cannot be looked at.
const MOST_NODES: usize = 400;
/// Edges away from the middle, where none were asked.
const DEPTH: usize = 2;
/// The most that may be asked.
const MOST_DEPTH: usize = 64;
/// Nodes inside of one.
const MOST_INSIDE: usize = 150;

/// `hlo/modules?find=TEXT`: the rows of `ridgeline hlo`, each with its key and, as `id`, what it is asked by: its name, with
/// its program where several have the name. Of many, those that can be drawn, most device time first.
pub(crate) fn modules(page: &Page, request: &Request) -> Value {
    let table = page.session().hlo_modules();
    let cell = |name: &str, row: usize| table.batch.column_by_name(name).map(|column| report::value(column, row));
    let text = |name: &str, row: usize| cell(name, row).and_then(|cell| cell.as_str().map(str::to_owned));
    let names: Vec<String> = (0..table.batch.num_rows()).map(|row| text("module", row).unwrap_or_default()).collect();
    let mut called: FxHashMap<&str, usize> = FxHashMap::default();
    names.iter().for_each(|name| *called.entry(name).or_default() += 1);
    let wanted = request.get("find").map(str::to_lowercase);
    let is_wanted = |row: &usize| wanted.as_deref().is_none_or(|text| names[*row].to_lowercase().contains(text));
    let found: Vec<usize> = (0..names.len()).filter(is_wanted).collect();
    let (drawn, others): (Vec<usize>, Vec<usize>) =
        found.iter().partition(|row| cell("has_hlo", **row) != Some(Value::Bool(false)));
    let mut listed: Vec<usize> = drawn.into_iter().chain(others).take(MOST_MODULES).collect();
    listed.sort_unstable();
    let schema = table.batch.schema();
    let row = |row: usize| {
        let cells = schema.fields().iter().zip(table.batch.columns());
        let mut object: Map<String, Value> =
            cells.map(|(field, column)| (field.name().clone(), report::value(column, row))).collect();
        let is_alone = called.get(names[row].as_str()) == Some(&1);
        let program = text("program_id", row).unwrap_or_default();
        let id = if is_alone { names[row].clone() } else { format!("{}({program})", names[row]) };
        object.insert("id".to_owned(), json!(id));
        object.insert("subject".to_owned(), json!(table.subject(row).map(|subject| subjects::short(page, subject))));
        Value::Object(object)
    };
    let modules: Vec<Value> = listed.into_iter().map(row).collect();
    json!({ "modules": modules, "total": found.len(), "notes": table.footnotes })
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
