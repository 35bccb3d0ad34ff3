//! The gradient of an embedding table is a table of its own, of which a batch fills few rows.

use crate::case::{Case, Framework};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::operator_calls::{NEEDS, OperatorCall};
use crate::rule::{Find, Group, Rule};
use crate::words::percent;
use ridge_table::{Basis, Quantity, Subject, Unit};
use ridge_trace::EventRow;
use rustc_hash::{FxHashMap, FxHashSet};

pub(crate) static RULE: Rule = Rule {
    id: "dense-embedding-gradients",
    group: Group::Memory,
    summary: "Dense gradient table for a few embedding rows",
    document: include_str!("dense_embedding_gradients.md"),
    asks: &[Question::Device],
    explains: &["kernel-hotspot", "unfused-eager"],
    needs: NEEDS,
    find: Find::Causes(find),
};

/// Below this part of the time it is not worth a change.
const LEAST: f64 = 0.10;
/// A table of fewer numbers is filled before anybody notices.
const SMALLEST_TABLE: i64 = 1 << 17;
/// Rows of the table for each that a batch reads, at least.
const ROWS_FOR_ONE: i64 = 8;
/// Work on the rows that are read, for what it costs now by their number: few rows have overheads.
const SLOWER: f64 = 4.0;

/// Below this part of the time it only informs.
const LEAST_TO_WARN: f64 = 0.35;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    if case.framework() != Framework::Torch || case.trace().operator_shapes.is_empty() {
        return Ok(Vec::new());
    }
    let all = &case.operator_calls().calls;
    let mut tables: FxHashMap<(i64, i64), i64> = FxHashMap::default();
    let mut gradients: Vec<usize> = Vec::new();
    for (at, call) in all.iter().enumerate().filter(|(_, call)| call.is_backward) {
        let Some((table, rows)) = table_of(case, call) else { continue };
        let known = tables.entry(table).or_default();
        *known = (*known).max(rows);
        gradients.push(at);
    }
    if gradients.is_empty() {
        return Ok(Vec::new());
    }
    // What adds to such a gradient, clears it, or steps by it has the sizes of the table.
    let mut known: FxHashMap<u32, bool> = FxHashMap::default();
    let mut is_of_table = |detail: u32| {
        *known.entry(detail).or_insert_with(|| case.extents_at(detail).iter().any(|size| is_table(size, &tables)))
    };
    let of_gradients: FxHashSet<usize> = gradients.iter().copied().collect();
    let is_update = |call: &OperatorCall| {
        let name = case.trace().strings.get(call.name);
        call.is_backward || name.ends_with('_') || name.starts_with("aten::_foreach") || name == "aten::zeros_like"
    };
    let updates = all.iter().enumerate().filter(|(at, call)| {
        !of_gradients.contains(at)
            && is_update(call)
            && call.rows().any(|row| is_of_table(case.trace().events.detail[row as usize]))
    });
    let claimed: Vec<usize> = gradients.iter().copied().chain(updates.map(|(at, _)| at)).collect();
    let claim = case.claim_of_calls(claimed.iter().copied(), 1.0);
    let share = case.share_of(claim.iter().copied());
    if share < LEAST {
        return Ok(Vec::new());
    }
    let (rows, read) = tables.iter().fold((0, 0), |(rows, read), ((table, _), most)| (rows + table, read + most));
    let left = (SLOWER * read as f64 / rows.max(1) as f64).min(0.9);
    let first = all[gradients[0]].row;
    let lines = all.iter().filter(|call| !call.is_backward && is_lookup(case, call)).map(|call| call.row);
    let place = lines.clone().next().and_then(|row| case.line_of_row(row)).or_else(|| case.line_of_row(first));
    let seen = case.seen_during(lines.chain(gradients.iter().map(|at| all[*at].row)));
    let finding = Finding::new(format!(
        "{} of the time goes to filling, adding and applying dense gradients of embedding tables, though a batch reads only a few rows; `sparse=True` would suffice",
        percent(share)
    ))
    .at(place)
    .about(EventRow::known(first).map(Subject::Event))
    .seen(seen.as_ref())
    .number("rows in these tables", Quantity::new(rows as f64, Unit::Count, Basis::Counted))
    .number("maximum rows read by one batch", Quantity::new(read as f64, Unit::Count, Basis::Counted))
    .why("the gradient is an array as large as the table, mostly zeros, and the optimizer processes all of it")
    .help("use `torch.nn.Embedding(..., sparse=True)` (or `EmbeddingBag`) with `torch.optim.SparseAdam` or `SGD` for the tables; gradients then contain only the rows that were read")
    .claims(claim)
    .priced(share * (1.0 - left) * 0.8, share);
    // Sparse gradients take other optimizers: for less, many would not change that.
    Ok(vec![if share < LEAST_TO_WARN { finding.information() } else { finding }])
}

/// The table whose gradient `call` computes, by rows and columns, and how many rows are read, where those are few.
fn table_of(case: &Case<'_>, call: &OperatorCall) -> Option<((i64, i64), i64)> {
    let trace = case.trace();
    // Both have the positions that were read as their second argument.
    let names = ["aten::embedding_dense_backward", "aten::_embedding_bag_dense_backward"];
    let is_gradient = |row: &u32| names.contains(&trace.name(*row as usize));
    let gradient = call.rows().find(is_gradient)?;
    let read = case.extents_at(trace.events.detail[gradient as usize]).get(1)?.iter().product::<i64>();
    // What is made inside of it is the array of the table's size.
    let inside = call.rows().filter(|row| *row > gradient);
    let tables = inside.flat_map(|row| case.extents_at(trace.events.detail[row as usize]));
    let table = tables.filter(|size| size.len() == 2).map(|size| (size[0], size[1])).max()?;
    let is_large = table.0.saturating_mul(table.1) >= SMALLEST_TABLE;
    (is_large && read > 0 && table.0 / read >= ROWS_FOR_ONE).then_some((table, read))
}

fn is_table(size: &[i64], tables: &FxHashMap<(i64, i64), i64>) -> bool {
    size.len() == 2 && tables.contains_key(&(size[0], size[1]))
}

fn is_lookup(case: &Case<'_>, call: &OperatorCall) -> bool {
    ["aten::embedding", "aten::embedding_bag"].contains(&case.trace().strings.get(call.name))
}
