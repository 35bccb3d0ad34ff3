//! Whose work the device did: the operation whose range was open where the work was launched.

use super::rows::{EventRow, Timeline};
use crate::import::Import;
use crate::xla::operations::Operations;
use crate::xla::ranges::XlaRange;
use ridge_trace::{EventKind, NONE};
use rustc_hash::FxHashMap;

/// A range that is open during the sweep of a thread: its end, the module around it, and its operation if it is one.
#[derive(Clone, Copy)]
struct Open {
    end_ns: i64,
    module: u32,
    operation: Option<u32>,
}

/// Gives device work the operation whose range was open where it was launched, for the lanes of one process.
///
/// Rows must be sorted by start, longest first.
pub(super) fn attribute(
    timeline: &mut Timeline,
    lanes: &[usize],
    process: u32,
    ranges: &FxHashMap<u32, XlaRange>,
    import: &mut Import,
) {
    let mut operations = Operations::new(process, import);
    let mut launched: FxHashMap<u32, u32> = FxHashMap::default();
    for lane in lanes {
        let mut open: Vec<Open> = Vec::new();
        for row in &timeline.rows[*lane] {
            while open.last().is_some_and(|open| open.end_ns <= row.start_ns) {
                open.pop();
            }
            let end_ns = row.start_ns.saturating_add(row.dur_ns);
            let inside = open.last().map_or(NONE, |open| open.module);
            match ranges.get(&row.name).filter(|_| row.kind == EventKind::HostRange) {
                Some(XlaRange::Module { name, program_id }) => {
                    let module = operations.module(*program_id, name, import);
                    open.push(Open { end_ns, module, operation: None });
                }
                Some(XlaRange::Thunk { op, scope }) => {
                    let operation = Some(operations.operation(inside, op, scope, import));
                    open.push(Open { end_ns, module: inside, operation });
                }
                _ if row.correlation != 0 => {
                    let operation = open.last().and_then(|open| open.operation);
                    launched.extend(operation.map(|operation| (row.correlation, operation)));
                }
                _ => {}
            }
        }
    }
    for lane in lanes {
        let work = timeline.rows[*lane].iter_mut().filter(|row| row.kind.is_device_work());
        for row in work {
            let EventRow { correlation, op, .. } = row;
            *op = launched.get(correlation).copied().unwrap_or(*op);
        }
    }
}
