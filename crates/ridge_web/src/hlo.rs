//! Compiled programs: which there are, the part around one instruction, and its text.

mod layout;

use crate::answer::Refusal;
use crate::page::Page;
use crate::request::Request;
use crate::subjects;
use ridge_report::json as report;
use ridgeline::{GraphAsked, GraphNode, HloStage};
use serde_json::{Map, Value, json};

/// Nodes of one answer: more cannot be looked at.
const MOST_NODES: usize = 400;
/// Edges away from the middle, where none were asked.
const DEPTH: usize = 2;
/// The most that may be asked.
const MOST_DEPTH: usize = 64;

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
    let names: Vec<Value> = modules.iter().map(|module| module["module"].clone()).collect();
    for (module, name) in modules.iter_mut().zip(&names) {
        let is_alone = names.iter().filter(|other| *other == name).count() == 1;
        let name = name.as_str().unwrap_or_default();
        let program = module["program_id"].as_str().map_or_else(|| module["program_id"].to_string(), str::to_owned);
        module["id"] = json!(if is_alone { name.to_owned() } else { format!("{name}({program})") });
    }
    json!({ "modules": modules, "notes": table.footnotes })
}

/// `hlo/graph?module=M&op=NAME&depth=2&open=A,B`: nodes with their places, and edges between them; nodes that are opened
/// have what is inside them.
pub(crate) fn graph(page: &Page, request: &Request) -> Result<Value, Refusal> {
    let module = request.get("module").ok_or_else(|| Refusal::bad("expected `module=NAME`, found none"))?;
    let depth = request.number::<usize>("depth")?.unwrap_or(DEPTH).min(MOST_DEPTH);
    let most = request.number::<usize>("most")?.unwrap_or(MOST_NODES).clamp(1, MOST_NODES);
    let graph = page.session().hlo_graph(GraphAsked { module, op: request.get("op"), depth, most })?;
    let open: Vec<&str> = request.get("open").into_iter().flat_map(|names| names.split(',')).take(MOST_OPEN).collect();
    let inside: Vec<Option<Inside>> = graph
        .nodes
        .iter()
        .map(|node| if open.contains(&node.name.as_str()) { inside(page, module, node) } else { None })
        .collect();
    let size = |inside: &Option<Inside>| inside.as_ref().map_or((1.0, 1.0), |inside| inside.size);
    let sizes: Vec<(f64, f64)> = inside.iter().map(size).collect();
    let places = layout::places(&sizes, &graph.edges);
    let nodes = graph.nodes.iter().zip(&places).enumerate().map(|(id, (node, place))| {
        let mut value = described(id, node, *place);
        if let Some(inside) = &inside[id] {
            value["inner"] = inside.drawing.clone();
            (value["wide"], value["tall"]) = (json!(inside.size.0), json!(inside.size.1));
        }
        value
    });
    Ok(json!({
        "module": graph.module,
        "computation": graph.computation,
        "depth": depth,
        "nodes": nodes.collect::<Vec<_>>(),
        "edges": graph.edges,
        "op": graph.nodes.first().map(|node| &node.name),
        "cut": graph.is_cut,
        "omitted": graph.omitted,
    }))
}

/// Nodes that are opened at once.
const MOST_OPEN: usize = 12;
/// Nodes inside one.
const MOST_INSIDE: usize = 150;

/// What is inside a node, in columns and layers.
struct Inside {
    drawing: Value,
    /// What it takes with its frame.
    size: (f64, f64),
}

/// The computation that a node runs, drawn by itself; nothing where it runs none.
fn inside(page: &Page, module: &str, node: &GraphNode) -> Option<Inside> {
    let (name, root) = node.inside.first()?;
    let asked = GraphAsked { module, op: Some(root.as_deref()?), depth: MOST_DEPTH, most: MOST_INSIDE };
    let graph = page.session().hlo_graph(asked).ok()?;
    let places = layout::places(&vec![(1.0, 1.0); graph.nodes.len()], &graph.edges);
    let end = |of: fn(&(f64, f64)) -> f64| places.iter().map(of).fold(0.0, f64::max) + 1.0;
    let nodes = graph.nodes.iter().zip(&places).enumerate().map(|(id, (node, place))| described(id, node, *place));
    let drawing = json!({
        "computation": name,
        "nodes": nodes.collect::<Vec<_>>(),
        "edges": graph.edges,
        "cut": graph.is_cut,
    });
    // The frame has a line for its title, and an edge around.
    Some(Inside { drawing, size: (end(|place| place.0) + 0.25, end(|place| place.1) + 0.75) })
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
    let module = request.get("module").ok_or_else(|| Refusal::bad("expected `module=NAME`, found none"))?;
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
