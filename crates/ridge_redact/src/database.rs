//! SQLite databases, changed in place: a private text is overwritten by one of the same length, and what holds nothing
//! becomes zeros, so every page, number and order stays, and rows that were deleted are gone.
//!
//! What is private is for `nsys` to say; here values are found and overwritten. An order that such a text is part of
//! would break: a database with an index over one is refused.

use crate::error::RedactError;
use crate::learn::Listener;
use crate::nsys::{self, Said, Verdict, without_paths};
use crate::removed::{GONE, Removed};
use crate::words::Words;
use ridge_sqlite::layout::{self, Kind, PlacedRow, Tree};
use ridge_sqlite::{Database, Encoding};
use std::io::Write;
use std::ops::Range;

/// Why a text that is part of an order cannot be overwritten.
const ORDERED: RedactError = RedactError::Unknown {
    found: "a database with an index over private text",
    hint: "remove its indexes from a copy with `DROP INDEX`; if one is unique, `ridgeline export FILE --to chrome` \
           writes a redacted trace",
};
/// Why a schema that names somebody cannot be overwritten.
const NAMED: RedactError = RedactError::Unknown {
    found: "a database with private names of tables, views or columns",
    hint: "rename them in a copy first",
};

/// Why other databases are refused.
const FOREIGN: RedactError = RedactError::Unknown {
    found: "a SQLite database from an unknown tool",
    hint: "only SQLite databases from Nsight Systems can be redacted; leave this one out",
};

/// One place of the file and what is to stand there.
struct Patch {
    place: Range<u64>,
    /// As long as the place; zeros where it is empty.
    bytes: Vec<u8>,
}

/// Writes `bytes`, a database, to `out` without what is private.
pub(crate) fn redact(bytes: &[u8], given: &Words, words: &Words, out: &mut dyn Write) -> Result<Removed, RedactError> {
    let database = Database::open(bytes)?;
    if !nsys::is_export(database.table_names()) {
        return Err(FOREIGN);
    }

    let mut words = words.clone();
    let said = Said::read(&database, &mut words);
    let mut cleaner = Cleaner {
        given: given.clone(),
        needles: words.needles(),
        said,
        words,
        removed: Removed::default(),
        patches: Vec::new(),
        refused: None,
    };
    let unused = layout::walk(bytes, |tree, encoding, row| cleaner.row(tree, encoding, row))?;
    if let Some(refused) = cleaner.refused {
        return Err(refused);
    }
    let mut patches = cleaner.patches;
    patches.extend(unused.into_iter().map(|place| Patch { place, bytes: Vec::new() }));
    patches.sort_by_key(|patch| patch.place.start);
    write(bytes, &patches, out)?;
    Ok(cleaner.removed)
}

/// Passes the texts of the database in `bytes` to `listener`.
pub(crate) fn listen(bytes: &[u8], listener: &mut Listener<'_>) -> Result<(), RedactError> {
    layout::walk(bytes, |_, encoding, row| {
        for at in (0..row.values.len()).filter(|at| matches!(row.values[*at].0, Kind::Text)) {
            listener.lines(encoding.decoded(row.bytes(at)).as_bytes());
        }
    })?;
    Ok(())
}

struct Cleaner {
    said: Said,
    /// Names that were known before the capture was read.
    given: Words,
    words: Words,
    needles: crate::needles::Needles,
    removed: Removed,
    patches: Vec<Patch>,
    refused: Option<RedactError>,
}

