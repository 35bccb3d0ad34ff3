//! The tables of a capture, and the columns of one.

use crate::catalog::{RAW, sql_name, usual_order, view_table};
use crate::engine::Engine;
use crate::failure::Failure;
use datafusion::catalog::CatalogProvider as _;
use ridge_export::tables::{DIALECTS, RAW_TABLES};
use ridgeline::{Table, Topic, did_you_mean};
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
    let mut text = String::new();
    let mut line = |schema: &str, name: &str, about: &str| {
        // A text takes every sentence.
        let _ = writeln!(text, "{:44} {about}", format!("{schema}.{name}"));
    };
    for table in RAW_TABLES {
        line(RAW, table.name, table.about);
    }
    for topic in Topic::ALL {
        for view in engine.session.answerable(topic) {
            line(topic.command(), &sql_name(view), view.about);
        }
    }
    for dialect in DIALECTS {
        dialect.views().for_each(|(name, _)| line(dialect.name, name, dialect.about));
    }
    let order: Vec<&str> = usual_order();
    let _ = writeln!(text, "\nA name without its schema is looked for in {}.", order.join(", "));
    text
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
    if let Some(table) = RAW_TABLES.iter().find(|table| schema == RAW && table.name == name) {
        let _ = writeln!(text, "  {} rows", engine.tables.rows(table));
        for (column, field) in table.columns.iter().zip(table.schema().fields()) {
            let _ = writeln!(text, "  {:22} {:10} {}", column.name, field.data_type().to_string(), column.about);
        }
        return Ok(());
    }
    let topic = Topic::ALL.into_iter().find(|topic| topic.command() == schema);
    let view = topic.and_then(|topic| engine.session.answerable(topic).into_iter().find(|view| sql_name(view) == name));
    if let (Some(topic), Some(view)) = (topic, view) {
        let table = view_table(engine.session, topic, view).map_err(|error| Failure::of_query(&error))?;
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
