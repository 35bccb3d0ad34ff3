//! One JSON value without what is private: by the key it stands under, or by what its text holds.
//!
//! Texts alone change, and what stands under a key that names a secret, an environment or a command; other numbers, order and
//! space stay as they are.

use crate::error::RedactError;
use crate::keys::{MAX_NAME, private_key, private_whole};
use crate::needles::Needles;
use crate::removed::{GONE, Removed, What};
use crate::shapes::Context;
use crate::words::Words;
use memchr::{memchr, memmem};
use regex::bytes::Regex;
use std::sync::LazyLock;

/// The member of a trace under which tools put a dump of the machine: packages, processor, environment.
const MACHINE_MEMBER: &[u8] = b"\"metadata\"";
/// The event of the trace format that names a process, `{"name": "process_name", "args": {"name": …}}`.
const PROCESS_NAME: &[u8] = b"\"process_name\"";
/// What every key that says that its value is private has in it.
///
/// What has to follow is looked at by hand: a pattern with a quote in it is searched for from every quote backwards, which is
/// given up for a walk of all the pattern's states at once, a hundredth as fast.
static PARTS: LazyLock<Regex> = LazyLock::new(|| {
    let parts = "host|node|fqdn|computer|machine|user|login|logname|account|env|cmd|command|argv\
                 |token|secret|passw|passphrase|key|credential|authorization|pwd";
    Regex::new(&format!("(?i-u:{parts})")).expect("a sound pattern")
});
/// Longer texts are not looked into as JSON.
const MAX_INSIDE: usize = 1 << 20;

/// Cleans the values of one document.
#[derive(Debug)]
pub(crate) struct Cleaner {
    words: Words,
    needles: Needles,
    pub(crate) removed: Removed,
}

impl Cleaner {
    pub(crate) fn new(words: Words) -> Cleaner {
        Cleaner { needles: words.needles(), words, removed: Removed::default() }
    }

    /// `text`, a value in `member` of the outermost object, without what is private; `None` where nothing changes.
    pub(crate) fn value(&mut self, member: Option<&[u8]>, text: &[u8]) -> Result<Option<Vec<u8>>, RedactError> {
        if member == Some(MACHINE_MEMBER) && text.starts_with(b"{") {
            self.removed.add(What::Environment);
            return Ok(Some(quoted(GONE)));
        }
        let key = member.and_then(unquoted).unwrap_or_default();
        let names_process = memmem::find(text, PROCESS_NAME).is_some();
        if !names_process && !keys_may_tell(&key, text) && !self.needles.found_in(text) {
            return Ok(None);
        }
        let mut walk = Walk::new(&self.words, &mut self.removed, key);
        walk.names_process = names_process;
        walk.all(text)?;
        Ok(Some(walk.out))
    }
}

/// Whether a key in or of `text` may say that something is private; what is escaped is looked at closely.
fn keys_may_tell(key: &str, text: &[u8]) -> bool {
    let has_key = || PARTS.find_iter(text).any(|part| is_rest_of_key(&text[part.end()..]));
    let is_under_one = || PARTS.is_match(key.as_bytes()) && private_key(key).is_some();
    memchr(b'\\', text).is_some() || is_under_one() || has_key()
}

/// Whether `rest`, from behind a part of a key, begins with the rest of one.
fn is_rest_of_key(rest: &[u8]) -> bool {
    let is_letter = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_. -".contains(byte);
    let letters = rest.iter().take(MAX_NAME).take_while(is_letter).count();
    rest[letters..].strip_prefix(b"\"").is_some_and(|behind| behind.trim_ascii_start().starts_with(b":"))
}