impl Cleaner {
    fn row(&mut self, tree: &Tree, encoding: Encoding, row: &PlacedRow<'_>) {
        if !row.values.iter().any(|(kind, range)| matches!(kind, Kind::Text | Kind::Blob) && !range.is_empty()) {
            return;
        }
        let verdicts = self.said.verdicts(tree, encoding, row);
        for (at, (kind, range)) in row.values.iter().enumerate().filter(|(_, (_, range))| !range.is_empty()) {
            let clean = match kind {
                Kind::Null | Kind::Int(_) | Kind::Real => None,
                Kind::Text => self.text(verdicts.get(at).copied().unwrap_or_default(), encoding, row.bytes(at)),
                Kind::Blob => match verdicts.get(at) {
                    Some(Verdict::Gone(what)) => row.bytes(at).iter().any(|byte| *byte != 0).then(|| {
                        self.removed.add(*what);
                        vec![0; range.len()]
                    }),
                    _ => self.blob(row.bytes(at)),
                },
            };
            let Some(clean) = clean else { continue };
            debug_assert_eq!(clean.len(), range.len(), "a value keeps its length");
            let clean = if tree.table.name == "sqlite_master" {
                let schema = self.schema(&encoding.decoded(row.bytes(at)));
                let Some(schema) = schema else { continue };
                fitted(encoding, &schema, clean.len())
            } else {
                if tree.is_ordered {
                    self.refused.get_or_insert(ORDERED);
                }
                clean
            };
            let mut rest = &clean[..];
            for place in row.places(at) {
                let (here, behind) = rest.split_at(rest.len().min((place.end - place.start) as usize));
                self.patches.push(Patch { place, bytes: here.to_vec() });
                rest = behind;
            }
        }
    }

    /// A statement of the schema with its remarks cleaned; `None` where nothing is private in them. Names of tables and columns
    /// cannot be overwritten.
    fn schema(&mut self, statement: &str) -> Option<String> {
        let mut clean = String::with_capacity(statement.len());
        for (piece, is_remark) in remarks(statement) {
            if is_remark {
                clean.push_str(&self.words.masked(piece, &mut self.removed).unwrap_or_else(|| piece.to_owned()));
                continue;
            }
            // Words that the capture itself taught may be those of the tool's own schema; shapes and given names are not.
            let mut words = piece.split(|c: char| !c.is_alphanumeric() && !"_-./\\@".contains(c));
            if words.any(|word| self.given.masked(word, &mut Removed::default()).is_some()) {
                self.refused.get_or_insert(NAMED);
            }
            clean.push_str(piece);
        }
        (clean != statement).then_some(clean)
    }

    /// What stands for a text, as long as it; `None` where it may stay.
    fn text(&mut self, verdict: Verdict, encoding: Encoding, bytes: &[u8]) -> Option<Vec<u8>> {
        match verdict {
            Verdict::Gone(what) => {
                let filler = filler(encoding, bytes.len());
                (filler != bytes).then(|| {
                    self.removed.add(what);
                    filler
                })
            }
            Verdict::HidePaths => {
                let text = encoding.decoded(bytes);
                let hidden = without_paths(&text);
                let clean = self.words.masked(&hidden, &mut self.removed).unwrap_or(hidden);
                (clean != text).then(|| fitted(encoding, &clean, bytes.len()))
            }
            Verdict::Clean => {
                // In wide texts the needles, which are narrow, are not to be found.
                if encoding == Encoding::Utf8 && !self.needles.found_in(bytes) {
                    return None;
                }
                let clean = self.words.masked(&encoding.decoded(bytes), &mut self.removed)?;
                Some(fitted(encoding, &clean, bytes.len()))
            }
        }
    }

    /// Bytes of no known structure: all or nothing.
    fn blob(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        if !self.needles.found_in(bytes) {
            return None;
        }
        self.removed.add(self.words.found_in_bytes(bytes)?);
        Some(vec![0; bytes.len()])
    }
}

/// A statement of SQL in pieces, with whether each is a remark; together they are the statement.
fn remarks(statement: &str) -> Vec<(&str, bool)> {
    let mut pieces = Vec::new();
    let (mut from, mut at) = (0, 0);
    while let Some(letter) = statement.as_bytes().get(at) {
        let rest = &statement[at..];
        let up_to = |end: &str, skip: usize| {
            rest[skip..].find(end).map_or(statement.len(), |found| at + skip + found + end.len())
        };
        let (end, is_remark) = match letter {
            b'-' if rest.starts_with("--") => (up_to("\n", 2), true),
            b'/' if rest.starts_with("/*") => (up_to("*/", 2), true),
            b'\'' => (up_to("'", 1), false),
            b'"' => (up_to("\"", 1), false),
            b'`' => (up_to("`", 1), false),
            b'[' => (up_to("]", 1), false),
            _ => (at + rest.chars().next().map_or(1, char::len_utf8), false),
        };
        if is_remark {
            pieces.extend([(&statement[from..at], false), (&statement[at..end], true)]);
            from = end;
        }
        at = end;
    }
    pieces.push((&statement[from..], false));
    pieces
}

