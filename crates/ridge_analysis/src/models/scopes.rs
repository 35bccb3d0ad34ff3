//! Device time by scope: the tree that `jit(f)/while/body/mul` spells, each node with all that is below it.
//!
//! For PyTorch the tree is that of the modules that called an operator, with `backward` where it computes a gradient.

use super::each_work::{WorkRow, for_each_work};
use super::operators::own_times_of_operators;
use crate::context::groups::Group;
use crate::context::host_paths::{HostPaths, PathOf, sum_by};
use crate::context::partition::part;
use crate::{Analysis, Need, Shared, WorkGroups};
use ridge_trace::{EventKind, NONE, StringId};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A scope with all that is below it; scopes that hold nothing but one other are one with it.
#[derive(Debug, Clone, PartialEq)]
pub struct ScopeRow {
    /// The whole path; the last part is the primitive.
    pub path: String,
    /// What the path has beyond that of the scope it is in.
    pub name: String,
    /// How deep it is nested.
    pub depth: u64,
    /// Time of operations with exactly this path, nanoseconds.
    pub self_ns: i64,
    /// Time of the scope and all below it, nanoseconds.
    pub inclusive_ns: i64,
    /// The same as a part of that of all scopes.
    pub share: f64,
    /// Kernels, copies and device operations, or operators of the host where there are none.
    pub events: u64,
}

/// The tree in depth-first order, most inclusive time first among siblings.
#[derive(Debug)]
pub struct Scopes {
    /// Its scopes.
    pub rows: Vec<ScopeRow>,
    /// Whether times are those of operators on the host, because no device work is in the capture.
    pub is_of_host: bool,
}

#[derive(Debug, Default)]
struct Node {
    self_ns: i64,
    inclusive_ns: i64,
    events: u64,
    children: BTreeMap<String, Node>,
}

/// Paths deeper than this are cut: no program nests so, a hostile file may.
const MAX_DEPTH: usize = 128;

/// What is counted under one path.
struct Entry {
    parts: Vec<String>,
    self_ns: i64,
    events: u64,
}

impl Shared for Scopes {
    const NEEDS: &'static [Need] = &[Need::of::<WorkGroups>()];

    fn make(analysis: &Analysis<'_>) -> Scopes {
        let modules = HostPaths::find(analysis.trace, PathOf::Modules);
        let is_of_host = modules.is_some() && analysis.groups().groups.is_empty();
        let entries = match &modules {
            Some(modules) if is_of_host => host_entries(analysis, modules),
            Some(modules) => launched_entries(analysis, modules),
            None => compiled_entries(analysis),
        };
        let mut root = Node::default();
        for entry in &entries {
            let mut node = &mut root;
            for part in entry.parts.iter().take(MAX_DEPTH) {
                node = node.children.entry(part.clone()).or_default();
                node.inclusive_ns = node.inclusive_ns.saturating_add(entry.self_ns);
                node.events += entry.events;
            }
            node.self_ns = node.self_ns.saturating_add(entry.self_ns);
        }
        let mut rows = Vec::new();
        flatten(&root, "", 0, &mut rows);
        let all_ns = entries.iter().fold(0_i64, |all, entry| all.saturating_add(entry.self_ns));
        rows.iter_mut().for_each(|row| row.share = part(row.inclusive_ns, all_ns));
        Scopes { rows, is_of_host }
    }
}

/// The events that the row of `path` counts, in order: device work, or operators of the host where there is none.
pub fn rows_of_scope(analysis: &Analysis<'_>, path: &str) -> Vec<u32> {
    let modules = HostPaths::find(analysis.trace, PathOf::Modules);
    let is_below = |parts: &[String]| {
        let joined = parts[..parts.len().min(MAX_DEPTH)].join("/");
        joined.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let events = &analysis.trace.events;
    let mut known: FxHashMap<(u32, u32), bool> = FxHashMap::default();
    let Some(modules) = modules else {
        let mut is_in = |op: u32| *known.entry((NONE, op)).or_insert_with(|| is_below(&compiled_parts(analysis, op)));
        return device_work(analysis).filter(|row| is_in(events.op[*row as usize])).collect();
    };
    if analysis.groups().groups.is_empty() {
        let mut is_in = |row: u32| {
            let key = (modules.of_row(row), events.name[row as usize]);
            *known.entry(key).or_insert_with(|| is_below(&parts(&modules, key.0, analysis.text(StringId(key.1)))))
        };
        let mut rows: Vec<u32> = own_times_of_operators(analysis.trace).map(|(row, _)| row).collect();
        rows.retain(|row| is_in(*row));
        rows.sort_unstable();
        return rows;
    }
    let mut is_in = |row: u32| {
        let key = (modules.of_row(events.link[row as usize]), events.op[row as usize]);
        *known.entry(key).or_insert_with(|| is_below(&parts(&modules, key.0, operator(analysis, key.1))))
    };
    device_work(analysis).filter(|row| is_in(*row)).collect()
}

fn device_work<'a>(analysis: &Analysis<'a>) -> impl Iterator<Item = u32> + 'a {
    let trace = analysis.trace;
    let rows = trace.device_tracks().flat_map(|track| track.rows.clone());
    rows.filter(|row| EventKind::from_byte_is_work(trace.events.kind[*row as usize]))
}

