//! How scans of captures are sent to executors: what is read, and the columns; the captures are rows of their input.

use crate::capture_scan::{CaptureScan, Reading};
use ballista_core::serde::BallistaPhysicalExtensionCodec;
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::arrow::ipc::reader::StreamReader;
use datafusion::arrow::ipc::writer::StreamWriter;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};
use serde_json::{Value, json};
use std::sync::Arc;

/// How a scan of captures begins, as no message of Ballista does: their fields are numbered from 1.
const CAPTURES: &[u8] = b"\0captures\n";

/// Sends scans of captures, and everything else as Ballista does.
#[derive(Debug, Default)]
pub(super) struct PlanCodec {
    usual: BallistaPhysicalExtensionCodec,
}

impl PhysicalExtensionCodec for PlanCodec {
    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        sent: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        let Some(scan) = node.downcast_ref::<CaptureScan>() else {
            return self.usual.try_encode(node, sent, converter);
        };
        sent.extend(CAPTURES);
        sent.extend(of_reading(&scan.reading).to_string().into_bytes());
        sent.push(b'\n');
        StreamWriter::try_new(sent, &scan.columns)?.finish()?;
        Ok(())
    }

    fn try_decode(
        &self,
        sent: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        context: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let Some(own) = sent.strip_prefix(CAPTURES) else {
            return self.usual.try_decode(sent, inputs, context, converter);
        };
        let (reading, columns) = scan_of(own)?;
        let [input] = inputs else { return Err(broken()) };
        Ok(Arc::new(CaptureScan::new(Arc::clone(input), Arc::new(reading), columns)))
    }
}

fn broken() -> DataFusionError {
    DataFusionError::Plan("the scan of captures was not sent by ridgeline-fleet".to_owned())
}

/// A line that says what is read, and columns behind it.
fn scan_of(sent: &[u8]) -> Result<(Reading, SchemaRef)> {
    let end = sent.iter().position(|byte| *byte == b'\n').ok_or_else(broken)?;
    let (reading, columns) = (&sent[..end], &sent[end + 1..]);
    let reading: Value = serde_json::from_slice(reading).map_err(|_| broken())?;
    let columns: SchemaRef = StreamReader::try_new(columns, None)?.schema();
    // Without what a writer may have said of the whole.
    let columns = Arc::new(Schema::new(columns.fields().clone()));
    Ok((reading_of(&reading).ok_or_else(broken)?, columns))
}

/// What is read of captures, as a document.
pub(super) fn of_reading(reading: &Reading) -> Value {
    json!({
        "schema": reading.schema,
        "name": reading.name,
        "read_as": reading.read_as,
        "max_unpacked": reading.max_unpacked,
    })
}

/// What such a document says.
pub(super) fn reading_of(document: &Value) -> Option<Reading> {
    Some(Reading {
        schema: document["schema"].as_str()?.to_owned(),
        name: document["name"].as_str()?.to_owned(),
        read_as: document["read_as"].as_str().map(str::to_owned),
        max_unpacked: document["max_unpacked"].as_u64(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture_scan::{Listed, list_schema, rows_of};
    use datafusion::arrow::datatypes::{DataType, Field};
    use datafusion::datasource::memory::MemorySourceConfig;
    use datafusion_proto::physical_plan::DefaultPhysicalProtoConverter;

    #[test]
    fn a_scan_is_the_same_where_it_arrives() {
        let capture =
            Listed { job: "j".to_owned(), host: "a".to_owned(), rank: None, path: "/runs/\n\"a\"".to_owned() };
        let list = vec![vec![rows_of(&[&capture]).expect("rows")]; 3];
        let input = MemorySourceConfig::try_new_exec(&list, list_schema(), None).expect("a list");
        let reading = Reading {
            schema: "raw".to_owned(),
            name: "ev\n\"ent".to_owned(),
            read_as: Some("kineto".to_owned()),
            max_unpacked: Some(1 << 40),
        };
        let columns = Arc::new(Schema::new(vec![Field::new("dur_ns", DataType::Int64, true)]));
        let scan = CaptureScan::new(input, Arc::new(reading), columns);
        let inputs: Vec<Arc<dyn ExecutionPlan>> = scan.children().into_iter().map(Arc::clone).collect();
        let (scan, codec, converter) = (Arc::new(scan), PlanCodec::default(), DefaultPhysicalProtoConverter {});
        let mut sent = Vec::new();
        let plan = Arc::clone(&scan) as Arc<dyn ExecutionPlan>;
        codec.try_encode(plan, &mut sent, &converter).expect("it can be sent");
        let arrived = codec.try_decode(&sent, &inputs, &TaskContext::default(), &converter).expect("it arrives");
        let arrived = arrived.downcast_ref::<CaptureScan>().expect("a scan");
        assert_eq!((&arrived.reading, &arrived.columns), (&scan.reading, &scan.columns));
        assert_eq!(arrived.properties().output_partitioning().partition_count(), 3);
        // What is no scan of captures is not taken for one.
        assert!(codec.try_decode(&sent[1..], &inputs, &TaskContext::default(), &converter).is_err());
        assert!(codec.try_decode(&sent[..20], &inputs, &TaskContext::default(), &converter).is_err());
    }
}
