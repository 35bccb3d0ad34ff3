//! Answers in the form that was asked for, batch by batch: none but that of a terminal holds more than one in memory.

use crate::arguments::{Arguments, Format};
use crate::failure::Failure;
use datafusion::arrow::array::{Array as _, RecordBatch};
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::arrow::ipc::writer::{FileWriter, StreamWriter};
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::common::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::logical_expr::LogicalPlan;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::prelude::SessionContext;
use futures::StreamExt as _;
use ridgeline::escape::escape_controls;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::path::Path;
use tokio::runtime::Handle;

/// Name and version of the document of `-f json`.
pub(crate) const SCHEMA: &str = "ridgeline.query.v1";

/// Whether the answer of another query may stand behind one of this form.
pub(crate) fn can_follow(format: Format) -> bool {
    matches!(format, Format::Text | Format::Markdown)
}

/// Runs `plan` and writes what it answers.
pub(crate) async fn write(context: &SessionContext, plan: LogicalPlan, arguments: &Arguments) -> Result<(), Failure> {
    let failed = |error: DataFusionError| Failure::of_query(&error);
    let frame = context.execute_logical_plan(plan).await.map_err(failed)?;
    let frame = match arguments.explain {
        true => frame.explain(false, false).map_err(failed)?,
        false => frame,
    };
    let batches = frame.execute_stream().await.map_err(failed)?;
    let (format, rows) = (arguments.format, arguments.rows);
    let is_binary = matches!(format, Format::Arrow | Format::Parquet);
    if is_binary && arguments.output.is_none() && io::stdout().is_terminal() {
        return Err(Failure::usage("expected a file or a pipe for binary data, found a terminal")
            .hint("write it to a file with `-o FILE`, or pipe it to a program"));
    }
    let mut answer = Answer { batches, runtime: Handle::current() };
    match arguments.output.as_deref() {
        None => answer.write(format, rows, Place::Pipe, &mut BufWriter::new(io::stdout())),
        Some(path) => in_file(path, |file| answer.write(format, rows, Place::File, file)),
    }
}

/// The rows of an answer, as JSON has them.
#[derive(Debug)]
pub(crate) struct Rows {
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Vec<serde_json::Value>>,
}

/// Runs `plan` and keeps what it answers.
pub(crate) async fn rows(context: &SessionContext, plan: LogicalPlan) -> Result<Rows, Failure> {
    let failed = |error: DataFusionError| Failure::of_query(&error);
    let mut batches =
        context.execute_logical_plan(plan).await.map_err(failed)?.execute_stream().await.map_err(failed)?;
    let columns = heads(&batches.schema()).into_iter().map(|head| head.name).collect();
    let mut rows = Vec::new();
    while let Some(batch) = batches.next().await {
        each_row(&batch.map_err(failed)?, |cells| {
            rows.push(cells.iter().map(|cell| serde_json::from_str(&cell.json()).unwrap_or_default()).collect());
            Ok(())
        })?;
    }
    Ok(Rows { columns, rows })
}

