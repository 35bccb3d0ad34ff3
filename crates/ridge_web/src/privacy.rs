//! Answers without what says who made the capture and where.

use ridge_redact::{Removed, Words};
use rustc_hash::FxHashMap;
use serde_json::Value;
use std::sync::{Mutex, PoisonError};

/// Texts that are kept once cleaned: names repeat.
const MOST_KEPT: usize = 100_000;

/// Cleans texts by words; the same text is looked into once.
#[derive(Debug)]
pub(crate) struct Cleaner {
    words: Words,
    known: Mutex<FxHashMap<String, Option<String>>>,
}

impl Cleaner {
    pub(crate) fn new(words: Words) -> Cleaner {
        Cleaner { words, known: Mutex::default() }
    }

    /// `text` without what is private.
    pub(crate) fn text(&self, text: &str) -> String {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known().get(text) {
            return found.clone().unwrap_or_else(|| text.to_owned());
        }
        let clean = without_folders(&self.words.clean(text, &mut Removed::default()));
        let changed = (clean != text).then(|| clean.clone());
        let mut known = known();
        if known.len() < MOST_KEPT {
            known.insert(text.to_owned(), changed);
        }
        clean
    }

    /// Every text of a document; its keys are ours.
    pub(crate) fn value(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(members) => members.values_mut().for_each(|member| self.value(member)),
            _ => {}
        }
    }
}

/// `text` with the names of files in place of their whole paths, which say how somebody's machine is laid out.
///
/// A path begins at a root or a home folder where a word may begin, and ends in a name with a dot; scopes
/// (`jit(f)/while`) and planes (`/device:GPU:0`) are none.
fn without_folders(text: &str) -> String {
    let goes_on = |c: char| c.is_alphanumeric() || "_.+-@/~".contains(c);
    let (mut out, mut rest, mut before) = (String::with_capacity(text.len()), text, None);
    while let Some(first) = rest.chars().next() {
        let begins = (rest.starts_with('/') && !rest.starts_with("//")) || rest.starts_with("~/");
        let is_free = before.is_none_or(|c: char| !goes_on(c) && !")]>".contains(c));
        let path = if begins && is_free { path_at(rest, goes_on) } else { None };
        let step = match path {
            Some((path, name)) => {
                out.push_str(name);
                path.len()
            }
            None => {
                out.push(first);
                first.len_utf8()
            }
        };
        before = rest[..step].chars().next_back();
        rest = &rest[step..];
    }
    out
}

/// The path of a file that `text` begins with, and the file's name.
fn path_at(text: &str, goes_on: impl Fn(char) -> bool) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !goes_on(c)).unwrap_or(text.len());
    let path = text[..end].trim_end_matches('.');
    let (folder, name) = path.rsplit_once('/')?;
    (!folder.is_empty() && name.contains('.')).then_some((path, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_keep_their_names_and_lose_their_folders() {
        for (text, expected) in [
            ("/data/ada/run/solver.py:12", "solver.py:12"),
            ("~/work/solver.py", "solver.py"),
            ("~/solver.py(3): step", "solver.py(3): step"),
            ("source:134:/a/b/c.py", "source:134:c.py"),
            ("in `/a/b/c.py` at line 3", "in `c.py` at line 3"),
            ("source_file=\"/a/b.d/c.py\" x", "source_file=\"c.py\" x"),
            ("read /a/b/c.txt.", "read c.txt."),
            ("jit(f)/while/body/mul.3", "jit(f)/while/body/mul.3"),
            ("/device:GPU:0", "/device:GPU:0"),
            ("https://example.org/a/b.html", "https://example.org/a/b.html"),
            ("a/b.c/d.e", "a/b.c/d.e"),
            ("µs /ä/b/ö.py", "µs ö.py"),
        ] {
            assert_eq!(without_folders(text), expected);
        }
    }
}
