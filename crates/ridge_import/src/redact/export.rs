//! The folder that `nsys export --type parquetdir` writes, without what is private: its tables are files, and what is private in one
//! may be said by another.

use super::{Redacted, table};
use crate::folder::Folder;
use crate::import::Source;
use crate::packed::allowed_bytes;
use crate::parquet::Bound;
use ridge_redact::{ExportTables, ExportTexts, Held, RedactError, Words};
use std::io::Write;

/// How the files are called: their table, and this.
const SUFFIX: &str = ".parquet";

/// What takes out of the files of such a folder what is private.
#[derive(Debug)]
pub struct RedactedFolder {
    texts: ExportTexts,
}

struct Files<'a>(Folder<'a>);

impl ExportTables for Files<'_> {
    fn pairs(&self, table: &str, columns: [&str; 2]) -> Vec<[Held; 2]> {
        let called = |file: &&Source<'_>| table_of(file.name).is_some_and(|name| name.eq_ignore_ascii_case(table));
        let file = self.0.files.iter().find(called);
        file.map_or_else(Vec::new, |file| table::pairs(file.bytes, columns, &bound(file.bytes)))
    }
}

/// The table that a file of the folder holds.
fn table_of(file: &str) -> Option<&str> {
    file.strip_suffix(SUFFIX).filter(|table| !table.contains('/'))
}

fn bound(bytes: &[u8]) -> Bound {
    Bound::new(allowed_bytes(bytes.len(), None))
}

impl RedactedFolder {
    /// Learns what the files of `folder` say of each other; `None` where they are no such export.
    pub fn of(folder: Folder<'_>, words: &Words) -> Option<RedactedFolder> {
        let names: Vec<&str> = folder.files.iter().map(|file| file.name).collect();
        crate::sniff_folder(&names).filter(|format| format.name() == "nsys")?;
        let mut words = words.clone();
        for file in folder.files.iter().filter(|file| table::is_table(file.bytes)) {
            table::learn(file.name, file.bytes, &mut words, &bound(file.bytes));
        }
        Some(RedactedFolder { texts: ExportTexts::of(&Files(folder), &words) })
    }

    /// Whether `file`, a path inside the folder, is one of its tables.
    pub fn holds(&self, file: &str) -> bool {
        table_of(file).is_some()
    }

    /// Writes one of the tables to `out` without what is private.
    ///
    /// # Errors
    /// [`RedactError`] where the table is damaged, or nothing can be written.
    pub fn redact(&self, file: Source<'_>, out: &mut dyn Write) -> Result<Redacted, RedactError> {
        let name = table_of(file.name).unwrap_or(file.name);
        table::redact_of_export(name, file.bytes, &self.texts, &bound(file.bytes), out).map(Redacted::of)
    }
}
