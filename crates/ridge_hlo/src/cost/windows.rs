//! How many taps of a sliding window meet an element, per dimension and in total.
//!
//! Padding and the holes of a dilated input are no taps: nothing is multiplied or compared there. XLA's analysis counts
//! convolutions in the same way (`HloCostAnalysis::GetConvolutionFlops`), by looking at every pair of window element and
//! output; here each window element is solved for its outputs, so that a long window is quick and a broken one bounded.

use super::sizes::extent_of;
use super::work::times;
use crate::WindowDimension;

/// Window elements looked at one by one in one module, over all its windows.
const STEPS_PER_MODULE: u64 = 1 << 26;

/// Extents are taken for no more than this, so that products of two fit.
const EXTENT_LIMIT: i64 = 1 << 53;

/// How many window elements may still be looked at.
#[derive(Debug)]
pub(super) struct Budget(u64);

impl Budget {
    pub(super) fn new() -> Budget {
        Budget(STEPS_PER_MODULE)
    }

    fn take(&mut self, steps: u64) -> bool {
        let is_enough = steps <= self.0;
        self.0 -= if is_enough { steps } else { 0 };
        is_enough
    }
}

/// Pairs of window element and output that meet an element of an input with `input` elements, in one dimension.
///
/// `None` if the window is too long to be looked at: broken, in all likelihood.
pub(super) fn taps(window: &WindowDimension, size: i64, input: i64, output: i64, budget: &mut Budget) -> Option<f64> {
    // Both run over the same sum, `output * stride + element * dilation`, so the shorter one is looped over.
    let elements = (size, window.window_dilation);
    let outputs = (output, window.stride);
    let (looped, solved) = if elements.0 <= outputs.0 { (elements, outputs) } else { (outputs, elements) };
    if looped.0 <= 0 || solved.0 <= 0 || input <= 0 {
        return Some(0.0);
    }
    if !budget.take(looped.0 as u64) {
        return None;
    }
    let clamp = |value: i64| i128::from(value.clamp(-EXTENT_LIMIT, EXTENT_LIMIT));
    let holes = Progression { modulus: clamp(window.base_dilation.max(1)), step: clamp(solved.1.max(1)) };
    let last = clamp(input - 1) * holes.modulus;
    let (step, padding, count) = (clamp(looped.1), clamp(window.padding_low), clamp(solved.0));
    let inverse = holes.inverse();
    let sum = (0..i128::from(looped.0)).map(|at| holes.count(at * step - padding, last, count, inverse)).sum::<i128>();
    Some(sum as f64)
}

/// Outputs whose window meets an element of the input at all, in one dimension; `None` as in [`taps`].
fn filled(window: &WindowDimension, input: i64, output: i64, budget: &mut Budget) -> Option<f64> {
    if window.size <= 0 || output <= 0 || input <= 0 {
        return Some(0.0);
    }
    if !budget.take(output as u64) {
        return None;
    }
    let one = |at: i64| {
        let offset = at.checked_mul(window.stride)?.checked_sub(window.padding_low)?;
        let alone = WindowDimension { padding_low: offset.checked_neg()?, ..*window };
        taps(&alone, window.size, input, 1, &mut Budget(1)).map(|taps| f64::from(u8::from(taps > 0.0)))
    };
    (0..output).map(one).sum()
}

/// The taps of all dimensions together; `None` as in [`taps`].
pub(super) fn all_taps(
    windows: &[WindowDimension],
    input: impl Fn(usize) -> i64,
    output: impl Fn(usize) -> i64,
    budget: &mut Budget,
) -> Option<f64> {
    windows.iter().enumerate().try_fold(1.0, |product, (dimension, window)| {
        let taps = taps(window, window.size, input(dimension), output(dimension), budget)?;
        Some(times(product, taps))
    })
}

/// Windows that hold any element, over all dimensions; `None` as in [`taps`].
pub(super) fn all_filled(
    windows: &[WindowDimension],
    input: impl Fn(usize) -> i64,
    output: impl Fn(usize) -> i64,
    budget: &mut Budget,
) -> Option<f64> {
    windows.iter().enumerate().try_fold(1.0, |product, (dimension, window)| {
        Some(times(product, filled(window, input(dimension), output(dimension), budget)?))
    })
}

