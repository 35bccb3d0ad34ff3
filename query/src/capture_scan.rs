//! A scan that reads captures themselves, on whatever machine it runs.
//!
//! Its input has a row for each capture, and its rows are those of one table in them. The captures are rows and not the scan's
//! own list, so that whatever divides the input divides them: Ballista gives each task some partitions of inputs that it
//! knows, and would let every task read all of a scan that it doesn't.

use crate::dataset::PARTS;
use crate::raw::RAW;
use crate::views::{sql_name, view_table, without_meaning};
use datafusion::arrow::array::{
    Array as _, ArrayRef, AsArray as _, Int64Array, RecordBatch, RecordBatchOptions, StringArray, new_null_array,
};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, Int64Type, Schema, SchemaRef};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchReceiverStreamBuilder;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties};
use futures::StreamExt as _;
use ridge_export::Privacy;
use ridge_export::tables::{RAW_TABLES, Tables};
use ridgeline::{OpenError, OpenOptions, Session, Topic, views_of};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// The table of the captures themselves, which `raw` has beside those of each.
pub(crate) const CAPTURE: &str = "capture";
/// Batches that are made before somebody takes them.
const AHEAD: usize = 2;

/// A capture, and what tells it from the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) job: String,
    pub(crate) host: String,
    /// Where the path tells it; else the capture does.
    pub(crate) rank: Option<i64>,
    pub(crate) path: String,
}

/// The columns of a list of captures.
pub(crate) fn list_schema() -> SchemaRef {
    let text = |name: &str| Field::new(name, DataType::Utf8, false);
    let [job, host, rank] = PARTS;
    Arc::new(Schema::new(vec![text(job), text(host), Field::new(rank, DataType::Int64, true), text("path")]))
}

/// Captures as rows.
pub(crate) fn rows_of(captures: &[&Listed]) -> Result<RecordBatch> {
    let texts = |text: fn(&Listed) -> &str| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(captures.iter().map(|capture| text(capture))))
    };
    let ranks: Int64Array = captures.iter().map(|capture| capture.rank).collect();
    let columns = vec![
        texts(|capture| &capture.job),
        texts(|capture| &capture.host),
        Arc::new(ranks),
        texts(|capture| &capture.path),
    ];
    Ok(RecordBatch::try_new(list_schema(), columns)?)
}

/// The captures that rows are.
fn captures_of(rows: &RecordBatch) -> Result<Vec<Listed>> {
    let [job, host, rank, path] = rows.columns() else {
        return Err(DataFusionError::Internal("expected a list of captures".to_owned()));
    };
    let (job, host, path) = (job.as_string::<i32>(), host.as_string::<i32>(), path.as_string::<i32>());
    let rank = rank.as_primitive::<Int64Type>();
    let capture = |row: usize| Listed {
        job: job.value(row).to_owned(),
        host: host.value(row).to_owned(),
        rank: rank.is_valid(row).then(|| rank.value(row)),
        path: path.value(row).to_owned(),
    };
    Ok((0..rows.num_rows()).map(capture).collect())
}

/// What is read of each capture, and how.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Reading {
    /// The schema of the table.
    pub(crate) schema: String,
    /// Its name.
    pub(crate) name: String,
    /// The format of the captures, where it isn't told by their content.
    pub(crate) read_as: Option<String>,
    /// What a compressed file may unpack to, bytes.
    pub(crate) max_unpacked: Option<u64>,
}

impl Reading {
    /// Opens a capture.
    pub(crate) fn open(&self, path: &str) -> Result<Session, OpenError> {
        let options = OpenOptions {
            format: self.read_as.clone(),
            max_unpacked_bytes: self.max_unpacked,
            // What was measured on the machine that reads would differ from one executor to the next.
            ..OpenOptions::default()
        };
        Session::open(&[PathBuf::from(path)], &options)
    }

    /// The columns of the table in `session`, without those that captures are told by; `None` where it has no such table.
    pub(crate) fn columns(&self, session: &Session) -> Result<Option<SchemaRef>> {
        if let Some(fixed) = self.fixed_columns() {
            return Ok(Some(fixed));
        }
        Ok(self.view(session)?.map(|rows| own(&rows.schema())))
    }

