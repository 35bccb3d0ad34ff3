//! One table as Arrow IPC, the form that loses nothing: types, units, titles and definitions travel with the columns.
//!
//! Two framings: the stream for pipes, the file (also known as Feather version 2) for disks.
//! Nothing is compressed, so readers may map the file.

use crate::Listing;
use arrow_array::RecordBatch;
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{ArrowError, Schema};
use std::sync::Arc;

/// `listing` as an Arrow IPC stream.
///
/// # Errors
/// [`ArrowError`] where a column's type has no IPC form.
pub fn stream(listing: &Listing) -> Result<Vec<u8>, ArrowError> {
    let batch = described(listing)?;
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema())?;
    writer.write(&batch)?;
    writer.into_inner()
}

/// `listing` as an Arrow IPC file.
///
/// # Errors
/// [`ArrowError`] where a column's type has no IPC form.
pub fn file(listing: &Listing) -> Result<Vec<u8>, ArrowError> {
    let batch = described(listing)?;
    let mut writer = FileWriter::try_new(Vec::new(), &batch.schema())?;
    writer.write(&batch)?;
    writer.into_inner()
}

/// The batch with the table's own words in the schema's metadata.
fn described(listing: &Listing) -> Result<RecordBatch, ArrowError> {
    let table = &listing.table;
    let schema = table.batch.schema();
    let mut metadata = schema.metadata().clone();
    metadata.insert("name".to_owned(), table.name.to_owned());
    metadata.insert("title".to_owned(), table.title.clone());
    metadata.insert("rows_total".to_owned(), listing.rows_total.to_string());
    metadata.insert("footnotes".to_owned(), table.footnotes.join("\n"));
    let schema = Schema::new_with_metadata(schema.fields().clone(), metadata);
    RecordBatch::try_new(Arc::new(schema), table.batch.columns().to_vec())
}
