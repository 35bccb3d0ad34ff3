//! SQLite databases, read in place: pages, records and the schema, no C library and no path.
//!
//! Profilers export their captures as SQLite, and all we ever ask of one is to walk a table: a [`Database`] finds a
//! table's columns by name and [`Database::scan`] visits its rows, leaf pages in parallel, decoding only the columns
//! that were asked for.
//! No query, no index, no write, no journal: rows that only a write-ahead log holds are not seen.
//! [`layout`] says where in the file everything stands, for those who overwrite it in place.
//!
//! Everything follows the public file format (<https://www.sqlite.org/fileformat2.html>), whose section numbers the
//! comments name. No page number, offset, length or type in the file is trusted: a page is walked once, a chain of
//! overflow pages is as long as its payload says and no longer, and what does not fit is counted as damaged.

mod format;
pub mod layout;
mod page;
mod record;
mod scan;
mod schema;

pub use format::{Encoding, SqliteError, is_database};
pub use record::{Cell, Row};
pub use scan::{Counts, Scanned};
pub use schema::TableSchema;

use page::Pages;

/// An open database: its pages and its tables.
#[derive(Debug)]
pub struct Database<'a> {
    pages: Pages<'a>,
    tables: Vec<TableSchema>,
    /// Rows of the schema table that could not be read.
    pub damaged_schema: u64,
}

impl<'a> Database<'a> {
    /// Reads the header and the schema.
    pub fn open(bytes: &'a [u8]) -> Result<Database<'a>, SqliteError> {
        let pages = Pages::open(bytes)?;
        let mut database = Database { pages, tables: Vec::new(), damaged_schema: 0 };
        let scanned: Scanned<Vec<TableSchema>> = database.scan(
            &schema::schema_table(),
            &[Some(0), Some(1), Some(3), Some(4)],
            |found: &mut Vec<TableSchema>, row: &Row<'_>| {
                let (Some(kind), Some(name), Some(root), Some(sql)) =
                    (row.text(0), row.text(1), row.int(2), row.text(3))
                else {
                    return;
                };
                if kind == "table" {
                    found.extend(u32::try_from(root).ok().map(|root| schema::parse(&name, root, &sql)));
                }
            },
        );
        database.damaged_schema = scanned.damaged;
        database.tables = scanned.parts.into_iter().flatten().collect();
        Ok(database)
    }

    /// Visits every row of `table` with the cells of `columns`; a place that is `None` gets null.
    ///
    /// `visit` collects into one `T` per part; parts are walked in parallel.
    pub fn scan<T: Default + Send>(
        &self,
        table: &TableSchema,
        columns: &[Option<usize>],
        visit: impl Fn(&mut T, &Row<'_>) + Sync,
    ) -> Scanned<T> {
        let mut parts = Vec::new();
        let Counts { rows, damaged, first_damage } =
            self.pages.scan(table, columns, visit, |_| (), |part| parts.push(part));
        Scanned { parts, rows, damaged, first_damage }
    }

    /// Does the same for large tables in mapped files: hands each part to `each` soon after it was walked, in order, and
    /// to `release` the bytes of its pages, which need not stay in memory. They may be read again all the same.
    pub fn scan_each<T: Default + Send>(
        &self,
        table: &TableSchema,
        columns: &[Option<usize>],
        visit: impl Fn(&mut T, &Row<'_>) + Sync,
        release: impl Fn(&[u8]) + Sync,
        each: impl FnMut(T),
    ) -> Counts {
        self.pages.scan(table, columns, visit, release, each)
    }

    /// The table called `name`; names are compared without case, as SQL does.
    pub fn table(&self, name: &str) -> Option<&TableSchema> {
        self.tables.iter().find(|table| table.name.eq_ignore_ascii_case(name))
    }

    /// Names of all tables.
    pub fn table_names(&self) -> impl Iterator<Item = &str> {
        self.tables.iter().map(|table| table.name.as_str())
    }
}

#[cfg(test)]
mod tests;
