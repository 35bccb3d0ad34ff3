//! What was wrong with the file: counted by kind, with the place of the first, and said once each.

use crate::import::Import;
use crate::note::Severity;

/// A kind of flaw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flaw {
    /// An event that is not JSON.
    NotJson,
    /// An event whose strings hold quotes that nobody escaped; it was read by what follows them.
    StrayQuotes,
    /// A time that is no number.
    NoTime,
    /// A duration below 0.
    NegativeDuration,
    /// A phase that the format does not have.
    UnknownPhase,
    /// Raw control characters in names.
    ControlCharacters,
    /// Escapes that JSON does not have.
    UnknownEscapes,
    /// Ends without beginnings, and beginnings without ends.
    HalfRanges,
}

const KINDS: [(Flaw, Severity, &str); 8] = [
    (Flaw::NotJson, Severity::Lost, "events that are not JSON were left out"),
    (
        Flaw::StrayQuotes,
        Severity::Info,
        "events contain unescaped quotes; their ends were guessed from the characters after them",
    ),
    (Flaw::NoTime, Severity::Lost, "events with invalid times were left out or count as instantaneous"),
    (Flaw::NegativeDuration, Severity::Partial, "events with a negative duration count as instantaneous"),
    (Flaw::UnknownPhase, Severity::Partial, "events with an unknown phase were left out"),
    (Flaw::ControlCharacters, Severity::Info, "names contain control characters, which JSON forbids"),
    (Flaw::UnknownEscapes, Severity::Info, "names contain escapes that are invalid in JSON; they were kept as written"),
    (Flaw::HalfRanges, Severity::Partial, "ranges without a start or an end in the file were left out"),
];

/// In place of an offset where a flaw is not found by walking the file.
pub(super) const NOWHERE: u64 = u64::MAX;

/// Flaws by kind.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Flaws {
    found: [(u64, u64); KINDS.len()],
}

impl Flaws {
    /// Counts one flaw at byte `offset` of the file.
    pub(super) fn add(&mut self, flaw: Flaw, offset: u64) {
        let (count, first) = &mut self.found[flaw as usize];
        *first = if *count == 0 { offset } else { (*first).min(offset) };
        *count += 1;
    }

    /// Adds those of another stretch.
    pub(super) fn join(&mut self, other: &Flaws) {
        for (mine, (count, first)) in self.found.iter_mut().zip(other.found) {
            if count > 0 {
                mine.1 = if mine.0 == 0 { first } else { mine.1.min(first) };
                mine.0 += count;
            }
        }
    }

    /// One note a kind.
    pub(super) fn note(&self, source: &str, import: &mut Import) {
        for (flaw, severity, message) in KINDS {
            let (count, first) = self.found[flaw as usize];
            if count > 0 {
                let place = (first != NOWHERE).then_some(first);
                import.note(severity, source, place, count, message.to_owned());
            }
        }
    }
}
