//! The tables of a capture, and the columns of one.

use crate::capture_scan::CAPTURE;
use crate::captures::Captures;
use crate::catalog::{Source, usual_order};
use crate::dataset::Dataset;
use crate::engine::Engine;
use crate::failure::Failure;
use crate::raw::RAW;
use crate::views::{sql_name, view_table};
use datafusion::catalog::CatalogProvider as _;
use ridge_export::tables::{DIALECTS, RAW_TABLES};
use ridgeline::{Session, Table, Topic, did_you_mean, views_of};
use std::fmt::Write as _;
use std::io::{self, Write as _};

/// Prints every table, or the columns of `named`.
pub(crate) async fn print(engine: &Engine, named: Option<&str>) -> Result<(), Failure> {
    let text = match named {
        None => all(engine),
        Some(name) => columns(engine, name).await?,
    };
    io::stdout().write_all(text.as_bytes()).map_err(|error| Failure::of_output(&error))
}

fn all(engine: &Engine) -> String {
    let (mut text, order) = match engine.source {
        Source::Capture(session, _) => (of_capture(session), usual_order()),
        Source::Captures(captures) => (of_captures(captures), own_schemas()),
        Source::Dataset(dataset) => {
            (of_dataset(dataset), usual_order().into_iter().filter(|name| dataset.tables.contains_key(*name)).collect())
        }
    };
    // A text takes every sentence.
    let _ = writeln!(text, "\nA name without its schema is looked for in {}.", order.join(", "));
    text
}

fn of_capture(session: &Session) -> String {
    let raw = RAW_TABLES.iter().map(|table| line(RAW, table.name, table.about));
    let views = |topic: Topic| {
        session.answerable(topic).into_iter().map(move |view| line(topic.command(), &sql_name(view), view.about))
    };
    let names =
        DIALECTS.iter().flat_map(|dialect| dialect.views().map(|(name, _)| line(dialect.name, name, dialect.about)));
    raw.chain(Topic::ALL.into_iter().flat_map(views)).chain(names).collect()
}

/// The schemas of Ridgeline's own tables, as names are looked for.
fn own_schemas() -> Vec<&'static str> {
    let is_own = |name: &&str| *name == RAW || Topic::ALL.into_iter().any(|topic| topic.command() == *name);
    usual_order().into_iter().filter(is_own).collect()
}

fn of_captures(captures: &Captures) -> String {
    let raw = RAW_TABLES.iter().map(|table| line(RAW, table.name, table.about));
    let views = |topic: Topic| views_of(topic).map(move |view| line(topic.command(), &sql_name(view), view.about));
    let lines: String = raw.chain(Topic::ALL.into_iter().flat_map(views)).collect();
    let own = line(RAW, CAPTURE, "the captures themselves: path, size, events, and why one can't be read");
    format!("{} captures, {TOLD_APART}\n\n{own}{lines}", captures.listed().len())
}

/// How rows of several captures are told apart.
const TOLD_APART: &str = "told apart by the columns job, host and rank of every table";

fn of_dataset(dataset: &Dataset) -> String {
    let about = |schema: &str, name: &str| match Topic::ALL.into_iter().find(|topic| topic.command() == schema) {
        Some(topic) => views_of(topic).find(|view| sql_name(view) == name).map_or("", |view| view.about),
        None => RAW_TABLES.iter().find(|table| table.name == name).map_or("", |table| table.about),
    };
    let tables = dataset.tables.iter().flat_map(|(schema, names)| names.keys().map(move |name| (schema, name)));
    let lines: String = tables.map(|(schema, name)| line(schema, name, about(schema, name))).collect();
    format!("{} captures, {TOLD_APART}\n\n{lines}", dataset.parts.len())
}

fn line(schema: &str, name: &str, about: &str) -> String {
    format!("{:44} {about}\n", format!("{schema}.{name}"))
}

async fn columns(engine: &Engine, name: &str) -> Result<String, Failure> {
    let (schema, name) = name.split_once('.').map_or((None, name), |(schema, name)| (Some(schema), name));
    let homes: Vec<&str> =
        usual_order().into_iter().filter(|home| schema.is_none_or(|schema| schema == *home)).collect();
    let mut text = String::new();
    for home in homes {
        let names = engine.catalog.names(home);
        let Some(known) = names.iter().find(|known| known.eq_ignore_ascii_case(name)) else { continue };
        let _ = writeln!(text, "{home}.{known}");
        described(engine, home, known, &mut text).await?;
    }
    if !text.is_empty() {
        return Ok(text);
    }
    let names: Vec<String> = usual_order().into_iter().flat_map(|home| engine.catalog.names(home)).collect();
    let failure = Failure::new(format!("unknown table `{name}`"));
    Err(match did_you_mean(name, names.iter().map(String::as_str)) {
        Some(hint) => failure.hint(hint),
        None => failure.hint("`--tables` lists the tables of the capture, which has no others"),
    })
}

async fn described(engine: &Engine, schema: &str, name: &str, text: &mut String) -> Result<(), Failure> {
    if let (Source::Capture(_, tables), Some(table)) =
        (engine.source, RAW_TABLES.iter().find(|table| schema == RAW && table.name == name))
    {
        let _ = writeln!(text, "  {} rows", tables.rows(table));
        for (column, field) in table.columns.iter().zip(table.schema().fields()) {
            let _ = writeln!(text, "  {:22} {:10} {}", column.name, field.data_type().to_string(), column.about);
        }
        return Ok(());
    }
    let topic = Topic::ALL.into_iter().find(|topic| topic.command() == schema);
    if let (Source::Capture(session, _), Some(topic)) = (engine.source, topic)
        && let Some(view) = session.answerable(topic).into_iter().find(|view| sql_name(view) == name)
    {
        let table = view_table(session, topic, view).map_err(|error| Failure::of_query(&error))?;
        let _ = writeln!(text, "  {} rows", table.batch.num_rows());
        for field in table.batch.schema().fields() {
            let meaning = Table::meaning(field);
            let _ = writeln!(text, "  {:22} {:10} {}", field.name(), field.data_type().to_string(), meaning.definition);
        }
        return Ok(());
    }
    let provider = match engine.catalog.schema(schema) {
        Some(schema) => schema.table(name).await.map_err(|error| Failure::of_query(&error))?,
        None => None,
    };
    for field in provider.iter().flat_map(|table| table.schema().fields().to_vec()) {
        let _ = writeln!(text, "  {:22} {}", field.name(), field.data_type());
    }
    Ok(())
}
