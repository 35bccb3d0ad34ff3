//! The opcodes of a pickle of plain data, one after the other; those that name, build or call anything are refused.
//!
//! Opcodes are those of Python's `pickle.py`, protocols 2 to 5.

use crate::error::RedactError;
use std::ops::Range;

/// The opcodes of a pickle: each with the place of its text, or of nothing at its end, and the number behind it.
///
/// What stands behind the last, STOP, belongs to nothing.
pub(crate) fn steps(bytes: &[u8]) -> impl Iterator<Item = Result<(u8, Range<usize>, u64), RedactError>> {
    let (mut at, mut is_over) = (0, false);
    std::iter::from_fn(move || {
        if is_over || at >= bytes.len() {
            return None;
        }
        let Some(step) = step(&bytes[at..]) else {
            is_over = true;
            let (expected, found) = ("an opcode of a pickle of plain data", "another");
            return Some(Err(RedactError::Damaged { expected, found, offset: at as u64 }));
        };
        is_over = step.is_last;
        let (opcode, text) = (bytes[at], at + step.text..at + step.end);
        let argument =
            bytes[at + 1..text.start].iter().take(8).rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
        at = text.end;
        Some(Ok((opcode, text, argument)))
    })
}

/// One opcode: where its text begins and ends, from its first byte.
struct Step {
    text: usize,
    end: usize,
    is_last: bool,
}

/// The opcode that `bytes` begin with; `None` for one that is not of plain data, or cut.
fn step(bytes: &[u8]) -> Option<Step> {
    let number = |size: usize| {
        let bytes = bytes.get(1..1 + size)?;
        let value = bytes.iter().rev().fold(0_u64, |value, byte| value << 8 | u64::from(*byte));
        usize::try_from(value).ok()
    };
    let fixed = |length: usize| Some((1 + length, 1 + length));
    let text = |size: usize| Some((1 + size, (1 + size).checked_add(number(size)?)?));
    let opcode = *bytes.first()?;
    let (start, end) = match opcode {
        0x80 | b'K' | b'q' | b'h' => fixed(1),
        b'M' => fixed(2),
        b'J' | b'r' | b'j' => fixed(4),
        0x95 | b'G' => fixed(8),
        0x8a => text(1),
        0x8b => text(4),
        0x8c | b'C' | b'U' => text(1),
        b'X' | b'B' | b'T' => text(4),
        0x8d | 0x8e => text(8),
        b'.'
        | b'('
        | b'N'
        | 0x88
        | 0x89
        | b']'
        | b')'
        | b'}'
        | 0x85..=0x87
        | b't'
        | b'a'
        | b'e'
        | b's'
        | b'u'
        | 0x94 => fixed(0),
        _ => None,
    }?;
    // A long number is none to search.
    let start = if matches!(opcode, 0x8a | 0x8b) { end } else { start };
    (end <= bytes.len()).then_some(Step { text: start, end, is_last: opcode == b'.' })
}
