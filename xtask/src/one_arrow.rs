//! Arrow has one version: tables pass from `ridgeline` to the program that queries them, which has a lock of its own.

use crate::tree::Tree;
use std::collections::BTreeSet;

/// The locks of the two workspaces.
const LOCKS: [&str; 2] = ["Cargo.lock", "query/Cargo.lock"];

/// What breaks the rule.
pub(crate) fn check(tree: &Tree) -> Vec<String> {
    let locks = LOCKS.map(|path| tree.text(path).map(arrows));
    let [Some(ours), Some(theirs)] = &locks else { return vec![format!("expected {}", LOCKS.join(" and "))] };
    let versions: BTreeSet<&str> = ours.union(theirs).copied().collect();
    match versions.len() {
        1 => Vec::new(),
        _ => vec![format!("{} have arrow in {versions:?}", LOCKS.join(" and "))],
    }
}

/// The versions of `arrow-array` in a lock.
fn arrows(lock: &str) -> BTreeSet<&str> {
    let packages = lock.split("[[package]]").filter(|package| package.contains("name = \"arrow-array\""));
    packages.filter_map(|package| package.lines().find_map(|line| line.strip_prefix("version = "))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_arrow_is_found() {
        let lock = |version: &str| format!("[[package]]\nname = \"arrow-array\"\nversion = \"{version}\"\n");
        let check = |theirs: &str| {
            check(&Tree::made_up(&[("Cargo.lock", &lock("59.3.2")), ("query/Cargo.lock", &lock(theirs))]))
        };
        assert!(check("59.3.2").is_empty());
        assert_eq!(check("60.1.0").len(), 1);
    }
}