/// Adds to `words` the names of machines and accounts that `text`, a value in `member` of the outermost object, says.
pub(crate) fn learn(member: Option<&[u8]>, text: &[u8], words: &mut Words) -> Result<(), RedactError> {
    let key = member.and_then(unquoted).unwrap_or_default();
    if !keys_may_tell(&key, text) {
        return Ok(());
    }
    let (nobody, mut removed) = (Words::default(), Removed::default());
    let mut walk = Walk::new(&nobody, &mut removed, key);
    walk.learned = Some(Vec::new());
    walk.all(text)?;
    walk.learned.into_iter().flatten().for_each(|(what, name)| words.learn(what, &name));
    Ok(())
}

/// `text` without what is private where it is JSON as a whole.
pub(crate) fn inside(text: &str, words: &Words, removed: &mut Removed) -> Option<String> {
    let is_json = text.trim_start().starts_with(['{', '['])
        && text.len() <= MAX_INSIDE
        && serde_json::from_str::<serde_json::Value>(text).is_ok();
    is_json.then_some(())?;
    let mut walk = Walk::new(words, removed, String::new());
    walk.all(text.as_bytes()).ok()?;
    String::from_utf8(walk.out).ok()
}

/// The text of a JSON string; control characters that a strict reader refuses are taken as they are.
fn unquoted(string: &[u8]) -> Option<String> {
    let inner = string.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    if inner.contains(&b'\\')
        && let Ok(text) = serde_json::from_slice(string)
    {
        return Some(text);
    }
    Some(String::from_utf8_lossy(inner).into_owned())
}

fn quoted(text: &str) -> Vec<u8> {
    serde_json::Value::from(text).to_string().into_bytes()
}

/// A walk over the tokens of one value.
struct Walk<'a> {
    words: &'a Words,
    removed: &'a mut Removed,
    names_process: bool,
    /// Names that were found, where they are only to be learned.
    learned: Option<Vec<(What, String)>>,
    /// The key under which each open level stands, innermost last; lists have that of the list.
    keys: Vec<String>,
    out: Vec<u8>,
}

/// Levels of a value; deeper ones are refused.
const MAX_DEPTH: usize = 512;

/// An open object or list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    List,
    /// Its next string is a key.
    BeforeKey,
    /// Its next string is a value.
    BehindKey,
}

