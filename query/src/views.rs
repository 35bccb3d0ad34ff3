//! Views of a capture as SQL has them: under names without `-`, as columns without what these say of themselves.

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::{Field, Schema};
use datafusion::common::{DataFusionError, Result};
use ridgeline::{Question, Session, Table, Topic, View};
use std::sync::Arc;

/// How a view is called in SQL, where `-` is a sign.
pub(crate) fn sql_name(view: &View) -> String {
    view.id.replace('-', "_")
}

/// The table of `view`.
pub(crate) fn view_table(session: &Session, topic: Topic, view: &View) -> Result<Table> {
    let answer = session.answer(topic, &[view], Question::default());
    let answer = answer.map_err(|error| DataFusionError::Execution(error.to_string()))?;
    let table = answer.tables.into_iter().next();
    table.ok_or_else(|| DataFusionError::Execution(format!("the view `{}` has no table", view.id)))
}

/// `batch` without what its columns say of themselves, which planning would take for a part of their type.
pub(crate) fn without_meaning(batch: &RecordBatch) -> Result<RecordBatch> {
    let schema = batch.schema();
    let fields = schema.fields().iter().map(|field| Field::new(field.name(), field.data_type().clone(), true));
    let schema = Schema::new(fields.collect::<Vec<_>>());
    Ok(RecordBatch::try_new(Arc::new(schema), batch.columns().to_vec())?)
}
