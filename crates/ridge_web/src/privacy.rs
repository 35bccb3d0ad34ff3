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
        let clean = self.words.clean(text, &mut Removed::default()).into_owned();
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
