//! Names that resemble a mistyped one, for *did you mean*.

/// At most this many are suggested.
const MOST: usize = 3;

/// `` did you mean `a` or `b`? ``; `None` if no name of `known` resembles `name`.
pub fn did_you_mean<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<String> {
    let near = near(name, known);
    let quoted: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
    match &quoted[..] {
        [] => None,
        [only] => Some(format!("did you mean {only}?")),
        [first @ .., last] => Some(format!("did you mean {} or {last}?", first.join(", "))),
    }
}

/// The names that contain `name`, are contained in it, or differ from it by few letters; the nearest first.
fn near<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let letters = name.chars().count();
    // A name that nobody would type is compared with nothing: the distance takes time by the square.
    if letters == 0 || letters > 100 {
        return Vec::new();
    }
    let mut found: Vec<(usize, &str)> = known
        .filter_map(|other| {
            let far = distance(name, other);
            let is_part = letters > 2 && (other.contains(name) || name.contains(other));
            (is_part || far <= 1 + letters / 4).then_some((far, other))
        })
        .collect();
    found.sort_unstable();
    found.into_iter().take(MOST).map(|(_, name)| name).collect()
}

/// Letters to insert, remove or replace to make one name of the other (Levenshtein).
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.chars().enumerate() {
        let mut before = row[0];
        row[0] = at + 1;
        for (place, theirs) in other.iter().enumerate() {
            let replaced = before + usize::from(letter != *theirs);
            before = row[place + 1];
            row[place + 1] = replaced.min(before + 1).min(row[place] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_names_are_suggested() {
        let known = ["host-callback", "host-pause", "sync-copy", "slow-copy", "atomics"];
        for (name, suggested) in [
            ("host-calback", Some("did you mean `host-callback`?")),
            ("copy", Some("did you mean `slow-copy` or `sync-copy`?")),
            ("atomic", Some("did you mean `atomics`?")),
            ("nope", None),
            ("", None),
        ] {
            assert_eq!(did_you_mean(name, known.into_iter()).as_deref(), suggested, "{name}");
        }
        assert_eq!(did_you_mean(&"host".repeat(30), known.into_iter()), None);
    }

    #[test]
    fn letters_are_counted() {
        for (one, other, letters) in [("", "", 0), ("abc", "abc", 0), ("abc", "", 3), ("kitten", "sitting", 3)] {
            assert_eq!(distance(one, other), letters, "{one} {other}");
        }
    }
}
