//! The columns of work that tables of device time share.

use crate::Analysis;
use crate::models::work::WorkSums;
use ridge_table::{Basis, Column, Rank, Unit};

/// Rates, intensity, bound and headroom of rows; none where no work of the capture is known.
pub(crate) fn work_columns(analysis: &Analysis<'_>, rows: &[WorkSums]) -> Vec<Column> {
    if !analysis.workload().has_counts() {
        return Vec::new();
    }
    let real = |key, title, definition, unit, value: fn(&WorkSums) -> Option<f64>| {
        Column::real(key, title, definition, unit, rows.iter().map(value))
    };
    vec![
        real(
            "flops_per_sec",
            "FLOP/s",
            "floating-point operations, and integer ones of matrix units, counted from the HLO per second of measured \
             self time; a lower bound where some work is not known",
            Unit::FlopsPerSec,
            WorkSums::flops_per_sec,
        )
        .basis(Basis::Counted)
        .ranked(Rank::Minor),
        real(
            "bytes_per_sec",
            "B/s",
            "compulsory traffic counted from the HLO per second of measured self time: what must be read and written \
             at least, not what the memory really moved",
            Unit::BytesPerSec,
            WorkSums::bytes_per_sec,
        )
        .basis(Basis::Counted)
        .ranked(Rank::Minor),
        real(
            "intensity",
            "Intensity",
            "operations per byte of compulsory traffic, both counted",
            Unit::FlopPerByte,
            WorkSums::intensity,
        )
        .basis(Basis::Counted)
        .ranked(Rank::Detail),
        Column::text(
            "bound",
            "Bound",
            "what takes most of the time at the roof: compute, memory, or launch where that time is shorter than \
             starting a kernel; unknown where the work is not known",
            rows.iter().map(|sums| sums.bound().map(|bound| bound.name().to_owned())),
        )
        .basis(Basis::Modelled),
        real(
            "headroom",
            "Headroom",
            "measured time over the least time: the longer of operations by the peak rate of their type and compulsory \
             bytes by the bandwidth, or starting a kernel where that takes longer, operation by operation",
            Unit::Number,
            WorkSums::headroom,
        )
        .basis(Basis::Modelled)
        .ranked(Rank::Minor),
        real(
            "unknown_share",
            "Unknown",
            "part of the self time whose work is not known",
            Unit::Share,
            WorkSums::unknown_share,
        )
        .basis(Basis::Measured)
        .ranked(Rank::Detail),
    ]
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