    /// The columns of a table that has the same ones in every capture; `None` for views.
    pub(crate) fn fixed_columns(&self) -> Option<SchemaRef> {
        if self.is_of_captures() {
            return Some(about_captures());
        }
        let table = RAW_TABLES.iter().find(|table| self.schema == RAW && table.name == self.name)?;
        Some(own(&table.schema()))
    }

    fn is_of_captures(&self) -> bool {
        self.schema == RAW && self.name == CAPTURE
    }

    /// The rows of a view; `None` where the capture doesn't answer it.
    fn view(&self, session: &Session) -> Result<Option<RecordBatch>> {
        let topic = Topic::ALL.into_iter().find(|topic| topic.command() == self.schema);
        let Some(topic) = topic.filter(|topic| views_of(*topic).any(|view| sql_name(view) == self.name)) else {
            return Ok(None);
        };
        let Some(view) = session.answerable(topic).into_iter().find(|view| sql_name(view) == self.name) else {
            return Ok(None);
        };
        without_meaning(&view_table(session, topic, view)?.batch).map(Some)
    }

    /// Hands the rows of a capture to `take`, as long as that wants them.
    fn read(&self, capture: &Listed, columns: &SchemaRef, take: &mut dyn FnMut(RecordBatch) -> bool) -> Result<()> {
        let opened = self.open(&capture.path);
        let rank = opened.as_ref().ok().and_then(|session| session.only_rank().map(i64::from));
        let told = Listed { rank: Some(capture.rank.or(rank).unwrap_or(0)), ..capture.clone() };
        if self.is_of_captures() {
            take(as_planned(&about(capture, &opened)?, columns, &told)?);
            return Ok(());
        }
        let session = opened.map_err(|error| unreadable(&capture.path, &error))?;
        if let Some(table) = RAW_TABLES.iter().find(|table| self.schema == RAW && table.name == self.name) {
            let tables = Tables::new(&session, Privacy::Kept);
            let is_wanted = |name: &str| !PARTS.contains(&name) && columns.column_with_name(name).is_some();
            let wanted: Vec<usize> = (0..table.columns.len()).filter(|at| is_wanted(table.columns[*at].name)).collect();
            for part in tables.parts(table) {
                if !take(as_planned(&tables.batch(table, &wanted, part), columns, &told)?) {
                    break;
                }
            }
        } else if let Some(rows) = self.view(&session)? {
            take(as_planned(&rows, columns, &told)?);
        }
        Ok(())
    }
}

/// Columns without those that captures are told by, and with texts as executors send them to each other.
fn own(columns: &Schema) -> SchemaRef {
    let fields = columns.fields().iter().filter(|field| !PARTS.contains(&field.name().as_str()));
    let plain = |field: &Field| match field.data_type() {
        DataType::Utf8View => field.clone().with_data_type(DataType::Utf8),
        _ => field.clone(),
    };
    Arc::new(Schema::new(fields.map(|field| plain(field)).collect::<Vec<_>>()))
}

/// Why a capture has no rows: by name, since it is one of many.
pub(crate) fn unreadable(path: &str, error: &OpenError) -> DataFusionError {
    DataFusionError::Execution(format!("cannot read the capture {path}: {error}"))
}

/// The columns of the table of the captures themselves.
fn about_captures() -> SchemaRef {
    let field = |name: &str, kind: DataType| Field::new(name, kind, true);
    Arc::new(Schema::new(vec![
        field("path", DataType::Utf8),
        field("bytes", DataType::Int64),
        field("events", DataType::Int64),
        field("problem", DataType::Utf8),
    ]))
}

/// The row of a capture in the table of the captures themselves.
fn about(capture: &Listed, opened: &Result<Session, OpenError>) -> Result<RecordBatch> {
    let session = opened.as_ref().ok();
    let bytes = session.map(|session| session.files().map(|(_, _, bytes)| bytes).sum::<u64>().cast_signed());
    let event = RAW_TABLES.iter().find(|table| table.name == "event");
    let events = session.zip(event).map(|(session, event)| Tables::new(session, Privacy::Kept).rows(event) as i64);
    let problem = opened.as_ref().err().map(ToString::to_string);
    let columns: Vec<ArrayRef> = vec![
        Arc::new(StringArray::from_iter_values([&capture.path])),
        Arc::new(Int64Array::from(vec![bytes])),
        Arc::new(Int64Array::from(vec![events])),
        Arc::new(StringArray::from(vec![problem])),
    ];
    Ok(RecordBatch::try_new(about_captures(), columns)?)
}

