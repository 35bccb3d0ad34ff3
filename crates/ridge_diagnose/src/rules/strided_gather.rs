//! PyTorch gathers rows of an array that lie across memory: each number of a row is in a cache line of its own.

use crate::case::{Case, Framework};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::operator_calls::{OperatorCall, NEEDS, extents};
use crate::rule::{Find, Group, Rule};
use crate::words::percent;
use ridge_table::Subject;
use ridge_trace::{EventRow, NONE};
use rustc_hash::FxHashMap;

pub(crate) static RULE: Rule = Rule {
    id: "strided-gather",
    group: Group::Compute,
    summary: "Gathered rows are scattered over memory",
    document: include_str!("strided_gather.md"),
    asks: &[Question::Device],
    explains: &["kernel-hotspot", "gather-scatter-bound"],
    needs: NEEDS,
    find: Find::Causes(find),
};

/// Below this part of the time another layout is not worth a word.
const LEAST: f64 = 0.20;
/// Numbers that a row has and that lie apart, from which on they have a cache line each.
const LONG_ROW: i64 = 8;
const FAR_APART: i64 = 16;
/// The least part of the time of operators on arrays in different layouts.
const LEAST_MIXED: f64 = 0.20;
/// The least part of the time of operators on columns, and the numbers of a column whose cache lines no cache near the core holds.
const LEAST_COLUMNS: f64 = 0.20;
const LONG_COLUMN: i64 = 1 << 13;
/// Smaller arrays are in the caches either way.
const LARGE_MIXED: i64 = 1 << 17;
/// Numbers of a table that no cache holds.
const LARGE: i64 = 1 << 20;
/// Numbers of four bytes in a cache line of 64.
const IN_A_LINE: f64 = 16.0;
/// What is left, at most, of the time when rows are read as they lie.
const MOST_LEFT: f64 = 0.6;

/// Operators after a gather among which one reads its result.
const READERS: usize = 8;

/// A table and how it lies: numbers of a row, and how far apart they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Table {
    row: i64,
    apart: i64,
}

/// What a gather may pick.
#[derive(Debug, Clone, Copy)]
enum Gathered {
    Rows(Table),
    Columns { table: Table, columns: i64 },
}

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    if case.framework() != Framework::Torch || case.trace().operator_shapes.is_empty() {
        return Ok(Vec::new());
    }
    Ok(gathers_across(case).into_iter().chain(mixed_layouts(case)).chain(columns_across(case)).collect())
}

/// Elementwise operators whose arrays lie in memory in different orders: one of them is read across its rows.
fn mixed_layouts(case: &Case<'_>) -> Option<Finding> {
    if !case.is_on_processors() {
        return None;
    }
    let all = &case.operator_calls().calls;
    let mut known: FxHashMap<u32, bool> = FxHashMap::default();
    let mut is_mixed = |call: &OperatorCall| {
        is_elementwise(case.trace().strings.get(call.name))
            && call.detail != NONE
            && *known.entry(call.detail).or_insert_with(|| lies_mixed(case, call.detail))
    };
    let found: Vec<usize> = (0..all.len()).filter(|at| is_mixed(&all[*at])).collect();
    let claim = case.claim_of_calls(found.iter().copied(), 1.0);
    let share = case.share_of(claim.iter().copied());
    let first = found.first().map(|at| all[*at].row).filter(|_| share >= LEAST_MIXED)?;
    let sizes: Vec<String> = case.extents_at(all[found[0]].detail).first()?.iter().map(i64::to_string).collect();
    let seen = case.seen_during(found.iter().map(|at| all[*at].row));
    Some(
        Finding::new(format!(
            "{} of the time goes to elementwise operators on arrays in different memory layouts, of {}, one row-major and one transposed; one contiguous layout would suffice",
            percent(share),
            sizes.join(" × "),
        ))
        .at(case.line_of_row(first))
        .about(EventRow::known(first).map(Subject::Event))
        .seen(seen.as_ref())
        .number("operators on such arrays", case.count_per_unit(found.len() as u64))
        .why("one of the arrays is read across its rows, a cache line (64 bytes) for each number")
        .help("store both arrays in the same order: call `.contiguous()` on the transposed one (`.T`, `permute`, `transpose`) once, before the loop")
        .claims(claim)
        .unknown_amount()
        .information(),
    )
}

