//! Flames: time as a tree, of scopes, of Python's calls, of ranges of the host, of modules and their operations.
//!
//! Scopes and modules are the answers that the terminal shows as tables.

use crate::answer::Refusal;
use crate::page::Page;
use crate::request::Request;
use crate::selection::{Chosen, device_ops};
use ridgeline::trace::{EventKind, NONE, StringId};
use ridgeline::{DeviceTime, ScopeRow};
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

/// Nodes below this part of the whole are shown together.
const LEAST_SHARE: f64 = 0.001;
/// Trees deeper than this are cut: a hostile file may nest without end.
const MOST_DEPTH: usize = 128;

/// A node with what is below it; children are in `Tree`.
#[derive(Debug, Default)]
struct Node {
    name: String,
    self_ns: i64,
    total_ns: i64,
    events: u64,
    children: Vec<usize>,
}

/// `flame/{by}`: `scope`, `module`, `python` or `host`; with the parameters of a selection, of what it has.
pub(crate) fn flame(page: &Page, by: &str, request: &Request) -> Result<Value, Refusal> {
    let chosen = if request.get("from").is_some() { Some(Chosen::of(page, request)?) } else { None };
    let tree = match (by, &chosen) {
        ("scope", None) => of_scopes(&page.session().scopes().rows),
        ("module", None) => of_modules(page.session().ops()),
        ("scope" | "module", Some(chosen)) => of_ops(page, chosen, by == "scope"),
        ("python", _) => of_calls(page, chosen.as_ref(), |kind| kind == EventKind::PythonCall),
        ("host", _) => of_calls(page, chosen.as_ref(), |kind| (kind as u8) < EventKind::Kernel as u8),
        _ => return Err(Refusal::absent(format!("expected scope, module, python or host, found `{by}`"))),
    };
    let least = (tree[0].total_ns as f64 * LEAST_SHARE) as i64;
    let of = match by {
        "scope" | "module" => "device work",
        _ => "time of threads",
    };
    Ok(json!({ "by": by, "of": of, "unit": "ns", "root": shown(&tree, 0, least, 0) }))
}

/// A node with the children that are worth showing, longest first.
fn shown(tree: &[Node], at: usize, least_ns: i64, depth: usize) -> Value {
    let node = &tree[at];
    let mut children = node.children.clone();
    children.sort_by_key(|child| std::cmp::Reverse(tree[*child].total_ns));
    let is_shown = |child: &usize| tree[*child].total_ns >= least_ns.max(1) && depth < MOST_DEPTH;
    let (large, small): (Vec<usize>, Vec<usize>) = children.into_iter().partition(is_shown);
    let mut below: Vec<Value> = large.into_iter().map(|child| shown(tree, child, least_ns, depth + 1)).collect();
    let rest_ns: i64 = small.iter().map(|child| tree[*child].total_ns).sum();
    if rest_ns > 0 {
        let events: u64 = small.iter().map(|child| tree[*child].events).sum();
        below.push(json!({
            "name": format!("({} smaller)", small.len()), "self_ns": rest_ns, "total_ns": rest_ns, "events": events, "children": [],
        }));
    }
    json!({
        "name": node.name, "self_ns": node.self_ns, "total_ns": node.total_ns, "events": node.events, "children": below,
    })
}

fn root() -> Vec<Node> {
    vec![Node { name: "all".to_owned(), ..Node::default() }]
}

fn add(tree: &mut Vec<Node>, parent: usize, node: Node) -> usize {
    tree.push(node);
    let at = tree.len() - 1;
    tree[parent].children.push(at);
    at
}

/// The rows stand in the order of the tree, each with its depth.
fn of_scopes(scopes: &[ScopeRow]) -> Vec<Node> {
    let (mut tree, mut open) = (root(), vec![0]);
    for scope in scopes {
        let &ScopeRow { self_ns, inclusive_ns: total_ns, events, .. } = scope;
        open.truncate(scope.depth as usize + 1);
        let parent = *open.last().unwrap_or(&0);
        if parent == 0 {
            tree[0].total_ns = tree[0].total_ns.saturating_add(total_ns);
            tree[0].events += events;
        }
        let node = Node { name: scope.name.clone(), self_ns, total_ns, events, children: Vec::new() };
        let at = add(&mut tree, parent, node);
        open.push(at);
    }
    tree
}

