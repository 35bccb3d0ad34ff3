//! One table as CSV: a header row of column keys, then raw values.
//!
//! Times are whole nanoseconds, shares are fractions, unknown values are empty: the numbers are meant for programs.
//! Names are made harmless for terminals and spreadsheets; JSON and Arrow have them as they are.
//! Notes and footnotes have no place in CSV; callers show them elsewhere.

use crate::Listing;
use crate::cell::{Cell, cell};
use ridgeline::escape::csv_cell;

/// `listing` as CSV with `\n` line ends.
pub fn table(listing: &Listing) -> String {
    let mut writer = ::csv::WriterBuilder::new().from_writer(Vec::new());
    let batch = &listing.table.batch;
    let schema = batch.schema();
    write(&mut writer, schema.fields().iter().map(|field| field.name().clone()));
    for row in 0..batch.num_rows() {
        write(&mut writer, batch.columns().iter().map(|column| field_text(cell(column, row))));
    }
    let bytes = writer.into_inner().expect("a Vec cannot fail to flush");
    String::from_utf8(bytes).expect("only text was written")
}

fn write(writer: &mut ::csv::Writer<Vec<u8>>, fields: impl Iterator<Item = String>) {
    writer.write_record(fields).expect("a Vec takes every record, and all records have the schema's length");
}

fn field_text(cell: Cell<'_>) -> String {
    match cell {
        Cell::Unknown => String::new(),
        Cell::Text(text) => csv_cell(text).into_owned(),
        Cell::Int(value) => value.to_string(),
        Cell::Whole(value) => value.to_string(),
        Cell::Real(value) => value.to_string(),
        Cell::Flag(value) => value.to_string(),
    }
}