/// Device work by the scope that the compiler noted for its operation.
fn compiled_entries(analysis: &Analysis<'_>) -> Vec<Entry> {
    let entry = |group: &Group| Entry {
        parts: compiled_parts(analysis, group.op),
        self_ns: group.self_ns,
        events: group.count(),
    };
    analysis.groups().groups.iter().map(entry).collect()
}

fn compiled_parts(analysis: &Analysis<'_>, op: u32) -> Vec<String> {
    let path = analysis.operation(op).map_or("", |op| analysis.text(op.scope));
    let path = if path.is_empty() { "(no scope known)" } else { path };
    split(path).map(str::to_owned).collect()
}

/// Device work by the modules and the operator that launched it.
fn launched_entries(analysis: &Analysis<'_>, modules: &HostPaths<'_>) -> Vec<Entry> {
    let events = &analysis.trace.events;
    let mut work = Vec::new();
    for_each_work(analysis.trace, |WorkRow { row, self_ns, .. }| {
        let row = row as usize;
        work.push(((modules.of_row(events.link[row]), events.op[row]), self_ns));
    });
    let sums = sum_by(work.into_iter());
    let entry = |((path, op), (self_ns, events)): ((u32, u32), (i64, u64))| Entry {
        parts: parts(modules, path, operator(analysis, op)),
        self_ns,
        events,
    };
    sums.into_iter().map(entry).collect()
}

fn operator<'a>(analysis: &Analysis<'a>, op: u32) -> &'a str {
    analysis.operation(op).map_or("(no operator known)", |op| analysis.text(op.name))
}

/// Operators of the host by the modules they ran in.
fn host_entries(analysis: &Analysis<'_>, modules: &HostPaths<'_>) -> Vec<Entry> {
    let trace = analysis.trace;
    let operators = own_times_of_operators(trace);
    let sums = sum_by(operators.map(|(row, ns)| ((modules.of_row(row), trace.events.name[row as usize]), ns)));
    let entry = |((path, name), (self_ns, events)): ((u32, u32), (i64, u64))| Entry {
        parts: parts(modules, path, analysis.text(StringId(name))),
        self_ns,
        events,
    };
    sums.into_iter().map(entry).collect()
}

fn parts(modules: &HostPaths<'_>, path: u32, operator: &str) -> Vec<String> {
    let mut parts: Vec<String> = modules.parts(path).into_iter().map(str::to_owned).collect();
    if parts.is_empty() {
        parts.push("(in no module)".to_owned());
    }
    parts.push(operator.to_owned());
    parts
}

/// The parts of a path; slashes inside parentheses belong to a name.
fn split(path: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    let parts = path.split(move |letter: char| {
        match letter {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        letter == '/' && depth <= 0
    });
    parts.filter(|part| !part.is_empty()).take(MAX_DEPTH)
}

fn flatten(node: &Node, path: &str, depth: u64, rows: &mut Vec<ScopeRow>) {
    let mut children: Vec<(&String, &Node)> = node.children.iter().collect();
    children.sort_by_key(|(_, child)| std::cmp::Reverse(child.inclusive_ns));
    for (name, child) in children {
        let (name, child) = chain(name, child);
        let path = if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
        let Node { self_ns, inclusive_ns, events, .. } = *child;
        rows.push(ScopeRow { path: path.clone(), name, depth, self_ns, inclusive_ns, share: 0.0, events });
        flatten(child, &path, depth + 1, rows);
    }
}

/// Follows scopes that hold nothing but one other scope.
fn chain<'n>(name: &str, node: &'n Node) -> (String, &'n Node) {
    let (mut label, mut node) = (name.to_owned(), node);
    while let (0, 1, Some((name, only))) = (node.self_ns, node.children.len(), node.children.iter().next()) {
        label = format!("{label}/{name}");
        node = only;
    }
    (label, node)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_own_slashes() {
        let parts: Vec<&str> = split("jit(f)/while/body/vmap(a/b)/mul").collect();
        assert_eq!(parts, ["jit(f)", "while", "body", "vmap(a/b)", "mul"]);
    }
}
