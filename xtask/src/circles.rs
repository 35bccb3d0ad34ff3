//! No files of a crate name each other in a circle: shared types stand below, lists and dispatch above.

use crate::modules::{Crate, Ties};
use crate::tree::Tree;
use std::collections::{BTreeMap, BTreeSet};

/// What breaks the rule.
pub(crate) fn check(tree: &Tree) -> Vec<String> {
    roots(tree).flat_map(|(name, root)| said(&Crate::read(name, root, |path| tree.text(path)).ties())).collect()
}

/// The root file of each crate, with the crate's name.
pub(crate) fn roots(tree: &Tree) -> impl Iterator<Item = (&str, &str)> {
    let files = tree.files.keys().map(String::as_str);
    files.filter_map(|path| {
        let folder = path.strip_suffix("/src/lib.rs").or_else(|| path.strip_suffix("/src/main.rs"))?;
        Some((folder.rsplit('/').next()?, path))
    })
}

/// Each circle, with what ties its files.
fn said(ties: &Ties) -> Vec<String> {
    let says = |circle: BTreeSet<&str>| {
        let within =
            ties.iter().filter(|((from, to), _)| circle.contains(from.as_str()) && circle.contains(to.as_str()));
        let lines = within.map(|((from, to), names)| {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            format!("  {from} -> {to} ({})", names.join(", "))
        });
        let lines: Vec<String> = lines.collect();
        format!("{} files name each other in a circle:\n{}", circle.len(), lines.join("\n"))
    };
    circles(ties).into_iter().map(says).collect()
}

/// Files that reach each other, in groups.
fn circles(ties: &Ties) -> Vec<BTreeSet<&str>> {
    let mut next: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (from, to) in ties.keys() {
        next.entry(from).or_default().push(to);
    }
    let reached: BTreeMap<&str, BTreeSet<&str>> = next.keys().map(|file| (*file, reached(file, &next))).collect();
    let mut found: Vec<BTreeSet<&str>> = Vec::new();
    for (file, all) in &reached {
        let is_new = all.contains(file) && !found.iter().any(|circle| circle.contains(file));
        if is_new {
            let back = |other: &&&str| reached.get(**other).is_some_and(|others| others.contains(file));
            found.push(all.iter().filter(back).copied().collect());
        }
    }
    found
}

fn reached<'a>(file: &str, next: &BTreeMap<&'a str, Vec<&'a str>>) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::new();
    let mut open: Vec<&str> = next.get(file).cloned().unwrap_or_default();
    while let Some(other) = open.pop() {
        if seen.insert(other) {
            open.extend(next.get(other).into_iter().flatten());
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    const BELOW: &str = "pub(crate) struct Page;\n";

    fn found(files: &[(&str, &str)]) -> String {
        check(&Tree::made_up(files)).join("\n")
    }

    #[test]
    fn a_circle_through_a_body_is_found() {
        let files = [
            ("crates/a/src/lib.rs", "mod page; mod route;\n"),
            (
                "crates/a/src/page.rs",
                "pub(crate) struct Page;\nfn answer() { format!(\"{}\", crate::route::made()); }\n",
            ),
            ("crates/a/src/route.rs", "use super::page::Page;\npub(crate) fn made(page: &Page) {}\n"),
        ];
        assert_eq!(
            found(&files),
            "2 files name each other in a circle:\n  \
             crates/a/src/page.rs -> crates/a/src/route.rs (made)\n  \
             crates/a/src/route.rs -> crates/a/src/page.rs (Page)"
        );
    }

    #[test]
    fn a_name_that_the_head_hands_on_stands_where_it_is_written() {
        let files = [
            ("crates/a/src/lib.rs", "mod page; mod route;\npub use page::Page;\npub use route::*;\n"),
            ("crates/a/src/page.rs", BELOW),
            ("crates/a/src/route.rs", "use crate::Page;\npub fn made(page: &Page) {}\n#[cfg(test)]\nmod tests;\n"),
            ("crates/a/src/route/tests.rs", "use super::*;\n"),
        ];
        assert_eq!(found(&files), "");
    }

    #[test]
    fn what_only_tests_name_ties_nothing() {
        let page = "pub(crate) fn pages() -> impl Iterator<Item = u32> { 0..3 }\n#[cfg(test)]\nmod tests { use crate::route::Route; }\n";
        let files = [
            ("crates/a/src/lib.rs", "mod page; mod route;\n"),
            ("crates/a/src/page.rs", page),
            ("crates/a/src/route.rs", "use crate::page::pages;\npub(crate) struct Route;\n"),
        ];
        assert_eq!(found(&files), "");
    }

    #[test]
    fn the_head_of_a_folder_that_defines_and_lists_is_found() {
        let files = [
            ("crates/a/src/lib.rs", "mod formats;\n"),
            ("crates/a/src/formats.rs", "mod foo;\npub trait Format {}\nconst ALL: &[&dyn Format] = &[&foo::Foo];\n"),
            ("crates/a/src/formats/foo.rs", "use super::*;\npub struct Foo;\nimpl Format for Foo {}\n"),
        ];
        assert!(found(&files).contains("formats/foo.rs -> crates/a/src/formats.rs (Format)"), "{}", found(&files));
    }
}
