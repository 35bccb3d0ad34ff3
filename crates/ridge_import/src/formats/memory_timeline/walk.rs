//! The text of a timeline: categories, and a walk that understands what a timeline has and nothing else.

/// `Category` of `_memory_profiler.py` in the order of its raw export.
pub(super) const CATEGORIES: [&str; 8] =
    ["parameter", "optimizer state", "input", "temporary", "activation", "gradient", "autograd detail", "unknown"];

/// Walks the text; only what a timeline has is understood.
pub(super) struct Walk<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
}

impl Walk<'_> {
    /// Passes over space and `expected`, if that is next.
    pub(super) fn skip(&mut self, expected: u8) -> bool {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        let found = self.bytes.get(self.at) == Some(&expected);
        self.at += usize::from(found);
        found
    }

    pub(super) fn opens(&mut self) -> bool {
        self.skip(b'[')
    }

    pub(super) fn closes(&mut self) -> bool {
        self.skip(b']')
    }

    /// `[1, 2, 3, 4]`
    pub(super) fn row(&mut self) -> Option<[i64; 4]> {
        let mut row = [0; 4];
        if !self.skip(b'[') {
            return None;
        }
        for (place, value) in row.iter_mut().enumerate() {
            if place > 0 && !self.skip(b',') {
                return None;
            }
            *value = self.number()?;
        }
        self.closes().then_some(row)
    }

    /// A whole number; what stands after a point is left out, as times of some versions have one.
    pub(super) fn number(&mut self) -> Option<i64> {
        let negative = self.skip(b'-');
        let digits = self.digits();
        if digits.is_empty() {
            return None;
        }
        let size =
            digits.iter().fold(0i64, |number, digit| number.saturating_mul(10).saturating_add(i64::from(digit - b'0')));
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits();
        }
        Some(if negative { -size } else { size })
    }

    pub(super) fn digits(&mut self) -> &[u8] {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        let first = self.at;
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        &self.bytes[first..self.at]
    }
}