/// Operators on columns of arrays that lie by rows: each number that they read or write is in a cache line of its own.
fn columns_across(case: &Case<'_>) -> Option<Finding> {
    if !case.is_on_processors() {
        return None;
    }
    let all = &case.operator_calls().calls;
    let mut known: FxHashMap<u32, Option<Table>> = FxHashMap::default();
    let mut column = |call: &OperatorCall| {
        let name = case.trace().strings.get(call.name);
        let is_known = call.detail != NONE && (is_elementwise(name) || is_of_each_number(name));
        is_known.then(|| *known.entry(call.detail).or_insert_with(|| widest_column(case, call.detail)))?
    };
    let found: Vec<(usize, Table)> = (0..all.len()).filter_map(|at| Some((at, column(&all[at])?))).collect();
    let claim = case.claim_of_calls(found.iter().map(|(at, _)| *at), 1.0);
    let share = case.share_of(claim.iter().copied());
    let (first, table) = found.first().filter(|_| share >= LEAST_COLUMNS)?;
    let row = all[*first].row;
    let seen = case.seen_during(found.iter().map(|(at, _)| all[*at].row));
    Some(
        Finding::new(format!(
            "{} of the time goes to operators on strided columns: the {} numbers of a column lie {} apart in memory, each in a cache line of its own; storing the transposed array, with each column as one contiguous row, would suffice",
            percent(share),
            table.row,
            table.apart,
        ))
        .at(case.line_of_row(row))
        .about(EventRow::known(row).map(Subject::Event))
        .seen(seen.as_ref())
        .number("operators on such columns", case.count_per_unit(found.len() as u64))
        .why("memory is read in whole cache lines (64 bytes), so a number that is read alone costs as much as 16 that lie side by side")
        .help("store the array with the axis that the loop goes over first: `paths[t]` of shape (dates, paths) instead of `paths[:, t]`; or take the columns apart once, `array.T.contiguous()`, before the loop")
        .claims(claim)
        .unknown_amount()
        .information(),
    )
}

/// The longest array of one dimension among the arguments of an operator that lies across memory.
fn widest_column(case: &Case<'_>, detail: u32) -> Option<Table> {
    let shape = case.trace().operator_shapes.get(detail as usize)?;
    let [dims, strides] = [shape.dims, shape.strides].map(|text| extents(case.trace().strings.get(text)));
    let columns = dims.iter().zip(&strides).filter_map(|(dims, strides)| match (&dims[..], &strides[..]) {
        ([row], [apart]) => Some(Table { row: *row, apart: *apart }),
        _ => None,
    });
    columns.filter(|column| column.row >= LONG_COLUMN && column.apart >= FAR_APART).max_by_key(|column| column.row)
}

/// Operators on each number that take one array, or compare two.
fn is_of_each_number(name: &str) -> bool {
    let name = name.strip_prefix("aten::").unwrap_or(name);
    matches!(name.trim_end_matches('_'), "copy" | "gt" | "lt" | "ge" | "le" | "pow" | "exp" | "sqrt" | "clamp" | "clamp_min" | "clamp_max")
}

fn is_elementwise(name: &str) -> bool {
    let name = name.strip_prefix("aten::").unwrap_or(name);
    matches!(name.trim_end_matches('_'), "add" | "sub" | "mul" | "div" | "maximum" | "minimum" | "where" | "lerp" | "addcmul")
}

/// Whether two large arrays of the same extents are next to each other along different axes.
fn lies_mixed(case: &Case<'_>, detail: u32) -> bool {
    let trace = case.trace();
    let Some(shape) = trace.operator_shapes.get(detail as usize) else { return false };
    let [dims, strides] = [shape.dims, shape.strides].map(|text| extents(trace.strings.get(text)));
    let nearest = |dims: &[i64], strides: &[i64]| {
        let axes = dims.iter().zip(strides).enumerate().filter(|(_, (extent, _))| **extent > 1);
        axes.min_by_key(|(_, (_, stride))| **stride).map(|(axis, _)| axis)
    };
    let numbers = |dims: &[i64]| dims.iter().fold(1_i64, |numbers, extent| numbers.saturating_mul(*extent));
    let is_large = |dims: &[i64]| dims.len() > 1 && numbers(dims) >= LARGE_MIXED;
    let arrays: Vec<(&Vec<i64>, usize)> = dims
        .iter()
        .zip(&strides)
        .filter(|(dims, strides)| is_large(dims) && dims.len() == strides.len() && strides.iter().all(|stride| *stride > 0))
        .filter_map(|(dims, strides)| Some((dims, nearest(dims, strides)?)))
        .collect();
    arrays.iter().any(|(dims, axis)| arrays.iter().any(|(other, another)| dims == other && axis != another))
}

