//! Pickles of plain data, changed in place: texts are walked opcode by opcode and keep their length.
//!
//! Opcodes are those of Python's `pickle.py`, protocols 2 to 5; those that name, build or call anything are refused.

use crate::encoded;
use crate::error::RedactError;
use crate::learn::Listener;
use crate::pickle_keys::told;
use crate::pickle_steps::steps;
use crate::removed::{Removed, What};
use crate::rewriter::masked_bytes;
use crate::words::Words;
use std::io::Write;
use std::ops::Range;

/// Writes `bytes`, a pickle, to `out` without what is private.
pub(crate) fn redact(bytes: &[u8], words: &Words, out: &mut dyn Write) -> Result<Removed, RedactError> {
    let (needles, mut removed, mut at) = (words.needles(), Removed::default(), 0);
    let end = walk(bytes, &mut |text, told| {
        let found = &bytes[text.clone()];
        let clean = match told.filter(|_| !text.is_empty()) {
            Some(what) => {
                removed.add(what);
                Some(vec![b'*'; text.len()])
            }
            None if !needles.found_in(found) => None,
            None if encoded::unpacked(found).is_some() => words.found_in_bytes(found).map(|what| {
                removed.add(what);
                vec![b'*'; text.len()]
            }),
            None => masked_bytes(found, words, &mut removed),
        };
        if let Some(clean) = clean {
            out.write_all(&bytes[at..text.start])?;
            out.write_all(&clean)?;
            at = text.end;
        }
        Ok(())
    })?;
    out.write_all(&bytes[at..end])?;
    Ok(removed)
}

/// Passes the texts of the pickle in `bytes` to `listener`, with what their keys say of them.
pub(crate) fn listen(bytes: &[u8], listener: &mut Listener<'_>) -> Result<(), RedactError> {
    walk(bytes, &mut |text, told| {
        let text = String::from_utf8_lossy(&bytes[text]);
        match told {
            Some(what) => listener.learn(what, &text),
            None => listener.lines(text.as_bytes()),
        }
        Ok(())
    })
    .map(drop)
}

type Visit<'a> = &'a mut dyn FnMut(Range<usize>, Option<What>) -> Result<(), RedactError>;

/// Calls `visit` with the place of each text of a pickle, in order, and what its key says of it; gives where the pickle ends.
fn walk(bytes: &[u8], visit: Visit<'_>) -> Result<usize, RedactError> {
    let told = told(bytes)?;
    let mut end = 0;
    for step in steps(bytes) {
        let (_, text, _) = step?;
        end = text.end;
        if !text.is_empty() {
            let what = told.get(&text.start).copied();
            visit(text, what)?;
        }
    }
    Ok(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `pickle.dumps` writes it, protocol 4; the host of the last is fetched from the memo.
    #[test]
    fn keys_tell_wherever_a_text_was_written() {
        let text = |text: &str| [&[0x8c, text.len() as u8][..], text.as_bytes(), &[0x94]].concat();
        let pickled = |host: &str, user: &str, run: &str| {
            [
                &b"\x80\x04}\x94("[..],
                &text("run"),
                &text(&format!("on {run}")),
                &text("a"),
                &text(host),
                &text("hostname"),
                b"h\x04",
                &text("user"),
                b"}\x94",
                &text("name"),
                &text(user),
                b"s",
                &text("hosts"),
                b"]\x94",
                &text(host),
                b"au.",
            ]
            .concat()
        };
        let mut out = Vec::new();
        crate::Redactor::Pickle.redact(&pickled("vm7", "ada", "vm7"), &Words::default(), &mut out).expect("plain data");
        assert_eq!(String::from_utf8_lossy(&out), String::from_utf8_lossy(&pickled("***", "***", "***")));
    }

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
