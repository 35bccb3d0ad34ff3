//! One JSON value without what is private: by the key it stands under, or by what its text holds.
//!
//! Texts alone change, and objects and lists under a key that names an environment or a command; numbers, order and space stay as
//! they are.

use crate::error::RedactError;
use crate::needles::Needles;
use crate::removed::{Removed, What};
use crate::secrets::{GONE, is_secret_name};
use crate::words::Words;
use memchr::memmem;

/// Keys of machines' names, in lower case with `_`.
const HOST_KEYS: [&str; 6] = ["host_name", "hostname", "host", "nodename", "node_name", "fqdn"];
/// Keys of people's accounts.
const USER_KEYS: [&str; 4] = ["username", "user_name", "user", "login"];
/// Keys of environments.
const ENVIRONMENT_KEYS: [&str; 6] = ["environment", "environ", "env", "env_vars", "envvars", "environment_variables"];
/// Keys of command lines.
const COMMAND_KEYS: [&str; 6] = ["cmdline", "command", "command_line", "commandline", "cmd", "argv"];
/// The member of a trace under which tools put a dump of the machine: packages, processor, environment.
const MACHINE_MEMBER: &[u8] = b"\"metadata\"";
/// The event of the trace format that names a process, `{"name": "process_name", "args": {"name": …}}`.
const PROCESS_NAME: &[u8] = b"\"process_name\"";
/// What stands for the name of a process.
const A_PROCESS: &str = "process";
/// Parts of the keys above and of names of secrets, as they are commonly written.
const KEY_PARTS: [&str; 24] = [
    "host",
    "Host",
    "HOST",
    "node",
    "fqdn",
    "user",
    "User",
    "USER",
    "login",
    "env",
    "Env",
    "ENV",
    "cmd",
    "command",
    "argv",
    "process_name",
    "oken",
    "OKEN",
    "ecret",
    "ECRET",
    "assw",
    "ASSW",
    "api",
    "redential",
];

/// Cleans the values of one document.
#[derive(Debug)]
pub(crate) struct Cleaner {
    words: Words,
    needles: Needles,
    keys: Needles,
    pub(crate) removed: Removed,
}

impl Cleaner {
    pub(crate) fn new(words: Words) -> Cleaner {
        Cleaner { needles: words.needles(), keys: Needles::new(KEY_PARTS), words, removed: Removed::default() }
    }

    /// `text`, a value in `member` of the outermost object, without what is private; `None` where nothing changes.
    pub(crate) fn value(&mut self, member: Option<&[u8]>, text: &[u8]) -> Result<Option<Vec<u8>>, RedactError> {
        if member == Some(MACHINE_MEMBER) && text.starts_with(b"{") {
            self.removed.add(What::Environment);
            return Ok(Some(quoted(GONE)));
        }
        let key = member.and_then(unquoted).unwrap_or_default();
        if !self.needles.found_in(text) && !self.keys.found_in(text) && private_key(&key).is_none() {
            return Ok(None);
        }
        let names_process = memmem::find(text, PROCESS_NAME).is_some();
        let mut walk = Walk { cleaner: self, names_process, keys: vec![key], out: Vec::with_capacity(text.len()) };
        walk.all(text)?;
        Ok(Some(walk.out))
    }

    /// Calls `found` with each name of a machine that `text` says.
    pub(crate) fn hosts(member: Option<&[u8]>, text: &[u8], found: &mut dyn FnMut(&str)) {
        let key = member.and_then(unquoted).unwrap_or_default();
        if private_key(&key) == Some(What::HostName)
            && let Some(host) = unquoted(text)
        {
            found(&host);
        }
    }
}

