//! Large arrays a window at a time: each round works on the next part, so that a round is short and yet finds nothing in a cache
//! that does not hold the whole.

use std::ops::Range;

/// The windows of an array, again and again.
#[derive(Debug, Clone)]
pub(crate) struct Windows {
    width: usize,
    count: usize,
    next: usize,
}

impl Windows {
    /// Windows of `width` over `length` elements; what is left at the end is in none.
    pub(crate) fn over(length: usize, width: usize) -> Windows {
        Windows { width, count: length.checked_div(width).unwrap_or(0).max(1), next: 0 }
    }

    /// The next window.
    pub(crate) fn advance(&mut self) -> Range<usize> {
        let start = self.next * self.width;
        self.next = (self.next + 1) % self.count;
        start..start + self.width
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_cover_the_array_and_begin_again() {
        let mut windows = Windows::over(11, 4);
        assert_eq!([windows.advance(), windows.advance(), windows.advance()], [0..4, 4..8, 0..4]);
        assert_eq!(Windows::over(0, 0).advance(), 0..0);
    }
}
