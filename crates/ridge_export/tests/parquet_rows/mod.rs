//! Reads Parquet back with the format's own reader.

use arrow_cast::display::{ArrayFormatter, FormatOptions};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::io::Write;

/// The rows as CSV, nulls as empty cells.
pub(crate) fn as_csv(parquet: &[u8]) -> String {
    let mut file = tempfile::tempfile().expect("a temporary file");
    file.write_all(parquet).expect("room for the file");
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("Parquet");
    let names: Vec<String> = reader.schema().fields().iter().map(|field| field.name().clone()).collect();
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(&names).expect("memory");
    let options = FormatOptions::default();
    for batch in reader.build().expect("Parquet") {
        let batch = batch.expect("a batch");
        let columns = batch.columns().iter();
        let cells: Vec<ArrayFormatter<'_>> =
            columns.map(|column| ArrayFormatter::try_new(column, &options).expect("texts and integers")).collect();
        for row in 0..batch.num_rows() {
            csv.write_record(cells.iter().map(|cell| cell.value(row).to_string())).expect("memory");
        }
    }
    String::from_utf8(csv.into_inner().expect("memory")).expect("text")
}
