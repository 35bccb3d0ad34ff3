//! Plans and runs queries.
//!
//! A query is planned with plain names in their usual order first; where that fails and a name is also one of another tool's
//! tables, with those first. So `counter` is Ridgeline's table, and Perfetto's in a query that asks for its columns.

use crate::arguments::Arguments;
use crate::catalog::{Catalog, Order, PLAIN, Plain, Source, usual_order};
use crate::dataset::PARTS;
use crate::failure::Failure;
use crate::lenient::explicit;
use crate::output::{self, Rows};
use crate::spelling::Spelling;
use crate::stores::Stores;
use datafusion::catalog::CatalogProvider;
use datafusion::common::metadata::ScalarAndMetadata;
use datafusion::common::{ParamValues, ScalarValue, TableReference};
use datafusion::datasource::ViewTable;
use datafusion::execution::context::SQLOptions;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::{FairSpillPool, MemoryPool};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::logical_expr::{DdlStatement, LogicalPlan};
use datafusion::prelude::{SessionConfig, SessionContext};
use ridge_export::tables::{DIALECTS, RAW_TABLES};
use ridgeline::did_you_mean;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

/// The only catalog.
const CATALOG: &str = "ridgeline";
/// Most memory for the list of files of a dataset: those of 10,000 captures take 150 MB.
pub(crate) const LISTED: usize = 1 << 30;

/// What plans and runs queries: with so much memory and so many threads, and access to buckets.
pub(crate) fn context(arguments: &Arguments, threads: usize) -> Result<SessionContext, Failure> {
    let memory = usize::try_from(arguments.memory).unwrap_or(usize::MAX);
    let pool: Arc<dyn MemoryPool> = Arc::new(FairSpillPool::new(memory));
    let disk = DiskManagerBuilder::default().with_mode(DiskManagerMode::OsTmpDirectory);
    let runtime = RuntimeEnvBuilder::new()
        .with_memory_pool(pool)
        .with_disk_manager_builder(disk)
        .with_object_store_registry(Arc::new(Stores::default()))
        .with_object_list_cache_limit(LISTED);
    let runtime = runtime.build_arc().map_err(|error| Failure::of_query(&error))?;
    Ok(SessionContext::new_with_config_rt(config(threads), runtime))
}

/// How queries are planned.
pub(crate) fn config(threads: usize) -> SessionConfig {
    SessionConfig::new()
        .with_target_partitions(threads)
        .with_default_catalog_and_schema(CATALOG, PLAIN)
        .with_create_default_catalog_and_schema(false)
        .with_information_schema(true)
        // The tables of a dataset are in folders of its parts.
        .set_bool("datafusion.execution.listing_table_ignore_subdirectory", false)
        .set_bool("datafusion.sql_parser.enable_ident_normalization", false)
}

/// What answers queries.
pub(crate) struct Engine {
    /// What they are about.
    pub(crate) source: Source,
    /// Every table by schema.
    pub(crate) catalog: Arc<Catalog>,
    /// What plans and runs.
    pub(crate) context: SessionContext,
    plain: Arc<Plain>,
    spelling: Spelling,
}

impl Engine {
    /// An engine for `source`, in a context of [`context`].
    pub(crate) async fn new(source: Source, context: SessionContext) -> Result<Engine, Failure> {
        let catalog = Arc::new(Catalog::new(source));
        context.register_catalog(CATALOG, Arc::clone(&catalog) as Arc<dyn CatalogProvider>);
        catalog.plan_in(&context);
        let plain = catalog.plain();
        let spelling = spelling(source, &catalog, &context).await?;
        Ok(Engine { source, catalog, context, plain, spelling })
    }

    /// Runs the statements of `sql` and writes their answers.
    pub(crate) async fn answer(&self, sql: &str, arguments: &Arguments) -> Result<(), Failure> {
        let statements = self.spelling.statements(sql)?;
        if statements.is_empty() {
            return Err(Failure::usage("expected a query, found nothing"));
        }
        let mut answers = 0;
        for statement in &statements {
            let started = Instant::now();
            let Some(plan) = self.planned(statement, &arguments.params).await? else { continue };
            if arguments.timings {
                eprintln!("{:.3} s to plan", started.elapsed().as_secs_f64());
            }
            answers += 1;
            if answers > 1 && (arguments.output.is_some() || !output::can_follow(arguments.format)) {
                return Err(Failure::usage("expected one query whose answer is written, found several")
                    .hint("CREATE VIEW name AS SELECT … names a query for the statements behind it"));
            }
            let started = Instant::now();
            output::write(&self.context, plan, arguments).await?;
            if arguments.timings {
                eprintln!("{:.3} s to answer", started.elapsed().as_secs_f64());
            }
        }
        Ok(())
    }

    /// The rows that the statements of `sql` answer, which are one query behind names for others.
    pub(crate) async fn rows(&self, sql: &str) -> Result<Rows, Failure> {
        let mut rows = Rows { columns: Vec::new(), rows: Vec::new() };
        for statement in &self.spelling.statements(sql)? {
            if let Some(plan) = self.planned(statement, &[]).await? {
                rows = output::rows(&self.context, plan).await?;
            }
        }
        Ok(rows)
    }

