//! Which lines of a file are shown, and which are folded: a reader wants the lines where something happens, what is around
//! them, and the function they are in.

use super::Folding;
use ridgeline::AnnotatedFile;
use std::ops::RangeInclusive;

/// Lines of a file, counted from 1, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// Shown.
    Lines(RangeInclusive<u32>),
    /// Folded.
    Fold(RangeInclusive<u32>),
}

/// Folds shorter than this take no less room than their lines.
const LEAST: usize = 2;

/// The pieces of `file`, of which `lines` is the text.
pub(super) fn pieces(file: &AnnotatedFile, lines: &[String], folding: Folding) -> Vec<Piece> {
    let mut wanted = vec![folding == Folding::Nothing; lines.len()];
    if let Folding::Around(around) = folding {
        for line in file.lines.keys() {
            let at = (*line as usize).saturating_sub(1);
            let until = at.saturating_add(around).saturating_add(1).min(lines.len());
            wanted[at.saturating_sub(around).min(until)..until].fill(true);
            heads(lines, at).for_each(|head| wanted[head] = true);
        }
    }
    let mut pieces: Vec<Piece> = Vec::new();
    let mut begin = 0;
    while begin < wanted.len() {
        let length = wanted[begin..].iter().take_while(|is_wanted| **is_wanted == wanted[begin]).count();
        let range = begin as u32 + 1..=(begin + length) as u32;
        let is_shown = wanted[begin] || length < LEAST;
        match pieces.last_mut() {
            Some(Piece::Lines(last)) if is_shown => *last = *last.start()..=*range.end(),
            _ if is_shown => pieces.push(Piece::Lines(range)),
            _ => pieces.push(Piece::Fold(range)),
        }
        begin += length;
    }
    pieces
}

/// The positions of the heads of the functions and classes that the line at `at` is in, innermost first.
fn heads(lines: &[String], at: usize) -> impl Iterator<Item = usize> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut inside = lines.get(at).map_or(0, |line| indent(line));
    (0..at.min(lines.len())).rev().filter(move |before| {
        let line = &lines[*before];
        if line.trim().is_empty() || indent(line) >= inside {
            return false;
        }
        let is_head = ["def ", "async def ", "class "].iter().any(|word| line.trim_start().starts_with(word));
        if is_head {
            inside = indent(line);
        }
        is_head
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ridgeline::{AnnotatedLine, LineSums};

    #[track_caller]
    fn check(known: &[u32], folding: Folding, expected: &str) {
        let text = "import jax\n\n\nclass Solver:\n    x = 1\n    y = 2\n    def step(self):\n        a = 1\n        b = 2\n        c = 3\n        return c\n\n\nend = 0";
        let file = AnnotatedFile {
            name: "solver.py".to_owned(),
            text: None,
            lines: known.iter().map(|line| (*line, AnnotatedLine::default())).collect(),
            sums: LineSums::default(),
            idle_ns: 0,
        };
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let pieces = pieces(&file, &lines, folding).into_iter().map(|piece| match piece {
            Piece::Lines(range) => format!("{}-{}", range.start(), range.end()),
            Piece::Fold(range) => format!("({}-{})", range.start(), range.end()),
        });
        assert_eq!(pieces.collect::<Vec<_>>().join(" "), expected);
    }

    #[test]
    fn what_happens_is_shown_with_the_head_of_its_function() {
        check(&[10], Folding::Around(0), "(1-3) 4-4 (5-6) 7-7 (8-9) 10-10 (11-14)");
        check(&[10], Folding::Around(1), "(1-3) 4-4 (5-6) 7-11 (12-14)");
        check(&[1, 14], Folding::Around(1), "1-2 (3-12) 13-14");
        check(&[], Folding::Around(2), "(1-14)");
        check(&[], Folding::Nothing, "1-14");
        check(&[99], Folding::Around(1), "(1-14)");
    }
}