/// `<redacted>` and spaces, or stars where there is no room for the word.
fn filler(encoding: Encoding, length: usize) -> Vec<u8> {
    let letters = if encoding == Encoding::Utf8 { length } else { length / 2 };
    let text =
        if letters < GONE.len() { "*".repeat(letters) } else { format!("{GONE}{}", " ".repeat(letters - GONE.len())) };
    fitted(encoding, &text, length)
}

/// The bytes of `text`, which has to have `length` of them; a filler where letters became of other widths.
fn fitted(encoding: Encoding, text: &str, length: usize) -> Vec<u8> {
    let mut bytes = encoding.encoded(text);
    if bytes.len() != length {
        bytes = encoding.encoded(&"*".repeat(length));
        bytes.resize(length, 0);
    }
    bytes
}

/// Copies `bytes` with `patches`, which are in order.
fn write(bytes: &[u8], patches: &[Patch], out: &mut dyn Write) -> Result<(), RedactError> {
    const ZEROS: [u8; 4096] = [0; 4096];
    let mut at = 0;
    for patch in patches {
        let (start, end) = (patch.place.start as usize, patch.place.end as usize);
        let Some(before) = bytes.get(at..start).filter(|_| end <= bytes.len()) else {
            let offset = patch.place.start;
            return Err(RedactError::Damaged {
                expected: "each value in a place of its own",
                found: "two in one",
                offset,
            });
        };
        out.write_all(before)?;
        out.write_all(&patch.bytes)?;
        let mut zeros = end - start - patch.bytes.len();
        while zeros > 0 {
            let some = zeros.min(ZEROS.len());
            out.write_all(&ZEROS[..some])?;
            zeros -= some;
        }
        at = end;
    }
    out.write_all(&bytes[at..])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stand_ins_are_as_long_as_what_they_stand_for() {
        for (encoding, length, expected) in [
            (Encoding::Utf8, 3, "***"),
            (Encoding::Utf8, 10, "<redacted>"),
            (Encoding::Utf8, 12, "<redacted>  "),
            (Encoding::Utf16Le, 22, "<redacted> "),
            (Encoding::Utf16Be, 6, "***"),
        ] {
            let filler = filler(encoding, length);
            assert_eq!((filler.len(), encoding.decoded(&filler).as_ref()), (length, expected));
        }
    }

    #[test]
    fn remarks_are_told_from_names() {
        let statement = "CREATE TABLE \"a -- b\" (\n  x TEXT, -- of VM\n  [y/*] INT /* é\n */, 'it''s -- no' )--";
        let pieces = remarks(statement);
        assert_eq!(pieces.iter().map(|(piece, _)| *piece).collect::<String>(), statement);
        let remarks: Vec<_> = pieces.iter().filter(|(_, is_remark)| *is_remark).map(|(piece, _)| *piece).collect();
        assert_eq!(remarks, ["-- of VM\n", "/* é\n */", "--"]);
    }

    /// A format's width ends at 65 535; environments and outputs do not.
    #[test]
    fn stand_ins_may_be_long() {
        let filler = filler(Encoding::Utf8, 70_000);
        assert!(filler.len() == 70_000 && filler.starts_with(b"<redacted>  "));
    }

    #[test]
    fn messages_keep_their_words() {
        assert_eq!(without_paths("lost 3 in /home/Zoé/x HOST=a b"), "lost 3 in /****/****/* ****=* b");
    }
}
