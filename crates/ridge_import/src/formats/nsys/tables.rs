//! Where the tables of an export are: what the readers ask of any storage, and SQLite's answer.

use crate::import::{Import, Source};
use crate::note::Severity;
use ridge_sqlite::{Database, Row};
use std::cell::RefCell;

/// The tables of an export, whatever they are stored in.
pub(super) trait Tables {
    /// Names of all tables.
    fn names(&self) -> Vec<String>;

    /// Columns of the table `name`; `None` where there is no such table.
    fn columns(&self, name: &str) -> Option<Vec<String>>;

    /// Visits every row of the table `name` with the cells of `columns`; an absent column is null, an absent table empty.
    ///
    /// Parts are visited in parallel, each into a `T` of its own.
    fn scan<T: Default + Send>(&self, name: &str, columns: &[&str], visit: impl Fn(&mut T, &Row<'_>) + Sync) -> Vec<T>;

    /// Says what could not be read.
    fn note_damage(&self, source: Source<'_>, import: &mut Import);

    /// Whether there is a table `name`.
    fn has(&self, name: &str) -> bool {
        self.columns(name).is_some()
    }

    /// Collects what `visit` makes of each row of a small table.
    fn collect<V: Send>(&self, name: &str, columns: &[&str], visit: impl Fn(&Row<'_>) -> Option<V> + Sync) -> Vec<V> {
        let parts = self.scan(name, columns, |found: &mut Vec<V>, row| found.extend(visit(row)));
        parts.into_iter().flatten().collect()
    }
}

/// A table that was not read whole.
#[derive(Debug)]
struct Damage {
    table: String,
    what: &'static str,
    count: u64,
    offset: Option<u64>,
}

/// The tables of a SQLite export.
pub(super) struct SqliteTables<'d, 'a> {
    database: &'d Database<'a>,
    damage: RefCell<Vec<Damage>>,
}

impl<'d, 'a> SqliteTables<'d, 'a> {
    pub(super) fn new(database: &'d Database<'a>) -> SqliteTables<'d, 'a> {
        SqliteTables { database, damage: RefCell::default() }
    }

    fn add_damage(&self, table: &str, what: &'static str, count: u64, offset: Option<u64>) {
        let damage = Damage { table: table.to_owned(), what, count, offset };
        self.damage.borrow_mut().push(damage);
    }
}

impl Tables for SqliteTables<'_, '_> {
    fn names(&self) -> Vec<String> {
        self.database.table_names().map(str::to_owned).collect()
    }

    fn columns(&self, name: &str) -> Option<Vec<String>> {
        self.database.table(name).map(|table| table.columns.clone())
    }

    fn scan<T: Default + Send>(&self, name: &str, columns: &[&str], visit: impl Fn(&mut T, &Row<'_>) + Sync) -> Vec<T> {
        let Some(table) = self.database.table(name) else { return Vec::new() };
        if table.without_row_id {
            self.add_damage(name, "is stored without row ids, which is not read", 1, None);
            return Vec::new();
        }
        let scanned = self.database.scan(table, &table.columns_called(columns), visit);
        if scanned.damaged > 0 {
            self.add_damage(name, "has pages or rows that could not be read", scanned.damaged, scanned.first_damage);
        }
        scanned.parts
    }

    fn note_damage(&self, source: Source<'_>, import: &mut Import) {
        for damage in self.damage.borrow().iter() {
            let message = format!("table {} {}", damage.table, damage.what);
            import.note(Severity::Lost, source.name, damage.offset, damage.count, message);
        }
    }
}
