//! The tables of a folder that `nsys export --type parquetdir` writes: a Parquet file each, called after its table.

use super::tables::Tables;
use crate::folder::Folder;
use crate::import::{Import, Source};
use crate::note::Severity;
use crate::packed::allowed_bytes;
use crate::parquet::{Bound, Parquet, ParquetError};
use ridge_sqlite::Row;
use std::cell::RefCell;

/// How the files are called.
const SUFFIX: &str = ".parquet";

/// The table that a file of the folder holds.
pub(super) fn table_of(file: &str) -> Option<&str> {
    file.strip_suffix(SUFFIX).filter(|table| !table.contains('/'))
}

/// The tables of a folder.
pub(super) struct ParquetTables<'a> {
    tables: Vec<(&'a str, Parquet<'a>)>,
    bound: Bound,
    /// Files that are broken as a whole or in part: the error, and rows where they are known.
    damage: RefCell<Vec<(String, ParquetError, u64)>>,
}

impl<'a> ParquetTables<'a> {
    /// Opens every table; what cannot be opened is said by [`Tables::note_damage`].
    pub(super) fn open(folder: Folder<'a>, max_bytes: Option<u64>) -> ParquetTables<'a> {
        let bytes = usize::try_from(folder.bytes()).unwrap_or(usize::MAX);
        let (mut tables, mut damage) = (Vec::new(), Vec::new());
        for file in folder.files {
            let Some(table) = table_of(file.name) else { continue };
            match Parquet::open(file.bytes) {
                Ok(opened) => tables.push((table, opened)),
                Err(error) => damage.push((table.to_owned(), error, 1)),
            }
        }
        let bound = Bound::new(allowed_bytes(bytes, max_bytes));
        ParquetTables { tables, bound, damage: RefCell::new(damage) }
    }

    fn table(&self, name: &str) -> Option<&Parquet<'a>> {
        self.tables.iter().find(|(table, _)| table.eq_ignore_ascii_case(name)).map(|(_, file)| file)
    }
}

impl Tables for ParquetTables<'_> {
    fn names(&self) -> Vec<String> {
        self.tables.iter().map(|(table, _)| (*table).to_owned()).collect()
    }

    fn columns(&self, name: &str) -> Option<Vec<String>> {
        self.table(name).map(|file| file.columns().map(str::to_owned).collect())
    }

    fn scan_each<T: Default + Send>(
        &self,
        name: &str,
        columns: &[&str],
        visit: impl Fn(&mut T, &Row<'_>) + Sync,
        each: impl FnMut(T),
    ) {
        let Some(file) = self.table(name) else { return };
        let found = file.scan(columns, &self.bound, visit);
        if let Some(error) = found.error {
            self.damage.borrow_mut().push((name.to_owned(), error, found.scanned.damaged));
        }
        found.scanned.parts.into_iter().for_each(each);
    }

    fn note_damage(&self, source: Source<'_>, import: &mut Import) {
        for (table, error, rows) in self.damage.borrow().iter() {
            let message = format!("table {table}: {}", error.what);
            import.note(Severity::Lost, source.name, Some(error.offset), *rows, message);
        }
    }
}
