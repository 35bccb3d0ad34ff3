//! Flames: time as a tree, of scopes, of Python's calls, of ranges of the host, of modules and their operations; memory as a
//! tree of the calls that asked for it.
//!
//! Scopes and modules are the answers that the terminal shows as tables.

mod memory;
mod tree;

use crate::answer::Refusal;
use crate::page::Page;
use crate::request::Request;
use crate::selection::{Chosen, device_ops};
use ridgeline::trace::{EventKind, NONE, StringId};
use ridgeline::{DeviceTime, ScopeRow};
use rustc_hash::FxHashMap;
use serde_json::Value;
use tree::{MOST_DEPTH, Node, Unit, add, answer, root};

/// `flame/{by}`: `scope`, `module`, `python`, `host` or `memory`; with the parameters of a selection, of what it has.
pub(crate) fn flame(page: &Page, by: &str, request: &Request) -> Result<Value, Refusal> {
    let chosen = if request.get("from").is_some() { Some(Chosen::of(page, request)?) } else { None };
    let tree = match (by, &chosen) {
        ("scope", None) => of_scopes(&page.session().scopes().rows),
        ("module", None) => of_modules(page.session().ops()),
        ("scope" | "module", Some(chosen)) => of_ops(page, chosen, by == "scope"),
        ("python", _) => of_calls(page, chosen.as_ref(), |kind| kind == EventKind::PythonCall),
        ("host", _) => of_calls(page, chosen.as_ref(), |kind| (kind as u8) < EventKind::Kernel as u8),
        ("memory", _) => return Ok(memory::flame(page.session().trace(), chosen.as_ref())),
        _ => return Err(Refusal::absent(format!("expected scope, module, python, host or memory, found `{by}`"))),
    };
    let of = match by {
        "scope" | "module" => "device work",
        _ => "time of threads",
    };
    Ok(answer(by, of, Unit::Ns, &tree))
}

/// The rows stand in the order of the tree, each with its depth.
fn of_scopes(scopes: &[ScopeRow]) -> Vec<Node> {
    let (mut tree, mut open) = (root(), vec![0]);
    for scope in scopes {
        let &ScopeRow { self_ns: own, inclusive_ns: total, events, .. } = scope;
        open.truncate(scope.depth as usize + 1);
        let parent = *open.last().unwrap_or(&0);
        if parent == 0 {
            tree[0].total = tree[0].total.saturating_add(total);
            tree[0].events += events;
        }
        let node = Node { name: scope.name.clone(), own, total, events, children: Vec::new() };
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
            tree[at].total = tree[at].total.saturating_add(self_ns);
            tree[at].events += events;
        }
        tree[at].own = tree[at].own.saturating_add(self_ns);
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
            tree[above].total = tree[above].total.saturating_add(self_ns);
            tree[above].events += events;
        }
        add(&mut tree, at, Node { name, own: self_ns, total: self_ns, events, children: Vec::new() });
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
            tree[node].total = tree[node].total.saturating_add(ns);
            tree[node].own = tree[node].own.saturating_add(ns);
            tree[node].events += 1;
            if above == thread {
                tree[thread].total = tree[thread].total.saturating_add(ns);
            } else {
                tree[above].own = tree[above].own.saturating_sub(ns);
            }
        }
        tree[0].total = tree[0].total.saturating_add(tree[thread].total);
    }
    let is_empty = |at: &usize, tree: &[Node]| tree[*at].total == 0;
    let kept: Vec<usize> = tree[0].children.iter().copied().filter(|at| !is_empty(at, &tree)).collect();
    tree[0].children = kept;
    tree
}
