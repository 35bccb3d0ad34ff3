//! Words made to fit: wrapped at spaces where they are sentences, shortened in the middle where they are names.

use super::line::{Line, width};
use super::{Glyphs, Layout};
use anstyle::Style;
use unicode_width::UnicodeWidthChar;

/// `text` in at most `room` columns: its two ends with a mark between them.
///
/// Names of operations differ at both ends (`jit(f)/while/body/…/dot_general`), so neither end is kept alone;
/// paths from the root mostly begin alike, so they keep their end.
pub(super) fn shorten_middle(text: &str, room: usize, glyphs: Glyphs) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let mark = match glyphs {
        Glyphs::Unicode => "…",
        Glyphs::Ascii => "...",
    };
    let Some(rest) = room.checked_sub(width(mark)) else {
        return mark.chars().take(room).collect();
    };
    if text.starts_with('/') {
        return format!("{mark}{}", path_end(text, rest));
    }
    let tail_room = rest / 2;
    let head = take_columns(text.chars(), rest - tail_room);
    format!("{head}{mark}{}", last_columns(text, tail_room))
}

/// The end of the path `text` in at most `room` columns, from a slash on where that costs little.
fn path_end(text: &str, room: usize) -> String {
    let end = last_columns(text, room);
    match end.find('/') {
        Some(slash) if slash < end.len() / 2 => end[slash..].to_owned(),
        _ => end,
    }
}

fn last_columns(text: &str, room: usize) -> String {
    take_columns(text.chars().rev(), room).chars().rev().collect()
}

pub(super) fn take_columns(chars: impl Iterator<Item = char>, room: usize) -> String {
    let mut used = 0;
    chars
        .take_while(|c| {
            used += c.width().unwrap_or(0);
            used <= room
        })
        .collect()
}

/// `text` broken into lines of at most `room` columns, at spaces where there are any.
pub(crate) fn wrap(text: &str, room: usize) -> Vec<String> {
    let room = room.max(8);
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let mut word = word;
        let line = lines.last_mut().expect("lines starts with one");
        if !line.is_empty() && width(line) + 1 + width(word) <= room {
            line.push(' ');
            line.push_str(word);
            continue;
        }
        if !line.is_empty() {
            lines.push(String::new());
        }
        while width(word) > room {
            let head = take_columns(word.chars(), room);
            word = &word[head.len()..];
            *lines.last_mut().expect("lines starts with one") = head;
            lines.push(String::new());
        }
        lines.last_mut().expect("lines starts with one").push_str(word);
    }
    lines
}

/// `text` wrapped to the layout's width, all in `style`; controls made visible.
pub(crate) fn paragraph(text: &str, style: Style, layout: &Layout) -> String {
    let text = plain_marks(&crate::escape_controls(text), layout.glyphs);
    wrap(&text, layout.width).iter().map(|words| styled_line(words, style)).collect()
}

/// `word: text`, the word in `style`, following lines indented under the text.
pub(super) fn tagged(word: &str, style: Style, text: &str, layout: &Layout) -> String {
    let indent = width(word) + 2;
    let text = plain_marks(text, layout.glyphs);
    let mut out = String::new();
    for (index, words) in wrap(&text, layout.width.saturating_sub(indent)).iter().enumerate() {
        let mut line = Line::new();
        if index == 0 {
            line.push(style, &format!("{word}:"));
            line.skip(1);
        } else {
            line.skip(indent);
        }
        line.push(Style::new(), words);
        out.push_str(&line.end());
    }
    out
}

/// The marks that the program itself makes, in ASCII where that is asked.
pub(crate) fn plain_marks(text: &str, glyphs: Glyphs) -> String {
    match glyphs {
        Glyphs::Unicode => text.to_owned(),
        Glyphs::Ascii => {
            text.replace('µ', "u").replace('–', "-").replace('…', "...").replace('·', "|").replace('×', "x")
        }
    }
}

fn styled_line(words: &str, style: Style) -> String {
    let mut line = Line::new();
    line.push(style, words);
    line.end()
}

/// A heading on a line of its own.
pub(super) fn heading(title: &str, layout: &Layout) -> String {
    let mut line = Line::new();
    line.push(layout.theme.title, &crate::escape_controls(title));
    line.end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_both_ends() {
        for (text, room, short) in [
            ("dot.1", 5, "dot.1"),
            ("jit(f)/while/body/dot_general", 16, "jit(f)/w…general"),
            ("/home/me/venv/lib/projectors.py:747", 22, "…/projectors.py:747"),
            ("/home/me/venv/lib/projectors.py:747", 18, "…projectors.py:747"),
            ("三角形三角形三角形", 9, "三角…角形"),
            ("abcdef", 1, "…"),
            ("abcdef", 0, ""),
        ] {
            assert_eq!(shorten_middle(text, room, Glyphs::Unicode), short);
        }
        assert_eq!(shorten_middle("abcdefghij", 7, Glyphs::Ascii), "ab...ij");
    }

    #[test]
    fn sentences_wrap_at_spaces_and_long_words_are_cut() {
        assert_eq!(wrap("one two three four", 9), ["one two", "three", "four"]);
        assert_eq!(wrap("abcdefghijklmnop q", 8), ["abcdefgh", "ijklmnop", "q"]);
        assert_eq!(wrap("", 20), [""]);
    }
}
