//! Every file under `fixtures/` is named in the README beside it, so that it is known what made it and under which licence.
//!
//! A name in backquotes counts; `a.{x,y}.pb` names both, and a name may stand for a folder below.

use crate::tree::Tree;
use std::collections::BTreeSet;

/// What breaks the rule.
pub(crate) fn check(tree: &Tree) -> Vec<String> {
    let mut violations = Vec::new();
    for path in tree.files.keys().filter(|path| path.starts_with("fixtures/")) {
        let (folder, name) = path.rsplit_once('/').expect("it begins with a folder");
        let Some(readme) = tree.text(&format!("{folder}/README.md")) else {
            violations.push(format!("{folder}/ has no README.md"));
            continue;
        };
        if name != "README.md" && !names(readme).contains(name) {
            violations.push(format!("{path} is not named in {folder}/README.md"));
        }
    }
    violations.dedup();
    violations
}

/// Everything in backquotes, with braces spelled out.
fn names(readme: &str) -> BTreeSet<String> {
    readme.split('`').skip(1).step_by(2).flat_map(spelled_out).collect()
}

fn spelled_out(name: &str) -> Vec<String> {
    let Some((before, choices, after)) = braces(name) else { return vec![name.to_owned()] };
    choices.split(',').flat_map(|choice| spelled_out(&format!("{before}{choice}{after}"))).collect()
}

fn braces(name: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = name.split_once('{')?;
    let (choices, after) = rest.split_once('}')?;
    Some((before, choices, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unlisted_file_is_found() {
        let tree = Tree::made_up(&[
            ("fixtures/a/README.md", "`x.{before,after}.{txt,pb}` and `y`"),
            ("fixtures/a/x.before.pb", ""),
            ("fixtures/a/x.after.txt", ""),
            ("fixtures/a/y", ""),
            ("fixtures/a/z", ""),
            ("fixtures/b/z", ""),
        ]);
        assert_eq!(check(&tree), ["fixtures/a/z is not named in fixtures/a/README.md", "fixtures/b/ has no README.md"]);
    }
}
