//! Tables as Parquet: the events in one file, or everything in a folder with the dialects' views as SQL for DuckDB.
//!
//! Texts are dictionaries, so a name is written once per row group, however many events have it.

use super::dialects::DIALECTS;
use super::event;
use super::list::RAW_TABLES;
use super::table::{RawTable, Tables};
use crate::tracks::Progress;
use arrow_array::builder::{StringDictionaryBuilder, StringViewBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use ridgeline::{Question, Session, Topic};
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

/// Writes the events to `out`; `told` hears now and then how many of them are written.
///
/// # Errors
/// Whatever `out` says.
pub fn write_events(tables: &Tables<'_>, out: &mut dyn Write, told: &mut dyn FnMut(u64)) -> io::Result<()> {
    let mut progress = Progress::new(told);
    write_table(tables, &event::EVENT, out, &mut |rows| (0..rows).for_each(|_| progress.row()))
}

/// Writes every table and every view that `session` answers into `folder`, which is there, and `views.sql` for DuckDB.
///
/// # Errors
/// Whatever the file system says; [`io::ErrorKind::InvalidData`] where a view cannot be made.
pub fn write_folder(
    session: &Session,
    tables: &Tables<'_>,
    folder: &Path,
    told: &mut dyn FnMut(u64),
) -> io::Result<()> {
    let mut script = Script::default();
    let mut progress = Progress::new(told);
    fs::create_dir(folder.join("raw"))?;
    for table in RAW_TABLES {
        let mut file = io::BufWriter::new(File::create(folder.join(format!("raw/{}.parquet", table.name)))?);
        let is_event = table.name == event::EVENT.name;
        let heard = &mut |rows: usize| (0..rows).filter(|_| is_event).for_each(|_| progress.row());
        write_table(tables, table, &mut file, heard)?;
        file.flush()?;
    }
    for topic in Topic::ALL {
        let views = session.answerable(topic);
        let answer = session.answer(topic, &views, Question::default());
        let answer = answer.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))?;
        fs::create_dir(folder.join(topic.command()))?;
        for (view, table) in views.iter().zip(answer.tables) {
            let name = sql_name(view.id);
            let mut file = File::create(folder.join(format!("{}/{name}.parquet", topic.command())))?;
            let batch = tables.shown(&table.batch);
            let mut parquet = writer(&batch.schema())?;
            write_batch(&mut parquet, &batch, &mut file)?;
            finish(parquet, &mut file)?;
            script.file(topic.command(), &name);
        }
    }
    for table in RAW_TABLES {
        script.file("raw", table.name);
    }
    ridge_files::write(&folder.join("views.sql"), script.text().as_bytes())
}

/// How a view is called in SQL, where `-` is a sign.
pub(crate) fn sql_name(id: &str) -> String {
    id.replace('-', "_")
}

fn write_table(
    tables: &Tables<'_>,
    table: &RawTable,
    out: &mut dyn Write,
    heard: &mut dyn FnMut(usize),
) -> io::Result<()> {
    let columns: Vec<usize> = (0..table.columns.len()).collect();
    let mut parquet = writer(&table.schema())?;
    for part in tables.parts(table) {
        let rows = part.len();
        write_batch(&mut parquet, &tables.batch(table, &columns, part), out)?;
        heard(rows);
    }
    finish(parquet, out)
}

/// The encoder's own sink is memory, passed on after every batch: it asks of a sink what `out` need not be.
fn writer(schema: &SchemaRef) -> io::Result<ArrowWriter<Vec<u8>>> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(format!("ridgeline {}", env!("CARGO_PKG_VERSION")))
        .build();
    ArrowWriter::try_new(Vec::new(), in_files(schema), Some(properties)).map_err(of_parquet)
}

fn write_batch(parquet: &mut ArrowWriter<Vec<u8>>, batch: &RecordBatch, out: &mut dyn Write) -> io::Result<()> {
    let columns = batch.columns().iter().map(dictionary).collect();
    let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    let batch = RecordBatch::try_new_with_options(in_files(&batch.schema()), columns, &options).map_err(of_arrow)?;
    parquet.write(&batch).map_err(of_parquet)?;
    pass_on(parquet.inner_mut(), out)
}

fn finish(mut parquet: ArrowWriter<Vec<u8>>, out: &mut dyn Write) -> io::Result<()> {
    parquet.finish().map_err(of_parquet)?;
    pass_on(parquet.inner_mut(), out)
}

