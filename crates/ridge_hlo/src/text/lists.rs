//! Lists in HLO text: numbers in braces, parts at commas, quoted text.

/// The parts of a list at its top-level commas, trimmed; empty if the list is.
pub(crate) fn split_list(text: &str) -> Vec<&str> {
    split_at(text, b',')
}

/// The parts of a list at one separator outside brackets and quotes, trimmed.
fn split_at(text: &str, separator: u8) -> Vec<&str> {
    let bytes = text.as_bytes();
    let mut parts = Vec::new();
    let (mut depth, mut start, mut quoted, mut escaped) = (0i64, 0, false, false);
    for (at, &byte) in bytes.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            // `<=` and `->` are no brackets.
            b'<' if bytes.get(at + 1) != Some(&b'=') => depth += 1,
            b'>' if at == 0 || bytes[at - 1] != b'-' => depth -= 1,
            byte if byte == separator && depth == 0 => {
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

/// What stands inside one pair of braces, or the text itself if it has none.
pub(super) fn inside_braces(text: &str) -> &str {
    let text = text.trim();
    text.strip_prefix('{').and_then(|inner| inner.strip_suffix('}')).unwrap_or(text).trim()
}

/// Numbers separated by commas, with or without braces; what is no number is left out.
pub(super) fn numbers(text: &str) -> Vec<i64> {
    inside_braces(text).split(',').filter_map(|part| strip_comments(part).trim().parse().ok()).collect()
}

/// `{{0,1},{2,3}}` as lists of numbers.
pub(super) fn number_lists(text: &str) -> Vec<Vec<i64>> {
    split_list(inside_braces(text)).into_iter().map(numbers).collect()
}

/// Names in braces without `%`, `{%a, %b}`; a single one needs no braces.
pub(super) fn names(text: &str) -> Vec<&str> {
    split_list(inside_braces(text))
        .into_iter()
        .map(|name| name.trim_start_matches('%'))
        .filter(|n| !n.is_empty())
        .collect()
}

/// Text without a leading `/*index=5*/`.
pub(super) fn strip_comments(text: &str) -> &str {
    let mut text = text.trim_start();
    while let Some(rest) = text.strip_prefix("/*") {
        text = rest.split_once("*/").map_or("", |(_, after)| after).trim_start();
    }
    text
}

/// Quoted text with its escapes undone; text without quotes as it is.
pub(super) fn unquote(text: &str) -> String {
    let text = text.trim();
    match text.strip_prefix('"').and_then(|inner| inner.strip_suffix('"')) {
        None => text.to_owned(),
        Some(inner) if !inner.contains('\\') => inner.to_owned(),
        Some(inner) => unescape(inner),
    }
}

/// Undoes C escapes: `\"`, `\n`, `\303`, `\xc3`.
fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first != b'\\' {
            bytes.push(*first);
            continue;
        }
        let Some((&kind, tail)) = rest.split_first() else { break };
        let (byte, used) = match kind {
            b'n' => (b'\n', 0),
            b't' => (b'\t', 0),
            b'r' => (b'\r', 0),
            b'x' | b'X' => digits(tail, 16, 2).unwrap_or((kind, 0)),
            b'0'..=b'7' => digits(rest, 8, 3).map_or((kind, 0), |(byte, used)| (byte, used - 1)),
            other => (other, 0),
        };
        bytes.push(byte);
        rest = &tail[used..];
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The byte of up to `most` leading digits, and how many there were.
fn digits(text: &[u8], radix: u32, most: usize) -> Option<(u8, usize)> {
    let values: Vec<u32> = text.iter().take(most).map_while(|&byte| char::from(byte).to_digit(radix)).collect();
    let value = values.iter().fold(0, |value, digit| value * radix + digit);
    (!values.is_empty()).then_some((value as u8, values.len()))
}

/// `key=value` pairs separated by blanks, as in `metadata={…}` and the frame tables.
pub(super) fn pairs(text: &str) -> Vec<(&str, &str)> {
    split_at(inside_braces(text), b' ').into_iter().filter_map(|part| part.split_once('=')).collect()
}

/// `(0, {1,2}, may-alias)` as number, path and word.
pub(super) fn parameter(text: &str) -> (i64, Vec<i64>, &str) {
    let text = text.trim();
    let parts = split_list(text.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).unwrap_or(text));
    let part = |position: usize| parts.get(position).copied().unwrap_or_default();
    (part(0).parse().unwrap_or(0), numbers(part(1)), part(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_split_outside_brackets_and_quotes() {
        assert_eq!(
            split_list(r#"a={1,2}, b="x, \" y", c=[2,4]<=[8], d=#m<"d", 2>"#),
            ["a={1,2}", r#"b="x, \" y""#, "c=[2,4]<=[8]", r#"d=#m<"d", 2>"#]
        );
        assert_eq!(split_list(""), [""; 0]);
        assert_eq!(number_lists("{{0,1},{2,3}}"), [[0, 1], [2, 3]]);
        assert_eq!(names("{%a, b}"), ["a", "b"]);
        assert_eq!(unquote(r#""caf\303\251 \"q\" \x41\n""#), "café \"q\" A\n");
        assert_eq!(unquote(r#""\"#), "\"\\");
        assert_eq!(pairs(r#"{op_name="a b" source_line=3}"#), [("op_name", "\"a b\""), ("source_line", "3")]);
    }
}
