//! The project speaks of itself alone: no path of a machine it was written on, in text or in fixtures.

use crate::tree::Tree;

/// What breaks the rule.
pub(crate) fn check(tree: &Tree) -> Vec<String> {
    // Put together here, so that this file does not find itself.
    let words = [["/wo", "rk/main"], ["/wo", "rk/shared"], ["/tmp", "/w/"], ["issues", " show"], ["TE", "AM.md"]]
        .map(|parts| parts.concat());
    let mut violations = Vec::new();
    for (path, bytes) in &tree.files {
        for word in words.iter().filter(|word| holds(bytes, word.as_bytes())) {
            violations.push(format!("{path} says `{word}`"));
        }
    }
    violations
}

fn holds(bytes: &[u8], word: &[u8]) -> bool {
    let first = word[0];
    bytes.iter().enumerate().any(|(at, byte)| *byte == first && bytes[at..].starts_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_foreign_path_is_found() {
        let text = ["see /tmp", "/w/notes\n"].concat();
        let tree = Tree::made_up(&[("a.md", &text), ("b.md", "see docs/notes\n")]);
        assert_eq!(check(&tree).len(), 1);
    }
}
