//! The tables of many captures, as `ridgeline collect` leaves them: `job=…/host=…/rank=…/SCHEMA/TABLE.parquet`.
//!
//! Each table is all files of its name, with the columns `job`, `host` and `rank` in addition; a filter on those leaves out
//! whole parts. A dataset is a folder or a prefix in a bucket; both are listed once, and read by the same code.

use crate::failure::Failure;
use crate::stores::{address, is_in_bucket};
use async_trait::async_trait;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::{ScanArgs, ScanResult, SchemaProvider, Session, TableProvider};
use datafusion::common::{DataFusionError, Result, Statistics};
use datafusion::datasource::file_format::FileFormat as _;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionContext;
use futures::{StreamExt as _, TryStreamExt as _};
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt as _, WriteMultipart, path};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// What parts are told by, outermost first.
pub(crate) const PARTS: [&str; 3] = ["job", "host", "rank"];

/// The tables of many captures.
pub(crate) struct Dataset {
    address: ListingTableUrl,
    /// The folder of each capture.
    pub(crate) parts: BTreeSet<String>,
    /// Tables by schema, and the files of each.
    pub(crate) tables: BTreeMap<String, BTreeMap<String, Vec<ObjectMeta>>>,
    context: SessionContext,
    answered: Answered,
}

impl fmt::Debug for Dataset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Dataset({})", self.address)
    }
}

impl Dataset {
    /// The dataset at `place`; `None` where that is a path without parts.
    ///
    /// # Errors
    /// Where a bucket can't be listed, or has no parts there.
    pub(crate) async fn of(
        place: &Path,
        answered: Answered,
        context: &SessionContext,
    ) -> Result<Option<Dataset>, Failure> {
        // Else all files of a capture's folder would be listed.
        if !is_in_bucket(place) && !has_job(place) {
            return Ok(None);
        }
        let failed = |error| Failure::of_store(place, &error);
        let address = address(place).map_err(failed)?;
        let mut dataset = Dataset {
            parts: BTreeSet::new(),
            tables: BTreeMap::new(),
            context: context.clone(),
            address: address.clone(),
            answered,
        };
        for file in listed(&address, context).await.map_err(failed)? {
            let Some((part, [schema, name])) = place_of(&address, &file.location) else { continue };
            let Some(table) = name.strip_suffix(".parquet").map(str::to_owned) else { continue };
            dataset.parts.insert(part);
            dataset.tables.entry(schema).or_default().entry(table).or_default().push(file);
        }
        match dataset.parts.is_empty() {
            true if is_in_bucket(place) => Err(Failure::new(format!("no dataset at {}", place.display()))
                .hint("`ridgeline collect CAPTURES -o s3://BUCKET/PREFIX` adds captures to one; captures themselves are read from files")),
            true => Ok(None),
            false => Ok(Some(dataset)),
        }
    }

    /// Whether there is a table of this name.
    pub(crate) fn has(&self, schema: &str, name: &str) -> bool {
        self.tables.get(schema).is_some_and(|tables| tables.contains_key(name))
    }

    /// Every file of a table as one.
    async fn table(&self, schema: &str, name: &str) -> Result<Arc<dyn TableProvider>> {
        let columns = self.columns(schema, name).await?;
        Ok(Arc::new(PartsTable::new(&self.address, schema, name, columns)?))
    }

    /// The columns of a table in any of the parts. What a part is told by is no column of its files: those may have one of that name.
    async fn columns(&self, schema: &str, name: &str) -> Result<SchemaRef> {
        let files = self.tables.get(schema).and_then(|tables| tables.get(name)).map_or(&[][..], Vec::as_slice);
        let store = self.context.runtime_env().object_store(self.address.object_store())?;
        let all = format().infer_schema(&self.context.state(), &store, files).await?;
        let own = of_files(&all);
        Ok(match self.answered {
            Answered::Here => own,
            // They send rows to each other without dictionaries, and expect what was planned.
            Answered::ByExecutors => {
                Arc::new(Schema::new(own.fields().iter().map(|field| without_dictionary(field)).collect::<Vec<_>>()))
            }
        })
    }
}

/// Who answers a query.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Answered {
    /// This process.
    #[default]
    Here,
    /// Executors, which are sent plans.
    #[cfg_attr(not(feature = "fleet"), allow(dead_code, reason = "only `ridgeline-fleet` has them"))]
    ByExecutors,
}

fn without_dictionary(field: &Field) -> Field {
    match field.data_type() {
        DataType::Dictionary(_, values) => field.clone().with_data_type(values.as_ref().clone()),
        _ => field.clone(),
    }
}

