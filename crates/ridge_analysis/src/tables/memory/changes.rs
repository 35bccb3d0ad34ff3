//! What changed between the memory of two captures: modules by name, allocators by name, blocks by where they are from.

use crate::Analysis;
use crate::models::memory::frame_of_user;
use crate::tables::time::table as build;
use ridge_table::{Basis, Column, Rank, Table, Unit};
use ridge_trace::{BlockState, StackRow, Trace};
use std::collections::BTreeMap;

/// What is compared: kind, name, and how often that name came before in its capture.
type Key = (&'static str, String, u32);

/// Bytes in the first and in the second capture, where they have them.
type Pair = (Option<u64>, Option<u64>);

/// Every module, allocator and holder of blocks of two captures, largest change first; what did not change is left out.
pub(crate) fn table(before: &Analysis<'_>, after: &Analysis<'_>) -> Table {
    let mut both: BTreeMap<Key, Pair> = BTreeMap::new();
    amounts(before).into_iter().for_each(|(key, bytes)| both.entry(key).or_default().0 = Some(bytes));
    amounts(after).into_iter().for_each(|(key, bytes)| both.entry(key).or_default().1 = Some(bytes));
    let same = both.iter().filter(|(_, (before, after))| before == after).count();
    let mut rows: Vec<(Key, Pair)> = both.into_iter().filter(|(_, (before, after))| before != after).collect();
    let change = |(before, after): Pair| signed(after.unwrap_or(0)).saturating_sub(signed(before.unwrap_or(0)));
    rows.sort_by_key(|(_, bytes)| std::cmp::Reverse(change(*bytes).unsigned_abs()));
    let columns = vec![
        Column::text(
            "what",
            "What",
            "module: planned peak; allocator: measured peak; in use: blocks of a snapshot that the program holds",
            rows.iter().map(|((what, _, _), _)| (*what).to_owned()),
        )
        .ranked(Rank::Key),
        Column::text(
            "name",
            "Name",
            "of the module or allocator; of blocks the line of the program that made them",
            rows.iter().map(|((_, name, _), _)| name.clone()),
        )
        .ranked(Rank::Key),
        Column::signed(
            "change_bytes",
            "Change",
            "bytes of the second less bytes of the first",
            Unit::Bytes,
            rows.iter().map(|(_, bytes)| change(*bytes)),
        )
        .basis(Basis::Measured)
        .ranked(Rank::Key),
        Column::whole(
            "before_bytes",
            "Before",
            "bytes in the first; unknown where it has none of that name",
            Unit::Bytes,
            rows.iter().map(|(_, (before, _))| *before),
        )
        .basis(Basis::Measured),
        Column::whole(
            "after_bytes",
            "After",
            "bytes in the second; unknown where it has none of that name",
            Unit::Bytes,
            rows.iter().map(|(_, (_, after))| *after),
        )
        .basis(Basis::Measured),
    ];
    let mut table = build("memory_diff", "Changes of memory", columns);
    if same > 0 {
        table.footnotes.push(format!("{same} more are the same in both"));
    }
    table
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

fn signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