/// What a text under `key` is, where the key alone says that it is private.
pub(crate) fn private_key(key: &str) -> Option<What> {
    if key.is_empty() || key.len() > 64 {
        return None;
    }
    let plain = key.to_ascii_lowercase().replace(['-', ' ', '.'], "_");
    let is = |keys: &[&str]| keys.contains(&plain.as_str());
    if is(&HOST_KEYS) {
        Some(What::HostName)
    } else if is(&USER_KEYS) {
        Some(What::UserName)
    } else if is(&ENVIRONMENT_KEYS) {
        Some(What::Environment)
    } else if is(&COMMAND_KEYS) {
        Some(What::CommandLine)
    } else if is_secret_name(key) {
        Some(What::Secret)
    } else {
        None
    }
}

fn stand_in(what: What) -> &'static str {
    match what {
        What::HostName => "<host>",
        What::UserName => "<user>",
        What::ProcessName => A_PROCESS,
        _ => GONE,
    }
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
    cleaner: &'a mut Cleaner,
    names_process: bool,
    /// The key under which each open level stands, innermost last; lists have that of the list.
    keys: Vec<String>,
    out: Vec<u8>,
}

/// Levels of a value; deeper ones are refused.
const MAX_DEPTH: usize = 512;

impl Walk<'_> {
    fn all(&mut self, text: &[u8]) -> Result<(), RedactError> {
        let mut at = 0;
        let mut key = self.keys[0].clone();
        // Whether each open level is an object, and whether its next string is a key.
        let mut levels: Vec<(bool, bool)> = Vec::new();
        while at < text.len() {
            let byte = text[at];
            let end = match byte {
                b'"' => string_end(text, at),
                b'{' | b'[' if self.is_gone_as_a_whole(&key) => {
                    self.cleaner.removed.add(private_key(&key).unwrap_or(What::Environment));
                    self.out.extend_from_slice(&quoted(GONE));
                    at = enclosed_end(text, at);
                    continue;
                }
                _ => at + 1,
            };
            let token = &text[at..end];
            match (byte, levels.last_mut()) {
                (b'"', Some((true, awaits_key))) if *awaits_key => {
                    key = unquoted(token).unwrap_or_default();
                    self.string("", token);
                }
                (b'"', _) => self.string(&key, token),
                (b'{' | b'[', _) => {
                    if levels.len() >= MAX_DEPTH {
                        return Err(RedactError::Damaged { expected: "512 levels", found: "more", offset: at as u64 });
                    }
                    levels.push((byte == b'{', byte == b'{'));
                    self.keys.push(key.clone());
                    self.out.push(byte);
                }
                (b'}' | b']', _) => {
                    levels.pop();
                    key = self.keys.pop().unwrap_or_default();
                    self.out.push(byte);
                }
                (b':', Some((true, awaits_key))) => {
                    *awaits_key = false;
                    self.out.push(byte);
                }
                (b',', Some((true, awaits_key))) => {
                    *awaits_key = true;
                    self.out.push(byte);
                }
                _ => self.out.push(byte),
            }
            at = end;
        }
        Ok(())
    }

    fn is_gone_as_a_whole(&self, key: &str) -> bool {
        matches!(private_key(key), Some(What::Environment | What::CommandLine))
    }

    /// Appends `token`, a string under `key`.
    fn string(&mut self, key: &str, token: &[u8]) {
        let is_process_name =
            self.names_process && key == "name" && self.keys.last().is_some_and(|parent| parent == "args");
        let private = if is_process_name { Some(What::ProcessName) } else { private_key(key) };
        let text = unquoted(token).unwrap_or_default();
        match private {
            Some(what) if !text.is_empty() && text != stand_in(what) => {
                self.cleaner.removed.add(what);
                self.out.extend_from_slice(&quoted(stand_in(what)));
            }
            Some(_) => self.out.extend_from_slice(token),
            None => {
                let clean = self.cleaner.words.clean(&text, &mut self.cleaner.removed);
                let is_same = clean == text;
                let bytes = if is_same { token.to_vec() } else { quoted(&clean) };
                self.out.extend_from_slice(&bytes);
            }
        }
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