/// All files `SCHEMA/NAME.parquet` of a dataset as one table. Address, schema and name make it again in another process.
pub(crate) struct PartsTable {
    pub(crate) address: ListingTableUrl,
    pub(crate) schema: String,
    pub(crate) name: String,
    files: ListingTable,
}

impl PartsTable {
    /// The table of the files below `address`, which have these columns and those that parts are told by.
    pub(crate) fn new(address: &ListingTableUrl, schema: &str, name: &str, columns: SchemaRef) -> Result<PartsTable> {
        let files = address.clone().with_glob(&format!("{schema}/{name}.parquet"))?;
        let parts = PARTS.map(|part| (part.to_owned(), if part == "rank" { DataType::Int64 } else { DataType::Utf8 }));
        let options = ListingOptions::new(Arc::new(format()))
            .with_file_extension(".parquet")
            .with_table_partition_cols(parts.to_vec());
        let config = ListingTableConfig::new(files).with_listing_options(options).with_schema(columns);
        let files = ListingTable::try_new(config)?;
        Ok(PartsTable { address: address.clone(), schema: schema.to_owned(), name: name.to_owned(), files })
    }
}

impl fmt::Debug for PartsTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PartsTable({}.{} of {})", self.schema, self.name, self.address)
    }
}

#[async_trait]
impl TableProvider for PartsTable {
    fn schema(&self) -> SchemaRef {
        self.files.schema()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.files.scan(state, projection, filters, limit).await
    }

    async fn scan_with_args<'a>(&self, state: &dyn Session, args: ScanArgs<'a>) -> Result<ScanResult> {
        self.files.scan_with_args(state, args).await
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        self.files.supports_filters_pushdown(filters)
    }

    fn statistics(&self) -> Option<Statistics> {
        self.files.statistics()
    }
}

/// The columns of the files of a table: those of the table without those that parts are told by.
pub(crate) fn of_files(columns: &Schema) -> SchemaRef {
    let own = columns.fields().iter().filter(|field| !PARTS.contains(&field.name().as_str()));
    Arc::new(Schema::new(own.cloned().collect::<Vec<_>>()))
}

/// Texts keep the type that they have in the files, so that a table is the same from one capture and from many.
fn format() -> ParquetFormat {
    ParquetFormat::default().with_force_view_types(false)
}

/// Whether a folder has one of a job.
fn has_job(folder: &Path) -> bool {
    let mut inside = folder.read_dir().into_iter().flatten().flatten();
    inside.any(|entry| entry.file_name().to_str().is_some_and(|name| is_of_level(name, PARTS[0])))
}

/// Every file below `address`. DataFusion keeps the list, and asks no second time.
async fn listed(address: &ListingTableUrl, context: &SessionContext) -> Result<Vec<ObjectMeta>> {
    let store = context.runtime_env().object_store(address.object_store())?;
    let state = context.state();
    address.list_all_files(&state, store.as_ref(), "").await?.try_collect().await
}

/// The part that a file belongs to, and the two names below; `None` where it belongs to none.
fn place_of(address: &ListingTableUrl, file: &path::Path) -> Option<(String, [String; 2])> {
    let (part, below) = part_of(address, file)?;
    Some((part, below.try_into().ok()?))
}

/// The part that a file belongs to, and the names below, however many.
fn part_of(address: &ListingTableUrl, file: &path::Path) -> Option<(String, Vec<String>)> {
    let names: Vec<&str> = address.strip_prefix(file)?.collect();
    let (part, below) = names.split_at_checked(PARTS.len()).filter(|(_, below)| !below.is_empty())?;
    let is_part = part.iter().zip(PARTS).all(|(name, level)| is_of_level(name, level));
    is_part.then(|| (part.join("/"), below.iter().map(|name| (*name).to_owned()).collect()))
}

/// Whether a folder's name is `level=…`.
fn is_of_level(name: &str, level: &str) -> bool {
    name.strip_prefix(level).and_then(|rest| rest.strip_prefix('=')).is_some_and(|value| !value.is_empty())
}

/// What was put somewhere.
#[derive(Debug, Default)]
pub(crate) struct Put {
    pub(crate) parts: usize,
    pub(crate) files: usize,
    pub(crate) bytes: u64,
}

/// A file larger than this is sent in pieces of this size, bytes.
const PIECE: usize = 8 << 20;
/// Files, and pieces of a file, that are sent at once.
const AT_ONCE: usize = 8;

