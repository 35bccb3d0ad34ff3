//! The timeline as sums (`export_memory_timeline("*.json")`): `[times, sizes]`, each size a row by category.
//!
//! Times are microseconds. A row has one number more than there are categories: the first is always 0 and is there for
//! the plot that torch makes of it (`_coalesce_timeline` of its `_memory_profiler.py`).

use super::walk::{CATEGORIES, Walk};

/// Numbers of a row of sizes.
const COLUMNS: usize = CATEGORIES.len() + 1;
/// A list of events begins with as many numbers; times are as many as there are steps.
const NUMBERS_OF_EVENT: usize = 4;

/// Whether a file that begins with `head` is one: times that ascend, and if their end is to be seen, rows behind them.
pub(super) fn is_summed(head: &[u8]) -> bool {
    let mut walk = Walk { bytes: head, at: 0 };
    if !(walk.opens() && walk.opens()) {
        return false;
    }
    let (mut last, mut count) = (0, 0);
    loop {
        let Some(time) = walk.number() else { return false };
        if walk.at == head.len() {
            return count > NUMBERS_OF_EVENT;
        }
        if time < last {
            return false;
        }
        (last, count) = (time, count + 1);
        if !walk.skip(b',') {
            break;
        }
        if walk.at == head.len() {
            return count > NUMBERS_OF_EVENT;
        }
    }
    walk.closes() && walk.skip(b',') && walk.opens() && walk.opens()
}

/// The changes between the rows as `[time in nanoseconds, action, bytes, category]`, and whether the file is whole.
pub(super) fn changes(walk: &mut Walk<'_>) -> Result<(Vec<[i64; 4]>, bool), &'static str> {
    let (mut times, mut rows) = (Vec::new(), Vec::new());
    if !(walk.opens() && walk.opens()) {
        return Err("expected a list of times and a list of sizes");
    }
    loop {
        times.push(walk.number().ok_or("expected a time, a whole number of microseconds")?);
        if !walk.skip(b',') {
            break;
        }
    }
    if !(walk.closes() && walk.skip(b',') && walk.opens()) {
        return Err("expected the end of the times, and a list of sizes");
    }
    let mut before = [0; COLUMNS];
    for (at, time) in times.iter().enumerate() {
        if at > 0 && !walk.skip(b',') {
            return Ok((rows, false));
        }
        let Some(now) = row(walk) else { return Ok((rows, false)) };
        let differences = now.iter().zip(&before).map(|(now, before)| now.saturating_sub(*before)).enumerate().skip(1);
        let changed = differences.filter(|(_, bytes)| *bytes != 0);
        rows.extend(changed.map(|(column, bytes)| {
            let action = if bytes > 0 { 2 } else { 4 };
            [time.saturating_mul(1000), action, bytes, column as i64 - 1]
        }));
        before = now;
    }
    let is_whole = walk.closes() && walk.closes();
    Ok((rows, is_whole))
}

/// `[0, 1, 2, …]` of as many numbers as a row has.
fn row(walk: &mut Walk<'_>) -> Option<[i64; COLUMNS]> {
    let mut row = [0; COLUMNS];
    walk.opens().then_some(())?;
    for (place, value) in row.iter_mut().enumerate() {
        if place > 0 && !walk.skip(b',') {
            return None;
        }
        *value = walk.number()?;
    }
    walk.closes().then_some(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        let mut walk = Walk { bytes: text.as_bytes(), at: 0 };
        match changes(&mut walk) {
            Ok((rows, is_whole)) => format!("{rows:?} {is_whole}"),
            Err(what) => format!("{what} at {}", walk.at),
        }
    }

    #[test]
    fn sums_become_changes() {
        let whole = "[[5, 7], [[0, 8, 0, 0, 0, 0, 0, 0, 0], [0, 8, 0, 0, 3, 0, 0, 0, 0]]]";
        assert_eq!(read(whole), "[[5000, 2, 8, 0], [7000, 2, 3, 3]] true");
        assert_eq!(read(&whole[..46]), "[[5000, 2, 8, 0]] false");
        assert_eq!(read("[[5, x"), "expected a time, a whole number of microseconds at 5");
        assert_eq!(read("[[5], 1"), "expected the end of the times, and a list of sizes at 6");
    }

    #[test]
    fn sums_are_told_from_events() {
        for (head, expected) in [
            ("[[5, 7], [[0, 8", true),
            ("[[5], [[0, 8", true),
            ("[[1, 2, 3, 4, 5, 6", true),
            ("[[1, 2, 3, 4, 5,", true),
            ("[[-1, 1, 512, 0], [0, 2", false),
            ("[[1, 2, 512, 0], [3, 2", false),
            ("[[1, 2, 3, 4], [5, 6", false),
            ("[[]]", false),
            ("[{", false),
        ] {
            assert_eq!(is_summed(head.as_bytes()), expected, "{head}");
        }
    }
}