/// A file that is replaced when all of it is written.
fn in_file(path: &Path, write: impl FnOnce(&mut BufWriter<&mut File>) -> Result<(), Failure>) -> Result<(), Failure> {
    let mut failure = None;
    let written = ridge_files::replace(path, |file| {
        write(&mut BufWriter::new(file)).map_err(|error| {
            failure = Some(error);
            io::Error::other("the query failed")
        })
    });
    match (failure, written) {
        (Some(failure), _) => Err(failure),
        (None, written) => written.map_err(|error| Failure::new(format!("cannot write {}: {error}", path.display()))),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    File,
    Pipe,
}

/// The batches of an answer, one after the other.
struct Answer {
    batches: SendableRecordBatchStream,
    runtime: Handle,
}

impl Answer {
    fn next(&mut self) -> Option<Result<RecordBatch, Failure>> {
        let batch = tokio::task::block_in_place(|| self.runtime.block_on(self.batches.next()))?;
        Some(batch.map_err(|error| Failure::of_query(&error)))
    }

    fn write(
        &mut self,
        format: Format,
        rows: usize,
        place: Place,
        out: &mut (impl Write + Send),
    ) -> Result<(), Failure> {
        match format {
            Format::Text => self.shown(rows, out, text),
            Format::Markdown => self.shown(rows, out, markdown),
            Format::Csv => self.separated(b',', out),
            Format::Tsv => self.separated(b'\t', out),
            Format::Json => self.json(out),
            Format::Arrow if place == Place::Pipe => {
                let mut writer = StreamWriter::try_new(&mut *out, &self.batches.schema()).map_err(of_writer)?;
                while let Some(batch) = self.next() {
                    writer.write(&batch?).map_err(of_writer)?;
                }
                writer.finish().map_err(of_writer)
            }
            Format::Arrow => {
                let mut writer = FileWriter::try_new(&mut *out, &self.batches.schema()).map_err(of_writer)?;
                while let Some(batch) = self.next() {
                    writer.write(&batch?).map_err(of_writer)?;
                }
                writer.finish().map_err(of_writer)
            }
            Format::Parquet => {
                let mut writer = ArrowWriter::try_new(&mut *out, self.batches.schema(), None).map_err(of_writer)?;
                while let Some(batch) = self.next() {
                    writer.write(&batch?).map_err(of_writer)?;
                }
                writer.close().map(|_| ()).map_err(of_writer)
            }
        }?;
        out.flush().map_err(|error| Failure::of_output(&error))
    }

    /// The first `most` rows as people read them; all for 0.
    fn shown(
        &mut self,
        most: usize,
        out: &mut impl Write,
        show: fn(&[Head], &[Vec<Cell>]) -> String,
    ) -> Result<(), Failure> {
        let heads = heads(&self.batches.schema());
        let mut rows: Vec<Vec<Cell>> = Vec::new();
        let mut has_more = false;
        while !has_more && let Some(batch) = self.next() {
            let batch = batch?;
            let room = if most == 0 { batch.num_rows() } else { (most - rows.len()).min(batch.num_rows()) };
            has_more = room < batch.num_rows();
            each_row(&batch.slice(0, room), |cells| {
                rows.push(cells);
                Ok(())
            })?;
        }
        let mut shown = show(&heads, &rows);
        if has_more {
            shown.push_str(&format!("the first {} rows; `--rows 0` shows all, `-f csv` writes them\n", rows.len()));
        }
        out.write_all(shown.as_bytes()).map_err(|error| Failure::of_output(&error))
    }

    fn separated(&mut self, delimiter: u8, out: &mut impl Write) -> Result<(), Failure> {
        let of_csv = |error: csv::Error| match error.into_kind() {
            csv::ErrorKind::Io(error) => Failure::of_output(&error),
            other => Failure::new(format!("cannot write the answer: {other:?}")),
        };
        let mut writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(out);
        let names: Vec<String> = heads(&self.batches.schema()).into_iter().map(|head| head.name).collect();
        writer.write_record(&names).map_err(of_csv)?;
        while let Some(batch) = self.next() {
            each_row(&batch?, |cells| writer.write_record(cells.iter().map(Cell::safe)).map_err(of_csv))?;
        }
        writer.flush().map_err(|error| Failure::of_output(&error))
    }

    fn json(&mut self, out: &mut impl Write) -> Result<(), Failure> {
        let heads = heads(&self.batches.schema());
        let columns: Vec<serde_json::Value> =
            heads.iter().map(|head| serde_json::json!({ "key": head.name, "type": head.kind })).collect();
        let columns = serde_json::Value::from(columns);
        let keys: Vec<String> =
            heads.iter().map(|head| serde_json::Value::from(head.name.as_str()).to_string()).collect();
        let mut put = |text: &str| out.write_all(text.as_bytes()).map_err(|error| Failure::of_output(&error));
        put(&format!("{{\n  \"schema\": \"{SCHEMA}\",\n  \"columns\": {columns},\n  \"rows\": ["))?;
        let mut separator = "\n    ";
        while let Some(batch) = self.next() {
            each_row(&batch?, |cells| {
                let values = keys.iter().zip(&cells).map(|(key, cell)| format!("{key}: {}", cell.json()));
                put(&format!("{separator}{{{}}}", values.collect::<Vec<_>>().join(", ")))?;
                separator = ",\n    ";
                Ok(())
            })?;
        }
        put("\n  ]\n}\n")
    }
}

fn of_writer(error: impl Into<DataFusionError>) -> Failure {
    match error.into() {
        DataFusionError::IoError(error) => Failure::of_output(&error),
        DataFusionError::ArrowError(arrow, _) => match *arrow {
            datafusion::arrow::error::ArrowError::IoError(_, error) => Failure::of_output(&error),
            other => Failure::new(format!("cannot write the answer: {other}")),
        },
        other => Failure::new(format!("cannot write the answer: {}", other.strip_backtrace())),
    }
}

/// A column of an answer.
#[derive(Debug)]
struct Head {
    name: String,
    /// The name that the query gives it.
    plain: String,
    /// The type in JSON.
    kind: &'static str,
}

fn heads(schema: &SchemaRef) -> Vec<Head> {
    let kind = |kind: &DataType| match kind {
        DataType::Boolean => "flag",
        kind if kind.is_integer() => "whole",
        kind if kind.is_numeric() => "number",
        _ => "text",
    };
    let mut heads: Vec<Head> = Vec::new();
    for field in schema.fields() {
        // `select a.name, b.name` gives two columns the same name, which an object cannot have.
        let same = heads.iter().filter(|head| head.plain == *field.name()).count();
        let name = if same == 0 { field.name().clone() } else { format!("{}_{}", field.name(), same + 1) };
        heads.push(Head { name, plain: field.name().clone(), kind: kind(field.data_type()) });
    }
    heads
}

/// A value of an answer.
#[derive(Debug)]
enum Cell {
    Null,
    Text(String),
    /// A number or a flag, in the letters of JSON where JSON has any.
    Plain(String),
}

impl Cell {
    /// What a terminal and a spreadsheet may show.
    fn safe(&self) -> String {
        match self {
            Cell::Null => String::new(),
            Cell::Plain(text) => text.clone(),
            Cell::Text(text) => {
                let text = escape_controls(text);
                // A spreadsheet would take it for a formula.
                if text.starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text.into_owned() }
            }
        }
    }

    fn json(&self) -> String {
        match self {
            Cell::Null => "null".to_owned(),
            Cell::Text(text) => serde_json::Value::from(text.as_str()).to_string(),
            // Neither NaN nor infinity is a number to JSON.
            Cell::Plain(text) if text.ends_with(['N', 'f']) => "null".to_owned(),
            Cell::Plain(text) => text.clone(),
        }
    }

    fn shown(&self) -> String {
        match self {
            Cell::Null => "–".to_owned(),
            Cell::Plain(text) => text.clone(),
            Cell::Text(text) => escape_controls(text).into_owned(),
        }
    }
}

