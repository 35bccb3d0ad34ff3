//! The columns of work that tables of device time share.

use crate::Analysis;
use crate::models::work::WorkSums;
use crate::view::columns;
use ridge_table::Column;

/// Rates, intensity, bound and headroom of rows; none where no work of the capture is known.
pub(crate) fn work_columns(analysis: &Analysis<'_>, rows: &[WorkSums]) -> Vec<Column> {
    let rows: Vec<&WorkSums> = rows.iter().collect();
    let fields = if analysis.workload().has_counts() { WORK } else { &[] };
    fields.iter().map(|field| field.column(analysis, &rows)).collect()
}

columns! {
    WORK: WorkSums {
        flops_per_sec: real(FlopsPerSec) Minor Counted "FLOP/s",
            "floating-point operations, and integer ones of matrix units, counted from the HLO per second of measured \
             self time; a lower bound if some work is unknown", |_, sums| sums.flops_per_sec();
        bytes_per_sec: real(BytesPerSec) Minor Counted "B/s",
            "compulsory traffic counted from the HLO per second of measured self time: what must be read and written \
             at least, not what the memory really moved", |_, sums| sums.bytes_per_sec();
        intensity: real(FlopPerByte) Detail Counted "Intensity",
            "operations per byte of compulsory traffic, both counted", |_, sums| sums.intensity();
        bound: text Modelled "Bound",
            "what takes most of the time at the roof: compute, memory, or launch where that time is shorter than \
             starting a kernel; unknown if the work is unknown", |_, sums| sums.bound().map(|bound| bound.name());
        headroom: real(Number) Minor Modelled "Headroom",
            "measured time over the least time: the longer of operations by the peak rate of their type and compulsory \
             bytes by the bandwidth, or starting a kernel where that takes longer, operation by operation",
            |_, sums| sums.headroom();
        unknown_share: share Detail Measured "Unknown",
            "part of the self time with unknown work", |_, sums| sums.unknown_share();
    }
}

/// How much of the time has no known work and why, and which roofs are missing; sentences for a table's footnotes.
pub(crate) fn work_note(analysis: &Analysis<'_>) -> Vec<String> {
    if !analysis.workload().has_counts() {
        return Vec::new();
    }
    let mut notes: Vec<String> = super::roofline::totals::unknown_note(analysis).into_iter().collect();
    notes.extend(super::roofline::totals::ceiling_notes(analysis));
    notes
}