/// Puts the parts of a dataset in `folder` into the one at `to`. Each takes the place of the part of that name: files that
/// only the earlier one has are deleted when the others are there.
pub(crate) async fn put(folder: &Path, to: &Path, context: &SessionContext) -> Result<Put, Failure> {
    if !is_in_bucket(to) {
        return Err(Failure::usage(format!("expected s3://BUCKET/PREFIX, found {}", to.display())));
    }
    let failed = |error| Failure::of_store(to, &error);
    let (from, to) = (address(folder).map_err(failed)?, address(to).map_err(failed)?);
    let store = context.runtime_env().object_store(to.object_store()).map_err(failed)?;
    let mut parts: BTreeMap<String, Vec<ObjectMeta>> = BTreeMap::new();
    for file in listed(&from, context).await.map_err(failed)? {
        if let Some((part, _)) = part_of(&from, &file.location) {
            parts.entry(part).or_default().push(file);
        }
    }
    let mut put = Put { parts: parts.len(), ..Put::default() };
    for (part, files) in parts {
        let (base, own) = (below(&to, &part), below(&from, &part));
        let sent = replaced(&store, &base, &own, &files).await;
        sent.map_err(|error| failed(DataFusionError::ObjectStore(Box::new(error))))?;
        put.files += files.len();
        put.bytes += files.iter().map(|file| file.size).sum::<u64>();
    }
    Ok(put)
}

fn below(address: &ListingTableUrl, part: &str) -> path::Path {
    path::Path::from_iter(address.prefix().parts().chain(part.split('/').map(path::PathPart::from)))
}

/// Sends the files of a part from below `own` to below `base`, and deletes whatever else is there.
async fn replaced(
    store: &Arc<dyn ObjectStore>,
    base: &path::Path,
    own: &path::Path,
    files: &[ObjectMeta],
) -> object_store::Result<()> {
    let earlier: Vec<ObjectMeta> = store.list(Some(base)).try_collect().await?;
    let place = |file: &ObjectMeta| {
        let inside = file.location.prefix_match(own).into_iter().flatten();
        path::Path::from_iter(base.parts().chain(inside))
    };
    let places: BTreeSet<path::Path> = files.iter().map(place).collect();
    let sent: Vec<_> = files.iter().map(|file| sent(Arc::clone(store), file.location.clone(), place(file))).collect();
    futures::stream::iter(sent).buffer_unordered(AT_ONCE).try_collect::<Vec<()>>().await?;
    let left: Vec<object_store::Result<path::Path>> =
        earlier.into_iter().map(|file| file.location).filter(|file| !places.contains(file)).map(Ok).collect();
    store.delete_stream(futures::stream::iter(left).boxed()).try_collect::<Vec<_>>().await?;
    Ok(())
}

/// Sends a file of this machine.
async fn sent(store: Arc<dyn ObjectStore>, from: path::Path, to: path::Path) -> object_store::Result<()> {
    let from = PathBuf::from(format!("/{from}"));
    let failed = |error: std::io::Error| object_store::Error::Generic { store: "the folder", source: Box::new(error) };
    let mut file = File::open(&from).map_err(failed)?;
    let mut piece = || {
        let mut bytes = Vec::new();
        file.by_ref().take(PIECE as u64).read_to_end(&mut bytes).map(|_| bytes).map_err(failed)
    };
    let first = piece()?;
    if first.len() < PIECE {
        return store.put(&to, first.into()).await.map(|_| ());
    }
    let mut writer = WriteMultipart::new_with_chunk_size(store.put_multipart(&to).await?, PIECE);
    let mut next = first;
    while !next.is_empty() {
        writer.wait_for_capacity(AT_ONCE).await?;
        writer.put(next.into());
        next = piece()?;
    }
    writer.finish().await.map(|_| ())
}

/// The tables of one schema.
pub(crate) struct Files {
    pub(crate) dataset: &'static Dataset,
    pub(crate) schema: &'static str,
    known: Mutex<HashMap<String, Arc<dyn TableProvider>>>,
}

impl Files {
    pub(crate) fn new(dataset: &'static Dataset, schema: &'static str) -> Files {
        Files { dataset, schema, known: Mutex::default() }
    }

    fn known(&self, name: &str) -> Option<Arc<dyn TableProvider>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).get(name).map(Arc::clone)
    }
}

impl fmt::Debug for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Files({})", self.schema)
    }
}

#[async_trait]
impl SchemaProvider for Files {
    fn table_names(&self) -> Vec<String> {
        self.dataset.tables.get(self.schema).into_iter().flat_map(BTreeMap::keys).cloned().collect()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>, DataFusionError> {
        if !self.table_exist(name) {
            return Ok(None);
        }
        if let Some(known) = self.known(name) {
            return Ok(Some(known));
        }
        let table = self.dataset.table(self.schema, name).await?;
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), Arc::clone(&table));
        Ok(Some(table))
    }

    fn table_exist(&self, name: &str) -> bool {
        self.dataset.has(self.schema, name)
    }
}
