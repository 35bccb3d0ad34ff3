//! Protobuf messages on the wire, field by field, and the shapes of those that are known.

use crate::error::RedactError;
use crate::learn::Listener;
use crate::removed::What;

/// Messages nested deeper are not listened to.
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
    /// A text that is private as a whole.
    Gone(What),
    /// An XStat, whose text is private where its name says so.
    Stat,
    /// An entry of the names of XStats, some of which are texts that stats refer to.
    StatName,
}

/// The fields of a message that a rewriter must know; the numbers are those of the public proto.
#[derive(Debug)]
pub(crate) struct Shape(pub(crate) &'static [(u32, Field)]);

impl Shape {
    pub(crate) fn field(&self, number: u32) -> Option<Field> {
        self.0.iter().find(|(listed, _)| *listed == number).map(|(_, field)| *field)
    }

    /// Whether anything in such a message goes whatever it holds; of XStats where `stats` are private.
    pub(crate) fn has_gone(&self, stats: bool) -> bool {
        self.0.iter().any(|(_, field)| match field {
            Field::Text => false,
            Field::Message(shape) => shape.has_gone(stats),
            Field::Drop(_) | Field::Gone(_) => true,
            Field::Stat | Field::StatName => stats,
        })
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

impl Record<'_> {
    /// The value of a varint field.
    pub(crate) fn varint(&self) -> Option<u64> {
        let mut inner = Records::new(self.raw);
        let key = inner.varint()?;
        if key & 7 == 0 { inner.varint() } else { None }
    }
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

/// Passes every text in `message` that may say a name to `listener`; what is damaged ends it.
pub(crate) fn listen(message: &[u8], listener: &mut Listener<'_>) {
    fn at_depth(message: &[u8], listener: &mut Listener<'_>, depth: usize) {
        for bytes in Records::new(message).map_while(Result::ok).filter_map(|record| record.bytes) {
            if depth >= MAX_DEPTH || !listener.may_say(bytes) {
                continue;
            }
            if is_message(bytes) {
                at_depth(bytes, listener, depth + 1);
            } else {
                listener.lines(bytes);
            }
        }
    }
    at_depth(message, listener, 0);
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
