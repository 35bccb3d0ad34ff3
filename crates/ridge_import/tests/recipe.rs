//! Follows the recipes "a trace format", "a table", "a rule", "a device" and "a guard" of CONTRIBUTING.md with made-up ones, in a
//! copy of the project.
//!
//! The files that changed must be those that the recipes list; the tests that walk formats, views and rules must find the new
//! ones. One copy serves all of them, so that the project is built once more and not five times.
//! The copy builds in a folder of its own: Cargo takes two checkouts in one target folder for the same packages.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// A format of one line per event: name, start and duration in nanoseconds.
const FORMAT: &str = r#"//! Foo captures: `foo 1`, then a line per event with its name, start and duration in nanoseconds.

use crate::formats::Format;
use crate::import::{CaptureFacts, Import, ImportError, Source};
use crate::note::Severity;
use ridge_redact::Redactor;
use ridge_trace::{EventKind, NewEvent, TrackKind};

/// The Foo format.
pub(super) struct Foo;

impl Format for Foo {
    fn name(&self) -> &'static str {
        "foo"
    }

    fn sniff(&self, head: &[u8]) -> bool {
        head.starts_with(b"foo 1\n")
    }

    fn redactor(&self, _head: &[u8]) -> Redactor {
        Redactor::Text
    }

    fn import(&self, source: Source<'_>, import: &mut Import) -> Result<(), ImportError> {
        let text = String::from_utf8_lossy(source.bytes);
        let process = import.builder.add_process(source.name, None);
        let track = import.builder.add_track(process, None, TrackKind::HostThread, "foo", 0);
        for line in text.lines().skip(1) {
            let Some((name, start_ns, dur_ns)) = event(line) else {
                import.note(Severity::Lost, source.name, None, 1, format!("expected name, start and duration, found `{line}`"));
                continue;
            };
            let name = import.builder.strings.intern(name);
            import.builder.push(track, NewEvent::new(EventKind::HostRange, name, start_ns, dur_ns));
        }
        import.captures.push(CaptureFacts { source: source.name.to_owned(), format: "foo", ..CaptureFacts::default() });
        Ok(())
    }
}

fn event(line: &str) -> Option<(&str, i64, i64)> {
    let mut words = line.split(' ');
    Some((words.next()?, words.next()?.parse().ok()?, words.next()?.parse().ok()?))
}
"#;

/// A view of the devices of a capture.
const TABLE: &str = r#"//! Devices, with how many tracks each has.

use crate::view::{Sheet, Topic, View, columns};
use ridge_table::Subject;
use ridge_trace::DeviceRow;

/// The view.
pub(crate) static VIEW: View = View {
    id: "foo",
    about: "device and its tracks",
    make: |analysis, _| {
        let rows: Vec<DeviceRow> = (0..analysis.trace.devices.len() as u32).map(DeviceRow).collect();
        Sheet::over(analysis, &rows).about(|_, row| Some(Subject::Device(*row))).show(COLUMNS).table("Devices")
    },
    ..View::of(Topic::Time)
};

columns! {
    COLUMNS: DeviceRow {
        device: text Key "Device", "name of the device", |at, row| at.device_label(row.0);
        tracks: count Counted "Tracks", "streams and lanes", |at, row| at.trace.tracks_of_device(row.0).count() as u64;
    }
}

#[cfg(test)]
mod tests {
    use crate::{Prepared, Topic};
    use expect_test::expect;

    #[test]
    fn devices_have_tracks() {
        let trace = ridge_test::trace("stream 1 on gpu\n  0 +5 a\nstream 2 on gpu\n  0 +5 b");
        let table = Prepared::default().analysis(&trace, &[]).table(Topic::Time, "foo").expect("a view");
        expect![["\n            device  tracks\n            gpu     2\n        "]]
            .assert_eq(&ridge_test::render(&table, &["device", "tracks"]));
    }
}
"#;

/// A rule about names of kernels.
const RULE: &str = r#"//! Kernels that are called foo.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::rule::{Find, Group, Rule};

pub(crate) static RULE: Rule = Rule {
    id: "foo",
    group: Group::Compute,
    summary: "a kernel is called foo",
    document: include_str!("foo.md"),
    asks: &[Question::Device],
    explains: &[],
    needs: &[],
    find: Find::Causes(find),
};

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let found = case.work().filter(|work| work.name == "foo");
    let finding = |at| Finding::new("a kernel is called foo").why("its name is foo").help("rename it").claims([(at, 1.0)]);
    Ok(found.map(|work| finding(work.at)).collect())
}
"#;

