//! Who held memory at the peak of each allocator.

use crate::Analysis;
use crate::models::memory::{Allocator, Holder, Holding, frame_of_user, stack_text, whole};
use ridge_table::{Basis, Columns, Subject, Table};
use ridge_trace::{StackRow, Trace};

/// What one holder has; without a holder, what was allocated before the capture.
struct Row<'a> {
    allocator: &'a Allocator,
    peak: u64,
    holder: Option<Holder>,
    holding: Holding,
}

impl Row<'_> {
    fn stack(&self) -> Option<StackRow> {
        self.holder?.stack
    }

    fn owner(&self, trace: &Trace) -> String {
        let Some(holder) = self.holder else { return "(allocated before the capture)".to_owned() };
        let named = Some(trace.strings.get(holder.owner)).filter(|owner| !owner.is_empty()).map(str::to_owned);
        named.or_else(|| frame_of_user(trace, holder.stack)).unwrap_or_else(|| "(not named)".to_owned())
    }

    fn subject(&self) -> Subject {
        self.stack().map_or(Subject::Allocator(self.allocator.process, self.allocator.name), Subject::Stack)
    }
}

/// Most bytes first.
pub(super) fn table(analysis: &Analysis<'_>) -> Table {
    let trace = analysis.trace;
    let mut rows: Vec<Row<'_>> = Vec::new();
    for allocator in &analysis.memory().allocators {
        let (held, unknown) = allocator.alive_at_peak(trace);
        let peak = allocator.peak_bytes(trace);
        rows.extend(held.into_iter().map(|(holder, holding)| Row { allocator, peak, holder: Some(holder), holding }));
        if unknown > 0 {
            let bytes = i64::try_from(unknown).unwrap_or(i64::MAX);
            rows.push(Row { allocator, peak, holder: None, holding: Holding { bytes, ..Holding::default() } });
        }
    }
    rows.sort_by_key(|row| std::cmp::Reverse(row.holding.bytes));
    Columns::over(&rows)
        .about(|row| Some(row.subject()))
        .text("owner", "Owner", "what asked for the memory, as the capture names it", |row| row.owner(trace))
        .key()
        .bytes("bytes", "At the peak", "bytes in use at its allocator's peak", Basis::Measured, |row| {
            whole(row.holding.bytes)
        })
        .key()
        .share("share", "Share", "bytes as a part of the allocator's peak", Basis::Measured, |row| {
            if row.peak == 0 { 0.0 } else { row.holding.bytes as f64 / row.peak as f64 }
        })
        .count("blocks", "Blocks", "blocks alive at the peak", Basis::Counted, |row| {
            row.holder.map(|_| row.holding.blocks)
        })
        .bytes("requested_bytes", "Asked for", "bytes that were asked for", Basis::Measured, |row| {
            (row.holding.requested > 0).then(|| whole(row.holding.requested))
        })
        .detail()
        .text("allocator", "Allocator", "name in the capture", |row| row.allocator.label.clone())
        .nanos(
            "since_ns",
            "Since",
            "time of the earliest of these blocks, on the trace's clock",
            Basis::Measured,
            |row| row.holder.map(|_| row.holding.since_ns),
        )
        .detail()
        .text(
            "source",
            "Source",
            "innermost frame of the call stack outside installed packages, where the capture has stacks",
            |row| frame_of_user(trace, row.stack()),
        )
        .text("stack", "Stack", "call stack, innermost frame first", |row| stack_text(trace, row.stack()))
        .detail()
        .table("memory_holders", "Alive at the peak, by owner")
}
