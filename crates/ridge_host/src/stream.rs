//! Memory bandwidth as STREAM measures it: four loops over arrays that no cache holds.
//!
//! The loops and how their bytes are counted are John McCalpin's STREAM (<https://www.cs.virginia.edu/stream/ref.html>): each element
//! read and each element written counts once, with 8-byte numbers.

use crate::rounds::Rounds;
use crate::team::{Budget, rounds};
use pulp::Arch;
use std::sync::atomic::AtomicBool;

/// Bytes of a number.
const WIDTH: usize = size_of::<f64>();
/// The scalar of `scale` and `triad`; STREAM's own.
const SCALAR: f64 = 3.0;

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

/// One core's part of the three arrays.
struct Part {
    a: Vec<f64>,
    b: Vec<f64>,
    c: Vec<f64>,
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
        let arch = Arch::new();
        let prepare = |_| Part::new(elements);
        let nanos = rounds(cores, budget, stop, prepare, |part| arch.dispatch(|| self.run(part)));
        Rounds { amount: (elements * cores * WIDTH * self.arrays()) as f64, nanos }
    }

    #[inline(always)]
    fn run(self, part: &mut Part) {
        let Part { a, b, c } = part;
        match self {
            Loop::Copy => a.copy_from_slice(b),
            Loop::Scale => a.iter_mut().zip(&*b).for_each(|(a, b)| *a = SCALAR * b),
            Loop::Add => a.iter_mut().zip(&*b).zip(&*c).for_each(|((a, b), c)| *a = b + c),
            Loop::Triad => a.iter_mut().zip(&*b).zip(&*c).for_each(|((a, b), c)| *a = b + SCALAR * c),
        }
    }
}

impl Part {
    fn new(elements: usize) -> Part {
        let filled = |value| vec![value; elements];
        Part { a: filled(1.0), b: filled(2.0), c: filled(0.5) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_loops_compute_what_they_say() {
        for (which, expected) in [(Loop::Copy, 2.0), (Loop::Scale, 6.0), (Loop::Add, 2.5), (Loop::Triad, 3.5)] {
            let mut part = Part::new(37);
            which.run(&mut part);
            assert_eq!(part.a, vec![expected; 37], "{which:?}");
        }
    }

    #[test]
    fn bytes_are_counted_as_stream_counts_them() {
        let budget = Budget { least_rounds: 2, time: Duration::ZERO };
        for (which, arrays) in [(Loop::Copy, 2.0), (Loop::Triad, 3.0)] {
            let rounds = which.measure(4096, 2, budget, &AtomicBool::new(false));
            assert_eq!((rounds.amount, rounds.nanos.len()), (arrays * 4096.0, 2));
        }
    }
}
