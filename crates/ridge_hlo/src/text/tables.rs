//! The stack frame tables at the head of a module's text.
//!
//! XLA prints a frame's parent one higher than it stores it, so that the outermost frame seems to be its own parent.
//! Text in which some frame has parent 0 was not made that way and is taken as it is.

use super::cursor::Cursor;
use super::lists::{pairs, unquote};
use super::{Loading, excerpt};
use crate::{FileLocation, Frame};

/// Missing numbers in a table that are filled with empty entries; a larger hole is a broken line.
const LARGEST_HOLE: usize = 1000;

/// Which table.
#[derive(Clone, Copy)]
pub(super) enum Table {
    Files,
    Functions,
    Locations,
    Frames,
}

impl Table {
    /// The table this line is the title of.
    pub(super) fn titled(line: &str) -> Option<Table> {
        match line.trim() {
            "FileNames" => Some(Table::Files),
            "FunctionNames" => Some(Table::Functions),
            "FileLocations" => Some(Table::Locations),
            "StackFrames" => Some(Table::Frames),
            _ => None,
        }
    }
}

impl<'t> Loading<'t> {
    /// Reads lines that begin with a number.
    pub(super) fn table(&mut self, table: Table, cursor: &mut Cursor<'t>) {
        loop {
            cursor.skip_space();
            let line = cursor.peek_line();
            if !line.starts_with(|first: char| first.is_ascii_digit()) {
                return;
            }
            let entry = line.split_once(' ').and_then(|(number, entry)| Some((number.parse().ok()?, entry)));
            let stored = entry.is_some_and(|(number, entry)| self.entry(table, number, entry));
            if !stored {
                self.notes.add(cursor.at(), || format!("expected a numbered table entry, found `{}`", excerpt(line)));
            }
            cursor.skip_line();
        }
    }

    fn entry(&mut self, table: Table, number: usize, entry: &str) -> bool {
        let frames = &mut self.module.frames;
        match table {
            Table::Files => place(&mut frames.files, number, unquote(entry)),
            Table::Functions => place(&mut frames.functions, number, unquote(entry)),
            Table::Locations => place(&mut frames.locations, number, location(entry)),
            Table::Frames => {
                let frame = frame(entry);
                self.has_raw_parents |= frame.parent == 0;
                place(&mut frames.frames, number, frame)
            }
        }
    }
}

/// Puts an entry at its number, counted from 1; `false` if the number makes no sense.
fn place<T: Default>(table: &mut Vec<T>, number: usize, entry: T) -> bool {
    if number == 0 || number > table.len() + LARGEST_HOLE {
        return false;
    }
    if number > table.len() {
        table.resize_with(number, T::default);
    }
    table[number - 1] = entry;
    true
}

fn location(entry: &str) -> FileLocation {
    let mut location = FileLocation::default();
    for (key, value) in pairs(entry) {
        let value = value.parse().unwrap_or(0);
        match key {
            "file_name_id" => location.file = value,
            "function_name_id" => location.function = value,
            "line" => location.line = value,
            "end_line" => location.end_line = value,
            "column" => location.column = value,
            "end_column" => location.end_column = value,
            _ => {}
        }
    }
    location
}

fn frame(entry: &str) -> Frame {
    let mut frame = Frame::default();
    for (key, value) in pairs(entry) {
        let value = value.parse().unwrap_or(0);
        match key {
            "file_location_id" => frame.location = value,
            "parent_frame_id" => frame.parent = value,
            _ => {}
        }
    }
    frame
}
