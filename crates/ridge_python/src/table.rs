//! A table for Python: handed over by Arrow's PyCapsule interface, without a copy.
//!
//! <https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator};
use arrow_schema::Schema;
use arrow_schema::ffi::FFI_ArrowSchema;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use ridgeline::{Basis, Table as Answer};
use std::sync::Arc;

/// What a column means: its name, title, unit, basis and definition.
type Column = (String, String, &'static str, Option<&'static str>, String);

/// A table: an Arrow batch whose columns say their unit and basis.
#[pyclass(frozen, module = "ridgeline._native")]
pub struct Table {
    batch: RecordBatch,
    name: &'static str,
    title: String,
    footnotes: Vec<String>,
    rows_total: usize,
}

impl Table {
    /// `table`, with its own words in the schema's metadata.
    pub(crate) fn of(table: Answer) -> Result<Table, arrow_schema::ArrowError> {
        let schema = table.batch.schema();
        let mut metadata = schema.metadata().clone();
        metadata.insert("name".to_owned(), table.name.to_owned());
        metadata.insert("title".to_owned(), table.title.clone());
        let schema = Arc::new(Schema::new_with_metadata(schema.fields().clone(), metadata));
        let batch = RecordBatch::try_new(schema, table.batch.columns().to_vec())?;
        Ok(Table {
            batch,
            name: table.name,
            title: table.title,
            footnotes: table.footnotes,
            rows_total: table.rows_total,
        })
    }
}

#[pymethods]
impl Table {
    /// Its name: `op`.
    #[getter]
    fn name(&self) -> &'static str {
        self.name
    }

    /// Its title for people.
    #[getter]
    fn title(&self) -> &str {
        &self.title
    }

    /// What is missing or how to read it.
    #[getter]
    fn footnotes(&self) -> Vec<String> {
        self.footnotes.clone()
    }

    /// How many rows there are, where not all of them were made.
    #[getter]
    fn rows_total(&self) -> usize {
        self.rows_total
    }

    /// What each column means.
    #[getter]
    fn columns(&self) -> Vec<Column> {
        let schema = self.batch.schema();
        let column = |field: &Arc<arrow_schema::Field>| {
            let meaning = Answer::meaning(field);
            let basis = meaning.basis.map(Basis::name);
            let (title, definition) = (meaning.title.to_owned(), meaning.definition.to_owned());
            (field.name().clone(), title, meaning.unit.name(), basis, definition)
        };
        schema.fields().iter().map(column).collect()
    }

    /// The first `rows` rows as JSON, a list of objects.
    fn json(&self, rows: usize) -> String {
        let schema = self.batch.schema();
        let object = |row: usize| {
            let fields = schema.fields().iter().zip(self.batch.columns());
            fields.map(|(field, column)| (field.name().clone(), ridge_report::json::value(column, row))).collect()
        };
        let rows: Vec<serde_json::Value> =
            (0..rows.min(self.batch.num_rows())).map(|row| serde_json::Value::Object(object(row))).collect();
        serde_json::Value::Array(rows).to_string()
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.batch.schema().as_ref()).map_err(not_exported)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// The rows as one batch of a stream; another schema than its own is not made, as the interface allows.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), c"arrow_array_stream")
    }
}

fn not_exported(error: arrow_schema::ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}
