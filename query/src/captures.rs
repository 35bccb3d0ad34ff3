//! Captures that are read each by itself, as tables with the columns `job`, `host` and `rank` of datasets.
//!
//! Nothing is collected before: a query reads what it asks for of each capture. Tables of what was recorded have the same columns
//! in every capture; a view has those of the first capture that answers it, which is looked for in a few.

use crate::capture_scan::{CAPTURE, CaptureScan, Listed, Reading, list_schema, rows_of, unreadable};
use crate::dataset::{Answered, PARTS};
use crate::failure::Failure;
use crate::raw::RAW;
use crate::views::sql_name;
use async_trait::async_trait;
use datafusion::arrow::array::{Array as _, AsArray as _, RecordBatch};
use datafusion::arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::catalog::{SchemaProvider, Session, TableProvider};
use datafusion::common::tree_node::TreeNode as _;
use datafusion::common::{DFSchema, DataFusionError, Result};
use datafusion::datasource::listing::helpers::expr_applicable_for_cols;
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use ridge_export::tables::RAW_TABLES;
use ridgeline::{OpenError, Topic, capture_parts, views_of};
use std::collections::{BTreeSet, HashMap};
use std::path::{PathBuf, absolute};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// Captures that are opened to learn the columns of a view.
const LOOKED_INTO: usize = 8;

/// Captures, each by itself.
#[derive(Debug)]
pub(crate) struct Captures {
    listed: RwLock<Arc<[Listed]>>,
    how: Reading,
    answered: Answered,
    /// The columns of views, `None` for those that no capture answers.
    views: Mutex<HashMap<(String, String), Option<SchemaRef>>>,
}

impl Captures {
    /// The captures at `paths`, which `how` says how to read.
    pub(crate) fn of(paths: &[PathBuf], job: &str, how: Reading, answered: Answered) -> Result<Captures, Failure> {
        let mut listed = Vec::new();
        let mut taken: HashMap<(String, Option<u32>), PathBuf> = HashMap::new();
        for part in capture_parts(paths, None) {
            // Executors are in other directories.
            let path = absolute(&part.capture)
                .map_err(|error| Failure::new(format!("cannot read {}: {error}", part.capture.display())))?;
            let Some(text) = path.to_str() else {
                return Err(Failure::new(format!("expected a path in UTF-8, found {}", path.display())));
            };
            if let Some(other) = taken.insert((part.host.clone(), part.rank), path.clone()) {
                let told = format!("{} and {text} are the same host and rank", other.display());
                return Err(
                    Failure::usage(told).hint("hosts are called by the part of the path in which captures differ")
                );
            }
            let rank = part.rank.map(i64::from);
            listed.push(Listed { job: job.to_owned(), host: part.host, rank, path: text.to_owned() });
        }
        Ok(Captures { listed: RwLock::new(listed.into()), how, answered, views: Mutex::default() })
    }

