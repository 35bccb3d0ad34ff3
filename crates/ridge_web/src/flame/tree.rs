//! A flame's tree: parts of time or memory below what they are part of, and its answer.

use serde_json::{Value, json};

/// Nodes below this part of the whole are shown together.
const LEAST_SHARE: f64 = 0.001;
/// Trees deeper than this are cut: a hostile file may nest without end.
pub(super) const MOST_DEPTH: usize = 128;

/// A node with what is below it; children are places in the tree. Numbers are nanoseconds, and bytes of memory.
#[derive(Debug, Default)]
pub(super) struct Node {
    pub(super) name: String,
    pub(super) own: i64,
    pub(super) total: i64,
    pub(super) events: u64,
    pub(super) children: Vec<usize>,
}

/// The unit of a tree's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Ns,
    Bytes,
}

pub(super) fn answer(by: &str, of: &str, unit: Unit, tree: &[Node]) -> Value {
    let least = (tree[0].total as f64 * LEAST_SHARE) as i64;
    let name = if unit == Unit::Ns { "ns" } else { "bytes" };
    json!({ "by": by, "of": of, "unit": name, "root": shown(tree, 0, unit, least, 0) })
}

/// A node with the children that are worth showing, largest first.
fn shown(tree: &[Node], at: usize, unit: Unit, least: i64, depth: usize) -> Value {
    let node = &tree[at];
    let mut children = node.children.clone();
    children.sort_by_key(|child| std::cmp::Reverse(tree[*child].total));
    let is_shown = |child: &usize| tree[*child].total >= least.max(1) && depth < MOST_DEPTH;
    let (large, small): (Vec<usize>, Vec<usize>) = children.into_iter().partition(is_shown);
    let mut below: Vec<Value> = large.into_iter().map(|child| shown(tree, child, unit, least, depth + 1)).collect();
    let rest: i64 = small.iter().map(|child| tree[*child].total).sum();
    if rest > 0 {
        let events: u64 = small.iter().map(|child| tree[*child].events).sum();
        below.push(one(&format!("({} smaller)", small.len()), (rest, rest), unit, events, Vec::new()));
    }
    one(&node.name, (node.own, node.total), unit, node.events, below)
}

fn one(name: &str, (own, total): (i64, i64), unit: Unit, events: u64, below: Vec<Value>) -> Value {
    match unit {
        Unit::Ns => json!({ "name": name, "self_ns": own, "total_ns": total, "events": events, "children": below }),
        Unit::Bytes => {
            json!({ "name": name, "self_bytes": own, "total_bytes": total, "events": events, "children": below })
        }
    }
}

pub(super) fn root() -> Vec<Node> {
    vec![Node { name: "all".to_owned(), ..Node::default() }]
}

pub(super) fn add(tree: &mut Vec<Node>, parent: usize, node: Node) -> usize {
    tree.push(node);
    let at = tree.len() - 1;
    tree[parent].children.push(at);
    at
}
