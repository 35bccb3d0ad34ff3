//! Texts without what is private where their form tells more than their words: JSON goes by its keys, cells by their column,
//! settings by their name.

use crate::learn::Listener;
use crate::removed::{Removed, What};
use crate::shapes::Context;
use crate::words::Words;
use crate::{json_values, nsys, table};
use std::borrow::Cow;

impl Words {
    /// `text` without what is private, counted in `removed`; JSON inside a text goes by its keys, too.
    pub fn clean<'a>(&self, text: &'a str, removed: &mut Removed) -> Cow<'a, str> {
        match json_values::inside(text, self, removed) {
            Some(clean) => Cow::Owned(clean),
            None => self.clean_in(text, Context::Any, removed),
        }
    }

    /// [`Words::clean`] of bytes that should be UTF-8; what is not is replaced where anything private was found.
    pub(crate) fn clean_bytes(&self, bytes: &[u8], removed: &mut Removed) -> Option<String> {
        let text = String::from_utf8_lossy(bytes);
        let clean = self.clean(&text, removed);
        (clean.as_bytes() != text.as_bytes()).then(|| clean.into_owned())
    }

    /// The cell `text` of the column called `column` of a table without what is private.
    pub fn clean_cell<'a>(&self, column: &str, text: &'a str, removed: &mut Removed) -> Cow<'a, str> {
        match table::of_column(column).filter(|what| !text.is_empty() && text != what.stand_in()) {
            Some(what) => {
                removed.add(what);
                what.stand_in().into()
            }
            None => self.clean(text, removed),
        }
    }

    /// Learns the names of machines and accounts that the cell `text` of the column called `column` says.
    pub fn learn_cell(&mut self, column: &str, text: &str) {
        match table::of_column(column) {
            Some(what) => self.learn(what, text),
            None => Listener::new(self).lines(text.as_bytes()),
        }
    }

    /// What the setting `key` of Nsight Systems' table of the machine is, where its value is private.
    pub fn private_setting(key: &str, value: &str) -> Option<What> {
        nsys::of_machine(key, value)
    }

    /// Learns the name of a machine or account that a setting of Nsight Systems says.
    pub fn learn_setting(&mut self, key: &str, value: &str) {
        if let Some(what) = Words::private_setting(key, value) {
            self.learn(what, value);
        }
    }
}
