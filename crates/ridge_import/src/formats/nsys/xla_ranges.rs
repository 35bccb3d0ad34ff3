//! The ranges of XLA around what a thread did.

use super::rows::EventRow;
use crate::xla::ranges::XlaRange;
use ridge_trace::EventKind;
use rustc_hash::FxHashMap;

/// What XLA's ranges say, by the string id of their name.
pub(super) type Ranges = FxHashMap<u32, XlaRange>;

/// The ranges of XLA around a row, its own included.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Around<'r> {
    pub(super) module: Option<&'r XlaRange>,
    /// The operation, inside the module.
    pub(super) thunk: Option<&'r XlaRange>,
}

/// Calls `visit` for each range of XLA and each row with a correlation id, with what is around it; the last argument is
/// what a range of XLA says itself.
pub(super) fn sweep<'r>(
    rows: &[EventRow],
    ranges: &'r Ranges,
    mut visit: impl FnMut(&EventRow, Around<'r>, Option<&'r XlaRange>),
) {
    let mut open: Vec<(i64, Around<'r>)> = Vec::new();
    for row in rows {
        while open.last().is_some_and(|(end_ns, _)| *end_ns <= row.start_ns) {
            open.pop();
        }
        let outside = open.last().map(|(_, around)| *around).unwrap_or_default();
        let own = ranges.get(&row.name).filter(|_| row.kind == EventKind::HostRange);
        let around = match own {
            Some(module @ XlaRange::Module { .. }) => Around { module: Some(module), thunk: None },
            Some(thunk @ XlaRange::Thunk { .. }) => Around { thunk: Some(thunk), ..outside },
            _ => {
                if row.correlation != 0 {
                    visit(row, outside, None);
                }
                continue;
            }
        };
        visit(row, around, own);
        open.push((row.start_ns.saturating_add(row.dur_ns), around));
    }
}
