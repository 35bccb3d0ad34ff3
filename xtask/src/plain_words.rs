//! Prose stays plain: turns of phrase that read as translated are counted, and their number may only fall.
//!
//! `plain_words.txt` has a line per pattern: the number allowed, its name, and the regular expression.
//! Lower a number when a page is rewritten; a new page has none of them (STYLE.md, Words).

use crate::tree::Tree;
use regex::{Regex, RegexBuilder};

/// The limits, beside this file so that a change to one shows in review.
const LIMITS: &str = "xtask/plain_words.txt";

/// Pages whose text is made from code, and counted there.
const GENERATED: &[&str] =
    &["docs/cli.md", "docs/devices.md", "docs/formats.md", "docs/offload-validation.md", "docs/rules.md"];

/// What breaks the rule.
pub(crate) fn check(tree: &Tree) -> Vec<String> {
    let Some(limits) = tree.text(LIMITS) else { return vec![format!("{LIMITS} is missing")] };
    let prose: Vec<(&str, String)> = pages(tree).map(|(path, text)| (path, without_code(text))).collect();
    limits.lines().filter(|line| !line.starts_with('#')).filter_map(|line| over(line, &prose)).collect()
}

/// The violation of one line of the limits, if there is one.
fn over(line: &str, prose: &[(&str, String)]) -> Option<String> {
    let Some((limit, name, pattern)) = parsed(line) else {
        return Some(format!("{LIMITS}: expected `NUMBER NAME REGEX`, found `{line}`"));
    };
    let counts: Vec<(&str, usize)> =
        prose.iter().map(|(path, text)| (*path, pattern.find_iter(text).count())).filter(|(_, n)| *n > 0).collect();
    let total: usize = counts.iter().map(|(_, count)| count).sum();
    (total > limit).then(|| {
        let pages: Vec<String> = counts.iter().map(|(path, count)| format!("{path} {count}")).collect();
        format!("{name}: {total} uses, {limit} allowed ({})", pages.join(", "))
    })
}

fn parsed(line: &str) -> Option<(usize, &str, Regex)> {
    let mut parts = line.splitn(3, ' ');
    let (limit, name) = (parts.next()?.parse().ok()?, parts.next()?);
    // English words alone: without Unicode's tables, which the other users of the crate do not need.
    Some((limit, name, RegexBuilder::new(parts.next()?).unicode(false).build().ok()?))
}

/// Pages that people write and users read.
fn pages(tree: &Tree) -> impl Iterator<Item = (&str, &str)> {
    let is_read = |path: &str| {
        let rules = path.starts_with("crates/ridge_diagnose/src/rules/");
        let pages = !path.contains('/') || path.starts_with("docs/") || path.ends_with("/README.md");
        (rules || pages) && !path.starts_with("fixtures/") && !GENERATED.contains(&path)
    };
    tree.texts("", ".md").filter(move |(path, _)| is_read(path))
}

/// The text without fenced blocks, which hold output and code.
fn without_code(text: &str) -> String {
    let mut inside = false;
    let is_prose = |line: &&str| {
        let fence = line.trim_start().starts_with("```");
        inside ^= fence;
        !inside && !fence
    };
    text.lines().filter(is_prose).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_over_its_limit_is_found() {
        let page = "It says so.\n```\nsays says\n```\n";
        let limits = "# a comment\n0 says \\bsays\\b\n1 so \\bso\\b\nx\n";
        let tree = Tree::made_up(&[(LIMITS, limits), ("docs/a.md", page), ("docs/cli.md", "says")]);
        assert_eq!(
            check(&tree),
            ["says: 1 uses, 0 allowed (docs/a.md 1)", "xtask/plain_words.txt: expected `NUMBER NAME REGEX`, found `x`"]
        );
    }
}
