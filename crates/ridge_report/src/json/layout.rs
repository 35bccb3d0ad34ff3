//! JSON laid out for both readers: what nests is indented, what does not (a row, a column, a note) takes one line.
//!
//! Control characters that JSON allows raw are escaped too, so a document is safe to print on a terminal.

use ridgeline::escape::is_unsafe;
use serde_json::Value;
use std::fmt::Write as _;

/// `value` as text with a line end.
pub(super) fn text(value: &Value) -> String {
    let mut out = String::new();
    write(&mut out, value, 0);
    out.push('\n');
    if out.contains(|c| is_unsafe(c) && c != '\n') { escape(&out) } else { out }
}

fn write(out: &mut String, value: &Value, depth: usize) {
    match value {
        Value::Object(map) if map.values().any(nests) => {
            out.push_str("{\n");
            for (index, (key, value)) in map.iter().enumerate() {
                indent(out, depth + 1);
                write!(out, "{}: ", Value::from(key.as_str())).expect("writing to a String cannot fail");
                write(out, value, depth + 1);
                end_item(out, index, map.len());
            }
            indent(out, depth);
            out.push('}');
        }
        Value::Array(items) if items.iter().any(nests) => {
            out.push_str("[\n");
            for (index, item) in items.iter().enumerate() {
                indent(out, depth + 1);
                write(out, item, depth + 1);
                end_item(out, index, items.len());
            }
            indent(out, depth);
            out.push(']');
        }
        flat => write!(out, "{flat}").expect("writing to a String cannot fail"),
    }
}

fn nests(value: &Value) -> bool {
    matches!(value, Value::Object(_) | Value::Array(_))
}

fn end_item(out: &mut String, index: usize, len: usize) {
    out.push_str(if index + 1 < len { ",\n" } else { "\n" });
}

fn indent(out: &mut String, depth: usize) {
    out.extend(std::iter::repeat_n("  ", depth));
}

/// Outside strings the only control character is the line end, so a replacement over the whole text is valid JSON.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_unsafe(c) && c != '\n' {
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(escaped, "\\u{unit:04x}").expect("writing to a String cannot fail");
            }
        } else {
            escaped.push(c);
        }
    }
    escaped
}
