//! What the recorder watched of PyTorch, for the rules that judge it.

use crate::case::{Case, Framework};
use crate::finding::Place;
use ridge_analysis::PythonLooks;
use ridge_trace::{PythonPlace, Watched};

impl<'a> Case<'a> {
    /// What was watched of the judged processes.
    pub(crate) fn watched(&self) -> &'a [Watched] {
        if self.framework() == Framework::Torch { &self.trace().python.watched } else { &[] }
    }

    /// The place in the words of a finding.
    pub(crate) fn place_of_python(&self, place: &PythonPlace) -> Place {
        Place { file: self.trace().strings.get(place.file).to_owned(), line: place.line, is_inferred: false }
    }

    /// The part of the judged time in which the program was at `place` or in what that calls, by the looks at it.
    pub(crate) fn part_within(&self, place: &PythonPlace) -> Option<f64> {
        let python = &self.trace().python;
        let is_at = |row: &u32| {
            let found = python.places.get(*row as usize);
            found.is_some_and(|found| (found.file, found.line) == (place.file, place.line))
        };
        let (mut within, mut all) = (0, 0);
        for (stack, count) in self.analysis.get::<PythonLooks>().all() {
            all += count;
            let is_within = python.stacks.get(*stack as usize).is_some_and(|stack| stack.places.iter().any(is_at));
            within += if is_within { *count } else { 0 };
        }
        (all >= FEWEST).then(|| within as f64 / all as f64)
    }
}

/// Fewer looks tell no part.
const FEWEST: u64 = 10;
