//! Generated pages: written by `cargo xtask gen`, committed, and compared by `gen --check` in the tests.
//!
//! The command line's page is not here: `ridge_cli` makes and checks its own.

mod lists;

use crate::tree::{Tree, root};
use anyhow::{Context as _, bail};
use ridge_import::FORMATS;
use ridge_offload::validation::validation;

/// What makes a page.
type Make = fn(&Tree) -> anyhow::Result<String>;

/// Every page by its path from the root.
const PAGES: &[(&str, Make)] = &[
    ("docs/devices.md", |_| Ok(lists::devices())),
    ("docs/formats.md", formats),
    ("docs/offload-validation.md", |_| Ok(validation().page())),
    ("docs/rules.md", |_| Ok(lists::rules())),
];

/// Writes every page.
pub(crate) fn write() -> anyhow::Result<()> {
    let tree = Tree::of_project()?;
    for (path, make) in PAGES {
        std::fs::write(root().join(path), make(&tree)?).with_context(|| (*path).to_owned())?;
        println!("{path}");
    }
    Ok(())
}

/// Compares every page with what would be written.
pub(crate) fn check() -> anyhow::Result<()> {
    let tree = Tree::of_project()?;
    for (path, make) in PAGES {
        if tree.text(path) != Some(make(&tree)?.as_str()) {
            bail!("{path} is not current; run `cargo xtask gen`");
        }
    }
    Ok(())
}

const HEAD: &str = "\
# Formats

This page is made by `cargo xtask gen` from the readers themselves; do not edit it by hand.

Formats are told apart by content, never by file name; `--read-as NAME` skips the guess.
";

/// Each format in the words at the head of its file, with the captures that its tests read.
fn formats(tree: &Tree) -> anyhow::Result<String> {
    let list = tree.text("crates/ridge_import/src/formats.rs").context("formats.rs")?;
    let modules = listed_modules(list);
    if modules.len() != FORMATS.len() {
        bail!("formats.rs lists {} formats and FORMATS holds {}", modules.len(), FORMATS.len());
    }
    let mut page = HEAD.to_owned();
    for (format, module) in FORMATS.iter().zip(modules) {
        let source = tree.text(&format!("crates/ridge_import/src/formats/{module}.rs")).context(module.to_owned())?;
        page.push_str(&section(format.name(), source, &captures(tree, format.name())));
    }
    Ok(page)
}

/// The modules of the formats, in the order of the list `FORMATS`.
fn listed_modules(source: &str) -> Vec<&str> {
    let list = source.split_once("FORMATS: &[&dyn Format] = &[").and_then(|(_, rest)| rest.split_once(']'));
    let entries = list.map_or("", |(list, _)| list).split(',');
    entries.filter_map(|entry| entry.trim().strip_prefix('&')?.split_once("::")).map(|(name, _)| name).collect()
}

fn section(name: &str, source: &str, captures: &[&str]) -> String {
    let words =
        source.lines().map_while(|line| line.strip_prefix("//!")).map(|line| line.strip_prefix(' ').unwrap_or(line));
    let words = words.collect::<Vec<_>>().join("\n");
    let files = match captures {
        few if few.len() <= 6 => few.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
        many => format!("{} files in `fixtures/{name}/`", many.len()),
    };
    format!("\n## {name}\n\n{words}\n\nTested with: {files}.\n")
}

/// Files of `fixtures/<name>/` that are captures.
fn captures<'a>(tree: &'a Tree, name: &str) -> Vec<&'a str> {
    let folder = format!("fixtures/{name}/");
    let inside = tree.files.keys().filter_map(|path| path.strip_prefix(folder.as_str()));
    inside.filter(|file| !["README.md", "golden.txt"].contains(file) && !file.ends_with(".py")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_described_in_its_own_words() {
        let page = section("foo", "//! Foo files.\n//!\n//! Two columns.\n\nuse a::b;\n", &["small.foo"]);
        assert_eq!(page, "\n## foo\n\nFoo files.\n\nTwo columns.\n\nTested with: `small.foo`.\n");
    }

    #[test]
    fn formats_are_found_however_the_list_is_set() {
        let source = "pub static FORMATS: &[&dyn Format] = &[&a::A, &b::B];\n";
        assert_eq!(listed_modules(source), ["a", "b"]);
        assert_eq!(listed_modules(&source.replace("&[&a::A, &b::B]", "&[\n    &a::A,\n    &b::B,\n]")), ["a", "b"]);
    }

    #[test]
    fn a_missing_file_of_a_format_is_an_error() {
        assert!(formats(&Tree::made_up(&[])).is_err());
    }
}
