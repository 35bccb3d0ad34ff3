//! One table of strings: each distinct text once, named by a small id.

use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A string of a [`Strings`] table; the default is the empty string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct StringId(pub u32);

/// Distinct strings in the order of their first appearance; id 0 is the empty string.
#[derive(Debug, Clone)]
pub struct Strings {
    texts: Vec<Arc<str>>,
    ids: FxHashMap<Arc<str>, u32>,
}

impl Default for Strings {
    fn default() -> Strings {
        let empty: Arc<str> = Arc::from("");
        Strings { texts: vec![empty.clone()], ids: FxHashMap::from_iter([(empty, 0)]) }
    }
}

impl Strings {
    /// The id of `text`, new or known.
    pub fn intern(&mut self, text: &str) -> StringId {
        if let Some(&id) = self.ids.get(text) {
            return StringId(id);
        }
        let id = self.texts.len() as u32;
        let text: Arc<str> = Arc::from(text);
        self.texts.push(text.clone());
        self.ids.insert(text, id);
        StringId(id)
    }

    /// Gives each text for which `new` has another one that; its id stays.
    pub fn rename(&mut self, new: impl Fn(&str) -> Option<String>) {
        for (id, text) in self.texts.iter_mut().enumerate() {
            if let Some(renamed) = new(text) {
                *text = Arc::from(renamed);
                self.ids.entry(Arc::clone(text)).or_insert(id as u32);
            }
        }
    }

    /// The id of `text` where it is known.
    pub fn find(&self, text: &str) -> Option<StringId> {
        self.ids.get(text).copied().map(StringId)
    }

    /// The text of `id`; empty for an id of another table.
    pub fn get(&self, id: StringId) -> &str {
        self.texts.get(id.0 as usize).map_or("", |text| text)
    }

    /// How many distinct strings there are.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether only the empty string is there.
    pub fn is_empty(&self) -> bool {
        self.texts.len() == 1
    }

    /// All texts in id order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(|text| &**text)
    }
}
