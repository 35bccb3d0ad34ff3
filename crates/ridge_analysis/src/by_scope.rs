//! Device time by scope: the tree that `jit(f)/while/body/mul` spells, each node with all that is below it.

use crate::Analysis;
use crate::rows::table as build;
use ridge_trace::{Column, Rank, Table, Unit};
use std::collections::BTreeMap;

/// A scope and what is below it.
#[derive(Debug, Default)]
struct Node {
    self_ns: i64,
    inclusive_ns: i64,
    events: u64,
    children: BTreeMap<String, Node>,
}

/// One line of the finished tree.
struct Line {
    path: String,
    label: String,
    depth: u64,
    self_ns: i64,
    inclusive_ns: i64,
    events: u64,
}

/// Paths deeper than this are cut: no program nests so, a hostile file may.
const MAX_DEPTH: usize = 128;

/// The tree in depth-first order, most inclusive time first among siblings.
pub(crate) fn table(analysis: &Analysis<'_>) -> Table {
    let mut root = Node::default();
    for group in &analysis.groups().groups {
        let path = analysis.operation(group.op).map_or("", |op| analysis.text(op.scope));
        let path = if path.is_empty() { "(no scope known)" } else { path };
        let mut node = &mut root;
        for part in split(path) {
            node = node.children.entry(part.to_owned()).or_default();
            node.inclusive_ns += group.self_ns;
            node.events += group.count();
        }
        node.self_ns += group.self_ns;
    }
    let mut lines = Vec::new();
    flatten(&root, "", 0, &mut lines);
    let share = |line: &Line| analysis.share_of_work(line.inclusive_ns);
    build(
        "scope",
        "Scopes",
        vec![
            Column::text(
                "tree",
                "Scope",
                "scope, indented under the one it is in; scopes that hold nothing but one other are on its line",
                lines.iter().map(|line| line.label.clone()),
            )
            .ranked(Rank::Key),
            Column::whole(
                "depth",
                "Depth",
                "how deep the scope is nested",
                Unit::Count,
                lines.iter().map(|line| line.depth),
            )
            .ranked(Rank::Detail),
            Column::nanos(
                "inclusive_ns",
                "Inclusive",
                "device time of the scope and all scopes below it, measured",
                lines.iter().map(|line| line.inclusive_ns),
            )
            .ranked(Rank::Key),
            Column::real(
                "inclusive_share",
                "Share",
                "inclusive time as a part of all device work",
                Unit::Share,
                lines.iter().map(share),
            )
            .ranked(Rank::Key),
            Column::nanos(
                "self_ns",
                "Self",
                "device time of operations with exactly this path, measured",
                lines.iter().map(|line| line.self_ns),
            ),
            Column::whole(
                "events",
                "Events",
                "kernels, copies and device operations",
                Unit::Count,
                lines.iter().map(|line| line.events),
            ),
            Column::text(
                "scope",
                "Path",
                "whole scope path; the last part is the primitive",
                lines.iter().map(|line| line.path.clone()),
            )
            .ranked(Rank::Detail),
        ],
    )
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

fn flatten(node: &Node, path: &str, depth: u64, lines: &mut Vec<Line>) {
    let mut children: Vec<(&String, &Node)> = node.children.iter().collect();
    children.sort_by_key(|(_, child)| std::cmp::Reverse(child.inclusive_ns));
    for (name, child) in children {
        let (label, child) = chain(name, child);
        let path = if path.is_empty() { label.clone() } else { format!("{path}/{label}") };
        lines.push(Line {
            path: path.clone(),
            label: format!("{}{label}", "  ".repeat(depth as usize)),
            depth,
            self_ns: child.self_ns,
            inclusive_ns: child.inclusive_ns,
            events: child.events,
        });
        flatten(child, &path, depth + 1, lines);
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
