//! Tables of nsys-jax, and of exports of Nsight Systems, in Parquet, written anew without what is private: the same flat columns and
//! rows, as whole numbers, numbers and texts.
//!
//! They are read by this crate's reader, which trusts no size in the file, and written by the `parquet` crate. Columns that are
//! lists or structures are not carried.

use crate::parquet::{Bound, Parquet};
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use ridge_redact::{ExportTexts, Held, RedactError, Removed, What, Words};
use ridge_sqlite::{Cell, Row};
use std::io::Write;
use std::sync::Arc;

/// The table of names and values that says what the machine is.
const SYSTEM: &str = "system-metadata.parquet";
/// The names of threads, the first of which has that of its process.
const THREADS: &str = "thread-metadata.parquet";

/// Whether `bytes` begin as a table.
pub(super) fn is_table(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PAR1")
}

/// A cell of its own.
#[derive(Debug, Clone, PartialEq)]
enum Value {
    Nothing,
    Int(i64),
    Real(f64),
    Text(String),
}

struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
}

fn read(bytes: &[u8], bound: &Bound) -> Result<Table, RedactError> {
    let damaged = |what: String| RedactError::Packed(what);
    let file = Parquet::open(bytes).map_err(|error| damaged(error.to_string()))?;
    let columns: Vec<String> = file.columns().map(str::to_owned).collect();
    let names: Vec<&str> = columns.iter().map(String::as_str).collect();
    let scan = file.scan(&names, bound, |rows: &mut Vec<Vec<Value>>, row: &Row<'_>| {
        // What is kept counts as much again; a row that is beyond the bound is missed below.
        let size: usize = row.cells.iter().map(|cell| size_of::<Value>() + text_of(cell).map_or(0, <[u8]>::len)).sum();
        if bound.take(size as u64) {
            rows.push(row.cells.iter().map(value).collect());
        }
    });
    match scan.error {
        Some(error) => Err(damaged(error.to_string())),
        None => {
            let rows = scan.scanned.parts.concat();
            if rows.len() as u64 == scan.scanned.rows {
                Ok(Table { columns, rows })
            } else {
                Err(damaged(bound.reached()))
            }
        }
    }
}

fn text_of<'a>(cell: &Cell<'a>) -> Option<&'a [u8]> {
    match cell {
        Cell::Text(bytes) | Cell::Blob(bytes) => Some(bytes),
        _ => None,
    }
}

fn value(cell: &Cell<'_>) -> Value {
    match cell {
        Cell::Null => Value::Nothing,
        Cell::Int(number) => Value::Int(*number),
        Cell::Real(number) => Value::Real(*number),
        Cell::Text(bytes) | Cell::Blob(bytes) => Value::Text(String::from_utf8_lossy(bytes).into_owned()),
    }
}

impl Table {
    fn place(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }
}

/// Adds to `words` the names that the table in `bytes`, the member `name`, says the machine and its user have.
pub(super) fn learn(name: &str, bytes: &[u8], words: &mut Words, bound: &Bound) {
    let Ok(table) = read(bytes, bound) else { return };
    let settings = table.place("name").zip(table.place("value")).filter(|_| name.contains(SYSTEM));
    for row in &table.rows {
        for (column, value) in table.columns.iter().zip(row) {
            if let Value::Text(text) = value {
                words.learn_cell(column, text);
            }
        }
        if let Some((name, value)) = settings
            && let (Value::Text(name), Value::Text(value)) = (&row[name], &row[value])
        {
            words.learn_setting(name, value);
        }
    }
}

/// Writes the table in `bytes`, the member `name`, to `out`.
pub(super) fn redact(
    name: &str,
    bytes: &[u8],
    words: &Words,
    bound: &Bound,
    out: &mut dyn Write,
) -> Result<Removed, RedactError> {
    let mut table = read(bytes, bound)?;
    let mut removed = Removed::default();
    for at in 0..table.rows.len() {
        for column in 0..table.columns.len() {
            let Value::Text(text) = &table.rows[at][column] else { continue };
            let what = told_by_table(name, &table, at, column);
            let clean = match what.filter(|what| text != what.stand_in()) {
                Some(what) => {
                    removed.add(what);
                    what.stand_in().to_owned()
                }
                None => words.clean_cell(&table.columns[column], text, &mut removed).into_owned(),
            };
            table.rows[at][column] = Value::Text(clean);
        }
    }
    write(&table, out)?;
    Ok(removed)
}