impl<'a> Walk<'a> {
    fn new(words: &'a Words, removed: &'a mut Removed, key: String) -> Walk<'a> {
        Walk { words, removed, names_process: false, learned: None, keys: vec![key], out: Vec::new() }
    }

    fn all(&mut self, text: &[u8]) -> Result<(), RedactError> {
        let mut at = 0;
        let mut key = self.keys[0].clone();
        let mut levels: Vec<Level> = Vec::new();
        while at < text.len() {
            let byte = text[at];
            let end = self.token_end(text, at, &key);
            let token = &text[at..end];
            match (byte, levels.last_mut()) {
                (b'"', Some(Level::BeforeKey)) => {
                    key = unquoted(token).unwrap_or_default();
                    self.string("", token);
                }
                (b'"', _) => self.string(&key, token),
                (b'{' | b'[', _) if token.len() > 1 => self.whole(&key),
                (b'{' | b'[', _) => {
                    if levels.len() >= MAX_DEPTH {
                        return Err(RedactError::Damaged { expected: "512 levels", found: "more", offset: at as u64 });
                    }
                    levels.push(if byte == b'{' { Level::BeforeKey } else { Level::List });
                    self.keys.push(key.clone());
                    self.out.push(byte);
                }
                (b'}' | b']', _) => {
                    levels.pop();
                    key = self.keys.pop().unwrap_or_default();
                    self.out.push(byte);
                }
                (b':', Some(level @ Level::BeforeKey)) => {
                    *level = Level::BehindKey;
                    self.out.push(byte);
                }
                (b',', Some(level @ Level::BehindKey)) => {
                    *level = Level::BeforeKey;
                    self.out.push(byte);
                }
                (b'-' | b'0'..=b'9', _) if private_whole(&key).is_some() => self.whole(&key),
                _ => self.out.extend_from_slice(token),
            }
            at = end;
        }
        Ok(())
    }

    /// Behind the token at `at`: a string, a number, a mark, or all of what goes as a whole because of its key.
    fn token_end(&self, text: &[u8], at: usize, key: &str) -> usize {
        match text[at] {
            b'"' => string_end(text, at),
            b'{' | b'[' if self.learned.is_none() && private_whole(key).is_some() => enclosed_end(text, at),
            b'-' | b'0'..=b'9' => {
                let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
                at + text[at..].iter().take_while(|byte| is_part(byte)).count()
            }
            _ => at + 1,
        }
    }

    /// Puts a stand-in for a whole number, list or object under `key`.
    fn whole(&mut self, key: &str) {
        self.removed.add(private_whole(key).unwrap_or(What::Secret));
        self.out.extend_from_slice(&quoted(GONE));
    }

    /// Appends `token`, a string under `key`.
    fn string(&mut self, key: &str, token: &[u8]) {
        let is_process_name =
            self.names_process && key == "name" && self.keys.last().is_some_and(|parent| parent == "args");
        let text = unquoted(token).unwrap_or_default();
        // XLA's traces call a process after a device or the host, which readers go by.
        let is_plane = ["/host:", "/device:"].iter().any(|start| text.starts_with(start));
        let private = if is_process_name && !is_plane { Some(What::ProcessName) } else { private_key(key) };
        if let Some(learned) = &mut self.learned {
            learned.extend(private.map(|what| (what, text)));
            return;
        }
        let clean = match private {
            Some(what) if !text.is_empty() && text != what.stand_in() => {
                self.removed.add(what);
                what.stand_in().into()
            }
            Some(_) => text.as_str().into(),
            None if self.speaks_of_versions(key, &text) => self.words.clean_in(&text, Context::Versions, self.removed),
            None => self.words.clean(&text, self.removed),
        };
        if clean == text {
            self.out.extend_from_slice(token);
        } else {
            self.out.extend_from_slice(&quoted(&clean));
        }
    }

    /// Whether `text` may be a version that looks like an address, by the keys it stands under.
    fn speaks_of_versions(&self, key: &str, text: &str) -> bool {
        const WORDS: [&str; 9] =
            ["version", "package", "driver", "cuda", "cudnn", "nvidia", "release", "firmware", "build"];
        text.bytes().filter(|byte| *byte == b'.').count() >= 3
            && self.keys.iter().map(String::as_str).chain([key]).any(|key| {
                let key = key.to_ascii_lowercase();
                WORDS.iter().any(|word| key.contains(word))
            })
    }
}

/// Behind the string that begins at `start`.
fn string_end(text: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(found) = text.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += found;
        if text[at] == b'"' {
            return at + 1;
        }
        at += 2;
    }
    text.len()
}

/// Behind the object or list that begins at `start`.
fn enclosed_end(text: &[u8], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0_usize);
    while at < text.len() {
        match text[at] {
            b'"' => {
                at = string_end(text, at);
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_told_from_other_texts() {
        for (text, expected) in [
            (r#"{"hostname": 1}"#, true),
            ("{\"Host Name\"\n :1}", true),
            (r#"{"hf_token_2":"x"}"#, true),
            (r#"{"cat": "user_annotation", "name": "x"}"#, false),
            (r#"["host", "key"]"#, false),
            (r#"{"x": "user/a":}"#, false),
            (r#"{"key"#, false),
            (r#"{"a": "\n"}"#, true),
        ] {
            assert_eq!(keys_may_tell("traceEvents", text.as_bytes()), expected, "{text}");
        }
        assert!(keys_may_tell("user", b"1") && !keys_may_tell("keys", b"1"));
        // Longer keys say nothing, and so a text of such letters is not walked again from each of its parts.
        assert!(!keys_may_tell("", format!("\"{}\":", "key".repeat(1000)).as_bytes()[..2000].as_ref()));
    }
}
