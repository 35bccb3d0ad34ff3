//! Reads Parquet back with the format's own reader.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::io::Write;

/// The first `count` columns as CSV, nulls as empty cells.
pub(crate) fn as_csv(parquet: &[u8], count: usize) -> String {
    let mut file = tempfile::tempfile().expect("a temporary file");
    file.write_all(parquet).expect("room for the file");
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("Parquet");
    let names: Vec<String> = reader.schema().fields().iter().take(count).map(|field| field.name().clone()).collect();
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(&names).expect("memory");
    for batch in reader.build().expect("Parquet") {
        let batch = batch.expect("a batch");
        for row in 0..batch.num_rows() {
            csv.write_record(batch.columns().iter().take(count).map(|column| cell(column, row))).expect("memory");
        }
    }
    String::from_utf8(csv.into_inner().expect("memory")).expect("text")
}

fn cell(column: &ArrayRef, row: usize) -> String {
    if column.is_null(row) {
        return String::new();
    }
    match column.as_primitive_opt::<Int64Type>() {
        Some(numbers) => numbers.value(row).to_string(),
        None => {
            let texts = column.as_dictionary::<Int32Type>();
            texts.values().as_string::<i32>().value(texts.keys().value(row) as usize).to_owned()
        }
    }
}
