//! Reports of Nsight Compute, changed in place, so that the lengths in their container stay true.
//!
//! Layout: `NVR\0`, then length-prefixed (32 bits, little-endian) messages as NVIDIA's Customization Guide documents them. Field
//! numbers are those of the `.proto` files that every Nsight Compute installs.

use crate::error::RedactError;
use crate::found::Replace;
use crate::learn::Listener;
use crate::removed::{Removed, What};
use crate::rewriter::Rewriter;
use crate::wire;
use crate::wire::Field::{Gone, Message};
use crate::wire::{Records, Shape};
use crate::words::Words;
use std::io::Write;

const MAGIC: &[u8] = b"NVR\0";
const SYSTEM: Shape = Shape(&[(5, Gone(What::HostName))]);
/// Program, arguments, working folder, environment.
const LAUNCH: Shape = Shape(&[
    (1, Gone(What::CommandLine)),
    (2, Gone(What::CommandLine)),
    (3, Gone(What::CommandLine)),
    (4, Gone(What::Environment)),
]);
const SESSION: Shape = Shape(&[(3, Message(&SYSTEM)), (9, Message(&LAUNCH))]);
const PROCESS: Shape = Shape(&[(2, Gone(What::HostName)), (3, Gone(What::ProcessName))]);
const BLOCK: Shape = Shape(&[(3, Message(&SESSION)), (6, Message(&PROCESS))]);
/// `BlockHeader.PayloadSize`.
const PAYLOAD: u32 = 5;
const ANY: Shape = Shape(&[]);

/// Writes `bytes`, a report, to `out` without what is private.
pub(crate) fn redact(bytes: &[u8], words: &Words, out: &mut dyn Write) -> Result<Removed, RedactError> {
    let mut rewriter = Rewriter::new(words, Replace::Letters);
    walk(bytes, |part| match part {
        Part::Plain(bytes) => Ok(out.write_all(bytes)?),
        Part::Message(message, kind) => {
            let shape = if kind == Kind::Block { &BLOCK } else { &ANY };
            let clean = rewriter.message(message, shape, 0)?;
            Ok(out.write_all(clean.as_deref().unwrap_or(message))?)
        }
    })?;
    Ok(rewriter.removed)
}

/// Adds to `words` the names of machines that the report in `bytes` says.
pub(crate) fn learn(bytes: &[u8], words: &mut Words) -> Result<(), RedactError> {
    walk(bytes, |part| {
        if let Part::Message(header, Kind::Block) = part {
            host_names(header).for_each(|host| words.learn(What::HostName, host));
        }
        Ok(())
    })
}

/// Passes the texts of the report in `bytes` to `listener`.
pub(crate) fn listen(bytes: &[u8], listener: &mut Listener<'_>) -> Result<(), RedactError> {
    walk(bytes, |part| {
        if let Part::Message(message, _) = part {
            wire::listen(message, listener);
        }
        Ok(())
    })
}

fn host_names(header: &[u8]) -> impl Iterator<Item = &str> {
    [[3, 3, 5].as_slice(), [6, 2].as_slice()].into_iter().filter_map(move |path| {
        let text = path.iter().try_fold(header, |message, number| field(message, *number))?;
        std::str::from_utf8(text).ok()
    })
}

/// The first length-delimited field `number`.
fn field(message: &[u8], number: u32) -> Option<&[u8]> {
    Records::new(message).map_while(Result::ok).find(|record| record.number == number)?.bytes
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Block,
    Other,
}

enum Part<'a> {
    /// Marks and lengths.
    Plain(&'a [u8]),
    Message(&'a [u8], Kind),
}

/// Passes all of `bytes` to `visit`, in order.
fn walk<'a>(bytes: &'a [u8], mut visit: impl FnMut(Part<'a>) -> Result<(), RedactError>) -> Result<(), RedactError> {
    let mut cursor = Cursor { bytes, at: 0 };
    visit(Part::Plain(cursor.take(MAGIC.len())?))?;
    let (length, header) = cursor.message()?;
    visit(Part::Plain(length))?;
    visit(Part::Message(header, Kind::Other))?;
    while cursor.at < bytes.len() {
        let (length, header) = cursor.message()?;
        visit(Part::Plain(length))?;
        visit(Part::Message(header, Kind::Block))?;
        let size = varint_field(header, PAYLOAD).unwrap_or(0);
        let end = cursor.at.saturating_add(usize::try_from(size).unwrap_or(usize::MAX));
        while cursor.at < end {
            let (length, entry) = cursor.message()?;
            visit(Part::Plain(length))?;
            visit(Part::Message(entry, Kind::Other))?;
        }
    }
    Ok(())
}

fn varint_field(message: &[u8], number: u32) -> Option<u64> {
    Records::new(message).map_while(Result::ok).find(|record| record.number == number)?.varint()
}

struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], RedactError> {
        let end = self.at.checked_add(length).filter(|end| *end <= self.bytes.len());
        let end = end.ok_or(RedactError::Damaged {
            expected: "a whole block of a report",
            found: "the end of the file",
            offset: self.at as u64,
        })?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    /// The four bytes of a length, and the message of that length.
    fn message(&mut self) -> Result<(&'a [u8], &'a [u8]), RedactError> {
        let length = self.take(4)?;
        let bytes = u32::from_le_bytes(length.try_into().expect("four bytes were taken"));
        Ok((length, self.take(bytes as usize)?))
    }
}
