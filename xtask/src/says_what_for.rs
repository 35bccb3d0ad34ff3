//! Every file says what it is for: Rust files open with `//!`, Python files with a docstring.
//!
//! Whether it says so well is for readers.

use crate::tree::Tree;

/// What breaks the rule.
pub(crate) fn check(tree: &Tree) -> Vec<String> {
    let rust = tree.texts("", ".rs").filter(|(_, text)| !text.starts_with("//! "));
    let python = tree.texts("", ".py").filter(|(_, text)| !has_docstring(text));
    let rust = rust.map(|(path, _)| format!("{path} does not open with `//!`"));
    rust.chain(python.map(|(path, _)| format!("{path} does not open with a docstring"))).collect()
}

fn has_docstring(text: &str) -> bool {
    let first = text.lines().find(|line| !line.is_empty() && !line.starts_with('#'));
    first.is_some_and(|line| line.starts_with("\"\"\"") || line.starts_with("r\"\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silent_files_are_found() {
        let tree = Tree::made_up(&[
            ("a.rs", "//! It does a.\n"),
            ("b.rs", "fn main() {}\n"),
            ("c.py", "#!/usr/bin/env python3\n\"\"\"It does c.\"\"\"\n"),
            ("d.py", "import sys\n"),
            ("e.py", ""),
        ]);
        let found = check(&tree);
        assert_eq!(
            found,
            [
                "b.rs does not open with `//!`",
                "d.py does not open with a docstring",
                "e.py does not open with a docstring"
            ]
        );
    }
}
