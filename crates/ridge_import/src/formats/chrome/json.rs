//! A pull tokenizer for JSON: positions in bytes, no tree, no recursion, no allocation.
//!
//! It reads what profilers write rather than what the grammar allows: control characters in strings, trailing commas,
//! `NaN` and unknown escapes pass. What it cannot read is said with its place, and the reader goes on behind it.
//! Nesting costs a counter, so its depth is free.

/// Why a value could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// The bytes end inside it.
    End,
    /// It is not JSON; where, and what was expected.
    Bad(usize, &'static str),
}

/// How the end of a string is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quotes {
    /// By the first quote that no backslash precedes.
    Escaped,
    /// By the first quote that a comma, a colon or a closing bracket follows: for writers that escape nothing.
    ByWhatFollows,
}

/// A place in JSON text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
    pub(super) quotes: Quotes,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8], at: usize) -> Cursor<'a> {
        Cursor { bytes, at, quotes: Quotes::Escaped }
    }

    /// The next byte that is not white space, which is not passed.
    #[inline]
    pub(super) fn peek(&mut self) -> Result<u8, Stop> {
        while let Some(&byte) = self.bytes.get(self.at) {
            if byte > b' ' {
                return Ok(byte);
            }
            self.at += 1;
        }
        Err(Stop::End)
    }

    /// Passes `byte`, which must come next.
    #[inline]
    pub(super) fn expect(&mut self, byte: u8, what: &'static str) -> Result<(), Stop> {
        if self.peek()? != byte {
            return Err(Stop::Bad(self.at, what));
        }
        self.at += 1;
        Ok(())
    }

    /// A string without its quotes, as written: escapes are left in it.
    #[inline]
    pub(super) fn string(&mut self) -> Result<&'a [u8], Stop> {
        self.expect(b'"', "expected a string")?;
        let start = self.at;
        if self.quotes == Quotes::ByWhatFollows {
            return self.string_by_what_follows(start);
        }
        loop {
            let found = self.at + find_quote_or_escape(&self.bytes[self.at..]).ok_or(Stop::End)?;
            if self.bytes[found] == b'"' {
                self.at = found + 1;
                return Ok(&self.bytes[start..found]);
            }
            self.at = found + 2;
            if self.at > self.bytes.len() {
                return Err(Stop::End);
            }
        }
    }

    fn string_by_what_follows(&mut self, start: usize) -> Result<&'a [u8], Stop> {
        /// No string is longer where quotes cannot be trusted.
        const LONGEST: usize = 1 << 16;
        let end = self.bytes.len().min(start.saturating_add(LONGEST));
        for found in memchr::memchr_iter(b'"', &self.bytes[start..end]).map(|quote| start + quote) {
            let mut after = Cursor::new(self.bytes, found + 1);
            if matches!(after.peek()?, b',' | b':' | b'}' | b']') {
                self.at = found + 1;
                return Ok(&self.bytes[start..found]);
            }
        }
        if end == self.bytes.len() { Err(Stop::End) } else { Err(Stop::Bad(end, "expected the end of a string")) }
    }

    /// A string's content, or a number or word as written.
    #[inline]
    pub(super) fn scalar(&mut self) -> Result<&'a [u8], Stop> {
        match self.peek()? {
            b'"' => return self.string(),
            b'{' | b'[' | b'}' | b']' | b',' | b':' => return Err(Stop::Bad(self.at, "expected a value")),
            _ => {}
        }
        let start = self.at;
        let rest = &self.bytes[start..];
        let length = rest.iter().position(|byte| IN_SCALAR[*byte as usize] != Role::Inside).ok_or(Stop::End)?;
        self.at = start + length;
        match IN_SCALAR[rest[length] as usize] {
            Role::Wrong => Err(Stop::Bad(self.at, "expected the end of a value")),
            _ => Ok(&rest[..length]),
        }
    }

    /// A scalar where there is one; other values are passed and give nothing.
    #[inline]
    pub(super) fn scalar_or_skip(&mut self) -> Result<&'a [u8], Stop> {
        match self.peek()? {
            b'{' | b'[' => self.skip_nested().map(|_| &[][..]),
            _ => self.scalar(),
        }
    }

    /// Passes any value and gives it as written.
    #[inline]
    pub(super) fn value(&mut self) -> Result<&'a [u8], Stop> {
        let first = self.peek()?;
        let start = self.at;
        match first {
            b'"' => {
                self.string()?;
                Ok(&self.bytes[start..self.at])
            }
            b'{' | b'[' => self.skip_nested(),
            _ => self.scalar(),
        }
    }

    /// Passes an object or array.
    fn skip_nested(&mut self) -> Result<&'a [u8], Stop> {
        let start = self.at;
        let mut depth = 0_usize;
        loop {
            let found = self.at + find_structure(&self.bytes[self.at..]).ok_or(Stop::End)?;
            self.at = found;
            match self.bytes[found] {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                _ => depth -= 1,
            }
            self.at += 1;
            if depth == 0 {
                return Ok(&self.bytes[start..self.at]);
            }
        }
    }

    /// The next key of an object whose brace is passed, with the cursor at its value; `None` behind its end.
    ///
    /// Commas may be missing, doubled or trailing.
    #[inline]
    pub(super) fn key(&mut self) -> Result<Option<&'a [u8]>, Stop> {
        loop {
            match self.peek()? {
                b'"' => {
                    let key = self.string()?;
                    self.expect(b':', "expected a colon after a key")?;
                    return Ok(Some(key));
                }
                b',' => self.at += 1,
                b'}' => {
                    self.at += 1;
                    return Ok(None);
                }
                _ => return Err(Stop::Bad(self.at, "expected a key")),
            }
        }
    }

    /// Whether an array whose bracket is passed has another item, with the cursor at it.
    pub(super) fn item(&mut self) -> Result<bool, Stop> {
        loop {
            match self.peek()? {
                b',' => self.at += 1,
                b']' => {
                    self.at += 1;
                    return Ok(false);
                }
                _ => return Ok(true),
            }
        }
    }
}