/// Writes the table in `bytes`, called `name` in an export of Nsight Systems, to `out`; `texts` knows the others.
pub(super) fn redact_of_export(
    name: &str,
    bytes: &[u8],
    texts: &ExportTexts,
    bound: &Bound,
    out: &mut dyn Write,
) -> Result<Removed, RedactError> {
    let mut table = read(bytes, bound)?;
    let mut removed = Removed::default();
    for row in &mut table.rows {
        let clean = texts.clean(name, &table.columns, &|at| held(&row[at]), &mut removed);
        clean.into_iter().for_each(|(at, text)| row[at] = Value::Text(text));
    }
    write(&table, out)?;
    Ok(removed)
}

/// Two columns of the table in `bytes`; none where it cannot be read.
pub(super) fn pairs(bytes: &[u8], columns: [&str; 2], bound: &Bound) -> Vec<[Held; 2]> {
    let Ok(table) = read(bytes, bound) else { return Vec::new() };
    let place = |name: &str| table.columns.iter().position(|column| column.eq_ignore_ascii_case(name));
    let places = columns.map(place);
    let value = |row: &[Value], place: Option<usize>| place.map_or(Held::Nothing, |at| held(&row[at]));
    table.rows.iter().map(|row| places.map(|place| value(row, place))).collect()
}

fn held(value: &Value) -> Held {
    match value {
        Value::Nothing | Value::Real(_) => Held::Nothing,
        Value::Int(number) => Held::Int(*number),
        Value::Text(text) => Held::Text(text.clone()),
    }
}

/// What a text is because of the table that it is in.
fn told_by_table(name: &str, table: &Table, at: usize, column: usize) -> Option<What> {
    let row = &table.rows[at];
    let cell = |name: &str| table.place(name).map(|place| &row[place]);
    match (table.columns[column].as_str(), &row[column]) {
        ("value", Value::Text(value)) if name.contains(SYSTEM) => match cell("name") {
            Some(Value::Text(key)) => Words::private_setting(key, value),
            _ => Some(What::Machine),
        },
        ("Name", _) if name.contains(THREADS) && cell("PID").is_some() && cell("PID") == cell("TID") => {
            Some(What::ProcessName)
        }
        _ => None,
    }
}

fn write(table: &Table, out: &mut dyn Write) -> Result<(), RedactError> {
    let failed = |error: &dyn std::fmt::Display| RedactError::Packed(format!("the table cannot be written: {error}"));
    let column = |at: usize| (table.columns[at].as_str(), array(table, at), true);
    let batch = RecordBatch::try_from_iter_with_nullable((0..table.columns.len()).map(column))
        .map_err(|error| failed(&error))?;
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).map_err(|error| failed(&error))?;
    writer.write(&batch).map_err(|error| failed(&error))?;
    out.write_all(&writer.into_inner().map_err(|error| failed(&error))?)?;
    Ok(())
}

fn array(table: &Table, at: usize) -> ArrayRef {
    let cells = || table.rows.iter().map(|row| &row[at]);
    if cells().any(|cell| matches!(cell, Value::Text(_))) {
        let text = |cell: &'_ Value| if let Value::Text(text) = cell { Some(text.clone()) } else { None };
        Arc::new(cells().map(text).collect::<StringArray>())
    } else if cells().any(|cell| matches!(cell, Value::Real(_))) {
        let real = |cell: &Value| match cell {
            Value::Real(number) => Some(*number),
            Value::Int(number) => Some(*number as f64),
            _ => None,
        };
        Arc::new(cells().map(real).collect::<Float64Array>())
    } else {
        let int = |cell: &Value| if let Value::Int(number) = cell { Some(*number) } else { None };
        Arc::new(cells().map(int).collect::<Int64Array>())
    }
}
