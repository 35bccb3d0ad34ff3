//! The tables of many captures, as `ridgeline collect` leaves them: `job=…/host=…/rank=…/SCHEMA/TABLE.parquet`.
//!
//! Each table is all files of its name, with the columns `job`, `host` and `rank` in addition; a filter on those leaves out
//! whole parts.

use async_trait::async_trait;
use datafusion::arrow::datatypes::{DataType, Schema, SchemaRef};
use datafusion::catalog::{SchemaProvider, TableProvider};
use datafusion::common::{DataFusionError, Result};
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// What parts are told by, outermost first.
pub(crate) const PARTS: [&str; 3] = ["job", "host", "rank"];

/// The names of the tables of many captures.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Dataset {
    folder: PathBuf,
    /// The folder of each capture.
    pub(crate) parts: Vec<PathBuf>,
    /// Tables by schema.
    pub(crate) tables: BTreeMap<String, BTreeSet<String>>,
}

impl Dataset {
    /// The dataset in `folder`; `None` where it has no parts.
    pub(crate) fn of(folder: &Path) -> Option<Dataset> {
        let mut parts = vec![folder.canonicalize().ok()?];
        for level in PARTS {
            let is_one =
                |path: &PathBuf| name_of(path).is_some_and(|name| name.strip_prefix(level).is_some_and(is_value));
            parts = parts.iter().flat_map(|part| folders(part)).filter(is_one).collect();
        }
        let mut tables: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for schema in parts.iter().flat_map(|part| folders(part)) {
            let Some(name) = name_of(&schema) else { continue };
            let files = schema.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
            let names = files.filter_map(|file| Some(name_of(&file)?.strip_suffix(".parquet")?.to_owned()));
            tables.entry(name.to_owned()).or_default().extend(names);
        }
        (!parts.is_empty()).then(|| Dataset {
            folder: folder.canonicalize().unwrap_or_default(),
            parts,
            tables,
        })
    }

    /// Every file of a table as one.
    fn table(&self, schema: &str, name: &str) -> Result<Arc<dyn TableProvider>> {
        // The folder ends in a slash, which tells it from a file.
        let folder = ListingTableUrl::parse(format!("{}/", self.folder.display()))?;
        let files = folder.with_glob(&format!("{schema}/{name}.parquet"))?;
        let columns =
            PARTS.map(|part| (part.to_owned(), if part == "rank" { DataType::Int64 } else { DataType::Utf8 }));
        let options = ListingOptions::new(Arc::new(ParquetFormat::default()))
            .with_file_extension(".parquet")
            .with_table_partition_cols(columns.to_vec());
        let config = ListingTableConfig::new(files).with_listing_options(options).with_schema(self.columns(schema, name)?);
        Ok(Arc::new(ListingTable::try_new(config)?))
    }

    /// The columns of a table in any of the parts. What a part is told by is no column of its files: those may have one of that name.
    fn columns(&self, schema: &str, name: &str) -> Result<SchemaRef> {
        let files = self.parts.iter().map(|part| part.join(schema).join(format!("{name}.parquet")));
        let read = |path: PathBuf| {
            let file = File::open(&path)?;
            let of_file = ArrowReaderMetadata::load(&file, ArrowReaderOptions::default())
                .map_err(|error| DataFusionError::Execution(format!("cannot read {}: {error}", path.display())))?;
            Ok(of_file.schema().as_ref().clone())
        };
        let schemas: Vec<Schema> = files.filter(|path| path.is_file()).map(read).collect::<Result<_>>()?;
        let all = Schema::try_merge(schemas)?;
        let own = all.fields().iter().filter(|field| !PARTS.contains(&field.name().as_str()));
        Ok(Arc::new(Schema::new(own.cloned().collect::<Vec<_>>())))
    }
}

/// Whether something follows the name of a level.
fn is_value(rest: &str) -> bool {
    rest.strip_prefix('=').is_some_and(|value| !value.is_empty())
}

fn name_of(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()
}

/// The folders in `folder`, in order.
fn folders(folder: &Path) -> Vec<PathBuf> {
    let inside = folder.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
    let mut folders: Vec<PathBuf> = inside.filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
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
        self.dataset.tables.get(self.schema).into_iter().flatten().cloned().collect()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>, DataFusionError> {
        if !self.table_exist(name) {
            return Ok(None);
        }
        if let Some(known) = self.known(name) {
            return Ok(Some(known));
        }
        let table = self.dataset.table(self.schema, name)?;
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), Arc::clone(&table));
        Ok(Some(table))
    }

    fn table_exist(&self, name: &str) -> bool {
        self.dataset.tables.get(self.schema).is_some_and(|tables| tables.contains(name))
    }
}