/// What a byte is behind the first of a number or word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Inside,
    Behind,
    Wrong,
}

/// The role of every byte.
const IN_SCALAR: [Role; 256] = {
    let mut roles = [Role::Inside; 256];
    let (behind, wrong) = (b",}] \n\r\t", b"\"{[:");
    let mut at = 0;
    while at < behind.len() {
        roles[behind[at] as usize] = Role::Behind;
        at += 1;
    }
    at = 0;
    while at < wrong.len() {
        roles[wrong[at] as usize] = Role::Wrong;
        at += 1;
    }
    roles
};

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// A mask with the high bit of every byte of `word` that is `byte`; bytes above the first hit may be wrong.
///
/// Source: "Determine if a word has a zero byte", Bit Twiddling Hacks, S. E. Anderson, Stanford.
#[inline]
fn equal_bytes(word: u64, byte: u8) -> u64 {
    let zero_where_equal = word ^ (ONES * u64::from(byte));
    zero_where_equal.wrapping_sub(ONES) & !zero_where_equal & HIGH
}

/// Position of the first byte that `is_hit` names; `mask` must have the high bit of at least those bytes.
#[inline]
fn find_by_words(bytes: &[u8], mask: impl Fn(u64) -> u64, is_hit: impl Fn(u8) -> bool) -> Option<usize> {
    let mut at = 0;
    while let Some(part) = bytes.get(at..at + 8) {
        let word = u64::from_le_bytes(part.try_into().expect("eight bytes"));
        let hits = mask(word);
        if hits != 0 {
            let first = at + (hits.trailing_zeros() / 8) as usize;
            if is_hit(bytes[first]) {
                return Some(first);
            }
            at = first + 1;
            continue;
        }
        at += 8;
    }
    bytes[at..].iter().position(|byte| is_hit(*byte)).map(|position| at + position)
}

