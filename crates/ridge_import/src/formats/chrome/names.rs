//! The strings of one stretch, each once, as written in the file.

use rustc_hash::FxHashMap;

/// A string of a [`Names`] table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct NameId(pub(super) u32);

/// Distinct raw strings; the empty one is 0.
#[derive(Debug)]
pub(super) struct Names<'a> {
    texts: Vec<&'a [u8]>,
    ids: FxHashMap<&'a [u8], u32>,
    /// What one question about a name was answered with: not asked, no, yes.
    answers: Vec<u8>,
}

impl Default for Names<'_> {
    fn default() -> Self {
        Names { texts: vec![b""], ids: FxHashMap::from_iter([(&b""[..], 0)]), answers: vec![0] }
    }
}

impl<'a> Names<'a> {
    /// The id of `raw`, new or known.
    #[inline]
    pub(super) fn id(&mut self, raw: &'a [u8]) -> NameId {
        if raw.is_empty() {
            return NameId(0);
        }
        NameId(*self.ids.entry(raw).or_insert_with(|| {
            self.texts.push(raw);
            self.answers.push(0);
            self.texts.len() as u32 - 1
        }))
    }

    /// Whether a name has what `ask` looks for; asked once a name, and always the same of it.
    ///
    /// A name is a kernel's or a call's, so there is one question that makes sense for it.
    pub(super) fn has(&mut self, id: NameId, ask: impl FnOnce(&[u8]) -> bool) -> bool {
        let answer = &mut self.answers[id.0 as usize];
        if *answer == 0 {
            *answer = 1 + u8::from(ask(self.texts[id.0 as usize]));
        }
        *answer == 2
    }

    /// All strings in the order of their ids.
    pub(super) fn texts(&self) -> &[&'a [u8]] {
        &self.texts
    }
}
