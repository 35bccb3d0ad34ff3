//! The text reader: HLO as XLA dumps it, before and after optimization, old and new.
//!
//! Instructions are found by the balance of their brackets, not by a grammar of every attribute: an attribute this
//! crate does not know is kept as text, and a line that makes no sense costs that line.

mod attributes;
mod computation;
mod cursor;
mod header;
mod instruction;
pub(crate) mod labels;
mod lists;
mod literal;
mod loading;
mod shape;
mod tables;

pub(crate) use lists::split_list;

use crate::{HloError, HloModule};
use cursor::Cursor;
use loading::{Loading, excerpt};

/// Positions are 32 bits, and half of them are plenty.
const INSTRUCTION_LIMIT: usize = 1 << 31;

/// Reads a module; see [`HloModule::from_text`].
pub(crate) fn read(text: &str) -> Result<HloModule, HloError> {
    let mut loading = Loading::default();
    let mut cursor = Cursor::new(text);
    loop {
        cursor.skip_space();
        let start = cursor.at();
        let line = cursor.peek_line();
        if line.is_empty() {
            break;
        }
        if let Some(header) = line.strip_prefix("HloModule ") {
            cursor.skip_line();
            loading.header(header);
        } else if let Some(table) = tables::Table::titled(line) {
            cursor.skip_line();
            loading.table(table, &mut cursor);
        } else if line.trim_end().ends_with('{') {
            cursor.skip_line();
            loading.computation(line, start, &mut cursor);
        } else {
            loading.notes.add(start, || format!("expected a computation, found `{}`", excerpt(line)));
            cursor.skip_line();
        }
        if loading.module.instructions.len() >= INSTRUCTION_LIMIT {
            return Err(HloError::TooLarge { limit: INSTRUCTION_LIMIT, offset: cursor.at() });
        }
    }
    if !loading.seen_header && loading.module.computations.is_empty() {
        let found = if text.trim().is_empty() { "the end".to_owned() } else { format!("`{}`", excerpt(text)) };
        return Err(HloError::NotText { found, offset: 0 });
    }
    Ok(loading.finish(text))
}