/// Its document; what the rule says of the captures is written by its tests.
const DOCUMENT: &str = "# foo\n\nA kernel is called foo.\n\n## What to do\n\nRename it.\n\n\
    ## How the saving is computed\n\nAll of its time.\n\n## When it is wrong\n\nNever.\n\n## Sources\n\nNone.\n\n\
    ## Examples\n\n```trace\nstream 7 on gpu\n  0 +6 foo\n  6 +4 bar\n```\n\n```says\n```\n\n\
    ```trace\nstream 7 on gpu\n  0 +6 bar\n```\n\n```says\n```\n";

/// A guard that finds nothing.
const GUARD: &str = r#"//! No file is called foo.

use crate::tree::Tree;

/// What breaks the rule.
pub(crate) fn check(tree: &Tree) -> Vec<String> {
    tree.texts("", ".foo.rs").map(|(path, _)| format!("{path} is called foo")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_called_so_is_found() {
        let tree = Tree::made_up(&[("a.foo.rs", "//! It is a.\n"), ("b.rs", "//! It is b.\n")]);
        assert_eq!(check(&tree), ["a.foo.rs is called foo"]);
    }
}
"#;

const CAPTURE: &str = "foo 1\nload 0 10\nsolve 10 32\n";
const README: &str =
    "# Foo captures\n\n`small.foo` (made up by hand; MIT or Apache-2.0), what is read of it: `golden.txt`.\n";

/// Left out of the copy: builds, Python environments, which may be gigabytes, and what runs leave behind.
const NOT_COPIED: [&str; 9] =
    ["target", ".git", ".venv", ".venv-bench", ".venv-torch", "demo-run", "bench-out", "corpus", "artifacts"];

/// The recipes, by their titles.
const RECIPES: [&str; 5] = ["a trace format", "a table", "a rule", "a device", "a guard"];

#[test]
fn made_up_ones_touch_what_the_recipes_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the project's root");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |set| root.join(set));
    let (copy, target) = (target.join("recipe/project"), target.join("recipe/target"));
    synchronize(&root, &copy);
    let before = contents(&copy);

    add_format(&copy);
    add_table(&copy);
    add_rule(&copy);
    add_device(&copy);
    add_guard(&copy);
    // One command, so that what they share is built once.
    let packages = ["-p", "ridge_import", "-p", "ridge_analysis", "-p", "ridge_diagnose"];
    let tests = [&["test"][..], &packages, &["--test", "fixtures", "--test", "devices", "--lib"]].concat();
    cargo(&copy, &target, &tests, true);
    cargo(&copy, &target, &["run", "-p", "xtask", "--", "gen"], false);

    let after = contents(&copy);
    let changed: Vec<&String> =
        after.iter().filter(|(path, bytes)| before.get(*path) != Some(*bytes)).map(|(path, _)| path).collect();
    let listed: BTreeSet<String> = RECIPES.iter().flat_map(|title| listed_files(&root, title)).collect();
    assert_eq!(changed, listed.iter().collect::<Vec<_>>());
    let document = String::from_utf8_lossy(&after["crates/ridge_diagnose/src/rules/foo.md"]).into_owned();
    assert!(document.contains("```says\nwarning: a kernel is called foo\n  holds 60.0%\n"), "{document}");
    assert!(document.ends_with("```says\nnothing\n```\n"), "{document}");
    let golden = String::from_utf8_lossy(&after["fixtures/foo/golden.txt"]).into_owned();
    assert_eq!(golden, "# small.foo\nHostThread foo: 2 events, 42 ns\n\n");
    assert!(String::from_utf8_lossy(&after["docs/formats.md"]).contains("\n## foo\n\nFoo captures: `foo 1`"));

    // With what was written in place the same tests hold without writing, and so do the guards.
    cargo(&copy, &target, &tests, false);
    cargo(&copy, &target, &["run", "-p", "xtask", "--", "tidy"], false);
}

fn add_format(copy: &Path) {
    write(&copy.join("crates/ridge_import/src/formats/foo.rs"), FORMAT.as_bytes());
    insert(&copy.join("crates/ridge_import/src/formats.rs"), "\nmod ", "\nmod foo;");
    insert(&copy.join("crates/ridge_import/src/formats.rs"), "\n    &hlo_dump::", "\n    &foo::Foo,");
    write(&copy.join("fixtures/foo/small.foo"), CAPTURE.as_bytes());
    write(&copy.join("fixtures/foo/README.md"), README.as_bytes());
}

fn add_table(copy: &Path) {
    let source = copy.join("crates/ridge_analysis/src");
    write(&source.join("tables/foo.rs"), TABLE.as_bytes());
    insert(&source.join("tables.rs"), "\npub(crate) mod ", "\npub(crate) mod foo;");
    insert(&source.join("views.rs"), "\n    &range::VIEW", "\n    &crate::tables::foo::VIEW,");
}

