//! Where the tables of an export are: what the readers ask of any storage, and SQLite's answer.

use crate::import::{Import, Release, Source};
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
    /// Parts are visited in parallel, each into a `T` of its own, and handed to `each` in order.
    fn scan_each<T: Default + Send>(
        &self,
        name: &str,
        columns: &[&str],
        visit: impl Fn(&mut T, &Row<'_>) + Sync,
        each: impl FnMut(T),
    );

    /// The parts of a table that is not large.
    fn scan<T: Default + Send>(&self, name: &str, columns: &[&str], visit: impl Fn(&mut T, &Row<'_>) + Sync) -> Vec<T> {
        let mut parts = Vec::new();
        self.scan_each(name, columns, visit, |part| parts.push(part));
        parts
    }

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
    release: Option<Release>,
    damage: RefCell<Vec<Damage>>,
}

impl<'d, 'a> SqliteTables<'d, 'a> {
    /// The tables of `database`, of which `release` gets what was read.
    pub(super) fn new(database: &'d Database<'a>, release: Option<Release>) -> SqliteTables<'d, 'a> {
        SqliteTables { database, release, damage: RefCell::default() }
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

    fn scan_each<T: Default + Send>(
        &self,
        name: &str,
        columns: &[&str],
        visit: impl Fn(&mut T, &Row<'_>) + Sync,
        each: impl FnMut(T),
    ) {
        let Some(table) = self.database.table(name) else { return };
        if table.without_row_id {
            self.add_damage(name, "is stored without row ids, which is not supported", 1, None);
            return;
        }
        let release = self.release.as_ref();
        let release = |read: &[u8]| release.iter().for_each(|release| release.give(read));
        let met = self.database.scan_each(table, &table.columns_called(columns), visit, release, each);
        if met.damaged > 0 {
            self.add_damage(name, "has pages or rows that could not be read", met.damaged, met.first_damage);
        }
    }

    fn note_damage(&self, source: Source<'_>, import: &mut Import) {
        for damage in self.damage.borrow().iter() {
            let message = format!("table {} {}", damage.table, damage.what);
            import.note(Severity::Lost, source.name, damage.offset, damage.count, message);
        }
    }
}