/// What all pairs would be, with nothing padded.
pub(super) fn all_pairs(windows: &[WindowDimension], output: impl Fn(usize) -> i64) -> f64 {
    windows.iter().enumerate().fold(1.0, |product, (dimension, window)| {
        times(product, times(extent_of(window.size), extent_of(output(dimension))))
    })
}

/// Positions `offset + n * step` that are multiples of `modulus`; both at least 1.
pub(super) struct Progression {
    pub(super) step: i128,
    pub(super) modulus: i128,
}

impl Progression {
    /// The greatest common divisor of step and modulus, and the step's inverse modulo what is left of the modulus.
    pub(super) fn inverse(&self) -> (i128, i128) {
        let (mut old, mut new) = ((self.step, 1), (self.modulus, 0));
        while new.0 != 0 {
            let quotient = old.0 / new.0;
            (old, new) = (new, (old.0 - quotient * new.0, old.1 - quotient * new.1));
        }
        (old.0, old.1)
    }

    /// The first `n` that gives a multiple of the modulus, and how far apart such `n` are; `None` if there are none.
    pub(super) fn first(&self, offset: i128, (divisor, inverse): (i128, i128)) -> Option<(i128, i128)> {
        let period = self.modulus / divisor;
        (offset % divisor == 0).then(|| ((-offset / divisor * inverse).rem_euclid(period), period))
    }

    /// How many `n` from 0 to below `count` give a multiple of the modulus from 0 to `last`.
    fn count(&self, offset: i128, last: i128, count: i128, inverse: (i128, i128)) -> i128 {
        let Some((first, period)) = self.first(offset, inverse) else { return 0 };
        let low = (-offset).div_euclid(self.step) + i128::from((-offset).rem_euclid(self.step) != 0);
        let high = (last - offset).div_euclid(self.step).min(count - 1);
        let low = low.max(0);
        let from = first + (low - first + period - 1).div_euclid(period) * period;
        if from > high { 0 } else { (high - from) / period + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every pair looked at, as the definition says.
    fn by_looking(window: &WindowDimension, size: i64, input: i64, output: i64) -> i64 {
        let meets = |element: i64, output: i64| {
            let at = output * window.stride - window.padding_low + element * window.window_dilation;
            at >= 0 && at % window.base_dilation == 0 && at / window.base_dilation < input
        };
        (0..size).map(|element| (0..output).filter(|&output| meets(element, output)).count() as i64).sum()
    }

    #[test]
    fn solving_gives_what_looking_gives() {
        let mut compared = 0;
        for (size, input, output) in [(1, 1, 1), (3, 8, 8), (5, 4, 9), (7, 20, 3), (9, 2, 30)] {
            for (stride, dilation, holes) in [(1, 1, 1), (2, 1, 1), (3, 2, 1), (1, 3, 2), (2, 2, 4), (6, 4, 9)] {
                for padding_low in [-3, -1, 0, 1, 4] {
                    let window = WindowDimension {
                        stride,
                        window_dilation: dilation,
                        base_dilation: holes,
                        padding_low,
                        ..WindowDimension::default()
                    };
                    let solved = taps(&window, size, input, output, &mut Budget::new());
                    assert_eq!(solved, Some(by_looking(&window, size, input, output) as f64), "{window:?}");
                    compared += 1;
                }
            }
        }
        assert_eq!(compared, 150);
    }

    #[test]
    fn a_window_beyond_reason_is_refused() {
        let window = WindowDimension { size: i64::MAX, ..WindowDimension::default() };
        assert_eq!(taps(&window, i64::MAX, 5, i64::MAX, &mut Budget::new()), None);
        let extreme = WindowDimension { stride: i64::MAX, padding_low: i64::MIN, ..window };
        assert!(taps(&extreme, i64::MAX, i64::MAX, 7, &mut Budget::new()).is_some());
    }
}
