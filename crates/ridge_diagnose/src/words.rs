//! Words of findings: names in lists, numbers in sentences, places in names.

use crate::finding::Place;
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
    if number == 1 { format!("1 {one}") } else { format!("{number} {many}") }
}

/// A share as a whole percentage.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
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

/// The place of a call of Python, where it is the program's own.
pub(crate) fn python_place(name: &str) -> Option<Place> {
    let (file, line, _) = ridge_analysis::python_place(name)?;
    Some(Place { file: file.to_owned(), line, is_inferred: false })
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

    #[test]
    fn python_calls_of_the_program_have_places() {
        let place = |name| python_place(name).map(|place| (place.file, place.line));
        assert_eq!(place("train.py(12): step"), Some(("train.py".to_owned(), 12)));
        assert_eq!(place("$solver.py:5 step"), Some(("solver.py".to_owned(), 5)));
        assert_eq!(place("torch/nn/modules/module.py(1527): _call_impl"), None);
        assert_eq!(place("<built-in function sleep>"), None);
    }
}
