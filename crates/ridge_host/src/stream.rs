//! Bandwidth as STREAM measures it: four loops over arrays that no cache holds, or that one does.
//!
//! The loops and how their bytes are counted are John McCalpin's STREAM (<https://www.cs.virginia.edu/stream/ref.html>): each element
//! read and each element written counts once, with 8-byte numbers.

use crate::rounds::Rounds;
use crate::team::{Budget, rounds};
use crate::windows::Windows;
use pulp::Arch;
use std::hint::black_box;
use std::sync::atomic::AtomicBool;

/// Bytes of a number.
const WIDTH: usize = size_of::<f64>();
/// The scalar of `scale` and `triad`; STREAM's own.
const SCALAR: f64 = 3.0;
/// Bytes of each array that one core works on in a round: some milliseconds from memory.
const WINDOW_BYTES: usize = 4 << 20;
/// Bytes that one core's round moves at least, again and again over small arrays: a clock tells their time.
const LEAST_ROUND_BYTES: usize = 16 << 20;

/// One of the four loops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loop {
    /// `a = b`
    Copy,
    /// `a = s b`
    Scale,
    /// `a = b + c`
    Add,
    /// `a = b + s c`
    Triad,
}

/// Passes of a round at most.
const MOST_PASSES: usize = 1 << 12;

/// One core's part of the three arrays.
struct Part {
    a: Vec<f64>,
    b: Vec<f64>,
    c: Vec<f64>,
    windows: Windows,
    /// Passes of a round over its window.
    passes: usize,
}

impl Loop {
    /// Arrays that it reads or writes.
    fn arrays(self) -> usize {
        match self {
            Loop::Copy | Loop::Scale => 2,
            Loop::Add | Loop::Triad => 3,
        }
    }

    /// Times the loop over arrays of `array_bytes` each, spread over `cores`.
    pub(crate) fn measure(self, array_bytes: u64, cores: usize, budget: Budget, stop: &AtomicBool) -> Rounds {
        let elements = usize::try_from(array_bytes).unwrap_or(usize::MAX) / WIDTH / cores;
        let window = elements.min(WINDOW_BYTES / WIDTH);
        let round_bytes = (window * WIDTH * self.arrays()).max(1);
        let passes = if window < elements { 1 } else { LEAST_ROUND_BYTES.div_ceil(round_bytes).min(MOST_PASSES) };
        let arch = Arch::new();
        let prepare = |_| Part::new(elements, window, passes);
        let nanos = rounds(cores, budget, stop, prepare, |part| arch.dispatch(|| self.run(part)));
        Rounds { amount: (round_bytes * passes * cores) as f64, nanos }
    }

    #[inline(always)]
    fn run(self, part: &mut Part) {
        let window = part.windows.advance();
        for _ in 0..part.passes {
            let (a, b, c) = (&mut part.a[window.clone()], &part.b[window.clone()], &part.c[window.clone()]);
            match self {
                Loop::Copy => a.copy_from_slice(b),
                Loop::Scale => a.iter_mut().zip(b).for_each(|(a, b)| *a = SCALAR * b),
                Loop::Add => a.iter_mut().zip(b).zip(c).for_each(|((a, b), c)| *a = b + c),
                Loop::Triad => a.iter_mut().zip(b).zip(c).for_each(|((a, b), c)| *a = b + SCALAR * c),
            }
            black_box(&mut part.a);
        }
    }
}

impl Part {
    fn new(elements: usize, window: usize, passes: usize) -> Part {
        let filled = |value| vec![value; elements];
        Part { a: filled(1.0), b: filled(2.0), c: filled(0.5), windows: Windows::over(elements, window), passes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_loops_compute_what_they_say() {
        for (which, expected) in [(Loop::Copy, 2.0), (Loop::Scale, 6.0), (Loop::Add, 2.5), (Loop::Triad, 3.5)] {
            let mut part = Part::new(37, 12, 2);
            (0..3).for_each(|_| which.run(&mut part));
            assert_eq!(part.a, [vec![expected; 36], vec![1.0]].concat(), "{which:?}");
        }
    }

    #[test]
    fn bytes_are_counted_as_stream_counts_them() {
        let budget = Budget { least_rounds: 2, time: Duration::ZERO };
        for (which, arrays) in [(Loop::Copy, 2.0_f64), (Loop::Triad, 3.0)] {
            let rounds = which.measure(4096, 2, budget, &AtomicBool::new(false));
            let passes = f64::min((16.0 * 1_048_576.0_f64 / (arrays * 2048.0)).ceil(), 4096.0);
            assert_eq!((rounds.amount, rounds.nanos.len()), (arrays * 4096.0 * passes, 2));
            // Two windows of 4 MiB for each core, of which a round is one.
            let rounds = which.measure(16 << 20, 2, budget, &AtomicBool::new(false));
            assert_eq!(rounds.amount, arrays * f64::from(2 << 22));
        }
    }
}
