//! What can go wrong with a whole module (an error) and with a part of one (a note).

/// Why bytes or text are no HLO module at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HloError {
    /// The bytes hold neither an `HloProto` nor an `HloModuleProto`.
    #[error("not an HLO proto: expected an HLO module with a name or a computation, found {found} at byte {offset}")]
    NotProto {
        /// What stood there instead.
        found: String,
        /// Bytes from the start of the input.
        offset: usize,
    },
    /// The text has no module header and no computation.
    #[error("not HLO text: expected `HloModule` or a computation, found {found} at byte {offset}")]
    NotText {
        /// What stood there instead.
        found: String,
        /// Bytes from the start of the input.
        offset: usize,
    },
    /// More computations or instructions than a 32-bit position can name.
    #[error("HLO module too large: expected at most {limit} instructions, found more at byte {offset}")]
    TooLarge {
        /// The most this crate holds.
        limit: usize,
        /// Bytes from the start of the input.
        offset: usize,
    },
}

/// A part of a module that could not be read; the rest of the module stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HloNote {
    /// Where it is: bytes from the start of the proto or text that was read.
    pub offset: usize,
    /// What was expected and what was found.
    pub what: String,
}

/// Notes kept per module; a wholly broken file would otherwise hold one per byte.
const NOTES_KEPT: usize = 100;

/// Collects notes up to a bound and counts the rest.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    kept: Vec<HloNote>,
    dropped: usize,
}

impl Notes {
    /// Adds a note unless the bound is reached; `what` is only made if it is kept.
    pub(crate) fn add(&mut self, offset: usize, what: impl FnOnce() -> String) {
        if self.kept.len() < NOTES_KEPT {
            self.kept.push(HloNote { offset, what: what() });
        } else {
            self.dropped += 1;
        }
    }

    /// The notes, with one more that counts those not kept.
    pub(crate) fn finish(mut self) -> Vec<HloNote> {
        if self.dropped > 0 {
            let offset = self.kept.last().map_or(0, |note| note.offset);
            self.kept.push(HloNote { offset, what: format!("{} further notes are not listed", self.dropped) });
        }
        self.kept
    }
}