fn add_rule(copy: &Path) {
    let source = copy.join("crates/ridge_diagnose/src");
    write(&source.join("rules/foo.rs"), RULE.as_bytes());
    write(&source.join("rules/foo.md"), DOCUMENT.as_bytes());
    insert(&source.join("rules.rs"), "\n    kernel_hotspot", "\n    foo");
}

/// The sheet of another device under a made-up name.
fn add_device(copy: &Path) {
    let source = copy.join("crates/ridge_analysis");
    let sheet = std::fs::read_to_string(source.join("devices/nvidia-l4.toml")).expect("a sheet");
    write(&source.join("devices/foo.toml"), sheet.replace("NVIDIA L4", "Foo 4").as_bytes());
    let lines = "\n    include_str!(\"../devices/amd";
    insert(&source.join("src/device.rs"), lines, "\n    include_str!(\"../devices/foo.toml\"),");
}

fn add_guard(copy: &Path) {
    let main = copy.join("xtask/src/main.rs");
    write(&copy.join("xtask/src/foo.rs"), GUARD.as_bytes());
    insert(&main, "\nmod ", "\nmod foo;");
    insert(&main, "\n    Guard {", "\n    Guard { name: \"nothing is called foo\", check: foo::check },");
    insert(&copy.join("ARCHITECTURE.md"), "\n| Generated pages", "\n| No file is called foo. | `xtask/src/foo.rs` |");
}

/// Puts `text` before the first `place` of a file.
fn insert(path: &Path, place: &str, text: &str) {
    let before = std::fs::read_to_string(path).expect("a file of the project");
    assert!(before.contains(place), "{}: no {place:?}", path.display());
    write(path, before.replacen(place, &format!("{text}{place}"), 1).as_bytes());
}

/// The files that the recipe of `title` lists, for one called foo.
fn listed_files(root: &Path, title: &str) -> Vec<String> {
    let page = std::fs::read_to_string(root.join("CONTRIBUTING.md")).expect("CONTRIBUTING.md");
    let recipe = page.split(&format!("## Recipe: {title}\n")).nth(1).expect("the recipe is there");
    let recipe = recipe.split("\n## ").next().unwrap_or_default();
    recipe
        .lines()
        .filter_map(|line| line.strip_prefix("- `")?.split_once('`'))
        .map(|(path, _)| path.replace("<vendor>-<model>", "foo"))
        .map(|path| ["<id>", "<what>", "<rule>"].iter().fold(path, |path, place| path.replace(place, "foo")))
        .collect()
}

fn cargo(copy: &Path, target: &Path, arguments: &[&str], update: bool) {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(copy).env("CARGO_TARGET_DIR", target).env("CARGO_NET_OFFLINE", "true");
    // Built once and run for a moment: nothing is optimized.
    command.args(["--config", "profile.dev.opt-level=0", "--config", "profile.dev.package.\"*\".opt-level=0"]);
    command.env("CARGO_PROFILE_DEV_DEBUG", "false").env("CARGO_INCREMENTAL", "0").args(arguments);
    command.env_remove("UPDATE").env_remove("UPDATE_EXPECT");
    if update {
        command.env("UPDATE", "1").env("UPDATE_EXPECT", "1");
    }
    let output = command.output().expect("cargo starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo {arguments:?}\n{said}");
}

/// Makes `copy` what `root` is, touching only what differs so that nothing is built without need.
fn synchronize(root: &Path, copy: &Path) {
    let (wanted, found) = (contents(root), contents(copy));
    for path in found.keys().filter(|path| !wanted.contains_key(*path)) {
        std::fs::remove_file(copy.join(path)).expect("the copy can be changed");
    }
    for (path, bytes) in wanted.iter().filter(|(path, bytes)| found.get(*path) != Some(*bytes)) {
        write(&copy.join(path), bytes);
    }
}

/// Every file of a project by its path.
fn contents(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let (mut files, mut folders) = (BTreeMap::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        for path in entries.map(|entry| entry.path()).filter(|path| is_of_project(path)) {
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(bytes) = std::fs::read(&path) {
                let inside = path.strip_prefix(root).expect("it was found below the root");
                files.insert(inside.to_string_lossy().into_owned(), bytes);
            }
        }
    }
    files
}

fn is_of_project(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    !NOT_COPIED.contains(&name.as_ref()) && !name.contains("__pycache__") && !name.contains(".pytest_cache")
}

fn write(path: &Path, bytes: &[u8]) {
    std::fs::create_dir_all(path.parent().expect("a file has a folder")).expect("the copy can be changed");
    std::fs::write(path, bytes).expect("the copy can be changed");
}
