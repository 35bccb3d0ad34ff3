//! Walks `fixtures/<format>/`: every file there is recognized by content, read, cut, and held against `golden.txt`.
//!
//! A new format is tested by putting a file there; nothing here names one.
//! `UPDATE=1 cargo test -p ridge_import --test fixtures` writes each `golden.txt` anew.

use ridge_import::{FORMATS, Imported, Source, choose, claim, import, sniff};
use ridge_trace::{Attribution, EventKind};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// How many places each file is cut at.
const CUTS: usize = 50;
/// What formats see of a file, as `import` gives it to them.
const HEAD_BYTES: usize = 4096;

struct Fixture {
    format: String,
    name: String,
    bytes: Vec<u8>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

/// Folders of `fixtures/` that hold known answers: for another crate, and beside captures whose tests read them.
const ANSWERS: [&str; 2] = ["cost", "real"];

/// Every capture under `fixtures/`: all but the pages, goldens and programs beside them.
fn fixtures() -> Vec<Fixture> {
    let mut found = Vec::new();
    for folder in sorted(&root()).into_iter().filter(|path| path.is_dir()) {
        let format = file_name(&folder);
        if ANSWERS.contains(&format.as_str()) {
            continue;
        }
        for path in sorted(&folder).into_iter().filter(|path| path.is_file() && is_capture(path)) {
            let bytes = std::fs::read(&path).expect("a fixture can be read");
            found.push(Fixture { format: format.clone(), name: file_name(&path), bytes });
        }
    }
    found
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("fixtures/ can be listed");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

fn file_name(path: &Path) -> String {
    path.file_name().expect("a listed file has a name").to_string_lossy().into_owned()
}

fn is_capture(path: &Path) -> bool {
    let name = file_name(path);
    name != "golden.txt" && [".md", ".py"].iter().all(|end| !name.ends_with(end)) && !name.starts_with('.')
}

/// A capture that opens as a file opens as a folder that holds nothing else, whatever it is called.
#[test]
fn every_fixture_is_found_in_a_folder() {
    for fixture in fixtures() {
        let claimed = claim("renamed", &fixture.bytes).unwrap_or_else(|| panic!("{} is passed over", fixture.name));
        assert_eq!(choose(&[("renamed", claimed)]), [0], "{}", fixture.name);
    }
}

#[test]
fn each_file_is_claimed_by_its_format_alone() {
    for fixture in fixtures() {
        let head = &fixture.bytes[..fixture.bytes.len().min(HEAD_BYTES)];
        let claims: Vec<&str> =
            FORMATS.iter().filter(|format| format.sniff(head)).map(|format| format.name()).collect();
        assert_eq!(claims, [fixture.format.as_str()], "{}", fixture.name);
        assert_eq!(sniff(&fixture.bytes).map(|format| format.name()), Some(fixture.format.as_str()));
    }
}

#[test]
fn each_format_has_a_file() {
    let found = fixtures();
    for format in FORMATS {
        let has_file = found.iter().any(|fixture| fixture.format == format.name());
        assert!(has_file, "fixtures/{}/ has no capture", format.name());
    }
}

#[test]
fn cut_files_are_refused_or_hold_no_more_than_the_whole() {
    let (mut read_in_part, mut refused) = (0, 0);
    for fixture in fixtures() {
        let events = |bytes: &[u8]| {
            let found = import(&[Source { name: &fixture.name, bytes }], Some(&fixture.format));
            found.map(|imported| imported.trace.events.len()).ok()
        };
        let whole = events(&fixture.bytes).unwrap_or_else(|| panic!("{} is not read", fixture.name));
        for cut in 0..CUTS {
            match events(&fixture.bytes[..fixture.bytes.len() * cut / CUTS]) {
                Some(part) => {
                    assert!(part <= whole, "{} cut at {cut} of {CUTS}: {part} events of {whole}", fixture.name);
                    read_in_part += usize::from(part > 0 && part < whole);
                }
                None => refused += 1,
            }
        }
    }
    assert!(read_in_part > 0 && refused > 0, "{read_in_part} read in part, {refused} refused");
}

#[test]
fn what_is_read_is_as_golden() {
    let mut pages: BTreeMap<String, String> = BTreeMap::new();
    for fixture in fixtures() {
        let imported = read(&fixture.name, &fixture.bytes).unwrap_or_else(|error| panic!("{}: {error}", fixture.name));
        let page = pages.entry(fixture.format).or_default();
        let _ = writeln!(page, "# {}\n{}", fixture.name, summary(&imported));
    }
    for (format, page) in pages {
        let path = root().join(&format).join("golden.txt");
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&path, &page).expect("fixtures/ can be written");
        }
        let golden = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(page, golden, "fixtures/{format}/golden.txt differs; UPDATE=1 writes it");
    }
}

