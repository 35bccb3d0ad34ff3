//! Arrow bytes are read back by Arrow's own reader.

mod common;

use arrow_ipc::reader::{FileReader, StreamReader};
use common::{no_kernels, operations};
use ridge_report::{Listing, arrow};
use ridgeline::{Table, Unit};
use std::io::Cursor;

#[test]
fn a_stream_keeps_values_and_meaning() {
    let bytes = arrow::stream(&Listing::top(operations(), 2)).expect("plain columns");
    let mut reader = StreamReader::try_new(Cursor::new(bytes), None).expect("our own bytes");
    let batch = reader.next().expect("one batch").expect("our own bytes");
    assert_eq!(batch.columns(), operations().batch.slice(0, 2).columns());
    let schema = batch.schema();
    assert_eq!(Table::meaning(schema.field(1)).unit, Unit::Nanos);
    assert_eq!(schema.metadata()["title"], "Operations");
    assert_eq!(schema.metadata()["rows_total"], "4");
    assert!(reader.next().is_none());
}

#[test]
fn a_file_keeps_values() {
    let bytes = arrow::file(&Listing::whole(operations())).expect("plain columns");
    let mut reader = FileReader::try_new(Cursor::new(bytes), None).expect("our own bytes");
    assert_eq!(reader.next().expect("one batch").expect("our own bytes").columns(), operations().batch.columns());
}

#[test]
fn an_empty_table_keeps_its_columns() {
    let bytes = arrow::stream(&Listing::whole(no_kernels())).expect("plain columns");
    let reader = StreamReader::try_new(Cursor::new(bytes), None).expect("our own bytes");
    assert_eq!(reader.schema().fields().len(), 2);
}