/// `rows` of a capture under the columns of a plan: what the capture doesn't have is null.
fn as_planned(rows: &RecordBatch, columns: &SchemaRef, capture: &Listed) -> Result<RecordBatch> {
    let count = rows.num_rows();
    let same = |text: &str| -> ArrayRef { Arc::new(StringArray::from_iter_values(std::iter::repeat_n(text, count))) };
    let [job, host, rank] = PARTS;
    let column = |field: &Arc<Field>| -> Result<ArrayRef> {
        let name = field.name().as_str();
        if name == job {
            return Ok(same(&capture.job));
        }
        if name == host {
            return Ok(same(&capture.host));
        }
        if name == rank {
            return Ok(Arc::new(Int64Array::from(vec![capture.rank; count])));
        }
        match rows.column_by_name(name) {
            Some(values) if values.data_type() == field.data_type() => Ok(Arc::clone(values)),
            Some(values) => Ok(cast(values, field.data_type())?),
            None => Ok(new_null_array(field.data_type(), count)),
        }
    };
    let arrays = columns.fields().iter().map(column).collect::<Result<Vec<_>>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(count));
    Ok(RecordBatch::try_new_with_options(Arc::clone(columns), arrays, &options)?)
}

/// Reads a table of the captures that are the rows of its input.
#[derive(Debug)]
pub(crate) struct CaptureScan {
    input: Arc<dyn ExecutionPlan>,
    pub(crate) reading: Arc<Reading>,
    /// The columns that are read, and no others.
    pub(crate) columns: SchemaRef,
    properties: Arc<PlanProperties>,
}

impl CaptureScan {
    /// A scan of the captures of `input`, with the partitions of that.
    pub(crate) fn new(input: Arc<dyn ExecutionPlan>, reading: Arc<Reading>, columns: SchemaRef) -> CaptureScan {
        let partitions = input.properties().output_partitioning().partition_count();
        let properties = PlanProperties::new(
            EquivalenceProperties::new(Arc::clone(&columns)),
            Partitioning::UnknownPartitioning(partitions),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        CaptureScan { input, reading, columns, properties: Arc::new(properties) }
    }
}

impl DisplayAs for CaptureScan {
    fn fmt_as(&self, _form: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns: Vec<&str> = self.columns.fields().iter().map(|field| field.name().as_str()).collect();
        let Reading { schema, name, .. } = self.reading.as_ref();
        write!(f, "CaptureScan: table={schema}.{name}, columns=[{}]", columns.join(", "))
    }
}

impl ExecutionPlan for CaptureScan {
    fn name(&self) -> &'static str {
        "CaptureScan"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    /// The captures were divided when the scan was planned; a row is no work, but reading what it names.
    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn apply_expressions(
        &self,
        _each: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, inputs: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        let [input] = <[_; 1]>::try_from(inputs)
            .map_err(|_| DataFusionError::Internal("expected one list of captures".to_owned()))?;
        Ok(Arc::new(CaptureScan::new(input, Arc::clone(&self.reading), Arc::clone(&self.columns))))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let mut lists = self.input.execute(partition, context)?;
        let mut read = RecordBatchReceiverStreamBuilder::new(Arc::clone(&self.columns), AHEAD);
        let (reading, columns, rows) = (Arc::clone(&self.reading), Arc::clone(&self.columns), read.tx());
        read.spawn(async move {
            while let Some(list) = lists.next().await {
                // One after the other: a capture may need as much memory as the machine can spare.
                for capture in captures_of(&list?)? {
                    let (reading, columns, rows) = (Arc::clone(&reading), Arc::clone(&columns), rows.clone());
                    let send =
                        move || reading.read(&capture, &columns, &mut |batch| rows.blocking_send(Ok(batch)).is_ok());
                    let ended = tokio::task::spawn_blocking(send).await;
                    ended.map_err(|error| DataFusionError::ExecutionJoin(Box::new(error)))??;
                }
            }
            Ok(())
        });
        Ok(read.build())
    }
}
