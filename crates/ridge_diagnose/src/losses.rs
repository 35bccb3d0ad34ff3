//! What of a capture was lost, from the words of readers and recorders, and how to get a whole one.

use crate::case::Case;
use ridge_table::{Note, Severity};

/// What a note says was lost, as far as it matters for what to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loss {
    /// The file is not there to its end.
    EndOfFile,
    /// The profiler had no room for more, and stopped or dropped records.
    Room,
    /// A process whose device was not recorded.
    Device,
    /// Some events that cannot be used.
    Events,
}

impl Loss {
    /// What `note` says; `None` where nothing of the time line was lost.
    pub(crate) fn of(note: &Note) -> Option<Loss> {
        let message = note.message.to_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
        let is_lost = note.severity == Severity::Lost;
        // Of other files than the time line.
        if note.severity == Severity::Info || says(&["snapshot", "alloc", "hlo"]) {
            return None;
        }
        if says(&["stopped early", "buffers were full", "dropped", "overflow", "buffer is full", "out of buffer"]) {
            return Some(Loss::Room);
        }
        if is_lost && says(&["no device activity"]) {
            return Some(Loss::Device);
        }
        // A file beside the capture that is none.
        if says(&["the whole file could not be read"]) {
            return None;
        }
        if is_lost && says(&["the file is truncated", "could not be read to its end", "cut short"]) {
            return Some(Loss::EndOfFile);
        }
        let is_of_events =
            is_lost && says(&["left out", "ends early", "broken", "readable parts", "implausibly large"]);
        is_of_events.then_some(Loss::Events)
    }

    /// What gives a capture without this loss.
    pub(crate) fn advice(self) -> &'static str {
        match self {
            // Recording otherwise would not help: it was recorded, and is not all here.
            Loss::EndOfFile | Loss::Events => "copy the file again after the program that writes it has ended",
            Loss::Room => "ridgeline record --steps 10..12 -- python PROGRAM.py",
            Loss::Device => "ridgeline record -- python PROGRAM.py, on every rank",
        }
    }
}

/// What to do about device work that is not in the capture: what follows from what was lost, else `usual`.
pub(crate) fn advice_for_device_work(case: &Case<'_>, usual: &'static str) -> &'static str {
    let mut lost = case.known.notes.iter().filter_map(Loss::of);
    let of_all = lost.find(|loss| matches!(loss, Loss::EndOfFile | Loss::Room));
    of_all.map_or(usual, Loss::advice)
}
