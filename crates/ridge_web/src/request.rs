//! An address that the page asks: parts of a path, and what stands behind the question mark.

use crate::answer::Refusal;
use std::str::FromStr;

/// A parsed address without its `/api/v1/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Request {
    parts: Vec<String>,
    query: Vec<(String, String)>,
}

impl Request {
    /// Reads `table/time/op?sort=self_ns&desc=1`.
    pub(crate) fn parse(address: &str) -> Request {
        let (path, query) = address.split_once('?').unwrap_or((address, ""));
        let pair = |pair: &str| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(key), decoded(value))
        };
        Request {
            parts: path.split('/').filter(|part| !part.is_empty()).map(decoded).collect(),
            query: query.split('&').filter(|pair| !pair.is_empty()).map(pair).collect(),
        }
    }

    /// The parts of the path.
    pub(crate) fn parts(&self) -> Vec<&str> {
        self.parts.iter().map(String::as_str).collect()
    }

    /// Whether nothing stands behind the question mark.
    pub(crate) fn is_plain(&self) -> bool {
        self.query.is_empty()
    }

    /// The value of `key`; `None` where it is absent or empty.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        let found = self.query.iter().find(|(name, _)| name == key);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// Whether `key` is there and not `0`.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.get(key).is_some_and(|value| value != "0" && value != "false")
    }

    /// The value of `key` as a number.
    pub(crate) fn number<T: FromStr>(&self, key: &str) -> Result<Option<T>, Refusal> {
        self.get(key).map(|value| number(key, value)).transpose()
    }

    /// The same where there must be one.
    pub(crate) fn needed<T: FromStr>(&self, key: &str) -> Result<T, Refusal> {
        self.number(key)?.ok_or_else(|| Refusal::bad(format!("expected `{key}=`, found none")))
    }
}

/// `value` as the number that `what` is.
pub(crate) fn number<T: FromStr>(what: &str, value: &str) -> Result<T, Refusal> {
    value.parse().map_err(|_| Refusal::bad(format!("expected a number for {what}, found `{value}`")))
}

/// `text` with `%41` and `+` as the letters that they stand for; what is no such code stays as it is.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(&byte) = bytes.get(at) {
        let code = bytes.get(at + 1..at + 3).and_then(|code| std::str::from_utf8(code).ok());
        match (byte, code.and_then(|code| u8::from_str_radix(code, 16).ok())) {
            (b'%', Some(letter)) => {
                out.push(letter);
                at += 3;
                continue;
            }
            (b'+', _) => out.push(b' '),
            _ => out.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_apart() {
        let request = Request::parse("table/time/op?filter=a%20b+%2F&desc=1&empty=&limit=9&%zz");
        assert_eq!(request.parts(), ["table", "time", "op"]);
        assert_eq!((request.get("filter"), request.get("empty")), (Some("a b /"), None));
        assert!(request.has("desc") && !request.has("limits"));
        assert_eq!(request.number::<usize>("limit").expect("a number"), Some(9));
        assert!(request.number::<usize>("filter").is_err() && request.needed::<u32>("offset").is_err());
    }
}