fn read(name: &str, bytes: &[u8]) -> Result<Imported, ridge_import::ImportError> {
    import(&[Source { name, bytes }], None)
}

/// What a capture holds, in lines a reviewer can follow.
fn summary(imported: &Imported) -> String {
    let (trace, mut text) = (&imported.trace, String::new());
    for note in &imported.notes {
        let _ = writeln!(text, "note {:?} x{}: {}", note.severity, note.count, note.message);
    }
    for (key, value) in imported.captures.iter().flat_map(|capture| &capture.facts) {
        let _ = writeln!(text, "fact {key}: {value}");
    }
    for track in trace.tracks.iter().filter(|track| !track.rows.is_empty()) {
        let rows = track.rows.start as usize..track.rows.end as usize;
        let total_ns: i128 = trace.events.dur_ns[rows.clone()].iter().map(|ns| i128::from(*ns)).sum();
        let name = trace.strings.get(track.name);
        let _ = writeln!(text, "{:?} {name}: {} events, {total_ns} ns", track.kind, rows.len());
    }
    for (what, (count, total_ns)) in work_by_name(imported) {
        let _ = writeln!(text, "{what}: {count} events, {total_ns} ns");
    }
    for module in &trace.modules {
        let _ = writeln!(text, "module {} {}", trace.strings.get(module.name), module.program_id);
    }
    for hlo in &imported.hlo {
        let _ = writeln!(
            text,
            "hlo {}: {} computations, {} instructions",
            hlo.name,
            hlo.computations.len(),
            hlo.instructions.len()
        );
    }
    let profiles = &trace.profiles;
    for (row, launch) in profiles.launches.iter().enumerate() {
        let name = trace.strings.get(launch.name);
        let metrics = profiles.profile.iter().filter(|profile| **profile == row as u32).count();
        let rules = profiles.rules.iter().filter(|rule| rule.profile == row as u32).count();
        let _ = writeln!(
            text,
            "profile {} {name} {:?} {:?}: {metrics} metrics, {rules} rules",
            launch.launch, launch.grid, launch.block
        );
    }
    let side = [
        ("launch shapes", trace.launch_shapes.len()),
        ("transfers", trace.transfers.len()),
        ("operations", trace.operations.len()),
        ("counters", trace.counters.value.len()),
        ("allocations", trace.allocations.time_ns.len()),
        ("steps", trace.steps.len()),
    ];
    for (what, count) in side.iter().filter(|(_, count)| *count > 0) {
        let _ = writeln!(text, "{count} {what}");
    }
    text
}

/// Device work by kind, name and how it was attributed.
fn work_by_name(imported: &Imported) -> BTreeMap<String, (usize, i64)> {
    let events = &imported.trace.events;
    let mut work: BTreeMap<String, (usize, i64)> = BTreeMap::new();
    for row in (0..events.len()).filter(|row| EventKind::from_byte_is_work(events.kind[*row])) {
        let attribution = Attribution::from_byte(events.attribution[row]);
        let what = format!("{} {} {attribution:?}", events.kind(row).name(), imported.trace.name(row));
        let entry = work.entry(what).or_default();
        *entry = (entry.0 + 1, entry.1 + events.dur_ns[row]);
    }
    work
}
