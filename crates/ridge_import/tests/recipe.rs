//! Follows the recipe "a trace format" of CONTRIBUTING.md with a made-up format, in a copy of the project.
//!
//! The files that changed must be those that the recipe lists; the tests that walk formats must find the new one.
//! The copy builds in a folder of its own: Cargo takes two checkouts in one target folder for the same packages.

use std::collections::BTreeMap;
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

const CAPTURE: &str = "foo 1\nload 0 10\nsolve 10 32\n";
const README: &str =
    "# Foo captures\n\n`small.foo` (made up by hand; MIT or Apache-2.0), what is read of it: `golden.txt`.\n";

/// Left out of the copy: builds, Python environments, which may be gigabytes, and what runs leave behind.
const NOT_COPIED: [&str; 9] =
    ["target", ".git", ".venv", ".venv-bench", ".venv-torch", "demo-run", "bench-out", "corpus", "artifacts"];

#[test]
fn a_made_up_format_touches_what_the_recipe_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the project's root");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |set| root.join(set));
    let (copy, target) = (target.join("recipe/project"), target.join("recipe/target"));
    synchronize(&root, &copy);
    let before = contents(&copy);

    follow_recipe(&copy);
    cargo(&copy, &target, &["test", "-p", "ridge_import", "--test", "fixtures"], true);
    cargo(&copy, &target, &["run", "-p", "xtask", "--", "gen"], false);

    let after = contents(&copy);
    let changed: Vec<&String> =
        after.iter().filter(|(path, bytes)| before.get(*path) != Some(*bytes)).map(|(path, _)| path).collect();
    let mut listed = listed_files(&root);
    listed.sort();
    assert_eq!(changed, listed.iter().collect::<Vec<_>>());
    let golden = String::from_utf8_lossy(&after["fixtures/foo/golden.txt"]).into_owned();
    assert_eq!(golden, "# small.foo\nHostThread foo: 2 events, 42 ns\n\n");
    assert!(String::from_utf8_lossy(&after["docs/formats.md"]).contains("\n## foo\n\nFoo captures: `foo 1`"));

    // With the golden file in place the same tests hold without writing, and so do the guards.
    cargo(&copy, &target, &["test", "-p", "ridge_import", "--test", "fixtures"], false);
    cargo(&copy, &target, &["run", "-p", "xtask", "--", "tidy"], false);
}

fn follow_recipe(copy: &Path) {
    write(&copy.join("crates/ridge_import/src/formats/foo.rs"), FORMAT.as_bytes());
    let list = copy.join("crates/ridge_import/src/formats.rs");
    let text = std::fs::read_to_string(&list).expect("formats.rs");
    let declared = text.replacen("\nmod ", "\nmod foo;\nmod ", 1);
    let listed = declared.replacen("= &[", "= &[&foo::Foo, ", 1);
    assert_eq!(listed.len(), text.len() + "mod foo;\n".len() + "&foo::Foo, ".len(), "two lines change");
    write(&list, listed.as_bytes());
    write(&copy.join("fixtures/foo/small.foo"), CAPTURE.as_bytes());
    write(&copy.join("fixtures/foo/README.md"), README.as_bytes());
}

/// The files that the recipe lists.
fn listed_files(root: &Path) -> Vec<String> {
    let page = std::fs::read_to_string(root.join("CONTRIBUTING.md")).expect("CONTRIBUTING.md");
    let recipe = page.split("## Recipe: a trace format").nth(1).expect("the recipe is there");
    let recipe = recipe.split("\n## ").next().unwrap_or_default();
    recipe
        .lines()
        .filter_map(|line| line.strip_prefix("- `")?.split_once('`'))
        .map(|(path, _)| path.to_owned())
        .collect()
}

fn cargo(copy: &Path, target: &Path, arguments: &[&str], update: bool) {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(copy).env("CARGO_TARGET_DIR", target).env("CARGO_NET_OFFLINE", "true");
    // Built once and run for a moment: nothing is optimized.
    command.args(["--config", "profile.dev.opt-level=0", "--config", "profile.dev.package.\"*\".opt-level=0"]);
    command.env("CARGO_PROFILE_DEV_DEBUG", "false").env("CARGO_INCREMENTAL", "0").args(arguments);
    command.env_remove("UPDATE");
    if update {
        command.env("UPDATE", "1");
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
