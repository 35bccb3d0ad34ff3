//! JSON strings as text.

use std::borrow::Cow;

/// What was wrong with a string that was read all the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct TextFlaws {
    /// Raw control characters.
    pub(super) control: bool,
    /// Escapes that JSON does not have, kept as written.
    pub(super) escape: bool,
}

/// The text of a string as written between its quotes, and what was wrong with it.
pub(super) fn text(raw: &[u8]) -> (Cow<'_, str>, TextFlaws) {
    let mut flaws = TextFlaws { control: raw.iter().any(|byte| *byte < b' '), escape: false };
    if !raw.contains(&b'\\') {
        return (String::from_utf8_lossy(raw), flaws);
    }
    let mut bytes = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(slash) = memchr::memchr(b'\\', rest) {
        bytes.extend_from_slice(&rest[..slash]);
        let (taken, known) = unescape(&rest[slash..], &mut bytes);
        flaws.escape |= !known;
        rest = &rest[slash + taken..];
    }
    bytes.extend_from_slice(rest);
    (Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()), flaws)
}

/// Appends what the escape that `rest` begins with means; returns its length, and whether JSON has it.
fn unescape(rest: &[u8], bytes: &mut Vec<u8>) -> (usize, bool) {
    let plain = match rest.get(1) {
        Some(letter @ (b'"' | b'\\' | b'/')) => *letter,
        Some(b'n') => b'\n',
        Some(b't') => b'\t',
        Some(b'r') => b'\r',
        Some(b'b') => 8,
        Some(b'f') => 12,
        Some(b'u') => return unicode(rest, bytes),
        _ => {
            bytes.push(b'\\');
            return (1, false);
        }
    };
    bytes.push(plain);
    (2, true)
}

/// `\u0041`, and pairs of surrogates.
fn unicode(rest: &[u8], bytes: &mut Vec<u8>) -> (usize, bool) {
    let unit = |at: usize| -> Option<u32> {
        let digits = rest.get(at..at + 6).filter(|part| part.starts_with(b"\\u"))?;
        u32::from_str_radix(std::str::from_utf8(&digits[2..]).ok()?, 16).ok()
    };
    let Some(first) = unit(0) else {
        bytes.push(b'\\');
        return (1, false);
    };
    let (code, taken) = match (first, unit(6)) {
        (0xd800..=0xdbff, Some(second @ 0xdc00..=0xdfff)) => {
            (0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00), 12)
        }
        _ => (first, 6),
    };
    let letter = char::from_u32(code);
    bytes.extend_from_slice(letter.unwrap_or(char::REPLACEMENT_CHARACTER).encode_utf8(&mut [0; 4]).as_bytes());
    (taken, letter.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(raw: &str, expected: &str, control: bool, escape: bool) {
        let (found, flaws) = text(raw.as_bytes());
        assert_eq!((&*found, flaws), (expected, TextFlaws { control, escape }), "{raw}");
    }

    #[test]
    fn escapes_mean_what_json_says() {
        check("plain", "plain", false, false);
        check(r#"a\"b\\c\/d\n\u0041\ud83d\ude00"#, "a\"b\\c/d\nA\u{1f600}", false, false);
    }

    #[test]
    fn what_is_no_escape_is_kept() {
        check(r"C:\windows\x", r"C:\windows\x", false, true);
        check(r"\ud83d alone", "\u{fffd} alone", false, true);
        check(r"\u12", r"\u12", false, true);
        check("tail\\", "tail\\", false, true);
        check("bell\u{7}", "bell\u{7}", true, false);
    }
}
