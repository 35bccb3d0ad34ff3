//! Files are short: one idea each. A table of like things may be long, and is named here.

use crate::tree::Tree;

/// Most lines of a source file.
const MOST_LINES: usize = 700;

/// Files that list like things: small traces, each with the table it must give.
const TABLES: &[&str] = &["crates/ridge_analysis/src/tests.rs"];

/// What breaks the rule.
pub(crate) fn check(tree: &Tree) -> Vec<String> {
    let sources = tree.texts("", ".rs").chain(tree.texts("", ".py"));
    let long = sources.map(|(path, text)| (path, text.lines().count())).filter(|(_, lines)| *lines > MOST_LINES);
    let long = long.filter(|(path, _)| !TABLES.contains(path));
    long.map(|(path, lines)| format!("{path} has {lines} lines, more than {MOST_LINES}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_file_is_found() {
        let long = "fn f() {}\n".repeat(MOST_LINES + 1);
        let tree = Tree::made_up(&[("a.rs", &long), ("b.py", "x = 1\n"), ("data.txt", &long)]);
        assert_eq!(check(&tree), ["a.rs has 701 lines, more than 700"]);
    }
}
