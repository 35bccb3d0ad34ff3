//! Memory by the calls that asked for it: blocks that a snapshot shows as held, else what was allocated over time.
//!
//! Blocks have no times, so a selection of time shows allocations.

use super::tree::{Node, Unit, add, answer, root};
use crate::selection::Chosen;
use ridgeline::trace::{BlockState, NONE, StringId, Trace};
use serde_json::Value;

/// Memory by call stack: of allocations within `chosen`, else of blocks, else of all allocations.
pub(super) fn flame(trace: &Trace, chosen: Option<&Chosen<'_>>) -> Value {
    let blocks = &trace.memory.blocks;
    let held = |row: &usize| blocks.state[*row] != BlockState::Inactive && blocks.stack[*row] != NONE;
    let held: Vec<usize> = (0..blocks.len()).filter(held).collect();
    let mut tree = root();
    if chosen.is_none() && !held.is_empty() {
        let mut snapshots: Vec<StringId> = held.iter().map(|row| blocks.snapshot[*row]).collect();
        snapshots.sort_unstable_by_key(|name| name.0);
        snapshots.dedup();
        for snapshot in &snapshots {
            let rows = held.iter().filter(|row| blocks.snapshot[**row] == *snapshot);
            let taken = rows.map(|row| (blocks.stack[*row], blocks.bytes[*row] as i64, blocks.count[*row]));
            let sums = summed(trace, taken);
            let name = trace.strings.get(*snapshot).to_owned();
            let at = if snapshots.len() == 1 { 0 } else { add(&mut tree, 0, Node { name, ..Node::default() }) };
            grow(trace, &mut tree, at, &sums);
        }
        return answer("memory", "memory that is held", Unit::Bytes, &tree);
    }
    let table = &trace.allocations;
    let is_chosen = |row: &usize| chosen.is_none_or(|chosen| chosen.window.contains(&table.time_ns[*row]));
    let is_one = |row: &usize| table.delta_bytes[*row] > 0 && table.stack[*row] != NONE && !table.is_older[*row];
    let rows = (0..table.len()).filter(is_one).filter(is_chosen);
    let sums = summed(trace, rows.map(|row| (table.stack[row], table.delta_bytes[row], 1)));
    grow(trace, &mut tree, 0, &sums);
    answer("memory", "memory that was allocated", Unit::Bytes, &tree)
}

/// Bytes and blocks, or allocations, of each row of `Stacks`.
fn summed(trace: &Trace, taken: impl Iterator<Item = (u32, i64, u64)>) -> Vec<(i64, u64)> {
    let mut sums = vec![(0_i64, 0); trace.memory.stacks.len()];
    for (stack, bytes, count) in taken {
        if let Some(sum) = sums.get_mut(stack as usize) {
            *sum = (sum.0.saturating_add(bytes), sum.1 + count);
        }
    }
    sums
}

/// Adds the stacks that hold something below `base`. A caller's row is before those that it calls.
fn grow(trace: &Trace, tree: &mut Vec<Node>, base: usize, own: &[(i64, u64)]) {
    let stacks = &trace.memory.stacks;
    let mut totals = own.to_vec();
    for row in (0..stacks.len()).rev() {
        let (bytes, count) = totals[row];
        if let Some(caller) = totals.get_mut(stacks.parent[row] as usize) {
            *caller = (caller.0.saturating_add(bytes), caller.1 + count);
        }
    }
    let mut nodes = vec![base; stacks.len()];
    for row in (0..stacks.len()).filter(|row| totals[*row].0 > 0) {
        let (total, events) = totals[row];
        let above = nodes.get(stacks.parent[row] as usize).copied();
        let name = trace.strings.get(stacks.frame[row]).to_owned();
        let node = Node { name, own: own[row].0, total, events, children: Vec::new() };
        nodes[row] = add(tree, above.unwrap_or(base), node);
        if above.is_none() {
            let mut tops = vec![0, base];
            tops.dedup();
            for top in tops {
                tree[top].total = tree[top].total.saturating_add(total);
                tree[top].events += events;
            }
        }
    }
}
