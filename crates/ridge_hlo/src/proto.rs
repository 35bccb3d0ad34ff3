//! The proto reader: `HloProto` and `HloModuleProto`, from the wire.
//!
//! Field numbers are those of XLA's `hlo.proto` and `xla_data.proto`. Unknown fields are passed over; a part that is
//! cut is read as far as it goes, so that the file's first half answers for itself.

mod attributes;
mod instruction;
mod literal;
mod module;
mod names;
mod shape;
mod sharding;

pub(crate) use module::read;

use crate::error::Notes;
use crate::wire::{self, Fields, Value};

/// What all parts of the reader share: the whole input, for offsets, and the notes.
pub(crate) struct Reader<'a> {
    base: &'a [u8],
    notes: Notes,
    /// Elements of constants that may still be kept.
    elements_left: u64,
}

/// Messages nested deeper than this are not entered; XLA's own nest a few levels.
pub(crate) const DEPTH_LIMIT: u32 = 64;

impl<'a> Reader<'a> {
    /// Hands each field of `message` to `take`, and notes where it breaks.
    ///
    /// A last field whose length leads beyond the message is handed on as far as it goes.
    pub(crate) fn each<'m>(
        &mut self,
        message: &'m [u8],
        what: &'static str,
        mut take: impl FnMut(&mut Self, u32, Value<'m>),
    ) {
        for field in Fields::new(message) {
            match field {
                Ok((number, value)) => take(self, number, value),
                Err(error) => {
                    self.note(&message[error.offset..], || format!("{what} is broken: {}", error.what));
                    if let Some((number, rest)) = cut_field(&message[error.offset..]) {
                        take(self, number, Value::Bytes(rest));
                    }
                }
            }
        }
    }

    /// Adds a note about `part`, a slice of the input.
    pub(crate) fn note(&mut self, part: &[u8], what: impl FnOnce() -> String) {
        let offset = self.offset(part);
        self.notes.add(offset, what);
    }

    /// Bytes from the start of the input to `part`.
    pub(crate) fn offset(&self, part: &[u8]) -> usize {
        (part.as_ptr() as usize).wrapping_sub(self.base.as_ptr() as usize).min(self.base.len())
    }
}

/// The field whose length leads beyond the end, with what there is of it.
fn cut_field(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let mut at = 0;
    let key = wire::varint(bytes, &mut at)?;
    wire::varint(bytes, &mut at)?;
    (key & 7 == 2 && key >> 3 != 0 && key >> 35 == 0).then(|| ((key >> 3) as u32, &bytes[at..]))
}

/// Adds the numbers of a repeated field, packed or not.
pub(crate) fn extend(numbers: &mut Vec<i64>, value: Value<'_>) {
    match value {
        Value::Bytes(bytes) => numbers.extend(wire::packed(bytes).map(|number| number as i64)),
        value => numbers.extend(value.integer().map(|number| number as i64)),
    }
}

/// A string field as owned text.
pub(crate) fn string(bytes: &[u8]) -> String {
    wire::text(bytes).into_owned()
}

/// A 32-bit field; negative and oversized ones count as unsaid.
pub(crate) fn small(value: Value<'_>) -> u32 {
    value.integer().and_then(|number| u32::try_from(number).ok()).unwrap_or(0)
}
