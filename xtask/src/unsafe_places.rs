//! `unsafe` lives in the places named here and nowhere else; the compiler denies it by default, this list says where it is let in.

use crate::tree::Tree;

/// Files that may hold it, each with why.
const PLACES: &[(&str, &str)] = &[
    ("crates/ridge_record/src/ignored.rs", "asks the system which signals are ignored"),
    ("crates/ridgeline/src/file_map.rs", "mapped files, which others can change, and the flags of a pipe"),
    ("crates/ridge_import/tests/support/counting.rs", "a counting allocator, in tests"),
];

/// What breaks the rule.
pub(crate) fn check(tree: &Tree) -> Vec<String> {
    let elsewhere = tree.texts("", ".rs").filter(|(path, _)| !PLACES.iter().any(|(place, _)| place == path));
    let found = elsewhere.flat_map(|(path, text)| lines(text).map(move |line| format!("{path}:{line}")));
    found.map(|place| format!("{place} uses unsafe code")).collect()
}

/// Lines that open unsafe code or allow it.
fn lines(text: &str) -> impl Iterator<Item = usize> {
    // Put together here, so that this file does not find itself.
    let words =
        [["unsafe", " {"], ["unsafe", " fn"], ["unsafe", " impl"], ["unsafe", " extern"], ["allow(unsafe", "_code"]];
    let words = words.map(|parts| parts.concat());
    let opens = move |line: &str| words.iter().any(|word| line.contains(word.as_str()));
    text.lines()
        .enumerate()
        .filter(move |(_, line)| !line.trim_start().starts_with("//") && opens(line))
        .map(|(at, _)| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsafe_code_elsewhere_is_found() {
        let code = ["//! unsafe", " { in words }\nfn f() {\n    unsafe", " { g() }\n}\n"].concat();
        let tree = Tree::made_up(&[("crates/a/src/lib.rs", &code), (PLACES[0].0, &code)]);
        assert_eq!(check(&tree), ["crates/a/src/lib.rs:3 uses unsafe code"]);
    }
}
