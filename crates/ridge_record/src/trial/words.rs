//! Numbers in texts: JSON, CSV, logs. What stands between the numbers must be the same.

/// The largest difference of numbers at the same place, as a part of the larger one.
///
/// # Errors
/// What differs beside numbers, in words.
pub(super) fn largest_difference(one: &str, other: &str) -> Result<f64, String> {
    let (mut one, mut other) = (Pieces { rest: one, at: 0 }, Pieces { rest: other, at: 0 });
    let mut most = 0.0_f64;
    loop {
        let line = 1 + one.at;
        match (one.next(), other.next()) {
            (None, None) => return Ok(most),
            (Some(Piece::Number(a)), Some(Piece::Number(b))) => most = most.max(super::numbers::part(a, b)),
            (a, b) if a == b => {}
            _ => return Err(format!("texts differ in more than numbers from line {line} on")),
        }
    }
}

/// A number, or what stands before the next one.
#[derive(Debug, PartialEq)]
enum Piece<'t> {
    Number(f64),
    Words(&'t str),
}

struct Pieces<'t> {
    rest: &'t str,
    /// Lines that are behind.
    at: usize,
}

impl<'t> Iterator for Pieces<'t> {
    type Item = Piece<'t>;

    fn next(&mut self) -> Option<Piece<'t>> {
        if self.rest.is_empty() {
            return None;
        }
        let is_of_name = |letter: char| letter.is_alphanumeric() || letter == '_';
        let is_of_number = |letter: char| letter.is_ascii_digit() || matches!(letter, '.' | '+' | '-' | 'e' | 'E');
        let length = self.rest.find(|letter| !is_of_number(letter)).unwrap_or(self.rest.len());
        let (head, rest) = self.rest.split_at(length);
        let number = head.parse::<f64>().ok().filter(|_| !rest.starts_with(is_of_name));
        if let Some(number) = number {
            self.rest = rest;
            return Some(Piece::Number(number));
        }
        // A name with its digits is one piece, as is what looks like a number and is none; else one letter.
        let name = rest.find(|letter| !is_of_name(letter)).unwrap_or(rest.len());
        let letter = self.rest.chars().next().map_or(0, char::len_utf8);
        let length = (length + name).max(letter);
        let (words, rest) = self.rest.split_at(length);
        self.at += words.matches('\n').count();
        self.rest = rest;
        Some(Piece::Words(words))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(one: &str, other: &str, expected: Result<f64, &str>) {
        assert_eq!(largest_difference(one, other), expected.map_err(str::to_owned), "{one} {other}");
    }

    #[test]
    fn numbers_may_differ_and_words_may_not() {
        check(r#"{"loss": 4.0, "step": 3}"#, r#"{"loss": 3.0, "step": 3}"#, Ok(0.25));
        check("1e-3,-2\n", "0.001,-2\n", Ok(0.0));
        check("loss 1.5\nend", "loss 1.5\nstop", Err("texts differ in more than numbers from line 2 on"));
        check("f32 1", "f64 1", Err("texts differ in more than numbers from line 1 on"));
        check("1 2", "1 2 3", Err("texts differ in more than numbers from line 1 on"));
        check("λ 2", "λ 1", Ok(0.5));
        check("nan 1", "nan 1", Ok(0.0));
        check("1.2.3", "1.2.4", Err("texts differ in more than numbers from line 1 on"));
    }
}
