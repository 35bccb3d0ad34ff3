//! Whose work the device did: the operation whose range was open where the work was launched.

use super::kept;
use super::rows::{EventRow, Timeline};
use super::xla_ranges::{Ranges, sweep};
use crate::import::{Import, Source};
use crate::xla::operations::Operations;
use crate::xla::ranges::XlaRange;
use ridge_trace::NONE;
use rustc_hash::FxHashMap;

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
