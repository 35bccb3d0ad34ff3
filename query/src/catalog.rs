//! Which table a name means.
//!
//! A schema for what was recorded (`raw`), one for each topic of views (`stats`, `idle`, …), one for the names of each other
//! tool (`perfetto`, `nsys`, `rocpd`). A name alone is looked for in all of them, in that order but `raw` last; where several
//! have it, the [`Order`] can be changed, so that a query pasted from another tool finds what it means.
//! Views are computed when a query names them, and no others.

use crate::captures::{Captures, CapturesSchema};
use crate::dataset::{Dataset, Files};
use crate::raw::{RAW, Raw};
use crate::views::{sql_name, view_table, without_meaning};
use async_trait::async_trait;
use datafusion::catalog::{CatalogProvider, MemTable, SchemaProvider, TableProvider};
use datafusion::common::DataFusionError;
use datafusion::datasource::ViewTable;
use datafusion::prelude::SessionContext;
use ridge_export::tables::{DIALECTS, Dialect, RAW_TABLES, Tables};
use ridgeline::{Session, Topic, View};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

/// The schema of plain names.
pub(crate) const PLAIN: &str = "public";

/// Where plain names are looked for, first to last: names of schemas.
pub(crate) type Order = Vec<&'static str>;

/// The order in which Ridgeline's own tables come first.
pub(crate) fn usual_order() -> Order {
    let topics = Topic::ALL.into_iter().map(Topic::command);
    topics.chain(DIALECTS.iter().map(|dialect| dialect.name)).chain([RAW]).collect()
}

/// What queries are about.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Source {
    /// Captures, read as one.
    Capture(&'static Session, &'static Tables<'static>),
    /// Captures, each by itself.
    Captures(&'static Captures),
    /// The tables of many captures.
    Dataset(&'static Dataset),
}

/// What plans the queries behind views; there as soon as the catalog is part of it.
#[derive(Clone, Default)]
struct Planner(Arc<OnceLock<SessionContext>>);

impl fmt::Debug for Planner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Planner")
    }
}

/// Every table, by schema.
#[derive(Debug)]
pub(crate) struct Catalog {
    schemas: Schemas,
    plain: Arc<Plain>,
    planner: Planner,
}

type Schemas = HashMap<&'static str, Arc<dyn SchemaProvider>>;

fn of_capture(session: &'static Session, tables: &'static Tables<'static>, planner: &Planner) -> Schemas {
    let mut schemas: Schemas = HashMap::new();
    for topic in Topic::ALL {
        let views = session.answerable(topic).into_iter().map(|view| (sql_name(view), view)).collect();
        schemas.insert(topic.command(), Arc::new(Views { session, topic, views, made: Mutex::default() }));
    }
    for dialect in DIALECTS {
        schemas.insert(dialect.name, Arc::new(Names { dialect, planner: planner.clone() }));
    }
    schemas.insert(RAW, Arc::new(RawTables { tables }));
    schemas
}

/// Without the names of other tools, as those of a dataset.
fn of_captures(captures: &'static Captures) -> Schemas {
    let names = Topic::ALL.into_iter().map(Topic::command).chain([RAW]);
    let tables = |name| Arc::new(CapturesSchema { captures, schema: name }) as Arc<dyn SchemaProvider>;
    names.map(|name| (name, tables(name))).collect()
}

/// Without the names of other tools: their ids are those of one capture.
fn of_dataset(dataset: &'static Dataset) -> Schemas {
    let names = Topic::ALL.into_iter().map(Topic::command).chain([RAW]);
    let known = names.filter(|name| dataset.tables.contains_key(*name));
    let files = |name| Arc::new(Files::new(dataset, name)) as Arc<dyn SchemaProvider>;
    known.map(|name| (name, files(name))).collect()
}

impl Catalog {
    pub(crate) fn new(source: Source) -> Catalog {
        let planner = Planner::default();
        let schemas = match source {
            Source::Capture(session, tables) => of_capture(session, tables, &planner),
            Source::Captures(captures) => of_captures(captures),
            Source::Dataset(dataset) => of_dataset(dataset),
        };
        let plain = Plain { schemas: schemas.clone(), order: RwLock::new(usual_order()), named: Mutex::default() };
        Catalog { schemas, plain: Arc::new(plain), planner }
    }

    /// Lets views be planned in `context`, which this catalog is part of.
    pub(crate) fn plan_in(&self, context: &SessionContext) {
        // It is set once, when the catalog is made.
        let _ = self.planner.0.set(context.clone());
    }

    /// The schema of plain names.
    pub(crate) fn plain(&self) -> Arc<Plain> {
        Arc::clone(&self.plain)
    }

    /// The names of the tables of a schema, sorted.
    pub(crate) fn names(&self, schema: &str) -> Vec<String> {
        let mut names = self.schemas.get(schema).map(|schema| schema.table_names()).unwrap_or_default();
        names.sort_unstable();
        names
    }
}

