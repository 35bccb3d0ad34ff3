//! Lines of text: of anything, and of cells under a line of names, as monitors and `ncu --csv` write them.

use crate::error::RedactError;
use crate::keys::{is_serial, private_key};
use crate::removed::{Removed, What};
use crate::words::Words;
use std::io::Write;

/// Cleans each line.
pub(crate) fn redact_text(bytes: &[u8], words: &Words, out: &mut dyn Write) -> Result<Removed, RedactError> {
    let mut removed = Removed::default();
    let needles = words.needles();
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        let clean = if needles.found_in(line) { words.clean_bytes(line, &mut removed) } else { None };
        out.write_all(clean.as_deref().map_or(line, str::as_bytes))?;
    }
    Ok(removed)
}

/// Cleans each cell, by its column where the line of names says that it is private.
pub(crate) fn redact_table(bytes: &[u8], words: &Words, out: &mut dyn Write) -> Result<Removed, RedactError> {
    let mut removed = Removed::default();
    let mut clean = String::new();
    rows(bytes, |separator, column, cell| {
        clean.push_str(separator);
        clean.push_str(&cleaned(cell, column, words, &mut removed));
    });
    out.write_all(clean.as_bytes())?;
    Ok(removed)
}

/// Adds to `words` the names of machines and accounts that columns say.
pub(crate) fn learn(bytes: &[u8], words: &mut Words) {
    rows(bytes, |_, column, cell| {
        if let Some(what) = column {
            words.learn(what, cell.trim().trim_matches('"'));
        }
    });
}

fn cleaned(cell: &str, column: Option<What>, words: &Words, removed: &mut Removed) -> String {
    let text = cell.trim().trim_matches('"');
    let is_empty = text.is_empty() || text.eq_ignore_ascii_case("n/a") || text.eq_ignore_ascii_case("[n/a]");
    match column.filter(|what| !is_empty && text != what.stand_in()) {
        Some(what) => {
            removed.add(what);
            cell.replacen(text, what.stand_in(), 1)
        }
        None => words.clean(cell, removed).into_owned(),
    }
}

/// Calls `visit` with each cell, what stands before it (a comma or a line's end), and what its column says of it.
///
/// A line that names a private column is a line of names, and those behind it that have as many cells are below it.
fn rows(bytes: &[u8], mut visit: impl FnMut(&str, Option<What>, &str)) {
    let text = String::from_utf8_lossy(bytes);
    let mut columns: Vec<Option<What>> = Vec::new();
    let (mut row, mut begun) = (Vec::new(), "");
    for (cell, end) in Cells(&text) {
        row.push(cell);
        if end == "," {
            continue;
        }
        let named: Vec<Option<What>> = row.iter().map(|name| of_column(name)).collect();
        let is_names = named.iter().any(Option::is_some);
        if is_names {
            columns = named;
        }
        for (at, cell) in row.iter().enumerate() {
            let column = columns.get(at).copied().flatten().filter(|_| !is_names && row.len() == columns.len());
            visit(if at == 0 { begun } else { "," }, column, cell);
        }
        begun = end;
        row.clear();
    }
    visit(begun, None, "");
}

/// What the texts of the column called `name` are, where that alone says it.
pub(crate) fn of_column(name: &str) -> Option<What> {
    let name = name.trim().trim_matches('"');
    match name.to_ascii_lowercase().replace('_', " ").as_str() {
        "process name" => Some(What::ProcessName),
        _ if is_serial(name) => Some(What::Machine),
        _ => private_key(name),
    }
}

/// Cells with what ends them: a comma, a line's end, or nothing at the end; commas and lines inside quotes are part of a cell.
struct Cells<'a>(&'a str);

impl<'a> Iterator for Cells<'a> {
    type Item = (&'a str, &'a str);

    fn next(&mut self) -> Option<(&'a str, &'a str)> {
        if self.0.is_empty() {
            return None;
        }
        let mut is_quoted = false;
        for (at, byte) in self.0.bytes().enumerate() {
            match byte {
                b'"' => is_quoted = !is_quoted,
                b',' | b'\n' if !is_quoted => {
                    let (cell, rest) = self.0.split_at(at);
                    self.0 = &rest[1..];
                    return Some((cell, &rest[..1]));
                }
                _ => {}
            }
        }
        Some((std::mem::take(&mut self.0), ""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn cells_go_by_their_column_and_names_are_learned() {
        let text = "==PROF== Connected to process 42 (/home/ada/program)\n\
            \"ID\",\"Process Name\",\"Host Name\",\"Kernel, Name\"\n\
            \"0\",\"program\",\"vm7\",\"f on vm7, twice\"\n\
            \n\
            timestamp, uuid, name\n0:01, GPU-1234-5678, NVIDIA H100\n";
        let mut out = Vec::new();
        crate::Redactor::Table.redact(text.as_bytes(), &Words::default(), &mut out).expect("memory");
        expect![[r#"
            ==PROF== Connected to process 42 (~/program)
            "ID","Process Name","Host Name","Kernel, Name"
            "0","process","<host>","f on <host>, twice"

            timestamp, uuid, name
            0:01, <redacted>, NVIDIA H100
        "#]]
        .assert_eq(&String::from_utf8(out).expect("text"));
    }
}
