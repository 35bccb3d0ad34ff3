//! The trace as Arrow batches that share its memory: handing one out copies no column.

use crate::event::{Events, NONE};
use crate::trace::Trace;
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray, UInt8Array, UInt32Array};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use std::sync::Arc;

/// All event columns as one batch, without copying; ids are rows of the side tables, `u32::MAX` where there is none.
///
/// # Errors
/// [`ArrowError`] if the columns' lengths differ, which a finished trace rules out.
pub fn event_batch(events: &Events) -> Result<RecordBatch, ArrowError> {
    let columns: [(&str, ArrayRef); 9] = [
        ("start_ns", Arc::new(Int64Array::new(events.start_ns.clone(), None))),
        ("dur_ns", Arc::new(Int64Array::new(events.dur_ns.clone(), None))),
        ("name", Arc::new(UInt32Array::new(events.name.clone(), None))),
        ("op", Arc::new(UInt32Array::new(events.op.clone(), None))),
        ("link", Arc::new(UInt32Array::new(events.link.clone(), None))),
        ("detail", Arc::new(UInt32Array::new(events.detail.clone(), None))),
        ("parent", Arc::new(UInt32Array::new(events.parent.clone(), None))),
        ("kind", Arc::new(UInt8Array::new(events.kind.clone(), None))),
        ("attribution", Arc::new(UInt8Array::new(events.attribution.clone(), None))),
    ];
    batch(columns)
}

/// The tracks: name, kind, device row and the range of event rows of each.
///
/// # Errors
/// [`ArrowError`] if the columns' lengths differ, which a finished trace rules out.
pub fn track_batch(trace: &Trace) -> Result<RecordBatch, ArrowError> {
    let tracks = &trace.tracks;
    let names: StringArray = tracks.iter().map(|track| Some(trace.strings.get(track.name))).collect();
    let kinds: StringArray = tracks.iter().map(|track| Some(format!("{:?}", track.kind))).collect();
    let columns: [(&str, ArrayRef); 5] = [
        ("name", Arc::new(names)),
        ("kind", Arc::new(kinds)),
        ("device", Arc::new(UInt32Array::from_iter_values(tracks.iter().map(|track| track.device.unwrap_or(NONE))))),
        ("first_row", Arc::new(UInt32Array::from_iter_values(tracks.iter().map(|track| track.rows.start)))),
        ("end_row", Arc::new(UInt32Array::from_iter_values(tracks.iter().map(|track| track.rows.end)))),
    ];
    batch(columns)
}

fn batch<const N: usize>(columns: [(&str, ArrayRef); N]) -> Result<RecordBatch, ArrowError> {
    let field = |(name, array): &(&str, ArrayRef)| {
        let kind: DataType = array.data_type().clone();
        Field::new(*name, kind, false)
    };
    let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
    RecordBatch::try_new(Arc::new(schema), columns.into_iter().map(|(_, array)| array).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EventKind, NewEvent, TraceBuilder, TrackKind};

    #[test]
    fn views_share_the_traces_memory() {
        let mut builder = TraceBuilder::new();
        let process = builder.add_process("", None);
        let track = builder.add_track(process, None, TrackKind::HostThread, "t", 1);
        let name = builder.strings.intern("x");
        for start in 0..4 {
            builder.push(track, NewEvent::new(EventKind::HostRange, name, start, 1));
        }
        let trace = builder.finish();
        let batch = event_batch(&trace.events).expect("equal lengths");
        let data = batch.column(0).to_data();
        assert_eq!(data.buffers()[0].as_ptr(), trace.events.start_ns.inner().as_ptr());
        assert_eq!(track_batch(&trace).expect("equal lengths").num_rows(), 1);
    }
}