    /// All of them.
    pub(crate) fn listed(&self) -> Arc<[Listed]> {
        Arc::clone(&self.listed.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Leaves those at `paths` out from now on.
    pub(crate) fn leave_out(&self, paths: &BTreeSet<String>) {
        let kept: Vec<Listed> =
            self.listed().iter().filter(|capture| !paths.contains(&capture.path)).cloned().collect();
        *self.listed.write().unwrap_or_else(PoisonError::into_inner) = kept.into();
    }

    /// A table of all captures; `None` where the first of them don't have it.
    fn table(&self, schema: &str, name: &str) -> Result<Option<CaptureTable>> {
        let reading = Reading { schema: schema.to_owned(), name: name.to_owned(), ..self.how.clone() };
        let columns = match reading.fixed_columns() {
            Some(columns) => Some(columns),
            None => self.columns_of_view(&reading)?,
        };
        Ok(columns.map(|own| CaptureTable::new(self.listed(), reading, &own, self.answered)))
    }

    fn columns_of_view(&self, reading: &Reading) -> Result<Option<SchemaRef>> {
        let key = (reading.schema.clone(), reading.name.clone());
        // The lock is held while captures are read: who asks for the same view waits for the answer.
        let mut views = self.views.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = views.get(&key) {
            return Ok(known.clone());
        }
        let mut found = None;
        for capture in self.listed().iter().take(LOOKED_INTO) {
            let opened = reading.open(&capture.path);
            let session = opened.map_err(|error: OpenError| unreadable(&capture.path, &error))?;
            found = reading.columns(&session)?;
            if found.is_some() {
                break;
            }
        }
        views.insert(key, found.clone());
        Ok(found)
    }
}

/// One table of many captures. The captures, what is read of them and the columns make it again in another process.
#[derive(Debug)]
pub(crate) struct CaptureTable {
    pub(crate) captures: Arc<[Listed]>,
    pub(crate) reading: Arc<Reading>,
    columns: SchemaRef,
    answered: Answered,
}

impl CaptureTable {
    /// The table with the columns `own` of each capture, and those that captures are told by.
    pub(crate) fn new(captures: Arc<[Listed]>, reading: Reading, own: &Schema, answered: Answered) -> CaptureTable {
        let told = list_schema();
        let told = PARTS.iter().filter_map(|name| told.field_with_name(name).ok());
        let own = own.fields().iter().map(|field| field.as_ref().clone());
        let fields: Vec<Field> = own.chain(told.map(|field| field.clone().with_nullable(false))).collect();
        CaptureTable { captures, reading: Arc::new(reading), columns: Arc::new(Schema::new(fields)), answered }
    }

    /// The captures that may have rows for which all of `filters` hold.
    fn named_by(&self, filters: &[Expr], state: &dyn Session) -> Result<Vec<&Listed>> {
        let mut kept: Vec<&Listed> = self.captures.iter().collect();
        for filter in filters.iter().filter(|filter| told_by_list(filter).is_some()) {
            let holds = holding(filter, &rows_of(&kept)?, state)?;
            kept = kept.into_iter().zip(holds).filter_map(|(capture, holds)| holds.then_some(capture)).collect();
        }
        Ok(kept)
    }
}

/// Whether `filter` holds for each row of a list of captures, or may hold since the rank isn't known yet.
fn holding(filter: &Expr, list: &RecordBatch, state: &dyn Session) -> Result<Vec<bool>> {
    let schema = DFSchema::try_from(list.schema())?;
    let values = state.create_physical_expr(filter.clone(), &schema)?.evaluate(list)?.into_array(list.num_rows())?;
    let Some(values) = values.as_boolean_opt() else {
        return Err(DataFusionError::Internal(format!("expected a condition, found {filter}")));
    };
    let ranks = list.column_by_name(PARTS[2]);
    let is_open = |row: usize| names_rank(filter) && ranks.is_some_and(|ranks| ranks.is_null(row));
    Ok((0..list.num_rows()).map(|row| is_open(row) || (values.is_valid(row) && values.value(row))).collect())
}

fn names_rank(filter: &Expr) -> bool {
    filter.column_refs().iter().any(|column| column.name == PARTS[2])
}

/// How far a list of captures tells whether `filter` holds; `None` where it doesn't.
fn told_by_list(filter: &Expr) -> Option<TableProviderFilterPushDown> {
    let is_subquery = |part: &Expr| {
        let is =
            matches!(part, Expr::ScalarSubquery(_) | Expr::InSubquery(_) | Expr::Exists(_) | Expr::SetComparison(_));
        Ok(is || matches!(part, Expr::OuterReferenceColumn(..)))
    };
    let has_subquery = filter.exists(is_subquery).unwrap_or(true);
    let told = !has_subquery && !filter.column_refs().is_empty() && expr_applicable_for_cols(&PARTS, filter);
    told.then(|| match names_rank(filter) {
        true => TableProviderFilterPushDown::Inexact,
        false => TableProviderFilterPushDown::Exact,
    })
}

#[async_trait]
impl TableProvider for CaptureTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.columns)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        _limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let columns = match projection {
            Some(columns) => Arc::new(self.columns.project(columns)?),
            None => Arc::clone(&self.columns),
        };
        let captures = self.named_by(filters, state)?;
        let count = match self.answered {
            // Of one process, as many are open as it has threads.
            Answered::Here => captures.len().min(state.config().target_partitions()),
            // Each is a piece of work for whichever executor is free.
            Answered::ByExecutors => captures.len(),
        };
        let mut dealt: Vec<Vec<&Listed>> = vec![Vec::new(); count.max(1)];
        captures.iter().enumerate().for_each(|(at, capture)| dealt[at % count.max(1)].push(capture));
        let partition = |captures: &Vec<&Listed>| -> Result<Vec<RecordBatch>> { Ok(vec![rows_of(captures)?]) };
        let partitions = dealt.iter().map(partition).collect::<Result<Vec<_>>>()?;
        let list = MemorySourceConfig::try_new_exec(&partitions, list_schema(), None)?;
        Ok(Arc::new(CaptureScan::new(list, Arc::clone(&self.reading), columns)))
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        let told = |filter: &&Expr| told_by_list(filter).unwrap_or(TableProviderFilterPushDown::Unsupported);
        Ok(filters.iter().map(told).collect())
    }
}

