//! Tables by name: sorted, filtered and cut to the rows that are looked at.

use crate::answer::Refusal;
use crate::known_tables::MOST_ROWS;
use crate::page::Page;
use crate::request::Request;
use crate::subjects;
use arrow_array::RecordBatch;
use ridge_report::{Direction, json, rows_by};
use ridgeline::{Basis, Rank, Table, Topic, Unit, View, view};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Rows of an answer where none were asked.
const ROWS: usize = 200;

/// `table/{topic}/{view}?sort=COLUMN&desc=1&filter=TEXT&offset=N&limit=N`.
pub(crate) fn table(page: &Page, topic: &str, name: &str, request: &Request) -> Result<Value, Refusal> {
    let view = named(topic, name)?;
    let answer = page.tables.of(&page.session, view)?;
    let table = &answer.tables[0];
    let rows = chosen(table, request)?;
    let offset = request.number::<usize>("offset")?.unwrap_or(0);
    let limit = request.number::<usize>("limit")?.unwrap_or(ROWS);
    let shown: Vec<usize> = rows.iter().skip(offset).take(limit).copied().collect();
    let mut notes = table.footnotes.clone();
    let made = table.batch.num_rows();
    if made < table.rows_total {
        notes.push(format!("the first {made} of {} rows can be looked at, sorted and searched here", table.rows_total));
    }
    Ok(json!({
        "topic": topic,
        "view": view.id,
        "title": table.title,
        "about": view.about,
        "columns": columns(&table.batch),
        "rows": shown.iter().map(|row| cells(page, &table.batch, *row)).collect::<Vec<_>>(),
        "subjects": subjects_of(page, table, shown.iter().copied()),
        "total": rows.len(),
        "rows_total": table.rows_total,
        "offset": offset,
        "notes": notes,
        "facts": answer.sections.iter().map(json::section).collect::<Vec<_>>(),
    }))
}

/// A table that no view names, whole up to a bound.
pub(crate) fn listed(page: &Page, table: &Table) -> Value {
    let rows = 0..table.batch.num_rows().min(MOST_ROWS);
    json!({
        "name": table.name,
        "title": table.title,
        "columns": columns(&table.batch),
        "rows": rows.clone().map(|row| cells(page, &table.batch, row)).collect::<Vec<_>>(),
        "subjects": subjects_of(page, table, rows),
        "total": table.batch.num_rows(),
        "notes": table.footnotes,
    })
}

fn subjects_of(page: &Page, table: &Table, rows: impl Iterator<Item = usize>) -> Vec<Option<Value>> {
    rows.map(|row| table.subject(row).map(|subject| subjects::short(page, subject))).collect()
}

/// The view that an address names, by the command that shows its topic.
pub(crate) fn named(topic: &str, name: &str) -> Result<&'static View, Refusal> {
    let found =
        Topic::ALL.into_iter().find(|known| known.command() == topic || format!("{known:?}").to_lowercase() == topic);
    let topic = found.ok_or_else(|| Refusal::absent(format!("no topic is called `{topic}`")))?;
    view(topic, name).ok_or_else(|| Refusal::absent(format!("no view of {} is called `{name}`", topic.command())))
}

/// What each column is.
fn columns(batch: &RecordBatch) -> Vec<Value> {
    let column = |field: &_| {
        let field: &Arc<_> = field;
        let meaning = Table::meaning(field);
        json!({
            "id": field.name(),
            "title": meaning.title,
            "about": meaning.definition,
            "unit": meaning.unit.name(),
            "type": kind(meaning.unit),
            "basis": meaning.basis.map(Basis::name),
            "rank": rank(meaning.rank),
        })
    };
    batch.schema().fields().iter().map(column).collect()
}

fn kind(unit: Unit) -> &'static str {
    match unit {
        Unit::Text => "text",
        Unit::Nanos => "time",
        Unit::Bytes => "bytes",
        Unit::Share => "share",
        Unit::Flag => "flag",
        Unit::Count => "count",
        _ => "number",
    }
}

fn rank(rank: Rank) -> &'static str {
    match rank {
        Rank::Key => "key",
        Rank::Normal => "normal",
        Rank::Minor => "minor",
        Rank::Detail => "detail",
    }
}

fn cells(page: &Page, batch: &RecordBatch, row: usize) -> Vec<Value> {
    let schema = batch.schema();
    // Lines of the program's text are its author's.
    let is_hidden = |key: &str| page.is_redacted() && key == "text";
    let cells = schema.fields().iter().zip(batch.columns());
    cells.map(|(field, column)| if is_hidden(field.name()) { Value::Null } else { json::value(column, row) }).collect()
}

/// The rows that pass the filter, in the order that was asked for.
fn chosen(table: &Table, request: &Request) -> Result<Vec<usize>, Refusal> {
    let batch = &table.batch;
    let mut rows: Vec<usize> = (0..batch.num_rows()).collect();
    if let Some(text) = request.get("filter") {
        let wanted = text.to_lowercase();
        let holds = |cell: Value| cell.as_str().is_some_and(|text| text.to_lowercase().contains(&wanted));
        rows.retain(|row| batch.columns().iter().any(|column| holds(json::value(column, *row))));
    }
    if let Some(name) = request.get("sort") {
        let schema = batch.schema();
        let column = schema.index_of(name).map_err(|_| Refusal::bad(format!("no column is called `{name}`")))?;
        let direction = if request.has("desc") { Direction::Down } else { Direction::Up };
        let kept: BTreeSet<usize> = rows.into_iter().collect();
        rows = rows_by(batch, column, Some(direction));
        rows.retain(|row| kept.contains(row));
    }
    Ok(rows)
}
