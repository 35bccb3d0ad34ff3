//! Rows cut into stretches, so that one long track keeps all cores busy.

use std::ops::Range;

/// `rows` cut after every `length` of them.
pub(crate) fn stretches(rows: Range<u32>, length: u32) -> impl Iterator<Item = Range<u32>> {
    let end = rows.end;
    rows.step_by(length as usize).map(move |start| start..start.saturating_add(length).min(end))
}
