//! What changed between the memory of two captures.

use crate::Analysis;
use crate::models::memory::{ChangeRow, memory_changes};
use crate::view::{Sheet, columns};
use ridge_table::Table;

/// Every module, allocator and holder of blocks of two captures, largest change first; what did not change is left out.
pub(crate) fn table(before: &Analysis<'_>, after: &Analysis<'_>) -> Table {
    let (rows, same) = memory_changes(before, after);
    let mut table = Sheet::over(after, &rows).show(CHANGES).table("Memory changes");
    table.name = "memory_diff";
    table.footnotes.extend((same > 0).then(|| format!("{same} more are the same in both")));
    table
}

columns! {
    CHANGES: ChangeRow {
        what: text Key "What",
            "module: planned peak; allocator: measured peak; in use: blocks of a snapshot that the program uses",
            |_, row| row.what;
        name: text Key "Name",
            "of the module or allocator; of blocks the line of the program that made them", |_, row| row.name.as_str();
        change_bytes: signed(Bytes) Key Measured "Change",
            "bytes of the second less bytes of the first", |_, row| row.change_bytes();
        before_bytes: bytes Measured "Before",
            "bytes in the first; unknown if it has none with that name", |_, row| row.before_bytes;
        after_bytes: bytes Measured "After",
            "bytes in the second; unknown if it has none with that name", |_, row| row.after_bytes;
    }
}
