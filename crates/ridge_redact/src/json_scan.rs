//! Cut a JSON document of any length into values that fit in memory, and the bytes between them.
//!
//! A value is a member of the outermost object, or an element of an array that is such a member or is outermost itself: in a
//! trace each event is one. Only quotes and brackets are looked at, so that text which no strict parser takes passes through.

use crate::error::RedactError;
use memchr::memchr2;
use std::io::BufRead;

/// Longest value; nothing that profilers write comes near.
const MAX_VALUE: usize = 256 << 20;

/// A part of a document, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part<'a> {
    /// Brackets, keys, commas, space.
    Between(&'a [u8]),
    /// A value; `member` is the quoted key of the member of the outermost object that it is or is in, if any.
    Value {
        /// With its quotes.
        member: Option<&'a [u8]>,
        /// As written.
        text: &'a [u8],
    },
}

/// Where in the outermost levels the scan is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Document,
    Object,
    Array,
    ArrayInObject,
}

/// What is being collected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Collecting {
    Nothing,
    /// A key of the outermost object.
    Key,
    /// A value that begins with a bracket or a quote and ends with its like.
    Enclosed,
    /// A number or a word.
    Plain,
}

/// Passes the parts of the document in `reader` to `sink`.
pub(crate) fn scan(
    mut reader: impl BufRead,
    sink: &mut dyn FnMut(Part<'_>) -> Result<(), RedactError>,
) -> Result<(), RedactError> {
    let mut scan = Scan {
        level: Level::Document,
        collecting: Collecting::Nothing,
        awaits_value: false,
        member: None,
        text: Vec::new(),
        depth: 0,
        in_string: false,
        is_escaped: false,
        offset: 0,
    };
    loop {
        let chunk = reader.fill_buf()?;
        if chunk.is_empty() {
            return scan.finish(sink);
        }
        let length = chunk.len();
        scan.chunk(chunk, sink)?;
        reader.consume(length);
        scan.offset += length as u64;
    }
}

struct Scan {
    level: Level,
    collecting: Collecting,
    /// In the outermost object: a key and its colon were seen.
    awaits_value: bool,
    member: Option<Vec<u8>>,
    text: Vec<u8>,
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    offset: u64,
}

type Sink<'a> = &'a mut dyn FnMut(Part<'_>) -> Result<(), RedactError>;

impl Scan {
    fn chunk(&mut self, chunk: &[u8], sink: Sink<'_>) -> Result<(), RedactError> {
        let mut at = 0;
        while at < chunk.len() {
            let rest = &chunk[at..];
            at += match self.collecting {
                Collecting::Nothing => self.between(rest, sink)?,
                Collecting::Key | Collecting::Enclosed => self.enclosed(rest, sink)?,
                Collecting::Plain => self.plain(rest, sink)?,
            };
            if self.text.len() > MAX_VALUE {
                return Err(self.damaged("values of at most 256 MiB", "a longer one", at));
            }
        }
        Ok(())
    }

    fn damaged(&self, expected: &'static str, found: &'static str, at: usize) -> RedactError {
        RedactError::Damaged { expected, found, offset: self.offset + at as u64 }
    }

    /// Passes on what stands between values, up to the next value; how many bytes that was.
    fn between(&mut self, rest: &[u8], sink: Sink<'_>) -> Result<usize, RedactError> {
        for (at, &byte) in rest.iter().enumerate() {
            let begins = match (byte, self.level) {
                (b' ' | b'\t' | b'\n' | b'\r' | b',' | 0xef | 0xbb | 0xbf, _) => Collecting::Nothing,
                (b':', Level::Object) => {
                    self.awaits_value = true;
                    Collecting::Nothing
                }
                (b'{', Level::Document) => self.enter(Level::Object),
                (b'[', Level::Document) => self.enter(Level::Array),
                (b'[', Level::Object) if self.awaits_value => self.enter(Level::ArrayInObject),
                (b']', Level::ArrayInObject) => self.enter(Level::Object),
                (b']', Level::Array) | (b'}', Level::Object) => self.enter(Level::Document),
                (b'"', Level::Object) if !self.awaits_value => Collecting::Key,
                (b'"' | b'{' | b'[', Level::Object | Level::Array | Level::ArrayInObject) => Collecting::Enclosed,
                (b']' | b'}', _) => return Err(self.damaged("a value", "a closing bracket", at)),
                (_, Level::Document) => return Err(self.damaged("an object or an array", "something else", at)),
                _ => Collecting::Plain,
            };
            if begins != Collecting::Nothing {
                self.collecting = begins;
                sink(Part::Between(&rest[..at]))?;
                return Ok(at);
            }
        }
        sink(Part::Between(rest))?;
        Ok(rest.len())
    }

    fn enter(&mut self, level: Level) -> Collecting {
        self.level = level;
        self.awaits_value = false;
        Collecting::Nothing
    }

    /// Collects a string, object or array up to its end; how many bytes that was.
    fn enclosed(&mut self, rest: &[u8], sink: Sink<'_>) -> Result<usize, RedactError> {
        let mut at = 0;
        while at < rest.len() {
            if self.in_string {
                at += self.string(&rest[at..]);
            } else {
                match rest[at] {
                    b'"' => self.in_string = true,
                    b'{' | b'[' => self.depth += 1,
                    b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                    _ => {}
                }
                at += 1;
            }
            if !self.in_string && self.depth == 0 {
                self.text.extend_from_slice(&rest[..at]);
                self.deliver(sink)?;
                return Ok(at);
            }
        }
        self.text.extend_from_slice(rest);
        Ok(rest.len())
    }

    /// Goes on in a string, to its end or that of `rest`; how many bytes that was.
    fn string(&mut self, rest: &[u8]) -> usize {
        if std::mem::take(&mut self.is_escaped) {
            return 1;
        }
        match memchr2(b'"', b'\\', rest) {
            None => rest.len(),
            Some(at) => {
                self.in_string = rest[at] != b'"';
                self.is_escaped = rest[at] == b'\\';
                at + 1
            }
        }
    }

    fn plain(&mut self, rest: &[u8], sink: Sink<'_>) -> Result<usize, RedactError> {
        let ends = |byte: &u8| b",]} \t\r\n".contains(byte);
        let end = rest.iter().position(ends);
        self.text.extend_from_slice(&rest[..end.unwrap_or(rest.len())]);
        if end.is_some() {
            self.deliver(sink)?;
        }
        Ok(end.unwrap_or(rest.len()))
    }

    fn deliver(&mut self, sink: Sink<'_>) -> Result<(), RedactError> {
        if self.collecting == Collecting::Key {
            sink(Part::Between(&self.text))?;
            self.member = Some(std::mem::take(&mut self.text));
        } else {
            let member = self.member.as_deref().filter(|_| self.level != Level::Array);
            sink(Part::Value { member, text: &self.text })?;
            self.text.clear();
            self.awaits_value = false;
        }
        self.collecting = Collecting::Nothing;
        Ok(())
    }

    /// The end: a document that is cut within a value hides what the value would have been.
    fn finish(mut self, sink: Sink<'_>) -> Result<(), RedactError> {
        match self.collecting {
            Collecting::Nothing => Ok(()),
            Collecting::Plain => self.deliver(sink),
            _ => Err(self.damaged("the end of a value", "the end of the file", 0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use std::io::BufReader;

    /// The values of `text` in angle brackets, read in chunks of `chunk` bytes.
    fn parts(text: &str, chunk: usize) -> String {
        let mut out = String::new();
        let reader = BufReader::with_capacity(chunk, text.as_bytes());
        let told = scan(reader, &mut |part| {
            match part {
                Part::Between(text) => out.push_str(&String::from_utf8_lossy(text)),
                Part::Value { member, text } => {
                    let member = member.map(String::from_utf8_lossy).unwrap_or_default();
                    out.push_str(&format!("<{member}|{}>", String::from_utf8_lossy(text)));
                }
            }
            Ok(())
        });
        told.map_or_else(|error| format!("error: {error}"), |()| out)
    }

    #[test]
    fn events_are_values() {
        let text = r#"{"a": 1, "b": {"x": "]}\""}, "traceEvents": [{"n": "[\\"}, "s", -2.50e3 ,[1]], "z": NaN}"#;
        let expected = expect![[
            r#"{"a": <"a"|1>, "b": <"b"|{"x": "]}\""}>, "traceEvents": [<"traceEvents"|{"n": "[\\"}>, <"traceEvents"|"s">, <"traceEvents"|-2.50e3> ,<"traceEvents"|[1]>], "z": <"z"|NaN>}"#
        ]];
        (1..text.len()).for_each(|chunk| expected.assert_eq(&parts(text, chunk)));
    }

    #[test]
    fn an_array_alone_is_a_trace_too() {
        expect![[r#"[<|{"a": 1}>,<|{}>"#]].assert_eq(&parts(r#"[{"a": 1},{}"#, 3));
    }

    #[test]
    fn a_cut_value_is_damage() {
        expect!["error: expected the end of a value, found the end of the file at byte 9"]
            .assert_eq(&parts(r#"[{"a": "x"#, 3));
        expect!["error: expected an object or an array, found something else at byte 0"].assert_eq(&parts("hello", 3));
    }
}
