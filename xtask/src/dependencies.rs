//! Dependencies point down: each crate uses the crates that its row in ARCHITECTURE.md names and no other, all of a lower level.
//!
//! Development dependencies are free: a test may look at the answer from above.

use crate::tree::{Tree, root};
use cargo_metadata::{DependencyKind, MetadataCommand};
use std::collections::BTreeMap;

/// One row of the table.
#[derive(Debug)]
struct Row {
    /// `None` for crates that only tests use.
    level: Option<u32>,
    uses: Vec<String>,
}

/// A crate and the crates it really uses.
type Uses = (String, Vec<String>);

/// What breaks the rule.
pub(crate) fn check(tree: &Tree) -> Vec<String> {
    let Some(page) = tree.text("ARCHITECTURE.md") else { return vec!["there is no ARCHITECTURE.md".to_owned()] };
    match really_used() {
        Ok(used) => compare(&table(page), &used),
        Err(error) => vec![format!("cargo metadata failed: {error}")],
    }
}

/// The rows `| level | crate | for | may depend on | … |`.
fn table(page: &str) -> BTreeMap<String, Row> {
    let cells = |line: &str| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    let rows = page.lines().filter(|line| line.starts_with('|')).map(cells);
    let crates = rows.filter(|row| row.len() >= 5 && row[1].starts_with('`'));
    crates
        .map(|row| {
            let uses = row[3].split(',').map(|name| name.trim().trim_matches('`').to_owned());
            let uses = uses.filter(|name| !name.is_empty() && name != "—").collect();
            (row[1].trim_matches('`').to_owned(), Row { level: row[0].parse().ok(), uses })
        })
        .collect()
}

/// The crates under `crates/`, with the project's crates and Arrow (as `arrow`) that each is built from.
fn really_used() -> Result<Vec<Uses>, cargo_metadata::Error> {
    let mut command = MetadataCommand::new();
    command.manifest_path(root().join("Cargo.toml")).no_deps();
    let packages = command.exec()?.packages;
    let in_crates = packages.iter().filter(|package| package.manifest_path.as_str().contains("/crates/"));
    Ok(in_crates
        .map(|package| {
            let built = package.dependencies.iter().filter(|used| used.kind != DependencyKind::Development);
            let mut uses: Vec<String> = built.filter_map(|used| watched(&used.name)).collect();
            uses.dedup();
            (package.name.to_string(), uses)
        })
        .collect())
}

/// What the table speaks of: the project's crates, and Arrow as a whole.
fn watched(name: &str) -> Option<String> {
    if name.starts_with("arrow") {
        return Some("arrow".to_owned());
    }
    name.starts_with("ridge").then(|| name.to_owned())
}

fn compare(table: &BTreeMap<String, Row>, used: &[Uses]) -> Vec<String> {
    let mut violations = Vec::new();
    for (name, uses) in used {
        let Some(row) = table.get(name) else {
            violations.push(format!("`{name}` has no row in the table of ARCHITECTURE.md"));
            continue;
        };
        for other in uses.iter().filter(|other| !row.uses.contains(other)) {
            violations.push(format!("`{name}` uses `{other}`; the table allows {:?}", row.uses));
        }
        for other in row.uses.iter().filter(|other| !uses.contains(other)) {
            violations.push(format!("the table lets `{name}` use `{other}`, which it does not"));
        }
    }
    violations.extend(
        table
            .keys()
            .filter(|name| !used.iter().any(|(other, _)| other == *name))
            .map(|name| format!("`{name}` is in the table of ARCHITECTURE.md and does not exist")),
    );
    violations.extend(table.iter().flat_map(|(name, row)| upward(name, row, table)));
    violations
}

fn upward(name: &str, row: &Row, table: &BTreeMap<String, Row>) -> Vec<String> {
    let Some(level) = row.level else { return Vec::new() };
    let is_up = |other: &&String| table.get(*other).is_some_and(|other| other.level.is_none_or(|up| up >= level));
    row.uses
        .iter()
        .filter(is_up)
        .map(|other| format!("the table lets `{name}` use `{other}`, which is not below it"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "\
| level | crate | for | may depend on | must not know |
|---|---|---|---|---|
| 0 | `ridge_units` | units | — | anything |
| 1 | `ridge_trace` | traces | `ridge_units`, arrow | files |
| — | `ridge_test` | tests | `ridge_trace` | — |
";

    fn used(rows: &[(&str, &[&str])]) -> Vec<Uses> {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        rows.iter().map(|(name, uses)| ((*name).to_owned(), names(uses))).collect()
    }

    #[test]
    fn what_the_table_allows_passes() {
        let used =
            used(&[("ridge_units", &[]), ("ridge_trace", &["ridge_units", "arrow"]), ("ridge_test", &["ridge_trace"])]);
        assert_eq!(compare(&table(PAGE), &used), Vec::<String>::new());
    }

    #[test]
    fn an_upward_use_a_stranger_a_missing_crate_and_an_arrow_for_nothing_are_found() {
        let used = used(&[("ridge_units", &["ridge_trace"]), ("ridge_trace", &["arrow"]), ("ridge_new", &[])]);
        let found = compare(&table(PAGE), &used).join("\n");
        assert!(found.contains("the table lets `ridge_trace` use `ridge_units`, which it does not"), "{found}");
        assert!(found.contains("`ridge_units` uses `ridge_trace`"), "{found}");
        assert!(found.contains("`ridge_new` has no row"), "{found}");
        assert!(found.contains("`ridge_test` is in the table of ARCHITECTURE.md and does not exist"), "{found}");
    }

    #[test]
    fn a_table_that_points_up_is_found() {
        let page = PAGE.replace("| 0 | `ridge_units` | units | —", "| 0 | `ridge_units` | units | `ridge_trace`");
        let used = used(&[("ridge_units", &["ridge_trace"]), ("ridge_trace", &["ridge_units"]), ("ridge_test", &[])]);
        assert!(compare(&table(&page), &used).join("\n").contains("which is not below it"));
    }
}
