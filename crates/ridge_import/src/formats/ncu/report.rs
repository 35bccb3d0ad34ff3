//! The container of a report: a header, then blocks with sources, results and a piece of the string table.
//!
//! Layout: `NVR\0`, then length-prefixed (32 bits, little-endian) messages as NVIDIA's Customization Guide documents
//! them; field numbers are those of the `.proto` files that every Nsight Compute installs.

use super::fields::{all, first};
use super::launch::Launch;
use super::result;
use crate::import::{Import, ImportError, Source};
use crate::note::Severity;
use ridge_hlo::wire::{Fields, Value};

const MAGIC: &[u8; 4] = b"NVR\0";

/// The version of the layout that is read.
const VERSION: u64 = 7;

/// Whether a file that begins with `head` is a report.
pub(super) fn is_report(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

/// What a block's header says.
#[derive(Debug, Default)]
struct Block<'a> {
    sources: u64,
    results: u64,
    /// Results of whole ranges, command lists and graphs.
    others: u64,
    payload: u64,
    pid: Option<u64>,
    strings: &'a [u8],
}

/// Reads every profiled launch of the report.
pub(super) fn read(source: Source<'_>, import: &mut Import) -> Result<Vec<Launch>, ImportError> {
    let mut cursor = Cursor { bytes: source.bytes, at: MAGIC.len() };
    let header = cursor.message().unwrap_or_default();
    let version = first(header, 1).and_then(Value::integer);
    if version != Some(VERSION) {
        let found = version.map_or("none".to_owned(), |version| version.to_string());
        return Err(ImportError::Broken {
            source_name: source.name.to_owned(),
            offset: 8,
            what: format!("expected an Nsight Compute report of file version {VERSION}, found {found}"),
        });
    }
    let (mut strings, mut launches, mut others, mut unnamed): (Vec<&[u8]>, _, _, _) = (Vec::new(), Vec::new(), 0, 0);
    let broken = loop {
        let start = cursor.at;
        if start == source.bytes.len() {
            break None;
        }
        let Some(block) = cursor.message().map(block) else { break Some(start) };
        strings.extend(all(block.strings, 1));
        others += block.others;
        let Some(payload) = cursor.take(block.payload) else { break Some(start) };
        let mut entries = Cursor { bytes: payload, at: 0 };
        for _ in 0..block.sources {
            if entries.message().is_none() {
                break;
            }
        }
        for _ in 0..block.results {
            let Some(message) = entries.message() else { break };
            let number = launches.len() as u32;
            launches.push(Launch { pid: block.pid, ..result::launch(message, number, &strings, &mut unnamed) });
        }
    };
    if let Some(offset) = broken {
        let message = "the report ends within a block; everything before it is shown".to_owned();
        import.note(Severity::Lost, source.name, Some(offset as u64), 1, message);
    }
    if others > 0 {
        let message = "results of whole ranges, command lists and graphs were left out".to_owned();
        import.note(Severity::Partial, source.name, None, others, message);
    }
    if unnamed > 0 {
        let message = "metrics without a name in the report were left out".to_owned();
        import.note(Severity::Lost, source.name, None, unnamed, message);
    }
    Ok(launches)
}

fn block(header: &[u8]) -> Block<'_> {
    let mut block = Block::default();
    for field in Fields::new(header).map_while(Result::ok) {
        match field {
            (1, Value::Varint(count)) => block.sources = count,
            (2, Value::Varint(count)) => block.results = count,
            (4, Value::Bytes(table)) => block.strings = table,
            (5, Value::Varint(bytes)) => block.payload = bytes,
            (6, Value::Bytes(process)) => block.pid = first(process, 1).and_then(Value::integer),
            (7..=9, Value::Varint(count)) => block.others = block.others.saturating_add(count),
            _ => {}
        }
    }
    block
}

/// Length-prefixed pieces of some bytes.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn message(&mut self) -> Option<&'a [u8]> {
        let length = self.bytes.get(self.at..self.at.checked_add(4)?)?;
        self.at += 4;
        self.take(u64::from(u32::from_le_bytes(length.try_into().expect("four bytes were taken"))))
    }

    fn take(&mut self, length: u64) -> Option<&'a [u8]> {
        let end = self.at.checked_add(usize::try_from(length).ok()?)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }
}
