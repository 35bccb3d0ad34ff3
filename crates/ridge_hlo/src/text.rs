//! The text reader: HLO as XLA dumps it, before and after optimization, old and new.
//!
//! Instructions are found by their shape and balance of brackets, not by a grammar of every attribute: an attribute
//! this crate does not know is kept as text and costs nothing.

pub(crate) mod labels;

use crate::{HloError, HloModule};

/// Reads a module; see [`HloModule::from_text`].
pub(crate) fn read(_text: &str) -> Result<HloModule, HloError> {
    Err(HloError::NotText { found: "text".to_owned(), offset: 0 })
}

/// The parts of a list at its top-level commas, trimmed.
pub(crate) fn split_list(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start, mut quoted, mut escaped) = (0i32, 0, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'(' | b'[' | b'{' | b'<' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            // The arrow of a function type closes nothing.
            b'>' if at == 0 || text.as_bytes()[at - 1] != b'-' => depth -= 1,
            b',' if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    let last = text[start..].trim();
    if !last.is_empty() || !parts.is_empty() {
        parts.push(last);
    }
    parts
}
