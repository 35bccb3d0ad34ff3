//! Copies and memory sets by what they do and between which memories: time, bytes and rate.

use crate::context::Need;
use crate::models::copies::{Copies, CopyRow};
use crate::tables::spread::SPREAD;
use crate::view::{Sheet, Topic, View, columns};
use ridge_table::Subject;

/// The view.
pub(crate) static VIEW: View = View {
    id: "copy",
    about: "copy or memory set, by direction and memory",
    aliases: &["cuda_gpu_mem_time_sum", "cuda_gpu_mem_size_sum", "gpumemtimesum", "gpumemsizesum"],
    needs: &[Need::of::<Copies>()],
    make: |analysis, _| {
        let Copies(rows) = analysis.get();
        Sheet::over(analysis, rows)
            .about(|_, row| Some(Subject::Copies(row.kind)))
            .show(COLUMNS)
            .part(SPREAD, |row| &row.durations)
            .table("Copies")
    },
    ..View::of(Topic::Time)
};

fn sized(row: &CopyRow, bytes: u64) -> Option<u64> {
    (row.sized.count > 0).then_some(bytes)
}

columns! {
    COLUMNS: CopyRow {
        copy: text Key "Copy", "the kind of copy", |_, row| row.kind.name();
        source: text "From", "memory that was read", |_, row| row.source.name();
        destination: text "To", "memory that was written", |_, row| row.destination.name();
        total_ns: nanos Key Measured "Total", "sum of durations", |_, row| row.durations.total_ns;
        total_share: share Measured "Share", "total as a part of the totals of all rows", |_, row| row.share;
        count: count Counted "Count", "how many", |_, row| row.durations.count;
        bytes: bytes Key Measured "Bytes",
            "bytes copied or set, if recorded", |_, row| sized(row, row.sized.bytes);
        largest_bytes: bytes Detail Measured "Largest", "largest of them", |_, row| sized(row, row.sized.largest_bytes);
        bytes_per_sec: real(BytesPerSec) Measured "Rate",
            "bytes over the time of the copies that moved them", |_, row| row.sized.bytes_per_sec();
    }
}
