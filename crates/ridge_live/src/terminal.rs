//! The text in a terminal, written over itself until somebody interrupts.

use crate::frame::{View, text};
use std::io::{self, Write};
use std::time::Duration;

/// Cursor to the first cell; to the end of the line, and of the screen, nothing.
const HOME: &str = "\x1b[H";
const REST_OF_LINE: &str = "\x1b[K";
const REST_OF_SCREEN: &str = "\x1b[J";

/// Writes what `view` gives to `out`, anew every `interval`, for as long as `goes_on`.
///
/// # Errors
/// What the terminal says.
pub fn watch(
    out: &mut impl Write,
    interval: Duration,
    mut view: impl FnMut() -> View,
    mut goes_on: impl FnMut() -> bool,
) -> io::Result<()> {
    write!(out, "{HOME}{REST_OF_SCREEN}")?;
    while goes_on() {
        let lines = text(&view()).replace('\n', &format!("{REST_OF_LINE}\n"));
        write!(out, "{HOME}{lines}{REST_OF_SCREEN}")?;
        out.flush()?;
        std::thread::sleep(interval);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_frame_is_written_over_the_last() {
        let mut frames = 2;
        let goes_on = || {
            frames -= 1;
            frames >= 0
        };
        let mut out = Vec::new();
        watch(&mut out, Duration::ZERO, View::default, goes_on).expect("a buffer takes all");
        let out = String::from_utf8(out).expect("text");
        assert_eq!(out.matches(HOME).count(), 3);
        assert_eq!(out.matches(REST_OF_SCREEN).count(), 3);
        assert!(out.lines().all(|line| line.ends_with(REST_OF_LINE) || line == REST_OF_SCREEN), "{out:?}");
    }
}
