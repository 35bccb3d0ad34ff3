//! Thrift's compact protocol, in which Parquet writes its footer and page headers: read field by field, no tree built.
//!
//! <https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md>

/// Structures inside structures: Parquet's own go five deep.
const MAX_DEPTH: u32 = 16;

/// Types of values as the protocol numbers them.
pub(super) const LIST: u8 = 9;
pub(super) const STRUCT: u8 = 12;

/// A position in a message; every read moves on, and `None` means the message is broken there.
#[derive(Debug, Clone)]
pub(super) struct Thrift<'a> {
    bytes: &'a [u8],
    pub(super) at: usize,
}

impl<'a> Thrift<'a> {
    pub(super) fn new(bytes: &'a [u8], at: usize) -> Thrift<'a> {
        Thrift { bytes, at }
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// A whole number of any width.
    pub(super) fn int(&mut self) -> Option<i64> {
        let raw = self.varint()?;
        Some((raw >> 1) as i64 ^ -((raw & 1) as i64))
    }

    /// A text or bytes.
    pub(super) fn binary(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.varint()?).ok()?;
        let bytes = self.bytes.get(self.at..self.at.checked_add(length)?)?;
        self.at += length;
        Some(bytes)
    }

    /// Type and number of a list's elements; each takes a byte at least, so there are never more than bytes.
    pub(super) fn list(&mut self) -> Option<(u8, usize)> {
        let head = self.byte()?;
        let count = if head >> 4 == 15 { usize::try_from(self.varint()?).ok()? } else { usize::from(head >> 4) };
        (count <= self.bytes.len()).then_some((head & 15, count))
    }

    /// Visits the fields of a structure by number and type; what `visit` does not read, it must [`Thrift::skip`].
    pub(super) fn fields(&mut self, mut visit: impl FnMut(&mut Thrift<'a>, i64, u8) -> Option<()>) -> Option<()> {
        let mut number = 0_i64;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(());
            }
            number = if head >> 4 == 0 { self.int()? } else { number.wrapping_add(i64::from(head >> 4)) };
            visit(self, number, head & 15)?;
        }
    }

    /// Passes over a value.
    pub(super) fn skip(&mut self, kind: u8) -> Option<()> {
        self.skip_deep(kind, 0)
    }

    fn skip_deep(&mut self, kind: u8, depth: u32) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        match kind {
            // A truth value as a field is its type.
            1 | 2 => Some(()),
            3 => self.byte().map(drop),
            4..=6 => self.varint().map(drop),
            7 => {
                self.at = self.at.checked_add(8)?;
                Some(())
            }
            8 => self.binary().map(drop),
            LIST | 10 => {
                let (kind, count) = self.list()?;
                (0..count).try_for_each(|_| self.skip_element(kind, depth + 1))
            }
            11 => {
                let count = usize::try_from(self.varint()?).ok().filter(|count| *count <= self.bytes.len())?;
                if count == 0 {
                    return Some(());
                }
                let kinds = self.byte()?;
                (0..count).try_for_each(|_| {
                    self.skip_element(kinds >> 4, depth + 1)?;
                    self.skip_element(kinds & 15, depth + 1)
                })
            }
            STRUCT => self.fields(|inner, _, kind| inner.skip_deep(kind, depth + 1)),
            _ => None,
        }
    }

    /// Elements differ from fields in that a truth value takes a byte.
    fn skip_element(&mut self, kind: u8, depth: u32) -> Option<()> {
        if matches!(kind, 1 | 2) { self.byte().map(drop) } else { self.skip_deep(kind, depth) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_and_the_rest_is_passed_over() {
        // Field 1: 150; field 2: a list of two structures with nothing in them; field 20: "ab"; field 21: true.
        let bytes = [0x15, 0xac, 0x02, 0x19, 0x2c, 0, 0, 0x08, 0x28, 0x02, b'a', b'b', 0x11, 0x00];
        let mut found = Vec::new();
        let mut thrift = Thrift::new(&bytes, 0);
        let read = thrift.fields(|thrift, number, kind| {
            found.push((number, kind));
            if number == 1 {
                assert_eq!(thrift.int(), Some(150));
                return Some(());
            }
            thrift.skip(kind)
        });
        assert_eq!((read, found, thrift.at), (Some(()), vec![(1, 5), (2, LIST), (20, 8), (21, 1)], bytes.len()));
    }

    #[test]
    fn broken_messages_end() {
        let deep = [0x1c; 100];
        assert_eq!(Thrift::new(&deep, 0).skip(STRUCT), None);
        for broken in [&[0x19_u8, 0xfc, 0xff, 0xff, 0xff, 0x0f][..], &[0x18, 0x7f], &[0x15], &[0x1e, 0]] {
            assert_eq!(Thrift::new(broken, 0).skip(STRUCT), None, "{broken:?}");
        }
    }
}
