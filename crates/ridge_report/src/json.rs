//! Reports as JSON with a versioned schema, for programs.
//!
//! Whole numbers are exact, unknown values are `null`, and units are named per column; nothing is scaled or rounded.
//! The schema's pages are under `docs/json/`.
//! A key may be added within a version; one is renamed, removed or given another meaning only with a new version.

mod layout;

use crate::cell::{Cell, cell};
use crate::{Listing, Report};
use ridgeline::{Basis, Fact, FactValue, Note, Section, Table, Unit};
use serde_json::{Map, Value, json};

/// Name and version of the schema of [`stats`].
pub const STATS_SCHEMA: &str = "ridgeline.stats.v1";
/// Name and version of the schema of [`info`].
pub const INFO_SCHEMA: &str = "ridgeline.info.v1";

/// `report` as a `ridgeline.stats.v1` document: notes, overview and tables.
pub fn stats(report: &Report) -> String {
    layout::text(&json!({
        "schema": STATS_SCHEMA,
        "notes": report.notes.iter().map(note).collect::<Vec<_>>(),
        "overview": report.sections.iter().map(section).collect::<Vec<_>>(),
        "tables": report.tables.iter().map(table).collect::<Vec<_>>(),
    }))
}

/// `report` as a `ridgeline.info.v1` document: notes and sections.
pub fn info(report: &Report) -> String {
    layout::text(&json!({
        "schema": INFO_SCHEMA,
        "notes": report.notes.iter().map(note).collect::<Vec<_>>(),
        "sections": report.sections.iter().map(section).collect::<Vec<_>>(),
    }))
}

/// `document` with what nests indented.
pub(crate) fn laid_out(document: &Value) -> String {
    layout::text(document)
}

/// `note` as in every document.
pub fn note(note: &Note) -> Value {
    json!({
        "severity": note.severity.name(),
        "message": note.message,
        "file": note.file,
        "offset": note.offset,
        "count": note.count,
    })
}

/// `section` as in the overview of [`stats`].
pub fn section(section: &Section) -> Value {
    json!({ "title": section.title, "facts": section.facts.iter().map(fact).collect::<Vec<_>>() })
}

fn fact(fact: &Fact) -> Value {
    let (value, unit) = match &fact.value {
        FactValue::Text(text) => (json!(text), Unit::Text),
        FactValue::Nanos(nanos) => (json!(nanos), Unit::Nanos),
        FactValue::Bytes(bytes) => (json!(bytes), Unit::Bytes),
        FactValue::Count(count) => (json!(count), Unit::Count),
        FactValue::Number(number) => (json!(number), Unit::Number),
        FactValue::Real(number, unit) => (json!(number), *unit),
    };
    json!({
        "key": fact.key,
        "title": fact.title,
        "value": value,
        "unit": unit.name(),
        "share": fact.share,
        "definition": fact.definition,
        "basis": fact.basis.map(Basis::name),
    })
}

fn table(listing: &Listing) -> Value {
    let Listing { table, rows_total } = listing;
    let schema = table.batch.schema();
    let columns: Vec<Value> = schema.fields().iter().map(|field| column(field)).collect();
    let rows: Vec<Value> = (0..table.batch.num_rows()).map(|row| row_object(table, row)).collect();
    json!({
        "name": table.name,
        "title": table.title,
        "columns": columns,
        "rows": rows,
        "rows_total": rows_total,
        "footnotes": table.footnotes,
    })
}

fn column(field: &arrow_schema::Field) -> Value {
    let meaning = Table::meaning(field);
    json!({
        "key": field.name(),
        "title": meaning.title,
        "unit": meaning.unit.name(),
        "definition": meaning.definition,
        "basis": meaning.basis.map(Basis::name),
    })
}

fn row_object(table: &Table, row: usize) -> Value {
    let schema = table.batch.schema();
    let cells = schema.fields().iter().zip(table.batch.columns());
    Value::Object(cells.map(|(field, column)| (field.name().clone(), scalar(cell(column, row)))).collect::<Map<_, _>>())
}

/// The value of `column` in `row`; `null` where it is unknown.
pub fn value(column: &dyn arrow_array::Array, row: usize) -> Value {
    scalar(cell(column, row))
}

fn scalar(cell: Cell<'_>) -> Value {
    match cell {
        Cell::Unknown => Value::Null,
        Cell::Text(text) => json!(text),
        Cell::Int(value) => json!(value),
        Cell::Whole(value) => json!(value),
        Cell::Real(value) => json!(value),
        Cell::Flag(value) => json!(value),
    }
}