fn each_row(batch: &RecordBatch, mut each: impl FnMut(Vec<Cell>) -> Result<(), Failure>) -> Result<(), Failure> {
    let options = FormatOptions::default();
    let columns: Result<Vec<_>, _> =
        batch.columns().iter().map(|column| ArrayFormatter::try_new(column.as_ref(), &options)).collect();
    let columns = columns.map_err(|error| Failure::new(format!("cannot show the answer: {error}")))?;
    let plain: Vec<bool> = heads(&batch.schema()).iter().map(|head| head.kind != "text").collect();
    (0..batch.num_rows()).try_for_each(|row| {
        let cell = |(column, (values, is_plain)): (usize, (&ArrayFormatter<'_>, &bool))| {
            if batch.column(column).is_null(row) {
                return Cell::Null;
            }
            let text = values.value(row).to_string();
            if *is_plain { Cell::Plain(text) } else { Cell::Text(text) }
        };
        each(columns.iter().zip(&plain).enumerate().map(cell).collect())
    })
}

/// Columns under one another, numbers to the right.
fn text(heads: &[Head], rows: &[Vec<Cell>]) -> String {
    let cells: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(Cell::shown).collect()).collect();
    let letters = |text: &str| text.chars().count();
    let widths: Vec<usize> = (0..heads.len())
        .map(|at| cells.iter().map(|row| letters(&row[at])).chain([letters(&heads[at].name)]).max().unwrap_or(0))
        .collect();
    let line = |texts: &mut dyn Iterator<Item = &str>| {
        let padded = texts.enumerate().map(|(at, text)| {
            let space = " ".repeat(widths[at] - letters(text));
            if heads[at].kind == "text" { format!("{text}{space}") } else { format!("{space}{text}") }
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    let head = line(&mut heads.iter().map(|head| head.name.as_str()));
    cells.iter().fold(head, |shown, row| shown + &line(&mut row.iter().map(String::as_str)))
}

fn markdown(heads: &[Head], rows: &[Vec<Cell>]) -> String {
    let line = |texts: Vec<String>| format!("| {} |\n", texts.join(" | "));
    let escaped = |text: String| text.replace('\\', "\\\\").replace('|', "\\|");
    let mut shown = line(heads.iter().map(|head| escaped(head.name.clone())).collect());
    shown += &line(heads.iter().map(|head| if head.kind == "text" { "---" } else { "---:" }.to_owned()).collect());
    rows.iter().fold(shown, |shown, row| shown + &line(row.iter().map(|cell| escaped(cell.shown())).collect()))
}
