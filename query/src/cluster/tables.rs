//! How tables are sent to schedulers: those of datasets by address, schema, name and columns, those of captures with their list.

use crate::capture_scan::Listed;
use crate::captures::CaptureTable;
use crate::cluster::plans::{of_reading, reading_of};
use crate::dataset::{Answered, PartsTable, of_files};
use ballista_core::serde::BallistaLogicalExtensionCodec;
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::catalog::TableProvider;
use datafusion::common::{DataFusionError, Result, TableReference};
use datafusion::datasource::file_format::FileFormatFactory;
use datafusion::datasource::listing::ListingTableUrl;
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{Extension, LogicalPlan};
use datafusion_proto::logical_plan::LogicalExtensionCodec;
use serde_json::{Value, json};
use std::any::Any;
use std::sync::Arc;

/// How the text of a table of captures begins, as no address does.
const CAPTURES: &str = "{";

/// Sends tables by their names, and everything else as Ballista does.
#[derive(Debug, Default)]
pub(super) struct Codec {
    usual: BallistaLogicalExtensionCodec,
}

impl LogicalExtensionCodec for Codec {
    fn try_encode_table_provider(
        &self,
        _reference: &TableReference,
        table: Arc<dyn TableProvider>,
        sent: &mut Vec<u8>,
    ) -> Result<()> {
        let table = table.as_ref() as &dyn Any;
        if let Some(table) = table.downcast_ref::<CaptureTable>() {
            sent.extend(text_of(table).into_bytes());
            return Ok(());
        }
        let Some(table) = table.downcast_ref::<PartsTable>() else {
            let message =
                "only tables of datasets and captures can be read by executors; `ridgeline query` reads the others";
            return Err(DataFusionError::Plan(message.to_owned()));
        };
        sent.extend(format!("{}\n{}\n{}", table.address.as_str(), table.schema, table.name).into_bytes());
        Ok(())
    }

    fn try_decode_table_provider(
        &self,
        sent: &[u8],
        reference: &TableReference,
        columns: SchemaRef,
        _context: &TaskContext,
    ) -> Result<Arc<dyn TableProvider>> {
        let text = std::str::from_utf8(sent).unwrap_or_default();
        if text.starts_with(CAPTURES) {
            return Ok(Arc::new(table_of(text, &columns)?));
        }
        let [address, schema, name] = text.split('\n').collect::<Vec<_>>()[..] else {
            return Err(DataFusionError::Plan(format!("the table {reference} was not sent by ridgeline-fleet")));
        };
        let address = ListingTableUrl::parse(address)?;
        Ok(Arc::new(PartsTable::new(&address, schema, name, of_files(&columns))?))
    }

    fn try_decode(&self, sent: &[u8], inputs: &[LogicalPlan], context: &TaskContext) -> Result<Extension> {
        self.usual.try_decode(sent, inputs, context)
    }

    fn try_encode(&self, node: &Extension, sent: &mut Vec<u8>) -> Result<()> {
        self.usual.try_encode(node, sent)
    }

    fn try_decode_file_format(&self, sent: &[u8], context: &TaskContext) -> Result<Arc<dyn FileFormatFactory>> {
        self.usual.try_decode_file_format(sent, context)
    }

    fn try_encode_file_format(&self, sent: &mut Vec<u8>, format: Arc<dyn FileFormatFactory>) -> Result<()> {
        self.usual.try_encode_file_format(sent, format)
    }
}

/// A table of captures as text; its columns are sent beside it.
fn text_of(table: &CaptureTable) -> String {
    let captures = table.captures.iter();
    let captures: Vec<Value> =
        captures.map(|capture| json!([capture.job, capture.host, capture.rank, capture.path])).collect();
    json!({ "reading": of_reading(&table.reading), "captures": captures }).to_string()
}

fn table_of(text: &str, columns: &Schema) -> Result<CaptureTable> {
    let broken = || DataFusionError::Plan("the list of captures was not sent by ridgeline-fleet".to_owned());
    let document: Value = serde_json::from_str(text).map_err(|_| broken())?;
    let capture = |capture: &Value| {
        let text = |at: usize| Some(capture.get(at)?.as_str()?.to_owned());
        Some(Listed { job: text(0)?, host: text(1)?, rank: capture.get(2)?.as_i64(), path: text(3)? })
    };
    let captures = document["captures"].as_array().ok_or_else(broken)?.iter().map(capture);
    let captures: Vec<Listed> = captures.collect::<Option<_>>().ok_or_else(broken)?;
    let reading = reading_of(&document["reading"]).ok_or_else(broken)?;
    Ok(CaptureTable::new(captures.into(), reading, &of_files(columns), Answered::ByExecutors))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture_scan::Reading;
    use datafusion::arrow::datatypes::{DataType, Field};

    #[test]
    fn a_table_of_captures_is_the_same_where_it_arrives() {
        let listed = |host: &str, rank: Option<i64>| Listed {
            job: "j".to_owned(),
            host: host.to_owned(),
            rank,
            path: format!("/runs/\n{host}"),
        };
        let captures: Vec<Listed> = vec![listed("a", Some(7)), listed("b", None)];
        let own = Schema::new(vec![Field::new("dur_ns", DataType::Int64, true)]);
        let reading = Reading { schema: "raw".to_owned(), name: "event".to_owned(), ..Reading::default() };
        let table = CaptureTable::new(captures.into(), reading, &own, Answered::Here);
        let arrived = table_of(&text_of(&table), &table.schema()).expect("it arrives");
        assert_eq!((&arrived.captures, &arrived.reading), (&table.captures, &table.reading));
        assert_eq!(arrived.schema(), table.schema());
        assert!(table_of("{}", &own).is_err() && table_of("[", &own).is_err());
    }
}
