//! Whether bytes hold any of a few texts: the cheap question before the exact one.

use memchr::memmem::Finder;

/// Texts to look for.
#[derive(Debug, Clone)]
pub(crate) struct Needles {
    finders: Vec<Finder<'static>>,
}

impl Needles {
    /// Looks for any of `texts`, none of them empty.
    pub(crate) fn new<'a>(texts: impl IntoIterator<Item = &'a str>) -> Needles {
        Needles { finders: texts.into_iter().map(|text| Finder::new(text).into_owned()).collect() }
    }

    /// Whether any of them is in `bytes`.
    pub(crate) fn found_in(&self, bytes: &[u8]) -> bool {
        self.finders.iter().any(|finder| finder.find(bytes).is_some())
    }
}
