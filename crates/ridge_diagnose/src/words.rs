//! Words of findings: names in lists, numbers in sentences, places in names.

use ridge_units::{Share, counted};
use rustc_hash::FxHashSet;

/// `names` as a list in a sentence, each in backticks, at most `most` of them: `a`, `b` and 3 others.
pub(crate) fn list<S: AsRef<str>>(names: &[S], most: usize) -> String {
    let shown: Vec<String> = names.iter().take(most).map(|name| format!("`{}`", short(name.as_ref()))).collect();
    match (shown.len(), names.len().saturating_sub(shown.len())) {
        (0, _) => String::new(),
        (1, 0) => shown.concat(),
        (count, 0) => format!("{} and {}", shown[..count - 1].join(", "), shown[count - 1]),
        (_, 1) => format!("{} and one other", shown.join(", ")),
        (_, others) => format!("{} and {others} others", shown.join(", ")),
    }
}

/// A name that fits a sentence: the middle of a long one is left out.
pub(crate) fn short(name: &str) -> String {
    const MOST: usize = 48;
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= MOST {
        return name.to_owned();
    }
    let (head, tail) = (&letters[..MOST / 2], &letters[letters.len() - MOST / 2 + 1..]);
    format!("{}…{}", head.iter().collect::<String>(), tail.iter().collect::<String>())
}

/// A number of things: `1 copy`, `3 copies`.
pub(crate) fn count(number: u64, one: &str, many: &str) -> String {
    counted(number, one, many)
}

/// A share as a whole percentage.
pub(crate) fn percent(share: f64) -> String {
    Share(share).rounded()
}

/// Each of `names` once, in the order in which they come.
pub(crate) fn distinct<'n>(names: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    let mut seen = FxHashSet::default();
    names.into_iter().filter(|name| seen.insert(*name)).collect()
}

/// The function that a compiled program was made of: JAX calls the program `jit_` and its name.
pub(crate) fn function_name(module: &str) -> &str {
    module.strip_prefix("jit_").unwrap_or(module)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_sentences() {
        assert_eq!(list(&["a"], 2), "`a`");
        assert_eq!(list(&["a", "b"], 2), "`a` and `b`");
        assert_eq!(list(&["a", "b", "c"], 2), "`a`, `b` and one other");
        assert_eq!(list(&["a", "b", "c", "d"], 2), "`a`, `b` and 2 others");
        assert_eq!(short(&"x".repeat(60)).chars().count(), 48);
    }
}