fn pass_on(buffer: &mut Vec<u8>, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(buffer)?;
    buffer.clear();
    Ok(())
}

fn of_parquet(error: ParquetError) -> io::Error {
    io::Error::other(error)
}

fn of_arrow(error: ArrowError) -> io::Error {
    io::Error::other(error)
}

/// `schema` with texts as every reader of Parquet has them.
fn in_files(schema: &SchemaRef) -> SchemaRef {
    let field = |field: &Arc<Field>| match field.data_type() {
        DataType::Utf8View | DataType::Utf8 => {
            let texts = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
            Arc::new(field.as_ref().clone().with_data_type(texts))
        }
        _ => Arc::clone(field),
    };
    let fields: Vec<Arc<Field>> = schema.fields().iter().map(field).collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

fn dictionary(column: &ArrayRef) -> ArrayRef {
    let mut texts = StringDictionaryBuilder::<Int32Type>::new();
    match column.data_type() {
        DataType::Utf8View => column.as_string_view().iter().for_each(|text| texts.append_option(text)),
        DataType::Utf8 => column.as_string::<i32>().iter().for_each(|text| texts.append_option(text)),
        _ => return Arc::clone(column),
    }
    Arc::new(texts.finish())
}

impl Tables<'_> {
    /// `batch`, whose texts are no names of the trace, as it may be shown.
    fn shown(&self, batch: &RecordBatch) -> RecordBatch {
        let column = |column: &ArrayRef| match column.as_string_opt::<i32>() {
            Some(texts) => {
                let mut shown = StringViewBuilder::new();
                texts.iter().for_each(|text| shown.append_option(text.map(|text| self.names.shown(text))));
                Arc::new(shown.finish())
            }
            None => Arc::clone(column),
        };
        let columns: Vec<ArrayRef> = batch.columns().iter().map(column).collect();
        let field = |(field, column): (&Arc<Field>, &ArrayRef)| {
            field.as_ref().clone().with_data_type(column.data_type().clone())
        };
        let fields: Vec<Field> = batch.schema().fields().iter().zip(&columns).map(field).collect();
        let schema = Schema::new_with_metadata(fields, batch.schema().metadata().clone());
        let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(Arc::new(schema), columns, &options).expect("as many texts as before")
    }
}

/// The schema of the files of a folder: to DuckDB `memory` is the database itself.
fn schema(folder: &str) -> &str {
    if folder == "memory" { "mem" } else { folder }
}

/// The script that makes tables of files, and views of tables.
#[derive(Debug, Default)]
struct Script {
    /// Folder and name of each table, in the order in which a plain name is looked for.
    files: Vec<(String, String)>,
}

impl Script {
    fn file(&mut self, folder: &str, name: &str) {
        self.files.push((folder.to_owned(), name.to_owned()));
    }

    fn text(&self) -> String {
        let mut text = String::from(
            "-- Tables of a capture for DuckDB. In this directory: duckdb -init views.sql\n\
             -- raw: everything as recorded, in nanoseconds; stats, roofline, idle, transfers, mem: the tables of Ridgeline's\n\
             -- commands; perfetto, nsys, rocpd: the names of other tools. A name alone is the first of these.\n\n",
        );
        let mut schemas: Vec<&str> = self.files.iter().map(|(folder, _)| schema(folder)).collect();
        schemas.dedup();
        schemas.extend(DIALECTS.iter().map(|dialect| dialect.name));
        schemas.iter().for_each(|schema| text.push_str(&format!("CREATE SCHEMA {schema};\n")));
        for (folder, name) in &self.files {
            let schema = schema(folder);
            text.push_str(&format!("CREATE VIEW {schema}.{name} AS SELECT * FROM '{folder}/{name}.parquet';\n"));
        }
        DIALECTS.iter().for_each(|dialect| text.push_str(&format!("\n{}", dialect.sql)));
        text.push('\n');
        let views = DIALECTS.iter().flat_map(|dialect| dialect.views().map(|(name, _)| (dialect.name, name)));
        let files = || self.files.iter().map(|(folder, name)| (schema(folder), name.as_str()));
        let first = files().filter(|(schema, _)| *schema != "raw").chain(views);
        let mut known = HashSet::new();
        for (schema, name) in first.chain(files().filter(|(schema, _)| *schema == "raw")) {
            if known.insert(name.to_lowercase()) {
                text.push_str(&format!("CREATE VIEW {name} AS SELECT * FROM {schema}.{name};\n"));
            }
        }
        text
    }
}
