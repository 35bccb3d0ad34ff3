//! Texts between quotes, as XLA escapes them.

use std::fmt;

/// Writes text in quotes, with C escapes.
pub(crate) fn write_quoted(out: &mut String, text: &str) -> fmt::Result {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            character => out.push(character),
        }
    }
    out.push('"');
    Ok(())
}