/// The operations of a selection below their scopes, or their modules.
fn of_ops(page: &Page, chosen: &Chosen<'_>, is_by_scope: bool) -> Vec<Node> {
    let mut tree = root();
    let mut known: FxHashMap<(usize, String), usize> = FxHashMap::default();
    for (op, self_ns, events) in device_ops(page, chosen) {
        let place = page.session().op_place(op);
        let path: Vec<String> = match (&place, is_by_scope) {
            (Some((_, _, scope)), true) if !scope.is_empty() => scope.split('/').map(str::to_owned).collect(),
            (_, true) => vec!["(no scope)".to_owned()],
            (Some((name, module, _)), false) => {
                vec![module.clone().unwrap_or_else(|| "(no module)".to_owned()), name.clone()]
            }
            (None, false) => vec!["(no module)".to_owned()],
        };
        let mut at = 0;
        for name in std::iter::once(None).chain(path.into_iter().take(MOST_DEPTH).map(Some)) {
            if let Some(name) = name {
                let above = at;
                at = *known
                    .entry((above, name.clone()))
                    .or_insert_with(|| add(&mut tree, above, Node { name, ..Node::default() }));
            }
            tree[at].total_ns = tree[at].total_ns.saturating_add(self_ns);
            tree[at].events += events;
        }
        tree[at].self_ns = tree[at].self_ns.saturating_add(self_ns);
    }
    tree
}

fn of_modules(ops: Vec<(Option<String>, String, &DeviceTime)>) -> Vec<Node> {
    let mut tree = root();
    let mut modules: FxHashMap<String, usize> = FxHashMap::default();
    for (module, name, &DeviceTime { self_ns, events, .. }) in ops {
        let module = module.unwrap_or_else(|| "(no module)".to_owned());
        let at = *modules
            .entry(module.clone())
            .or_insert_with(|| add(&mut tree, 0, Node { name: module, ..Node::default() }));
        for above in [0, at] {
            tree[above].total_ns = tree[above].total_ns.saturating_add(self_ns);
            tree[above].events += events;
        }
        add(&mut tree, at, Node { name, self_ns, total_ns: self_ns, events, children: Vec::new() });
    }
    tree
}

/// Calls of all threads by their stacks; what is not asked for is passed over.
fn of_calls(page: &Page, chosen: Option<&Chosen<'_>>, is_asked: impl Fn(EventKind) -> bool) -> Vec<Node> {
    let trace = page.session().trace();
    let events = &trace.events;
    let length = |row: u32| match chosen {
        None => Some(events.dur_ns[row as usize]),
        Some(chosen) => {
            let (start, end) = chosen.clipped(row as usize);
            (end >= start && chosen.has(row)).then_some(end.saturating_sub(start))
        }
    };
    let is_chosen = |track: usize| chosen.is_none_or(|chosen| chosen.tracks.contains(&track));
    let mut tree = root();
    let mut known: FxHashMap<(usize, u32), usize> = FxHashMap::default();
    let tracks = trace.tracks.iter().enumerate().filter(|(at, _)| is_chosen(*at)).map(|(_, track)| track);
    for track in tracks.filter(|track| track.device.is_none()) {
        let mut nodes: Vec<u32> = vec![NONE; track.rows.len()];
        let thread = add(&mut tree, 0, Node { name: trace.strings.get(track.name).to_owned(), ..Node::default() });
        for row in track.rows.clone() {
            let at = row as usize;
            let parent = events.parent[at];
            let above = if track.rows.contains(&parent) { nodes[(parent - track.rows.start) as usize] } else { NONE };
            let above = if above == NONE { thread } else { above as usize };
            let place = (row - track.rows.start) as usize;
            let Some(ns) = length(row).filter(|_| is_asked(events.kind(at))) else {
                nodes[place] = above as u32;
                continue;
            };
            let name = events.name[at];
            let node = *known.entry((above, name)).or_insert_with(|| {
                add(&mut tree, above, Node { name: trace.strings.get(StringId(name)).to_owned(), ..Node::default() })
            });
            nodes[place] = node as u32;
            tree[node].total_ns = tree[node].total_ns.saturating_add(ns);
            tree[node].self_ns = tree[node].self_ns.saturating_add(ns);
            tree[node].events += 1;
            if above == thread {
                tree[thread].total_ns = tree[thread].total_ns.saturating_add(ns);
            } else {
                tree[above].self_ns = tree[above].self_ns.saturating_sub(ns);
            }
        }
        tree[0].total_ns = tree[0].total_ns.saturating_add(tree[thread].total_ns);
    }
    let is_empty = |at: &usize, tree: &[Node]| tree[*at].total_ns == 0;
    let kept: Vec<usize> = tree[0].children.iter().copied().filter(|at| !is_empty(at, &tree)).collect();
    tree[0].children = kept;
    tree
}
