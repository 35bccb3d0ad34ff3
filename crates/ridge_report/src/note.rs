//! A note about a capture as one line of text, and the order notes are shown in.
//!
//! Says nothing about color.

use crate::escape_controls;
use ridgeline::units::Count;
use ridgeline::{Note, Severity};

/// `note` as one line that reads alone: `lost: 3 events could not be read (host.xplane.pb, byte 1,204)`.
pub fn note_line(note: &Note) -> String {
    let word = if note.severity == Severity::Info { "note" } else { note.severity.name() };
    format!("{word}: {}", note_body(note))
}

/// The line without its first word.
pub(crate) fn note_body(note: &Note) -> String {
    let mut place = Vec::new();
    // A message may name its file already; saying it twice costs width.
    if let Some(file) = note.file.as_deref().filter(|file| !note.message.contains(file)) {
        place.push(escape_controls(file).into_owned());
    }
    if let Some(offset) = note.offset {
        place.push(format!("byte {}", Count(offset)));
    }
    if note.count > 1 {
        place.push(format!("{} times", Count(note.count)));
    }
    let message = escape_controls(&note.message);
    if place.is_empty() { message.into_owned() } else { format!("{message} ({})", place.join(", ")) }
}

/// The notes of one severity, in their order.
pub(crate) fn of_severity(notes: &[Note], severity: Severity) -> impl Iterator<Item = &Note> {
    notes.iter().filter(move |note| note.severity == severity)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_says_where_and_how_often() {
        let note = Note {
            severity: Severity::Lost,
            message: "events could not be read".to_owned(),
            file: Some("host.xplane.pb".to_owned()),
            offset: Some(1204),
            count: 3,
        };
        assert_eq!(note_line(&note), "lost: events could not be read (host.xplane.pb, byte 1,204, 3 times)");
        let plain = Note { severity: Severity::Info, message: "a\nb".to_owned(), file: None, offset: None, count: 1 };
        assert_eq!(note_line(&plain), "note: a\\nb");
    }
}
