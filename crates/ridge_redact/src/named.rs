//! What is private by the name that stands before it in a text: `--password x`, `API_KEY=x`, `"hostname": "x"`.
//!
//! Texts of captures are full of names with colons and equals signs that are no settings (HLO, C++, Python), so that only what
//! looks like the value of one counts.

use crate::found::Found;
use crate::keys::{Secrecy, private_key, secrecy};
use crate::removed::What;
use crate::shapes::is_hidden;
use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// A part of every name that counts; what follows a name of a machine or account is asked for at once, because the words are common.
pub(crate) const PARTS: &str = concat!(
    r"(?i-u:token|passw|passphrase|secret|credential|api[_-]?key|access[_-]?key|private[_-]?key|account[_-]?key|signing[_-]?key",
    r"|auth[_-]?key|ssh[_-]?key|authorization|_pwd",
    r#"|(?:host|user|login|node|computer|machine|logname|account|fqdn|cmd|command|argv|env)[a-z_]*\\*["']?[ ]*[=:])"#
);
static PART: LazyLock<Regex> = LazyLock::new(|| Regex::new(PARTS).expect("the pattern above is sound"));

/// Adds the values of private names in `text`.
pub(crate) fn find(text: &str, found: &mut Vec<Found>) {
    let mut at = 0;
    while let Some(part) = PART.find_at(text, at) {
        let name = around(text, part.start());
        at = name.end.max(part.start() + 1);
        while !text.is_char_boundary(at) {
            at += 1;
        }
        let Some(what) = private_key(text[name.clone()].trim_start_matches('-')) else { continue };
        if let Some(value) = value(text, name).filter(|value| value.is_private(text, what)) {
            at = value.place.end.max(at);
            found.push(Found { place: value.place, what });
        }
    }
}

/// The whole name that has the byte at `at`, of an ASCII letter, in it.
fn around(text: &str, at: usize) -> Range<usize> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
    let bytes = text.as_bytes();
    let before = bytes[..at].iter().rev().take_while(|byte| is_part(byte)).count();
    let after = bytes[at..].iter().take_while(|byte| is_part(byte)).count();
    at - before..at + after
}

/// How a value is joined to its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Joined {
    /// `--name value`.
    Argument,
    /// `name=value`.
    Equals,
    /// `name = value`, `name: value`.
    Loosely,
}

struct Value<'a> {
    name: &'a str,
    place: Range<usize>,
    joined: Joined,
    is_quoted: bool,
}

/// What stands behind `name` as its value.
fn value(text: &str, name: Range<usize>) -> Option<Value<'_>> {
    let named = &text[name.clone()];
    let rest = &text[name.end..];
    let behind = rest.trim_start_matches('\\').trim_start_matches(['"', '\'']);
    let spaced = behind.trim_start_matches(' ');
    let (joined, rest) = match spaced.chars().next() {
        Some('=') if !spaced.starts_with("==") => {
            let rest = spaced[1..].trim_start_matches('>');
            let is_tight = spaced.len() == behind.len() && !rest.starts_with(' ');
            (if is_tight { Joined::Equals } else { Joined::Loosely }, rest)
        }
        Some(':') if !spaced.starts_with("::") => (Joined::Loosely, &spaced[1..]),
        // `("password", "x")`.
        Some(',') if rest.starts_with(['"', '\'']) && spaced[1..].trim_start().starts_with(['"', '\'']) => {
            if secrecy(named) != Secrecy::OfAnything {
                return None;
            }
            (Joined::Loosely, &spaced[1..])
        }
        Some(_) if named.starts_with('-') && spaced.len() < behind.len() => (Joined::Argument, spaced),
        _ => return None,
    };
    let rest = rest.trim_start_matches(' ');
    let unescaped = rest.trim_start_matches('\\');
    let quote = unescaped.chars().next().filter(|quote| matches!(quote, '"' | '\''));
    let begin = quote.map_or(rest, |_| &unescaped[1..]);
    let inner = ["Basic ", "Bearer ", "Token ", "basic ", "bearer ", "token "]
        .iter()
        .find_map(|scheme| begin.strip_prefix(scheme))
        .unwrap_or(begin)
        .trim_start_matches(' ');
    let ends = |c: char| match quote {
        Some(quote) => c == quote,
        None => c.is_whitespace() || c.is_control() || "\"'&;,)}]|<>".contains(c),
    };
    let value = inner[..inner.find(ends).unwrap_or(inner.len())].trim_end_matches('\\');
    let start = text.len() - inner.len();
    Some(Value { name: named, place: start..start + value.len(), joined, is_quoted: quote.is_some() })
}

impl Value<'_> {
    fn is_private(&self, text: &str, what: What) -> bool {
        let value = &text[self.place.clone()];
        let is_word = ["true", "false", "null", "none"].iter().any(|word| value.eq_ignore_ascii_case(word));
        if value.is_empty() || is_word || is_hidden(value) || value.starts_with('<') {
            return false;
        }
        match what {
            What::Secret => self.is_secret(value),
            What::HostName | What::UserName => {
                let is_plain = value.chars().all(|c| c.is_alphanumeric() || "-._@\\ ".contains(c));
                let is_setting = self.joined == Joined::Equals && !self.name.contains(|c: char| c.is_ascii_lowercase());
                // `host: x` may be anything, `hostname: x` is one.
                let is_told = ["hostname", "host_name", "username", "user_name", "nodename", "fqdn"]
                    .iter()
                    .any(|name| self.name.eq_ignore_ascii_case(name));
                is_plain && (self.is_quoted || is_setting || is_told || self.joined == Joined::Argument)
            }
            _ => self.is_quoted,
        }
    }

    fn is_secret(&self, value: &str) -> bool {
        let is_number = value.bytes().all(|byte| byte.is_ascii_digit() || b".-+eE".contains(&byte));
        let is_code = value.contains(['(', '[', '{']) || value.starts_with(['%', '$', '@']);
        match secrecy(self.name) {
            Secrecy::None => false,
            Secrecy::OfTexts if is_number => false,
            Secrecy::OfTexts => self.is_quoted || self.joined != Joined::Loosely && !is_code,
            Secrecy::OfAnything => self.is_quoted || self.joined != Joined::Loosely || !is_code,
        }
    }
}
