//! Pickles of plain data, changed in place: texts are walked opcode by opcode and keep their length.
//!
//! Opcodes are those of Python's `pickle.py`, protocols 2 to 5; those that name, build or call anything are refused.

use crate::error::RedactError;
use crate::keys::private_key;
use crate::removed::Removed;
use crate::wire::masked_bytes;
use crate::words::Words;
use std::io::Write;

/// Opcodes that keep what was made for later, and stand between a key and its value.
const MEMO: [u8; 3] = [b'q', b'r', 0x94];

/// Writes `bytes`, a pickle, to `out` without what is private.
pub(crate) fn redact(bytes: &[u8], words: &Words, out: &mut dyn Write) -> Result<Removed, RedactError> {
    let (needles, mut removed) = (words.needles(), Removed::default());
    let mut at = 0;
    // The text before, which may be the key of the next.
    let mut key = "";
    while at < bytes.len() {
        let step = step(&bytes[at..]).ok_or(RedactError::Damaged {
            expected: "an opcode of a pickle of plain data",
            found: "another",
            offset: at as u64,
        })?;
        let (text, end) = (at + step.text, at + step.end);
        out.write_all(&bytes[at..text])?;
        let found = needles.found_in(&bytes[text..end]);
        let clean = match private_key(key).filter(|_| text < end) {
            Some(what) => {
                removed.add(what);
                Some(vec![b'*'; end - text])
            }
            None => found.then(|| masked_bytes(&bytes[text..end], words, &mut removed)).flatten(),
        };
        out.write_all(clean.as_deref().unwrap_or(&bytes[text..end]))?;
        if !MEMO.contains(&bytes[at]) {
            // A text behind a text is its value, and no key itself.
            let is_value = !key.is_empty();
            key = core::str::from_utf8(&bytes[text..end]).ok().filter(|_| !is_value).unwrap_or_default();
        }
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
        let with_key = |value: &str| {
            [
                &b"\x80\x02}(X\x08\x00\x00\x00hostnameq\x01X\x03\x00\x00\x00"[..],
                value.as_bytes(),
                b"q\x02X\x02\x00\x00\x00okX\x03\x00\x00\x00vm7u.",
            ]
            .concat()
        };
        out.clear();
        redact(&with_key("vm7"), &Words::default(), &mut out).expect("plain data");
        assert_eq!(out, with_key("***"));
        assert!(redact(b"\x80\x02cos\nsystem\n", &Words::default(), &mut Vec::new()).is_err());
    }
}
