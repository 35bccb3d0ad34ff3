//! Names from captures made harmless: what would move the cursor, change colors or reorder text is shown, not obeyed.
//!
//! Does not touch printable text in any script.

use std::borrow::Cow;
use std::fmt::Write as _;

/// `text` with control and direction-changing characters as visible escapes (`\n`, `\x1b`, `\u{202e}`), fit for one line.
pub fn escape_controls(text: &str) -> Cow<'_, str> {
    escape(text, is_unsafe)
}

/// Like [`escape_controls`], but line ends and tabs stay: for whole texts such as an HLO module.
pub fn escape_controls_in_text(text: &str) -> Cow<'_, str> {
    escape(text, |c| is_unsafe(c) && c != '\n' && c != '\t')
}

/// Whether a terminal would do something with `c` other than show it.
pub(crate) fn is_unsafe(c: char) -> bool {
    // Line and paragraph separators break lines; the other ranges are Unicode's bidirectional controls.
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

fn escape(text: &str, hide: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&hide) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            c if !hide(c) => shown.push(c),
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            c if (c as u32) < 0x80 => write!(shown, "\\x{:02x}", c as u32).expect("writing to a String cannot fail"),
            c => write!(shown, "\\u{{{:x}}}", c as u32).expect("writing to a String cannot fail"),
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_become_visible_and_other_text_stays() {
        for (text, shown) in [
            ("dot.1", "dot.1"),
            ("größe 三角 🙂", "größe 三角 🙂"),
            ("a\x1b[2Jb", "a\\x1b[2Jb"),
            ("a\r\nb\tc", "a\\r\\nb\\tc"),
            ("\u{9b}31m\u{202e}x", "\\u{9b}31m\\u{202e}x"),
        ] {
            assert_eq!(escape_controls(text), shown);
        }
        assert_eq!(escape_controls_in_text("a\n\tb\x07"), "a\n\tb\\x07");
    }
}
