//! Names from captures made harmless: what would move the cursor, change colors or reorder text is shown, not obeyed.
//!
//! Does not touch what is printed, in any script; what is printed nowhere is shown too, because names that look alike differ by it.

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

/// `text` as a cell of CSV: controls are shown, and what a spreadsheet would take for a formula begins with `'`.
pub fn csv_cell(text: &str) -> Cow<'_, str> {
    let shown = escape_controls(text);
    if shown.starts_with(['=', '+', '-', '@']) { Cow::Owned(format!("'{shown}")) } else { shown }
}

/// `text` as one word of a command that is printed to be pasted: quoted where a shell would do something with it, and with
/// what a terminal would obey as escapes of the shell (`$'\\x1b'`), so that what is seen is what is run.
pub fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@%,".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    if !text.contains(is_unsafe) {
        return format!("'{}'", text.replace('\'', "'\\''"));
    }
    let mut word = String::from("$'");
    for c in text.chars() {
        match c {
            '\'' | '\\' => word.extend(['\\', c]),
            '\n' => word.push_str("\\n"),
            '\t' => word.push_str("\\t"),
            c if is_unsafe(c) => {
                let mut bytes = [0; 4];
                for byte in c.encode_utf8(&mut bytes).bytes() {
                    write!(word, "\\x{byte:02x}").expect("writing to a String cannot fail");
                }
            }
            c => word.push(c),
        }
    }
    word + "'"
}

/// Whether a terminal would do something with `c` other than show it, or nothing at all.
pub fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c,
            // Characters without width: soft hyphen, joiners, fillers, invisible operators.
            '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{3164}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            // Bidirectional controls, and separators that break lines.
            | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            // Tags and selectors of variants, which can carry a whole text unseen.
            | '\u{e0000}'..='\u{e0fff}')
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
            ("ge\u{200b}mm\u{200d}\u{ad}", "ge\\u{200b}mm\\u{200d}\\u{ad}"),
            ("a\u{e0041}\u{e007f}", "a\\u{e0041}\\u{e007f}"),
        ] {
            assert_eq!(escape_controls(text), shown);
        }
        assert_eq!(escape_controls_in_text("a\n\tb\x07"), "a\n\tb\\x07");
    }

    #[test]
    fn a_word_is_what_a_shell_reads_as_that_word() {
        for text in
            ["run/1", "my run", "it's", "", "$(touch x)`y`", "a\nb\\", "k\x1b[2J\x07'", "\u{202e}é", "*?~#!&;|<>\"{}"]
        {
            let word = shell_word(text);
            let said = std::process::Command::new("bash").args(["-c", &format!("printf %s {word}")]).output();
            match said {
                Ok(said) => assert_eq!(String::from_utf8_lossy(&said.stdout), text, "{word}"),
                Err(_) => println!("skipped: a_word_is_what_a_shell_reads_as_that_word: no bash here"),
            }
            assert!(!word.contains(is_unsafe), "{word}");
        }
        assert_eq!((shell_word("run/1"), shell_word("my run")), ("run/1".to_owned(), "'my run'".to_owned()));
    }

    #[test]
    fn no_cell_is_a_formula() {
        for (text, cell) in [
            ("=HYPERLINK(1)", "'=HYPERLINK(1)"),
            ("+1", "'+1"),
            ("-x", "'-x"),
            ("@main", "'@main"),
            ("\t=1", "\\t=1"),
            ("a=b", "a=b"),
        ] {
            assert_eq!(csv_cell(text), cell);
        }
    }
}
