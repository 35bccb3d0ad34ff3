//! What an export says of itself: versions, its clock, what its profiler complained about.
//!
//! Only the keys named here are read: beside them stand users, hosts, paths and the whole environment.

use super::tables::Tables;
use crate::import::{CaptureFacts, Import, Source};
use crate::note::Severity;
use ridge_sqlite::Row;
use std::collections::BTreeMap;

/// The table of the export's own versions; older ones are called `EXPORT_META_DATA`.
pub(super) const EXPORT: &str = "META_DATA_EXPORT";
const OLD_EXPORT: &str = "EXPORT_META_DATA";

/// Keys of that table that are shown, with the names they get.
const SHOWN: [(&str, &str); 2] =
    [("EXPORT_PRODUCT_VERSION", "Nsight Systems"), ("EXPORT_SCHEMA_VERSION", "schema_version")];

/// Major versions of the schema whose meaning is known; a new one means that everything may differ.
const KNOWN_MAJORS: [&str; 2] = ["2", "3"];

/// Messages that are kept, each told once with its count.
const MAX_DIAGNOSTICS: usize = 20;

/// Adds the capture and its notes; gives what is to be added to its times for the trace clock, nanoseconds.
///
/// # Errors
/// What was expected and found, where the schema is of an unknown major version.
pub(super) fn read(tables: &impl Tables, source: Source<'_>, import: &mut Import) -> Result<i64, String> {
    let pair = |row: &Row<'_>| Some((row.text(0)?.into_owned(), row.text(1)?.into_owned()));
    let mut said: BTreeMap<String, String> = BTreeMap::new();
    for table in [OLD_EXPORT, EXPORT] {
        let shown = |row: &Row<'_>| pair(row).filter(|(key, _)| SHOWN.iter().any(|(known, _)| known == key));
        said.extend(tables.collect(table, &["name", "value"], shown));
    }
    let major = said.get("EXPORT_SCHEMA_VERSION").and_then(|version| version.split('.').next());
    if let Some(major) = major.filter(|major| !KNOWN_MAJORS.contains(major)) {
        return Err(format!("expected schema version 2 or 3, found {major}"));
    }
    let started = tables.collect("TARGET_INFO_SESSION_START_TIME", &["utcEpochNs"], |row| row.int(0));
    let unix_start_ns = started.first().and_then(|start| u64::try_from(*start).ok());
    let zero = import.captures.iter().find_map(|capture| capture.unix_zero_ns);
    // Several captures share the clock of the first; they differ by when their sessions began.
    let shift_ns = match (zero, unix_start_ns) {
        (Some(zero), Some(start)) => start.wrapping_sub(zero) as i64,
        _ => 0,
    };
    let fact = |(key, name): &(&str, &str)| Some(((*name).to_owned(), said.get(*key)?.clone()));
    import.captures.push(CaptureFacts {
        source: source.name.to_owned(),
        format: "nsys",
        bytes: source.bytes.len() as u64,
        facts: SHOWN.iter().filter_map(fact).collect(),
        start_ns: shift_ns,
        unix_zero_ns: zero.or(unix_start_ns),
    });
    note_diagnostics(tables, source, import);
    Ok(shift_ns)
}

/// Warnings (2) and errors (3) of `ENUM_DIAGNOSTIC_SEVERITY_LEVEL`.
fn note_diagnostics(tables: &impl Tables, source: Source<'_>, import: &mut Import) {
    let message = |row: &Row<'_>| match row.int(0)? {
        severity @ (2 | 3) => Some((severity, without_paths(&row.text(1)?))),
        _ => None,
    };
    let mut counts: BTreeMap<(i64, String), u64> = BTreeMap::new();
    for key in tables.collect("DIAGNOSTIC_EVENT", &["severity", "text"], message) {
        *counts.entry(key).or_default() += 1;
    }
    for ((severity, text), count) in counts.into_iter().rev().take(MAX_DIAGNOSTICS) {
        let (severity, word) =
            if severity == 3 { (Severity::Lost, "an error") } else { (Severity::Partial, "a warning") };
        import.note(severity, source.name, None, count, format!("the profiler reported {word}: {text}"));
    }
}

/// A message without what may name people, hosts and folders, at most 200 letters long.
fn without_paths(text: &str) -> String {
    let hide = |word: &str| if word.contains(['/', '\\', '@', '=']) { "(hidden)".to_owned() } else { word.to_owned() };
    let words: Vec<String> = text.split_whitespace().map(hide).collect();
    words.join(" ").trim_end_matches('.').chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_no_folder() {
        let text = "Cannot read /home/jane/run: lost  buffers\nHOST=box.";
        assert_eq!(without_paths(text), "Cannot read (hidden) lost buffers (hidden)");
    }
}