impl CatalogProvider for Catalog {
    fn schema_names(&self) -> Vec<String> {
        self.schemas.keys().copied().chain([PLAIN]).map(str::to_owned).collect()
    }

    fn schema(&self, name: &str) -> Option<Arc<dyn SchemaProvider>> {
        if name == PLAIN {
            return Some(self.plain());
        }
        self.schemas.get(name).map(Arc::clone)
    }
}

/// Names without a schema.
#[derive(Debug)]
pub(crate) struct Plain {
    schemas: Schemas,
    order: RwLock<Order>,
    /// What CREATE VIEW named.
    named: Mutex<HashMap<String, Arc<dyn TableProvider>>>,
}

impl Plain {
    /// Looks for names in these schemas from now on.
    pub(crate) fn look_in(&self, order: Order) {
        *self.order.write().unwrap_or_else(PoisonError::into_inner) = order;
    }

    /// The schemas that have a table of this name, in the usual order.
    pub(crate) fn homes(&self, name: &str) -> Vec<&'static str> {
        let has = |schema: &&str| self.schemas.get(*schema).is_some_and(|schema| schema.table_exist(name));
        usual_order().into_iter().filter(has).collect()
    }

    /// Names a query for those that follow.
    pub(crate) fn name(&self, name: String, table: Arc<dyn TableProvider>) {
        self.named.lock().unwrap_or_else(PoisonError::into_inner).insert(name, table);
    }

    fn known(&self, name: &str) -> Option<Arc<dyn TableProvider>> {
        self.named.lock().unwrap_or_else(PoisonError::into_inner).get(name).map(Arc::clone)
    }
}

#[async_trait]
impl SchemaProvider for Plain {
    fn table_names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.schemas.values().flat_map(|schema| schema.table_names()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>, DataFusionError> {
        if let Some(known) = self.known(name) {
            return Ok(Some(known));
        }
        let order = self.order.read().unwrap_or_else(PoisonError::into_inner).clone();
        for schema in order.iter().filter_map(|schema| self.schemas.get(*schema)) {
            if let Some(table) = schema.table(name).await? {
                return Ok(Some(table));
            }
        }
        Ok(None)
    }

    fn table_exist(&self, name: &str) -> bool {
        self.known(name).is_some() || !self.homes(name).is_empty()
    }
}

/// The views of one topic.
#[derive(Debug)]
struct Views {
    session: &'static Session,
    topic: Topic,
    views: Vec<(String, &'static View)>,
    made: Mutex<HashMap<String, Arc<dyn TableProvider>>>,
}

#[async_trait]
impl SchemaProvider for Views {
    fn table_names(&self) -> Vec<String> {
        self.views.iter().map(|(name, _)| name.clone()).collect()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>, DataFusionError> {
        let Some((_, view)) = self.views.iter().find(|(known, _)| known == name) else { return Ok(None) };
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(table) = made.get(name) {
            return Ok(Some(Arc::clone(table)));
        }
        let table = view_table(self.session, self.topic, view)?;
        let batch = without_meaning(&table.batch)?;
        let table: Arc<dyn TableProvider> = Arc::new(MemTable::try_new(batch.schema(), vec![vec![batch]])?);
        made.insert(name.to_owned(), Arc::clone(&table));
        Ok(Some(table))
    }

    fn table_exist(&self, name: &str) -> bool {
        self.views.iter().any(|(known, _)| known == name)
    }
}

/// What was recorded.
#[derive(Debug)]
struct RawTables {
    tables: &'static Tables<'static>,
}

#[async_trait]
impl SchemaProvider for RawTables {
    fn table_names(&self) -> Vec<String> {
        RAW_TABLES.iter().map(|table| table.name.to_owned()).collect()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>, DataFusionError> {
        let found = RAW_TABLES.iter().find(|table| table.name == name);
        Ok(found.map(|table| Arc::new(Raw { tables: self.tables, table }) as Arc<dyn TableProvider>))
    }

    fn table_exist(&self, name: &str) -> bool {
        RAW_TABLES.iter().any(|table| table.name == name)
    }
}

/// Views under the names of another tool.
#[derive(Debug)]
struct Names {
    dialect: &'static Dialect,
    planner: Planner,
}

#[async_trait]
impl SchemaProvider for Names {
    fn table_names(&self) -> Vec<String> {
        self.dialect.views().map(|(name, _)| name.to_owned()).collect()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>, DataFusionError> {
        let Some((_, sql)) = self.dialect.views().find(|(known, _)| *known == name) else { return Ok(None) };
        let Some(context) = self.planner.0.get() else { return Ok(None) };
        let plan = context.state().create_logical_plan(sql).await?;
        Ok(Some(Arc::new(ViewTable::new(plan, Some(sql.to_owned())))))
    }

    fn table_exist(&self, name: &str) -> bool {
        self.dialect.views().any(|(known, _)| known == name)
    }
}
