//! One row per event as Parquet: for data frames and SQL engines.
//!
//! The columns are those of the CSV; what is an empty cell there is a null here. Texts are dictionaries, so a name is written
//! once per row group, however many events have it.

use crate::event_rows::{COLUMNS, EventRow, place};
use crate::names::Names;
use crate::tracks::{Progress, Tracks};
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use ridgeline::Trace;
use ridgeline::trace::StringId;
use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;

/// Events that are put together before they are encoded.
const BATCH_EVENTS: usize = 1 << 16;

/// Writes `trace` to `out`.
pub(crate) fn write(
    trace: &Trace,
    names: &Names<'_>,
    out: &mut impl Write,
    progress: &mut Progress<'_>,
) -> io::Result<()> {
    let tracks = Tracks::new(trace);
    let schema = schema();
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(format!("ridgeline {}", env!("CARGO_PKG_VERSION")))
        .build();
    // The encoder's own sink is memory, passed on after every batch: it asks of a sink what `out` need not be.
    let mut parquet = ArrowWriter::try_new(Vec::new(), Arc::clone(&schema), Some(properties)).map_err(of_parquet)?;
    let mut batch = Batch::default();
    for (_, track) in &tracks.all {
        let place = place(trace, &tracks, track, names);
        for row in Tracks::rows(track) {
            batch.push(row, &place, &EventRow::new(trace, row), names);
            if batch.row.len() == BATCH_EVENTS {
                let full = std::mem::take(&mut batch).finish(&schema).map_err(of_arrow)?;
                parquet.write(&full).map_err(of_parquet)?;
                pass_on(parquet.inner_mut(), out)?;
            }
            progress.row();
        }
    }
    parquet.write(&batch.finish(&schema).map_err(of_arrow)?).map_err(of_parquet)?;
    parquet.finish().map_err(of_parquet)?;
    pass_on(parquet.inner_mut(), out)
}

fn pass_on(buffer: &mut Vec<u8>, out: &mut impl Write) -> io::Result<()> {
    out.write_all(buffer)?;
    buffer.clear();
    Ok(())
}

fn of_parquet(error: ParquetError) -> io::Error {
    io::Error::other(error)
}

fn of_arrow(error: ArrowError) -> io::Error {
    io::Error::other(error)
}

/// Times and counts are 64-bit integers, which every reader has; what an event may lack is nullable.
fn schema() -> SchemaRef {
    let text = || DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let field = |name: &&str| match *name {
        "row" | "start_ns" | "dur_ns" => Field::new(*name, DataType::Int64, false),
        "caused_by" | "bytes" => Field::new(*name, DataType::Int64, true),
        "kind" => Field::new(*name, text(), false),
        _ => Field::new(*name, text(), true),
    };
    Arc::new(Schema::new(COLUMNS.iter().map(field).collect::<Vec<Field>>()))
}

/// Texts of some events.
#[derive(Debug, Default)]
struct Texts {
    keys: Vec<Option<i32>>,
    values: Vec<String>,
    /// By id, for those that have one.
    key_of_id: HashMap<StringId, Option<i32>>,
}

impl Texts {
    /// A text that many events in a row share.
    fn push_same(&mut self, text: &str) {
        let is_last = self.values.last().is_some_and(|last| last == text);
        let key = if text.is_empty() { None } else { Some(self.values.len() as i32 - i32::from(is_last)) };
        if key.is_some() && !is_last {
            self.values.push(text.to_owned());
        }
        self.keys.push(key);
    }

    fn push(&mut self, id: Option<StringId>, names: &Names<'_>) {
        let values = &mut self.values;
        let key = id.and_then(|id| {
            *self.key_of_id.entry(id).or_insert_with(|| {
                let text = names.get(id);
                (!text.is_empty()).then(|| {
                    values.push(text.to_owned());
                    values.len() as i32 - 1
                })
            })
        });
        self.keys.push(key);
    }

    fn finish(self) -> Result<ArrayRef, ArrowError> {
        let values = Arc::new(StringArray::from(self.values));
        Ok(Arc::new(DictionaryArray::<Int32Type>::try_new(Int32Array::from(self.keys), values)?))
    }
}

/// Columns of some events.
#[derive(Debug, Default)]
struct Batch {
    row: Vec<i64>,
    place: [Texts; 3],
    kind: Texts,
    name: Texts,
    start_ns: Vec<i64>,
    dur_ns: Vec<i64>,
    caused_by: Vec<Option<i64>>,
    operation: Texts,
    module: Texts,
    scope: Texts,
    bytes: Vec<Option<i64>>,
}

impl Batch {
    fn push(&mut self, row: usize, place: &[String; 3], event: &EventRow, names: &Names<'_>) {
        self.row.push(row as i64);
        self.place.iter_mut().zip(place).for_each(|(texts, text)| texts.push_same(text));
        self.kind.push_same(event.kind.name());
        self.name.push(Some(event.name), names);
        self.start_ns.push(event.start_ns);
        self.dur_ns.push(event.dur_ns);
        self.caused_by.push(event.caused_by.map(i64::from));
        self.operation.push(event.operation, names);
        self.module.push(event.module, names);
        self.scope.push(event.scope, names);
        self.bytes.push(event.bytes.and_then(|bytes| i64::try_from(bytes).ok()));
    }

    fn finish(self, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
        let [process, device, track] = self.place;
        let columns: Vec<ArrayRef> = vec![
            Arc::new(Int64Array::from(self.row)),
            process.finish()?,
            device.finish()?,
            track.finish()?,
            self.kind.finish()?,
            self.name.finish()?,
            Arc::new(Int64Array::from(self.start_ns)),
            Arc::new(Int64Array::from(self.dur_ns)),
            Arc::new(Int64Array::from(self.caused_by)),
            self.operation.finish()?,
            self.module.finish()?,
            self.scope.finish()?,
            Arc::new(Int64Array::from(self.bytes)),
        ];
        RecordBatch::try_new(Arc::clone(schema), columns)
    }
}
