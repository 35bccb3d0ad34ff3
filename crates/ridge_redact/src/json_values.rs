//! One JSON value without what is private: by the key it stands under, or by what its text holds.
//!
//! Texts alone change, and what stands under a key that names a secret, an environment or a command; other numbers, order and
//! space stay as they are.

use crate::error::RedactError;
use crate::keys::{MAX_NAME, Secrecy, holds_pair, names_pair, private_inside, private_key, private_whole, secrecy};
use crate::learn::Listener;
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
    let has_key = || PARTS.find_iter(text).any(|part| is_rest_of_key(&text[part.end()..], text));
    let is_under_one = || PARTS.is_match(key.as_bytes()) && private_key(key).is_some();
    memchr(b'\\', text).is_some() || is_under_one() || has_key()
}

/// Whether `rest`, from behind a part of a key in `text`, begins with the rest of one, or of what a pair is called.
fn is_rest_of_key(rest: &[u8], text: &[u8]) -> bool {
    let is_letter = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_. -".contains(byte);
    let letters = rest.iter().take(MAX_NAME).take_while(is_letter).count();
    let Some(behind) = rest[letters..].strip_prefix(b"\"") else { return false };
    let has_pair = || {
        [&b"alue\""[..], b"\"v\"", b"\"val\"", b"\"text\"", b"\"data\""]
            .iter()
            .any(|key| memmem::find(text, key).is_some())
    };
    behind.trim_ascii_start().starts_with(b":") || has_pair()
}

/// Adds to what `listener` learns the names and secrets that `text`, a value in `member` of the outermost object, says.
pub(crate) fn learn(member: Option<&[u8]>, text: &[u8], listener: &mut Listener<'_>) -> Result<(), RedactError> {
    learn_at(member.and_then(unquoted).unwrap_or_default(), text, listener, 0)
}

/// The same at a depth of JSON inside texts of JSON.
fn learn_at(key: String, text: &[u8], listener: &mut Listener<'_>, depth: usize) -> Result<(), RedactError> {
    if depth > MAX_INSIDE_DEPTH || !keys_may_tell(&key, text) && !listener.may_say(text) {
        return Ok(());
    }
    let (nobody, mut removed) = (Words::default(), Removed::default());
    let mut walk = Walk::new(&nobody, &mut removed, key);
    walk.learned = Some(Learned::default());
    walk.all(text)?;
    let learned = walk.learned.unwrap_or_default();
    learned.names.iter().for_each(|(what, name)| listener.learn(*what, name));
    for text in learned.texts {
        if text.trim_start().starts_with(['{', '[']) && text.len() <= MAX_INSIDE {
            // What is no JSON was looked at as a text.
            let _ = learn_at(String::new(), text.as_bytes(), listener, depth + 1);
        }
        if listener.may_say(text.as_bytes()) {
            listener.text(&text);
        }
    }
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

/// What a value says, where that is only to be learned.
#[derive(Debug, Default)]
struct Learned {
    names: Vec<(What, String)>,
    /// Texts of no private key.
    texts: Vec<String>,
}

/// A walk over the tokens of one value.
struct Walk<'a> {
    words: &'a Words,
    removed: &'a mut Removed,
    names_process: bool,
    learned: Option<Learned>,
    /// The key under which each open level stands, innermost last; lists have that of the list.
    keys: Vec<String>,
    /// Of each open level, the two halves of a pair as far as they were seen: `{name: hostname, value: …}`.
    pairs: Vec<Pair>,
    /// The string before, where it is an argument such as `--password`, whose value is the next.
    argument: Option<What>,
    out: Vec<u8>,
}

/// Texts of JSON inside one another that are listened to.
const MAX_INSIDE_DEPTH: usize = 4;

#[derive(Debug, Default)]
struct Pair {
    /// What the pair is called, if that is a private name.
    name: Option<String>,
    /// The value, where it came before.
    value: Option<String>,
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
        Walk {
            words,
            removed,
            names_process: false,
            learned: None,
            keys: vec![key],
            pairs: vec![Pair::default()],
            argument: None,
            out: Vec::new(),
        }
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
                    let pair = self.pairs.last().and_then(|pair| pair.name.clone()).filter(|_| holds_pair(&key));
                    key = pair.unwrap_or(key);
                }
                (b'"', _) => self.string(&key, token),
                (b'{' | b'[', _) if token.len() > 1 => self.whole(&key),
                (b'{' | b'[', _) => {
                    if levels.len() >= MAX_DEPTH {
                        return Err(RedactError::Damaged { expected: "512 levels", found: "more", offset: at as u64 });
                    }
                    levels.push(if byte == b'{' { Level::BeforeKey } else { Level::List });
                    self.keys.push(key.clone());
                    self.pairs.push(Pair::default());
                    self.out.push(byte);
                }
                (b'}' | b']', _) => {
                    levels.pop();
                    key = self.keys.pop().unwrap_or_default();
                    self.pairs.pop();
                    self.argument = None;
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
        let parent = self.keys.last().map_or("", String::as_str);
        let by_key = || self.argument.or_else(|| private_key(key)).or_else(|| private_inside(parent, key));
        let private = if is_process_name && !is_plane { Some(What::ProcessName) } else { by_key() };
        self.argument =
            Some(&text).filter(|text| text.starts_with('-')).and_then(|text| private_key(text.trim_start_matches('-')));
        self.note_pair(key, &text);
        if let Some(learned) = &mut self.learned {
            match private {
                // What is only perhaps a secret is none to look for elsewhere.
                Some(What::Secret) if secrecy(key) != Secrecy::OfAnything => {}
                Some(what) => learned.names.push((what, text)),
                None => learned.texts.push(text),
            }
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

    /// Keeps the halves of a pair: what it is called, and in learning a value that stands before.
    fn note_pair(&mut self, key: &str, text: &str) {
        let Some(pair) = self.pairs.last_mut() else { return };
        if names_pair(key) && private_key(text).is_some() {
            pair.name = Some(text.to_owned());
            if let (Some(learned), Some(value), Some(what)) = (&mut self.learned, pair.value.take(), private_key(text))
            {
                learned.names.push((what, value));
            }
        } else if self.learned.is_some() && holds_pair(key) {
            pair.value = Some(text.to_owned());
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
