//! Collectives of Gloo, which processors run: ranges on threads of the library, in which a rank moves data and waits for others.
//!
//! PyTorch's operator (`c10d::allreduce_`) only queues the call. The range (`gloo:all_reduce`) is the work, and names the tensors
//! that this process puts in. Calls are not numbered and groups are not named, so the k-th call with the same name, and with the
//! same shapes where all ranks put in the same, is taken for the same call on every rank.
//! The names are those of `ProcessGroupGloo.cpp` and of `Ops.cpp` in PyTorch's `torch/csrc/distributed/c10d`.

use super::placed::Placed;
use super::row::{Extra, Row};
use crate::import::Import;
use ridge_trace::{Collective, EventKind, NONE, StringId};
use rustc_hash::FxHashMap;

/// How the names of the ranges begin.
const RANGE: &[u8] = b"gloo:";

/// How the names of the operators begin that queue them.
const OPERATOR: &str = "c10d::";

/// Whether a row of a thread is such a range.
pub(super) fn is_one(row: &Row, import: &Import) -> bool {
    let is_range = row.kind == EventKind::Annotation as u8 && row.extra != NONE;
    is_range && called(import.builder.strings.get(StringId(row.name)).as_bytes()).is_some()
}

/// The type of the first tensor in `["float", "float"]`, as written.
pub(super) fn element_type(types: &[u8]) -> &[u8] {
    types.split(|byte| *byte == b'"').nth(1).unwrap_or_default()
}

/// How a call is known on every rank, but for its position among those of the same name: by the shapes where they are the same.
fn common(name: &str, shapes: &str) -> String {
    let is_equal = matches!(name, "all_reduce" | "all_gather" | "broadcast" | "gather" | "reduce" | "reduce_scatter");
    if is_equal && !shapes.is_empty() { format!("gloo: {name} {shapes}") } else { format!("gloo: {name}") }
}

/// What is called by a range, without what is sent from one process to another; `None` for other ranges.
pub(super) fn called(name: &[u8]) -> Option<&[u8]> {
    name.strip_prefix(RANGE).filter(|name| !name.starts_with(b"send") && !name.starts_with(b"recv"))
}

/// Bytes of tensors with these sizes (`[[64, 256], [256]]`), all of one type; `None` for none and for unknown types.
pub(super) fn bytes(dims: &[u8], element_type: &[u8]) -> Option<u64> {
    let size: u64 = match element_type {
        b"bool" | b"unsigned char" | b"signed char" => 1,
        b"short" | b"short int" | b"c10::Half" | b"c10::BFloat16" => 2,
        b"int" | b"float" => 4,
        b"long" | b"long int" | b"double" | b"c10::complex<float>" => 8,
        b"c10::complex<double>" => 16,
        _ => return None,
    };
    let tensors: Vec<Vec<u64>> = serde_json::from_slice(dims).ok()?;
    let elements = |dims: &Vec<u64>| dims.iter().try_fold(1_u64, |all, size| all.checked_mul(*size));
    let all = tensors.iter().map(elements).try_fold(0_u64, |sum, one| sum.checked_add(one?))?;
    all.checked_mul(size)
}

/// A range as it is shown as work.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shown {
    /// Its row on the thread.
    pub(super) source: u32,
    /// Its row on the processor's lane.
    pub(super) work: u32,
    /// What is said of it.
    pub(super) extra: u32,
}

/// Adds the collectives that `shown` are, and links each to the operator that queued it.
pub(super) fn place(mut shown: Vec<Shown>, extras: &[Extra], placed: &Placed, import: &mut Import) {
    shown.sort_by_key(|one| (start(one.source, import), one.source));
    let mut queued = queued(placed, import);
    for one in shown {
        let Some(Extra::Collective { name, group, element_type, bytes_in, .. }) = extras.get(one.extra as usize) else {
            continue;
        };
        let strings = &mut import.builder.strings;
        let called = strings.get(StringId(name.0)).to_owned();
        let group = common(&called, strings.get(StringId(group.0)));
        let group = strings.intern(&group);
        import.builder.collectives.push(Collective {
            event: one.work,
            name: StringId(name.0),
            group,
            sequence: None,
            group_size: None,
            element_type: StringId(element_type.0),
            bytes_in: *bytes_in,
            bytes_out: None,
        });
        let by = queued.get_mut(&plain(&called)).and_then(Iterator::next);
        if let Some(by) = by.filter(|by| start(*by, import) <= start(one.source, import)) {
            import.builder.slices(one.work..one.work + 1).link[0] = by;
        }
    }
}

fn start(row: u32, import: &mut Import) -> i64 {
    import.builder.slices(row..row + 1).start_ns[0]
}

/// The operators that queue calls, by what they call, in their order.
fn queued(placed: &Placed, import: &mut Import) -> FxHashMap<String, std::vec::IntoIter<u32>> {
    let mut found: FxHashMap<String, Vec<(i64, u32)>> = FxHashMap::default();
    for track in placed.threads() {
        for (row, stored) in track.rows.clone().zip(&track.stored) {
            if stored.kind != EventKind::Operator as u8 {
                continue;
            }
            let name = import.builder.strings.get(StringId(stored.name)).strip_prefix(OPERATOR);
            if let Some(name) = name.map(plain) {
                found.entry(name).or_default().push((stored.start_ns, row));
            }
        }
    }
    let in_order = |mut rows: Vec<(i64, u32)>| {
        rows.sort_unstable();
        rows.into_iter().map(|(_, row)| row).collect::<Vec<u32>>().into_iter()
    };
    found.into_iter().map(|(name, rows)| (name, in_order(rows))).collect()
}

/// What operator and range have in common: `allgather` of `_all_gather_base` and of `_allgather_base_`.
fn plain(name: &str) -> String {
    name.replace("_base", "").replace('_', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_rank_puts_in() {
        let float = element_type(br#"["float", "float"]"#);
        assert_eq!((float, bytes(b"[[64, 256], [256]]", float)), (&b"float"[..], Some(4 * (64 * 256 + 256))));
        assert_eq!(bytes(b"[[]]", b"long int"), Some(8));
        assert_eq!((element_type(b""), bytes(b"", b"")), (&b""[..], None));
        assert_eq!(bytes(b"[[18446744073709551615, 2]]", b"float"), None);
        assert_eq!(bytes(b"[[-1]]", b"float"), None);
    }

    #[test]
    fn shapes_tell_calls_apart_where_all_ranks_put_in_the_same() {
        assert_eq!(common("all_reduce", "[[12]]"), "gloo: all_reduce [[12]]");
        assert_eq!(common("all_to_all", "[[12]]"), "gloo: all_to_all");
        assert_eq!(common("barrier", ""), "gloo: barrier");
        assert_eq!(called(b"gloo:send"), None);
        assert_eq!(plain("_allgather_base_"), plain("all_gather"));
    }
}
