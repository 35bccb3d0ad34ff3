//! Records: one row's cells, decoded as far as they are asked for (section 2.1).

use crate::format::Encoding;
use std::borrow::Cow;

/// One value of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'r> {
    /// Nothing.
    Null,
    /// A whole number.
    Int(i64),
    /// A number.
    Real(f64),
    /// A text in the encoding of the database.
    Text(&'r [u8]),
    /// Bytes.
    Blob(&'r [u8]),
}

/// The asked cells of a row, in the order they were asked for.
#[derive(Debug, Clone, Copy)]
pub struct Row<'r> {
    /// Cells in the order they were asked for.
    pub cells: &'r [Cell<'r>],
    /// How their texts are encoded.
    pub encoding: Encoding,
}

impl<'r> Row<'r> {
    /// The whole number in place `at`; `None` where there is another thing or nothing.
    #[inline]
    pub fn int(&self, at: usize) -> Option<i64> {
        match self.cells.get(at) {
            Some(Cell::Int(value)) => Some(*value),
            _ => None,
        }
    }

    /// The number in place `at`.
    pub fn real(&self, at: usize) -> Option<f64> {
        match self.cells.get(at) {
            Some(Cell::Int(value)) => Some(*value as f64),
            Some(Cell::Real(value)) => Some(*value),
            _ => None,
        }
    }

    /// The text in place `at`; what does not decode becomes U+FFFD.
    pub fn text(&self, at: usize) -> Option<Cow<'r, str>> {
        match *self.cells.get(at)? {
            Cell::Text(bytes) => Some(self.encoding.decoded(bytes)),
            _ => None,
        }
    }
}

impl Encoding {
    /// The text that `bytes` are; what does not decode becomes U+FFFD.
    pub fn decoded(self, bytes: &[u8]) -> Cow<'_, str> {
        let wide = |unit: fn([u8; 2]) -> u16| -> Cow<'_, str> {
            let units: Vec<u16> = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).collect();
            Cow::Owned(String::from_utf16_lossy(&units))
        };
        match self {
            // Nearly all text is whole, and then this is the shorter way.
            Encoding::Utf8 => std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed),
            Encoding::Utf16Le => wide(u16::from_le_bytes),
            Encoding::Utf16Be => wide(u16::from_be_bytes),
        }
    }

    /// The bytes of `text`.
    pub fn encoded(self, text: &str) -> Vec<u8> {
        match self {
            Encoding::Utf8 => text.as_bytes().to_vec(),
            Encoding::Utf16Le => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            Encoding::Utf16Be => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        }
    }
}

/// Reads one big-endian varint of at most nine bytes at `at` and moves past it (section 1.6).
#[inline]
pub(super) fn varint(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let first = *bytes.get(*at)?;
    if first < 0x80 {
        *at += 1;
        return Some(u64::from(first));
    }
    let second = *bytes.get(*at + 1)?;
    if second < 0x80 {
        *at += 2;
        return Some(u64::from(first & 0x7f) << 7 | u64::from(second));
    }
    long_varint(bytes, at)
}

fn long_varint(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut value = 0_u64;
    for index in 0..9 {
        let byte = *bytes.get(*at + index)?;
        if index == 8 {
            *at += 9;
            return Some(value << 8 | u64::from(byte));
        }
        value = value << 7 | u64::from(byte & 0x7f);
        if byte < 0x80 {
            *at += index + 1;
            return Some(value);
        }
    }
    None
}

/// Decodes the columns `wanted` of a record into `cells`; `None` where the record is broken before the last of them.
///
/// `wanted` is pairs of a stored column and a place in `cells`, sorted by column.
/// A column beyond the record's end was added to the table later and is null.
pub(super) fn decode<'r>(payload: &'r [u8], wanted: &[(usize, usize)], cells: &mut [Cell<'r>]) -> Option<()> {
    let mut head = 0;
    let header_end = usize::try_from(varint(payload, &mut head)?).ok()?;
    let header = payload.get(..header_end)?;
    let (mut column, mut body) = (0, header_end);
    for &(want, place) in wanted {
        while column < want && head < header_end {
            body = body.checked_add(stored_bytes(varint(header, &mut head)?)?)?;
            column += 1;
        }
        if head >= header_end {
            cells[place] = Cell::Null;
            continue;
        }
        // Two places may ask for one column: its type stays unread until the column is passed.
        let mut peek = head;
        let kind = varint(header, &mut peek)?;
        let end = body.checked_add(stored_bytes(kind)?)?;
        cells[place] = value(kind, payload.get(body..end)?);
    }
    Some(())
}

/// Bytes of a value of serial type `kind`; `None` for a reserved one.
#[inline]
pub(super) fn stored_bytes(kind: u64) -> Option<usize> {
    match kind {
        0 | 8 | 9 => Some(0),
        1..=4 => Some(kind as usize),
        5 => Some(6),
        6 | 7 => Some(8),
        10 | 11 => None,
        _ => usize::try_from((kind - 12) / 2).ok(),
    }
}

#[inline]
pub(super) fn value(kind: u64, bytes: &[u8]) -> Cell<'_> {
    match kind {
        0 => Cell::Null,
        1..=6 => Cell::Int(integer(bytes)),
        7 => Cell::Real(f64::from_bits(integer(bytes) as u64)),
        8 => Cell::Int(0),
        9 => Cell::Int(1),
        _ if kind % 2 == 1 => Cell::Text(bytes),
        _ => Cell::Blob(bytes),
    }
}

/// A big-endian two's complement integer of one to eight bytes.
#[inline]
fn integer(bytes: &[u8]) -> i64 {
    match *bytes {
        [a] => i64::from(a as i8),
        [a, b] => i64::from(i16::from_be_bytes([a, b])),
        [a, b, c] => i64::from(i32::from_be_bytes([a, b, c, 0]) >> 8),
        [a, b, c, d] => i64::from(i32::from_be_bytes([a, b, c, d])),
        [a, b, c, d, e, f] => i64::from_be_bytes([a, b, c, d, e, f, 0, 0]) >> 16,
        [a, b, c, d, e, f, g, h] => i64::from_be_bytes([a, b, c, d, e, f, g, h]),
        _ => 0,
    }
}
