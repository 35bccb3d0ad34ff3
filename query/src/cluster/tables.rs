//! How tables of a dataset are sent to schedulers: by address, schema, name and columns.

use crate::dataset::{PartsTable, of_files};
use ballista_core::serde::BallistaLogicalExtensionCodec;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::TableProvider;
use datafusion::common::{DataFusionError, Result, TableReference};
use datafusion::datasource::file_format::FileFormatFactory;
use datafusion::datasource::listing::ListingTableUrl;
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{Extension, LogicalPlan};
use datafusion_proto::logical_plan::LogicalExtensionCodec;
use std::any::Any;
use std::sync::Arc;

/// Sends tables of datasets by their names, and everything else as Ballista does.
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
        let Some(table) = (table.as_ref() as &dyn Any).downcast_ref::<PartsTable>() else {
            let message = "only tables of datasets can be read by executors; `ridgeline query` reads the others";
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