    /// The plan of a statement that has an answer; `None` where it only names a query.
    async fn planned(&self, statement: &str, params: &[(String, ScalarValue)]) -> Result<Option<LogicalPlan>, Failure> {
        let plan = self.plan(statement).await?;
        let plan = match plan {
            LogicalPlan::Ddl(DdlStatement::CreateView(view)) => {
                read_only(&view.input)?;
                let named = ViewTable::new(view.input.as_ref().clone(), view.definition);
                self.plain.name(view.name.table().to_owned(), Arc::new(named));
                return Ok(None);
            }
            other => other,
        };
        read_only(&plan)?;
        let values = params.iter();
        let values: HashMap<String, ScalarAndMetadata> =
            values.map(|(name, value)| (name.clone(), value.clone().into())).collect();
        let asked = plan.get_parameter_names().map_err(|error| Failure::of_query(&error))?;
        if let Some(missing) = asked.iter().find(|name| !values.contains_key(name.trim_start_matches('$'))) {
            let name = missing.trim_start_matches('$');
            return Err(Failure::usage(format!("the query asks for ${name}, which has no value"))
                .hint(format!("`-p {name}=VALUE` gives it one")));
        }
        let plan = match asked.is_empty() {
            true => plan,
            false => plan.with_param_values(ParamValues::Map(values)).map_err(|error| Failure::of_query(&error))?,
        };
        Ok(Some(plan))
    }

    async fn plan(&self, statement: &str) -> Result<LogicalPlan, Failure> {
        let state = self.context.state();
        let dialect = state.config().options().sql_parser.dialect;
        let parsed = state.sql_to_statement(statement, &dialect).map_err(|error| Failure::of_query(&error))?;
        let names = state.resolve_table_references(&parsed).map_err(|error| Failure::of_query(&error))?;
        names.iter().try_for_each(|name| self.expect(name))?;
        let explicit = explicit(&parsed);
        self.plain.look_in(usual_order());
        let first = match state.statement_to_plan(parsed).await {
            Ok(plan) => return Ok(plan),
            Err(error) => error,
        };
        let orders = self.other_orders(&names);
        for statement in [Some(statement), explicit.as_deref()].into_iter().flatten() {
            for order in [usual_order()].iter().chain(&orders) {
                self.plain.look_in(order.clone());
                if let Ok(plan) = state.create_logical_plan(statement).await {
                    self.tell_homes(&names, order);
                    return Ok(plan);
                }
            }
        }
        Err(Failure::of_query(&first))
    }

    /// Says which tables were taken where names alone mean others.
    fn tell_homes(&self, names: &[TableReference], order: &Order) {
        let plain = names.iter().filter(|name| name.schema().is_none()).map(TableReference::table);
        let moved = plain.filter(|name| {
            let homes = self.plain.homes(name);
            homes.contains(&order[0]) && homes[0] != order[0]
        });
        let theirs: Vec<String> = moved.map(|name| format!("`{}.{name}`", order[0])).collect();
        if !theirs.is_empty() {
            eprintln!("note: took {}, which has the columns of the query", theirs.join(", "));
        }
    }

    /// Orders in which at least one of `names` means another table.
    fn other_orders(&self, names: &[TableReference]) -> Vec<Order> {
        let plain = names.iter().filter(|name| name.schema().is_none());
        let homes: Vec<Vec<&str>> = plain.map(|name| self.plain.homes(name.table())).collect();
        let others = usual_order()
            .into_iter()
            .filter(|schema| homes.iter().any(|homes| homes[..].iter().skip(1).any(|home| home == schema)));
        others
            .map(|first| {
                let rest = usual_order().into_iter().filter(|schema| *schema != first);
                [first].into_iter().chain(rest).collect()
            })
            .collect()
    }

    /// Whether there is a table called `name`.
    fn expect(&self, name: &TableReference) -> Result<(), Failure> {
        let schema = name.schema().unwrap_or(PLAIN);
        let known = self.catalog.schema(schema);
        if schema == "information_schema" || known.is_some_and(|schema| schema.table_exist(name.table())) {
            return Ok(());
        }
        let all = self.catalog.schema_names();
        let mut names: Vec<String> = all.iter().flat_map(|schema| self.catalog.names(schema)).collect();
        if !all.iter().any(|known| known == schema) {
            let failure = Failure::new(format!("unknown schema `{schema}`"));
            return Err(failure.hint(format!("there are {}", usual_order().join(", "))));
        }
        names.sort_unstable();
        names.dedup();
        let failure = Failure::new(format!("unknown table `{name}`"));
        let failure = match did_you_mean(name.table(), names.iter().map(String::as_str)) {
            Some(hint) => failure.hint(hint),
            None => failure,
        };
        Err(failure.hint("`--tables` lists the tables of the capture, which has no others"))
    }
}

/// Refuses whatever would do anything but read.
fn read_only(plan: &LogicalPlan) -> Result<(), Failure> {
    let options = SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
    options.verify_plan(plan).map_err(|_| {
        Failure::new("only queries are answered: SELECT, EXPLAIN, and CREATE VIEW for a query with a name")
            .hint("`-o FILE -f parquet` writes an answer")
    })
}

/// The letters of every name that tables and columns have.
async fn spelling(source: Source, catalog: &Catalog, context: &SessionContext) -> Result<Spelling, Failure> {
    let mut spelling = Spelling::default();
    PARTS.iter().for_each(|name| spelling.add(name));
    // Names of this project have small letters, and come first; those of views are known when they are made.
    for name in RAW_TABLES.iter().flat_map(|table| table.columns.iter().map(|column| column.name).chain([table.name])) {
        spelling.add(name);
    }
    for schema in catalog.schema_names() {
        spelling.add(&schema);
        catalog.names(&schema).iter().for_each(|name| spelling.add(name));
    }
    for dialect in DIALECTS.iter().filter(|_| matches!(source, Source::Capture(..))) {
        for (_, sql) in dialect.views() {
            let plan = context.state().create_logical_plan(sql).await.map_err(|error| Failure::of_query(&error))?;
            plan.schema().fields().iter().for_each(|field| spelling.add(field.name()));
        }
    }
    Ok(spelling)
}
