//! Rewrite protobuf messages field by field: what is not text is copied, lengths follow what changed.
//!
//! Shapes say which fields are texts and messages; in fields that no shape names, texts and messages are told apart by trying.

use crate::error::RedactError;
use crate::needles::Needles;
use crate::removed::{Removed, What};
use crate::words::Words;

/// Messages nested deeper are not looked into, and refused where they hold something private.
const MAX_DEPTH: usize = 64;

/// What a field is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Field {
    /// A string.
    Text,
    /// A message.
    Message(&'static Shape),
    /// Left out altogether.
    Drop(What),
}

/// The fields of a message that a rewriter must know; the numbers are those of the public proto.
#[derive(Debug)]
pub(crate) struct Shape(pub(crate) &'static [(u32, Field)]);

impl Shape {
    fn field(&self, number: u32) -> Option<Field> {
        self.0.iter().find(|(listed, _)| *listed == number).map(|(_, field)| *field)
    }
}

/// A field on the wire.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Record<'a> {
    pub(crate) number: u32,
    /// The whole record: key, length, value.
    pub(crate) raw: &'a [u8],
    /// The value of a length-delimited field.
    pub(crate) bytes: Option<&'a [u8]>,
}

/// The fields of a message in file order; an error says at which byte it went wrong, and ends it.
#[derive(Debug)]
pub(crate) struct Records<'a> {
    message: &'a [u8],
    at: usize,
}

impl<'a> Records<'a> {
    pub(crate) fn new(message: &'a [u8]) -> Records<'a> {
        Records { message, at: 0 }
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = *self.message.get(self.at)?;
            self.at += 1;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    fn take(&mut self, length: u64) -> Option<&'a [u8]> {
        let end = self.at.checked_add(usize::try_from(length).ok()?)?;
        let taken = self.message.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    fn record(&mut self) -> Option<Record<'a>> {
        let start = self.at;
        let key = self.varint()?;
        let number = u32::try_from(key >> 3).ok().filter(|&number| number > 0 && number < 1 << 29)?;
        let bytes = match key & 7 {
            0 => self.varint().map(|_| None)?,
            1 => self.take(8).map(|_| None)?,
            2 => {
                let length = self.varint()?;
                Some(self.take(length)?)
            }
            5 => self.take(4).map(|_| None)?,
            _ => return None,
        };
        Some(Record { number, raw: &self.message[start..self.at], bytes })
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<Record<'a>, RedactError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.message.len() {
            return None;
        }
        let start = self.at;
        let record = self.record();
        if record.is_none() {
            self.at = self.message.len();
        }
        Some(record.ok_or(RedactError::Damaged { expected: "a protobuf field", found: "none", offset: start as u64 }))
    }
}

/// Whether `bytes` are one message from end to end; no bytes are none.
pub(crate) fn is_message(bytes: &[u8]) -> bool {
    !bytes.is_empty() && Records::new(bytes).all(|record| record.is_ok())
}

/// Rewrites messages.
#[derive(Debug)]
pub(crate) struct Rewriter<'a> {
    pub(crate) words: &'a Words,
    pub(crate) needles: Needles,
    pub(crate) removed: Removed,
}

impl Rewriter<'_> {
    /// `message` rewritten, `None` where nothing changes.
    pub(crate) fn message(
        &mut self,
        message: &[u8],
        shape: &Shape,
        depth: usize,
    ) -> Result<Option<Vec<u8>>, RedactError> {
        if !self.needles.found_in(message) && !shape.0.iter().any(|(_, field)| matches!(field, Field::Drop(_))) {
            return Ok(None);
        }
        if depth > MAX_DEPTH {
            return Err(RedactError::Damaged { expected: "messages in 64 levels", found: "more", offset: 0 });
        }
        let mut out = Vec::with_capacity(message.len());
        let mut is_changed = false;
        for record in Records::new(message) {
            is_changed |= self.record(record?, shape, depth, &mut out)?;
        }
        Ok(is_changed.then_some(out))
    }

    /// Appends `record` rewritten; whether it changed.
    pub(crate) fn record(
        &mut self,
        record: Record<'_>,
        shape: &Shape,
        depth: usize,
        out: &mut Vec<u8>,
    ) -> Result<bool, RedactError> {
        let field = shape.field(record.number);
        if let Some(Field::Drop(what)) = field {
            self.removed.add(what);
            return Ok(true);
        }
        let rewritten = match record.bytes {
            Some(bytes) => self.value(bytes, field, depth)?,
            None => None,
        };
        match &rewritten {
            Some(bytes) => push_record(record.number, bytes, out),
            None => out.extend_from_slice(record.raw),
        }
        Ok(rewritten.is_some())
    }

    fn value(&mut self, bytes: &[u8], field: Option<Field>, depth: usize) -> Result<Option<Vec<u8>>, RedactError> {
        match field {
            Some(Field::Message(shape)) => self.message(bytes, shape, depth + 1),
            Some(Field::Text | Field::Drop(_)) => Ok(self.text(bytes)),
            None if !self.needles.found_in(bytes) => Ok(None),
            // A path or a name is hardly ever a message from end to end: letters are keys of wire types that do not exist.
            None if is_message(bytes) => self.message(bytes, &Shape(&[]), depth + 1),
            None => Ok(self.text(bytes)),
        }
    }

    fn text(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        if !self.needles.found_in(bytes) {
            return None;
        }
        self.words.clean_bytes(bytes, &mut self.removed).map(String::into_bytes)
    }
}

/// Appends a length-delimited field.
pub(crate) fn push_record(number: u32, bytes: &[u8], out: &mut Vec<u8>) {
    push_varint(u64::from(number) << 3 | 2, out);
    push_varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

fn push_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
