//! The protobuf wire format, read in place.
//!
//! A [`Fields`] walks one message without copying it, without knowing its schema and without trusting a length.
//! Both HLO protos and XPlane captures are read through it: captures reach many gigabytes, and one
//! unknown or malformed field must not cost the rest, which rules a generated parser out.
//! It decodes no strings; [`text`] does, and never fails.

use std::borrow::Cow;

/// One field's value as the wire carries it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// Wire type 0: integers, booleans and enums.
    Varint(u64),
    /// Wire type 1: eight little-endian bytes, a double or a fixed64.
    Fixed64(u64),
    /// Wire type 2: a string, bytes, a nested message or packed numbers.
    Bytes(&'a [u8]),
    /// Wire type 5: four little-endian bytes.
    Fixed32(u32),
}

impl<'a> Value<'a> {
    /// The value as an integer where it is one; the bit pattern of fixed-width values.
    pub fn integer(self) -> Option<u64> {
        match self {
            Value::Varint(v) | Value::Fixed64(v) => Some(v),
            Value::Fixed32(v) => Some(u64::from(v)),
            Value::Bytes(_) => None,
        }
    }

    /// The value's bytes where it has a length.
    pub fn bytes(self) -> Option<&'a [u8]> {
        if let Value::Bytes(bytes) = self { Some(bytes) } else { None }
    }
}

/// Why a message could not be read on: the offset within it and what stood there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{what} at byte {offset} of the message")]
pub struct WireError {
    /// Bytes from the start of the message.
    pub offset: usize,
    /// What was expected and found.
    pub what: &'static str,
}

/// The fields of one message, in file order, each with its number.
///
/// After an error the iterator is at its end: what came before stands.
#[derive(Debug, Clone)]
pub struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Fields<'a> {
    /// Walks `message`.
    pub fn new(message: &'a [u8]) -> Fields<'a> {
        Fields { bytes: message, at: 0 }
    }

    /// Bytes read so far.
    pub fn offset(&self) -> usize {
        self.at
    }

    fn fail(&mut self, offset: usize, what: &'static str) -> Option<Result<(u32, Value<'a>), WireError>> {
        self.at = self.bytes.len();
        Some(Err(WireError { offset, what }))
    }

    fn take(&mut self, length: u64) -> Option<&'a [u8]> {
        let end = self.at.checked_add(usize::try_from(length).ok()?)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u32, Value<'a>), WireError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.bytes.len() {
            return None;
        }
        let start = self.at;
        let Some(key) = varint(self.bytes, &mut self.at) else {
            return self.fail(start, "expected a field key, found a cut or overlong varint");
        };
        let number = (key >> 3) as u32;
        if number == 0 || key >> 32 != 0 {
            return self.fail(start, "expected a field number from 1 to 2^29-1");
        }
        let value = match key & 7 {
            0 => match varint(self.bytes, &mut self.at) {
                Some(value) => Value::Varint(value),
                None => return self.fail(start, "expected a varint, found a cut or overlong one"),
            },
            1 => match self.take(8) {
                Some(bytes) => Value::Fixed64(u64::from_le_bytes(bytes.try_into().expect("eight bytes were taken"))),
                None => return self.fail(start, "expected eight bytes, found the end"),
            },
            2 => match varint(self.bytes, &mut self.at).and_then(|length| self.take(length)) {
                Some(bytes) => Value::Bytes(bytes),
                None => return self.fail(start, "expected a length within the message, found one beyond its end"),
            },
            5 => match self.take(4) {
                Some(bytes) => Value::Fixed32(u32::from_le_bytes(bytes.try_into().expect("four bytes were taken"))),
                None => return self.fail(start, "expected four bytes, found the end"),
            },
            _ => return self.fail(start, "expected wire type 0, 1, 2 or 5"),
        };
        Some(Ok((number, value)))
    }
}

/// Reads one varint of at most ten bytes at `at` and moves past it; `None` where it is cut or too long.
#[inline(always)]
pub fn varint(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let first = *bytes.get(*at)?;
    if first < 0x80 {
        *at += 1;
        return Some(u64::from(first));
    }
    let mut value = u64::from(first & 0x7f);
    let mut index = *at + 1;
    let mut shift = 7;
    while shift < 64 {
        let byte = *bytes.get(index)?;
        index += 1;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            *at = index;
            return Some(value);
        }
        shift += 7;
    }
    None
}

/// The varints of a packed repeated field, up to the first broken one.
pub fn packed(bytes: &[u8]) -> impl Iterator<Item = u64> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || varint(bytes, &mut at))
}

/// A string field as text; bytes that are not UTF-8 become U+FFFD rather than an error.
pub fn text(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(message: &[u8]) -> String {
        Fields::new(message)
            .map(|field| match field {
                Ok((number, value)) => format!("{number}={value:?}"),
                Err(error) => format!("! {error}"),
            })
            .collect::<Vec<_>>()
            .join(", ")
    }

    #[test]
    fn walks_fields_and_stops_at_the_first_broken_one() {
        for (message, expected) in [
            (&[0x08, 0x96, 0x01][..], "1=Varint(150)"),
            (&[0x12, 0x02, b'h', b'i', 0x18, 0x01], "2=Bytes([104, 105]), 3=Varint(1)"),
            (&[0x0d, 1, 0, 0, 0], "1=Fixed32(1)"),
            (
                &[0x08, 0x01, 0x12, 0x7f],
                "1=Varint(1), ! expected a length within the message, found one beyond its end at byte 2 of the message",
            ),
            (&[0x0b], "! expected wire type 0, 1, 2 or 5 at byte 0 of the message"),
            (&[0x08, 0xff], "! expected a varint, found a cut or overlong one at byte 0 of the message"),
            (&[0x00, 0x00], "! expected a field number from 1 to 2^29-1 at byte 0 of the message"),
            (
                &[0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
                "! expected a length within the message, found one beyond its end at byte 0 of the message",
            ),
        ] {
            assert_eq!(render(message), expected);
        }
    }

    #[test]
    fn negative_numbers_take_ten_bytes() {
        let bytes = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        assert_eq!(varint(&bytes, &mut 0).map(|v| v as i64), Some(-1));
        assert_eq!(varint(&[0x80; 11], &mut 0), None);
    }
}