fn gathers_across(case: &Case<'_>) -> Option<Finding> {
    let all = &case.operator_calls().calls;
    let mut known: FxHashMap<u32, Option<Gathered>> = FxHashMap::default();
    let mut found: Vec<usize> = Vec::new();
    let mut widest: Option<Table> = None;
    let mut by_columns = false;
    for (at, call) in all.iter().enumerate().filter(|(_, call)| !call.is_backward && call.detail != NONE) {
        if !gathers(case.trace().strings.get(call.name)) {
            continue;
        }
        let gathered = *known.entry(call.detail).or_insert_with(|| gathered(case, call.detail));
        let following = || all[at + 1..].iter().take(READERS).map(|next| next.detail);
        let table = match gathered {
            Some(Gathered::Rows(table)) => table,
            Some(Gathered::Columns { table, columns }) if picks_columns(case, table.row, columns, following()) => {
                by_columns = true;
                table
            }
            _ => continue,
        };
        found.push(at);
        widest = widest.into_iter().chain([table]).max_by_key(|table| table.row);
    }
    let claim = case.claim_of_calls(found.iter().copied(), 1.0);
    let share = case.share_of(claim.iter().copied());
    let (Some(table), Some(first)) = (widest.filter(|_| share >= LEAST), found.first().map(|at| all[*at].row)) else {
        return None;
    };
    let seen = case.seen_during(found.iter().map(|at| all[*at].row));
    let left = 1.0 / (table.row as f64).min(IN_A_LINE);
    let (what, one) = if by_columns { ("columns of an array", "column") } else { ("rows of a transposed array", "row") };
    let finding = Finding::new(format!(
        "{} of the time gathers {what}: the {} numbers of a {one} lie {} apart in memory, each in a cache line of its own; a row-major (contiguous) layout would suffice",
        percent(share),
        table.row,
        table.apart,
    ))
    .at(case.line_of_row(first))
    .about(EventRow::known(first).map(Subject::Event))
    .seen(seen.as_ref())
    .number("gathers from such an array", case.count_per_unit(found.len() as u64))
    .why("memory is read in whole cache lines (64 bytes), so a number that is read alone costs as much as 16 that lie side by side")
    .help(if by_columns {
        "store the array the other way round, one row per item: `table = table.T.contiguous()` once, before the loop, then `table[ids]` instead of `table[:, ids]`"
    } else {
        "store the array as its rows are read: `torch.stack(columns, dim=1)` instead of `torch.stack(columns).T`, or call `.contiguous()` once, before the loop"
    })
    .claims(claim)
    .priced(share * (1.0 - MOST_LEFT), share * (1.0 - left));
    Some(finding)
}

/// Whether an operator picks rows of its first argument.
fn gathers(name: &str) -> bool {
    matches!(name.strip_prefix("aten::"), Some("index" | "index_select" | "embedding" | "gather" | "take_along_dim"))
}

/// What a gather reads, where what it picks lies across memory: rows of a transposed table, or columns of one that lies by rows, if it
/// picks columns.
fn gathered(case: &Case<'_>, detail: u32) -> Option<Gathered> {
    let trace = case.trace();
    let shape = trace.operator_shapes.get(detail as usize)?;
    let [dims, strides] = [shape.dims, shape.strides].map(|text| extents(trace.strings.get(text)));
    let (dims, strides) = (dims.first()?, strides.first()?);
    match (&dims[..], &strides[..]) {
        ([row, columns], [apart, 1]) => {
            let table = across(&[*columns, *row], &[1, *apart])?;
            Some(Gathered::Columns { table, columns: *columns })
        }
        _ => across(dims, strides).map(Gathered::Rows),
    }
}

/// Whether columns were picked, which what reads the result tells: it has as many rows, and another number of columns.
fn picks_columns(case: &Case<'_>, row: i64, columns: i64, following: impl Iterator<Item = u32>) -> bool {
    let reads = following.flat_map(|next| case.extents_at(next)).find_map(|sizes| match sizes[..] {
        [.., rows, taken] if rows == row && taken != columns => Some(true),
        [.., taken, whole] if whole == columns && taken != row => Some(false),
        _ => None,
    });
    reads == Some(true)
}

fn across(dims: &[i64], strides: &[i64]) -> Option<Table> {
    let ([rows, row], [_, apart]) = (dims, strides) else { return None };
    let is_large = rows.saturating_mul(*row) >= LARGE;
    (is_large && *row >= LONG_ROW && *apart >= FAR_APART).then_some(Table { row: *row, apart: *apart })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_lie_across_memory() {
        assert_eq!(across(&[100_000, 160], &[1, 100_000]), Some(Table { row: 160, apart: 100_000 }));
        assert_eq!(across(&[100_000, 160], &[160, 1]), None);
        assert_eq!(across(&[1000, 16], &[1, 1000]), None, "a cache holds it");
        assert_eq!(across(&[100_000], &[1]), None);
    }
}
