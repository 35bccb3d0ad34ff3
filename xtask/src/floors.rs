//! The floors of a crate, as the first lines of its root file name them: nothing imports from a floor above its own.
//!
//! ``//! Floors, lowest first: `context`; `models`; `tables`, `views`.`` names modules of the root, those of one floor with
//! commas between them. What it does not name stands on none, and the guard of circles alone watches it.

use crate::circles::roots;
use crate::modules::{Crate, Ties};
use crate::tree::Tree;

/// How the line begins.
const FLOORS: &str = "//! Floors, lowest first: ";

/// What breaks the rule.
pub(crate) fn check(tree: &Tree) -> Vec<String> {
    let mut violations = Vec::new();
    for (name, root) in roots(tree) {
        let floors = tree.text(root).map(floors).unwrap_or_default();
        let folder = root.rsplit_once('/').map_or("", |(folder, _)| folder);
        for module in floors.iter().flatten().filter(|module| !is_there(tree, folder, module)) {
            violations.push(format!("{root} names the floor `{module}`, which does not exist"));
        }
        if !floors.is_empty() {
            violations.extend(upward(&floors, folder, &Crate::read(name, root, |path| tree.text(path)).ties()));
        }
    }
    violations
}

/// The modules of each floor, the lowest first.
fn floors(root: &str) -> Vec<Vec<&str>> {
    let head = root.lines().take_while(|line| line.starts_with("//!"));
    let Some(line) = head.filter_map(|line| line.strip_prefix(FLOORS)).next() else { return Vec::new() };
    line.split(';').map(|floor| floor.split('`').skip(1).step_by(2).collect()).collect()
}

fn is_there(tree: &Tree, folder: &str, module: &str) -> bool {
    [format!("{folder}/{module}.rs"), format!("{folder}/{module}/mod.rs")]
        .iter()
        .any(|file| tree.files.contains_key(file))
}

/// Imports from a lower floor to a higher one.
fn upward(floors: &[Vec<&str>], folder: &str, ties: &Ties) -> Vec<String> {
    let floor = |file: &str| {
        let module = file.strip_prefix(folder)?.trim_start_matches('/').trim_end_matches(".rs").split('/').next()?;
        floors.iter().position(|floor| floor.contains(&module))
    };
    let up = |((from, to), names): (&(String, String), &std::collections::BTreeSet<String>)| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        (floor(from)? < floor(to)?).then(|| format!("{from} imports {} from the floor above, {to}", names.join(", ")))
    };
    ties.iter().filter_map(up).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str) -> Vec<String> {
        check(&Tree::made_up(&[
            ("crates/a/src/lib.rs", &format!("//! A crate.\n{line}\nmod models; mod tables;\n")),
            ("crates/a/src/models.rs", "mod idle;\n"),
            ("crates/a/src/models/idle.rs", "fn shown() { crate::tables::table() }\n"),
            ("crates/a/src/tables.rs", "pub(crate) fn table() {}\n"),
        ]))
    }

    #[test]
    fn an_import_from_above_is_found() {
        assert_eq!(
            found("//! Floors, lowest first: `models`; `tables`."),
            ["crates/a/src/models/idle.rs imports table from the floor above, crates/a/src/tables.rs"]
        );
        assert_eq!(found("//! Floors, lowest first: `tables`; `models`."), Vec::<String>::new());
        assert_eq!(found("//! Floors, lowest first: `models`, `tables`."), Vec::<String>::new());
    }

    #[test]
    fn a_floor_that_is_gone_is_found() {
        assert_eq!(
            found("//! Floors, lowest first: `tables`; `views`."),
            ["crates/a/src/lib.rs names the floor `views`, which does not exist"]
        );
    }
}