/// The tables of one schema.
#[derive(Debug)]
pub(crate) struct CapturesSchema {
    pub(crate) captures: &'static Captures,
    pub(crate) schema: &'static str,
}

impl CapturesSchema {
    fn names(&self) -> Vec<String> {
        if self.schema == RAW {
            return RAW_TABLES.iter().map(|table| table.name).chain([CAPTURE]).map(str::to_owned).collect();
        }
        let topic = Topic::ALL.into_iter().find(|topic| topic.command() == self.schema);
        topic.into_iter().flat_map(views_of).map(sql_name).collect()
    }
}

#[async_trait]
impl SchemaProvider for CapturesSchema {
    fn table_names(&self) -> Vec<String> {
        self.names()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>, DataFusionError> {
        if !self.table_exist(name) {
            return Ok(None);
        }
        let table = tokio::task::block_in_place(|| self.captures.table(self.schema, name))?;
        Ok(table.map(|table| Arc::new(table) as Arc<dyn TableProvider>))
    }

    fn table_exist(&self, name: &str) -> bool {
        self.names().iter().any(|known| known == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::arrow::datatypes::DataType;
    use datafusion::prelude::{SessionContext, col, lit};

    fn captures() -> Arc<[Listed]> {
        let listed = |host: &str, rank: Option<i64>| Listed {
            job: "j".to_owned(),
            host: host.to_owned(),
            rank,
            path: format!("/runs/{host}"),
        };
        [listed("a", Some(0)), listed("b", Some(1)), listed("c", None)].into()
    }

    fn kept(filter: Expr) -> String {
        let own = Schema::new(vec![Field::new("dur_ns", DataType::Int64, true)]);
        let table = CaptureTable::new(captures(), Reading::default(), &own, Answered::Here);
        let context = SessionContext::new();
        let kept = table.named_by(&[filter], &context.state()).expect("a condition");
        kept.iter().map(|capture| capture.host.as_str()).collect()
    }

    #[test]
    fn conditions_on_the_list_choose_captures() {
        assert_eq!(kept(col("host").eq(lit("b"))), "b");
        assert_eq!(kept(col("host").eq(lit("b")).or(col("job").eq(lit("j")))), "abc");
        // The rank of the last one is known when it is read.
        assert_eq!(kept(col("rank").eq(lit(1_i64))), "bc");
        // What the list doesn't tell chooses nothing.
        assert_eq!(kept(col("dur_ns").gt(lit(1_i64))), "abc");
        assert_eq!(kept(col("host").eq(lit("nowhere"))), "");
    }

    #[test]
    fn conditions_are_told_from_those_that_need_rows() {
        assert_eq!(told_by_list(&col("host").eq(lit("b"))), Some(TableProviderFilterPushDown::Exact));
        assert_eq!(told_by_list(&col("rank").eq(lit(1_i64))), Some(TableProviderFilterPushDown::Inexact));
        assert_eq!(told_by_list(&col("host").eq(col("name"))), None);
        assert_eq!(told_by_list(&lit(true)), None);
    }
}