#[inline]
fn find_quote_or_escape(bytes: &[u8]) -> Option<usize> {
    let mask = |word| equal_bytes(word, b'"') | equal_bytes(word, b'\\');
    find_by_words(bytes, mask, |byte| matches!(byte, b'"' | b'\\'))
}

fn find_structure(bytes: &[u8]) -> Option<usize> {
    // Braces are brackets with one bit more.
    let mask = |word: u64| {
        let folded = word | (ONES * 0x20);
        equal_bytes(word, b'"') | equal_bytes(folded, b'{') | equal_bytes(folded, b'}')
    };
    find_by_words(bytes, mask, |byte| matches!(byte, b'"' | b'{' | b'[' | b'}' | b']'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_value(text: &str, expected: Result<&str, Stop>) {
        let found = Cursor::new(text.as_bytes(), 0).value();
        assert_eq!(found.map(|value| std::str::from_utf8(value).expect("text")), expected, "{text}");
    }

    #[test]
    fn values_end_where_they_end() {
        check_value(" 12.5e3, 4", Ok("12.5e3"));
        check_value(r#""a \" b\\" : 1"#, Ok(r#""a \" b\\""#));
        check_value(r#"{"a": [1, {"b": "}]"}], "c": "\""} ]"#, Ok(r#"{"a": [1, {"b": "}]"}], "c": "\""}"#));
        check_value("[[[[]]]]]", Ok("[[[[]]]]"));
        check_value("NaN}", Ok("NaN"));
        check_value("\"a\u{1}b\nlonger than eight\"", Ok("\"a\u{1}b\nlonger than eight\""));
    }

    #[test]
    fn what_is_cut_says_so() {
        for text in ["", "  ", "12", "\"abc", "\"abc\\", "{\"a\": 1", "[[1], ", "{\"a\": \"}"] {
            check_value(text, Err(Stop::End));
        }
        check_value("]", Err(Stop::Bad(0, "expected a value")));
        check_value("1\"2\"", Err(Stop::Bad(1, "expected the end of a value")));
    }

    #[test]
    fn deep_nesting_costs_nothing() {
        let deep = "[".repeat(1 << 20);
        check_value(&deep, Err(Stop::End));
        let closed = format!("{deep}{}", "]".repeat(1 << 20));
        assert_eq!(Cursor::new(closed.as_bytes(), 0).value().map(<[u8]>::len), Ok(2 << 20));
    }

    #[test]
    fn keys_survive_stray_commas() {
        let mut cursor = Cursor::new(br#"{,"a" : 1,, "b":[2,],}"#, 1);
        let mut seen = Vec::new();
        while let Some(key) = cursor.key().expect("an object") {
            seen.push((key, cursor.value().expect("a value")));
        }
        assert_eq!(seen, [(&b"a"[..], &b"1"[..]), (b"b", b"[2,]")]);
    }

    #[test]
    fn quotes_that_nobody_escaped() {
        let mut cursor = Cursor::new(br#""say "hi" twice", "C:\dir\", 3"#, 0);
        cursor.quotes = Quotes::ByWhatFollows;
        assert_eq!(cursor.string(), Ok(&br#"say "hi" twice"#[..]));
        cursor.at += 1;
        assert_eq!(cursor.string(), Ok(&br"C:\dir\"[..]));
    }

    #[test]
    fn every_byte_before_a_hit_is_passed() {
        for length in 0..40 {
            for other in [0_u8, 1, 2, b'!', b'#', b'Z', b'\\' ^ 1, 0x7f, 0xa2, 0xff] {
                let mut bytes = vec![other; length];
                assert_eq!(find_quote_or_escape(&bytes), None);
                bytes.push(b'"');
                bytes.push(b'\\');
                assert_eq!(find_quote_or_escape(&bytes), Some(length), "{other}");
                bytes[length] = b'[';
                let expected = if other == b']' { 0 } else { length };
                assert_eq!(find_structure(&bytes), Some(expected), "{other}");
            }
        }
    }
}
