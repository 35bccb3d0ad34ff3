//! What the drawings as SVG share: inks, the frame of a plot in pixels, and free places for labels.
//!
//! Draws nothing.

use crate::plot::Window;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::ops::Range;

/// Letters of a name that a label shows.
const LABEL_LETTERS: usize = 34;
/// Width of a letter at the label's size, on average.
const LETTER_WIDTH: f64 = 6.6;
const LABEL_SIZE: i32 = 12;
pub(crate) const INK: RGBColor = RGBColor(50, 50, 50);
pub(crate) const QUIET: RGBColor = RGBColor(130, 130, 130);
pub(crate) const GRID: RGBColor = RGBColor(232, 232, 232);

/// The rectangle of the plot in the pixels of its area.
pub(crate) struct Frame {
    pub(crate) window: Window,
    /// Left and right edge.
    pub(crate) across: (i32, i32),
    /// Top and bottom.
    pub(crate) upward: (i32, i32),
}

impl Frame {
    /// The frame of a plot of `window` whose ranges of pixels are those of the whole drawing, in an area that begins at `base`.
    pub(crate) fn new(window: Window, across: Range<i32>, upward: Range<i32>, base: (i32, i32)) -> Frame {
        Frame {
            window,
            across: (across.start - base.0, across.end - base.0),
            upward: (upward.start - base.1, upward.end - base.1),
        }
    }

    /// Where a value to the right and one upward stand, in pixels.
    pub(crate) fn at(&self, x: f64, y: f64) -> (i32, i32) {
        let scaled = |part: f64, (from, to): (i32, i32)| f64::from(from) + part * f64::from(to - from);
        let across = scaled(self.window.right(x), self.across);
        let upward = scaled(1.0 - self.window.up(y), self.upward);
        (across.round() as i32, upward.round() as i32)
    }
}

/// The style of a label.
pub(crate) fn style(ink: RGBColor, across: HPos, upward: VPos) -> TextStyle<'static> {
    ("sans-serif", LABEL_SIZE).into_font().color(&ink).pos(Pos::new(across, upward))
}

/// A rectangle that is taken: left, top, right, bottom.
pub(crate) type Taken = (f64, f64, f64, f64);

/// A free rectangle for `label` beside a point: right, left, under or over it, then further up and down.
pub(crate) fn place((x, y): (i32, i32), radius: f64, label: &str, frame: &Frame, taken: &[Taken]) -> Option<Taken> {
    let width = label.chars().count() as f64 * LETTER_WIDTH;
    let height = f64::from(LABEL_SIZE) + 2.0;
    let (x, y) = (f64::from(x), f64::from(y));
    let beside = [0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0].into_iter().flat_map(|step| {
        let top = y - height / 2.0 + step * height;
        [(x + radius + 4.0, top), (x - radius - 4.0 - width, top)]
    });
    let stacked = [(x - width / 2.0, y + radius + 2.0), (x - width / 2.0, y - radius - 2.0 - height)];
    let places = beside.chain(stacked).map(|(left, top)| (left, top, left + width, top + height));
    let mut free = places.filter(|place| {
        let inside = place.0 >= f64::from(frame.across.0) && place.2 <= f64::from(frame.across.1);
        inside && taken.iter().all(|other| !overlap(place, other))
    });
    free.next()
}

fn overlap(one: &Taken, other: &Taken) -> bool {
    one.0 < other.2 && other.0 < one.2 && one.1 < other.3 && other.1 < one.3
}

/// Both ends of a long name: operations differ at both.
pub(crate) fn short(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= LABEL_LETTERS {
        return name.to_owned();
    }
    let (head, tail) = (LABEL_LETTERS / 2, LABEL_LETTERS - LABEL_LETTERS / 2 - 1);
    let ends = [&letters[..head], &letters[letters.len() - tail..]];
    format!("{}…{}", ends[0].iter().collect::<String>(), ends[1].iter().collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_keep_both_ends() {
        let name = "a".repeat(40) + "end";
        let shown = short(&name);
        assert_eq!(shown.chars().count(), LABEL_LETTERS);
        assert!(shown.ends_with("end") && shown.contains('…'));
    }
}
