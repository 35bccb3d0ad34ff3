//! Pickles of plain data, changed in place: texts are walked opcode by opcode and keep their length.
//!
//! Opcodes are those of Python's `pickle.py`, protocols 2 to 5; those that name, build or call anything are refused.

use crate::error::RedactError;
use crate::removed::Removed;
use crate::wire::masked_bytes;
use crate::words::Words;
use std::io::Write;

/// Writes `bytes`, a pickle, to `out` without what is private.
pub(crate) fn redact(bytes: &[u8], words: &Words, out: &mut dyn Write) -> Result<Removed, RedactError> {
    let (needles, mut removed) = (words.needles(), Removed::default());
    let mut at = 0;
    while at < bytes.len() {
        let step = step(&bytes[at..]).ok_or(RedactError::Damaged {
            expected: "an opcode of a pickle of plain data",
            found: "another",
            offset: at as u64,
        })?;
        let (text, end) = (at + step.text, at + step.end);
        out.write_all(&bytes[at..text])?;
        let clean = needles.found_in(&bytes[text..end]).then(|| masked_bytes(&bytes[text..end], words, &mut removed));
        out.write_all(clean.flatten().as_deref().unwrap_or(&bytes[text..end]))?;
        at = end;
        // STOP: what stands behind it belongs to nothing.
        if step.is_last {
            break;
        }
    }
    Ok(removed)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_keep_their_length() {
        let pickled = |path: &str| [&b"\x80\x02}q\x00X\x0b\x00\x00\x00"[..], path.as_bytes(), b"K/s."].concat();
        let mut out = Vec::new();
        redact(&pickled("/home/ada/x"), &Words::default(), &mut out).expect("plain data");
        assert_eq!(out, pickled("/****/***/x"));
        assert!(redact(b"\x80\x02cos\nsystem\n", &Words::default(), &mut Vec::new()).is_err());
    }
}
