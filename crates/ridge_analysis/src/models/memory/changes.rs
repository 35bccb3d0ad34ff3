//! What changed between the memory of two captures: modules by name, allocators by name, blocks by where they are from.

use super::frame_of_user;
use crate::Analysis;
use ridge_trace::{BlockState, StackRow, Trace};
use std::collections::BTreeMap;

/// What is compared: kind, name, and how often that name came before in its capture.
type Key = (&'static str, String, u32);

/// A module, an allocator, or blocks of one line of the program, whose bytes are not the same in both captures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeRow {
    /// *module*, *allocator* or *in use*.
    pub what: &'static str,
    /// Its name.
    pub name: String,
    /// Bytes in the first capture, where it has them.
    pub before_bytes: Option<u64>,
    /// Bytes in the second.
    pub after_bytes: Option<u64>,
}

impl ChangeRow {
    /// Bytes of the second less bytes of the first.
    pub fn change_bytes(&self) -> i64 {
        let signed = |bytes: Option<u64>| i64::try_from(bytes.unwrap_or(0)).unwrap_or(i64::MAX);
        signed(self.after_bytes).saturating_sub(signed(self.before_bytes))
    }
}

/// What changed, largest change first, and how many of modules, allocators and holders of blocks did not.
pub fn memory_changes(before: &Analysis<'_>, after: &Analysis<'_>) -> (Vec<ChangeRow>, usize) {
    let mut both: BTreeMap<Key, (Option<u64>, Option<u64>)> = BTreeMap::new();
    amounts(before).into_iter().for_each(|(key, bytes)| both.entry(key).or_default().0 = Some(bytes));
    amounts(after).into_iter().for_each(|(key, bytes)| both.entry(key).or_default().1 = Some(bytes));
    let all = both.len();
    let changed = both.into_iter().filter(|(_, (before, after))| before != after);
    let row = |((what, name, _), (before_bytes, after_bytes))| ChangeRow { what, name, before_bytes, after_bytes };
    let mut rows: Vec<ChangeRow> = changed.map(row).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.change_bytes().unsigned_abs()));
    let same = all - rows.len();
    (rows, same)
}

/// What a capture's memory amounts to, by name; like names are told apart by their order.
fn amounts(analysis: &Analysis<'_>) -> Vec<(Key, u64)> {
    let (trace, memory) = (analysis.trace, analysis.memory());
    let modules = memory.modules.iter();
    let modules = modules.map(|module| ("module", module.name(analysis).to_owned(), module.plan.peak_bytes));
    let allocators = memory.allocators.iter();
    let allocators = allocators.map(|one| ("allocator", one.label.clone(), one.peak_bytes(trace)));
    let mut seen: BTreeMap<(&'static str, String), u32> = BTreeMap::new();
    let mut amounts: Vec<(Key, u64)> = Vec::new();
    for (what, name, bytes) in modules.chain(allocators) {
        let number = seen.entry((what, name.clone())).or_insert(0);
        amounts.push(((what, name, *number), bytes));
        *number += 1;
    }
    amounts.extend(blocks(trace).into_iter().map(|(name, bytes)| (("in use", name, 0), bytes)));
    amounts
}

/// Bytes in use of the snapshots of a capture, by memory, kind and line.
fn blocks(trace: &Trace) -> BTreeMap<String, u64> {
    let table = &trace.memory.blocks;
    let mut sums: BTreeMap<String, u64> = BTreeMap::new();
    for row in (0..table.len()).filter(|row| table.state[*row] != BlockState::Inactive) {
        let place = frame_of_user(trace, StackRow::known(table.stack[row])).unwrap_or_else(|| "(no stack)".to_owned());
        let words = [trace.strings.get(table.allocator[row]), trace.strings.get(table.kind[row]), &place];
        let name = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        let sum = sums.entry(name).or_default();
        *sum = sum.saturating_add(table.bytes[row]);
    }
    sums
}
