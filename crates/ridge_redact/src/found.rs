//! Private parts of a text, and the text without them.

use crate::removed::{Removed, What};
use std::ops::Range;

/// A private part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// Where in the text, in bytes.
    pub(crate) place: Range<usize>,
    pub(crate) what: What,
}

/// How a private part is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Replace {
    /// By a word that says what it was.
    Word,
    /// Letter by letter: the text stays as long, in bytes, and paths keep their shape.
    Letters,
}

impl Replace {
    fn put(self, private: &str, what: What, out: &mut String) {
        match self {
            Replace::Word => out.push_str(what.stand_in()),
            Replace::Letters => out.extend(private.bytes().map(|byte| if byte == b'/' { '/' } else { '*' })),
        }
    }
}

/// `text` with each of `found` replaced; parts that overlap are one, of the kind of the first.
pub(crate) fn replaced(text: &str, mut found: Vec<Found>, replace: Replace, removed: &mut Removed) -> String {
    found.sort_by_key(|part| (part.place.start, std::cmp::Reverse(part.place.end)));
    let mut out = String::with_capacity(text.len());
    let (mut at, mut parts) = (0, found.into_iter().peekable());
    while let Some(Found { place, what }) = parts.next() {
        let mut end = place.end;
        while let Some(next) = parts.next_if(|next| next.place.start < end) {
            end = end.max(next.place.end);
        }
        out.push_str(&text[at..place.start]);
        replace.put(&text[place.start..end], what, &mut out);
        removed.add(what);
        at = end;
    }
    out.push_str(&text[at..]);
    out
}
