//! Whose work the device did: the operation whose range was open where the work was launched.

use super::kept;
use super::rows::{EventRow, Timeline};
use crate::import::{Import, Source};
use crate::xla::operations::Operations;
use crate::xla::ranges::XlaRange;
use ridge_trace::{EventKind, NONE};
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

/// Gives device work the operation whose range was open where it was launched, for the lanes of one process.
///
/// Rows must be sorted by start, longest first.
pub(super) fn attribute(
    timeline: &mut Timeline,
    lanes: &[usize],
    process: u32,
    ranges: &Ranges,
    source: Source<'_>,
    import: &mut Import,
) {
    let ran = kept::Ran::of(lanes.iter().map(|lane| &timeline.rows[*lane][..]), ranges);
    kept::join(&ran, process, source, import);
    let mut operations = Operations::new(process, import);
    let mut launched: FxHashMap<u32, u32> = FxHashMap::default();
    for lane in lanes {
        sweep(&timeline.rows[*lane], ranges, |row, around, own| {
            let module = match around.module {
                Some(XlaRange::Module { name, program_id }) => operations.module(*program_id, name, import),
                _ => NONE,
            };
            if let Some(XlaRange::Thunk { op, scope }) = around.thunk {
                let operation = operations.operation(module, op, scope, import);
                if own.is_none() && row.correlation != 0 {
                    launched.insert(row.correlation, operation);
                }
            }
        });
    }
    for lane in lanes {
        let work = timeline.rows[*lane].iter_mut().filter(|row| row.kind.is_device_work());
        for row in work {
            let EventRow { correlation, op, .. } = row;
            *op = launched.get(correlation).copied().unwrap_or(*op);
        }
    }
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
