//! The project's own chores: `cargo xtask tidy` checks the guards, `cargo xtask gen [--check]` the generated pages.
//!
//! Both run in `cargo test -p xtask` too, so that nobody has to remember them.
//! Each guard is one file: it takes a [`tree::Tree`] and gives what breaks its rule, and its test shows it failing.

mod circles;
mod dependencies;
mod file_length;
mod fixtures_listed;
mod floors;
mod gen_pages;
mod modules;
mod one_arrow;
mod own_words;
mod plain_words;
mod purity;
mod says_what_for;
mod tree;
mod unsafe_places;
mod unused;

use anyhow::{Context as _, bail};
use tree::Tree;

/// One rule of ARCHITECTURE.md or STYLE.md and what breaks it.
struct Guard {
    name: &'static str,
    check: fn(&Tree) -> Vec<String>,
}

const GUARDS: &[Guard] = &[
    Guard { name: "dependencies point down", check: dependencies::check },
    Guard { name: "no circle of files", check: circles::check },
    Guard { name: "floors of crates", check: floors::check },
    Guard { name: "bytes in, values out", check: purity::check },
    Guard { name: "every file says what it is for", check: says_what_for::check },
    Guard { name: "fixtures are listed", check: fixtures_listed::check },
    Guard { name: "files are short", check: file_length::check },
    Guard { name: "what is declared is used", check: unused::check },
    Guard { name: "Arrow has one version", check: one_arrow::check },
    Guard { name: "unsafe lives in named places", check: unsafe_places::check },
    Guard { name: "the project speaks of itself alone", check: own_words::check },
    Guard { name: "prose is plain", check: plain_words::check },
];

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["tidy"] => tidy(),
        ["gen"] => gen_pages::write(),
        ["gen", "--check"] => gen_pages::check(),
        _ => bail!("expected `tidy`, `gen` or `gen --check`"),
    }
}

fn tidy() -> anyhow::Result<()> {
    let tree = Tree::of_project().context("the project's files could not be listed")?;
    let mut broken = 0;
    for guard in GUARDS {
        for violation in (guard.check)(&tree) {
            println!("{}: {violation}", guard.name);
            broken += 1;
        }
    }
    println!("tidy: {} guards, {} files, {broken} violations", GUARDS.len(), tree.files.len());
    if broken > 0 {
        bail!("{broken} violations");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_guard_holds() {
        let tree = Tree::of_project().expect("the project's files");
        assert!(tree.files.len() > 50, "only {} files were found", tree.files.len());
        let violations: Vec<String> = GUARDS
            .iter()
            .flat_map(|guard| (guard.check)(&tree).into_iter().map(|found| format!("{}: {found}", guard.name)))
            .collect();
        assert!(violations.is_empty(), "{}", violations.join("\n"));
    }

    #[test]
    fn generated_pages_are_current() {
        gen_pages::check().expect("`cargo xtask gen` has been run");
    }
}
