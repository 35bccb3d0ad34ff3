//! A raw table as DataFusion scans it: columns are made part by part of the rows that are asked for.

use async_trait::async_trait;
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, Statistics};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties};
use ridge_export::tables::{RawTable, Tables};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The schema of what was recorded.
pub(crate) const RAW: &str = "raw";

/// A raw table of the capture.
#[derive(Debug)]
pub(crate) struct Raw {
    pub(crate) tables: &'static Tables<'static>,
    pub(crate) table: &'static RawTable,
}

#[async_trait]
impl TableProvider for Raw {
    fn schema(&self) -> SchemaRef {
        self.table.schema()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        _limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let columns: Vec<usize> = projection.cloned().unwrap_or_else(|| (0..self.table.columns.len()).collect());
        let whole = self.schema();
        let schema = Arc::new(Schema::new(columns.iter().map(|at| whole.field(*at).clone()).collect::<Vec<_>>()));
        let parts = self.tables.parts(self.table);
        let each = parts.len().div_ceil(state.config().target_partitions().max(1)).max(1);
        let mut partitions: Vec<Vec<Range<usize>>> = parts.chunks(each).map(<[_]>::to_vec).collect();
        partitions.resize_with(partitions.len().max(1), Vec::new);
        let properties = PlanProperties::new(
            EquivalenceProperties::new(Arc::clone(&schema)),
            Partitioning::UnknownPartitioning(partitions.len()),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        let (tables, table) = (self.tables, self.table);
        Ok(Arc::new(Scan {
            tables,
            table,
            columns: columns.into(),
            partitions,
            schema,
            properties: Arc::new(properties),
        }))
    }
}

/// A scan of some columns.
#[derive(Debug)]
struct Scan {
    tables: &'static Tables<'static>,
    table: &'static RawTable,
    columns: Arc<[usize]>,
    partitions: Vec<Vec<Range<usize>>>,
    schema: SchemaRef,
    properties: Arc<PlanProperties>,
}

impl DisplayAs for Scan {
    fn fmt_as(&self, _form: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns: Vec<&str> = self.columns.iter().map(|at| self.table.columns[*at].name).collect();
        write!(f, "RawScan: table={}, columns=[{}]", self.table.name, columns.join(", "))
    }
}

impl ExecutionPlan for Scan {
    fn name(&self) -> &'static str {
        "RawScan"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _each: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, _none: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(&self, partition: usize, _context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let (tables, table, columns) = (self.tables, self.table, Arc::clone(&self.columns));
        let parts = self.partitions[partition].clone().into_iter();
        let batches = parts.map(move |part| Ok(tables.batch(table, &columns, part)));
        Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), futures::stream::iter(batches))))
    }

    /// Joins hold the smaller of two tables in memory: so they must know which it is.
    fn partition_statistics(&self, partition: Option<usize>) -> Result<Arc<Statistics>> {
        let rows = |parts: &Vec<Range<usize>>| parts.iter().map(ExactSizeIterator::len).sum::<usize>();
        let partitions = self.partitions.iter().enumerate();
        let counted = partitions.filter(|(at, _)| partition.is_none_or(|only| only == *at));
        let count = counted.map(|(_, parts)| rows(parts)).sum();
        Ok(Arc::new(Statistics { num_rows: Precision::Exact(count), ..Statistics::new_unknown(&self.schema) }))
    }
}
