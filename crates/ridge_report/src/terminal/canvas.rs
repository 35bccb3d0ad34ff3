//! A plot made of characters: curves in dots of Braille patterns, marks over them, and axes.
//!
//! Knows nothing of what is plotted.

use super::line::Line;
use super::{Glyphs, Layout};
use crate::plot::Window;
use anstyle::Style;

/// Columns for what the left axis says.
pub(super) const GUTTER: usize = 13;
/// Narrowest and widest plot, and its rows.
const COLUMNS: (usize, usize) = (24, 96);
const ROWS: (usize, usize) = (10, 22);
/// Dots of a Braille character: columns and rows.
const DOTS: (usize, usize) = (2, 4);

/// What stands at the axes.
pub(super) struct Axes {
    /// Values to the right with their words, the most important first; those without room are left out.
    pub(super) right: Vec<(f64, String)>,
    /// What the lower axis is.
    pub(super) title: String,
    /// The words for a power of ten at the left axis.
    pub(super) up: fn(f64) -> String,
}

/// The plot's characters: marks over the dots of the curves.
pub(super) struct Canvas {
    window: Window,
    columns: usize,
    rows: usize,
    /// One byte of Braille dots a cell, or the sign of an ASCII curve.
    dots: Vec<u8>,
    marks: Vec<Option<(char, Style)>>,
    glyphs: Glyphs,
}

impl Canvas {
    /// An empty plot of `window`, as large as `layout` allows.
    pub(super) fn new(window: Window, layout: &Layout) -> Canvas {
        let columns = layout.width.saturating_sub(GUTTER + 1).clamp(COLUMNS.0, COLUMNS.1);
        let rows = (columns / 4).clamp(ROWS.0, ROWS.1);
        let (dots, marks) = (vec![0; columns * rows], vec![None; columns * rows]);
        Canvas { window, columns, rows, dots, marks, glyphs: layout.glyphs }
    }

    /// Draws a curve: `y(x)` is the value and the sign for it where there are no Braille patterns.
    ///
    /// A curve is not drawn along an edge where it leaves the window; a rising one goes over a level one.
    pub(super) fn curve(&mut self, y: impl Fn(f64) -> Option<(f64, u8)>) {
        let (across, upward) = match self.glyphs {
            Glyphs::Unicode => DOTS,
            Glyphs::Ascii => (1, 1),
        };
        let (dots, levels) = (self.columns * across, self.rows * upward);
        for dot in 0..dots {
            let Some((value, sign)) = y(self.window.across((dot as f64 + 0.5) / dots as f64)) else { continue };
            let part = self.window.up(value);
            if part <= 0.0 || part >= 1.0 {
                continue;
            }
            let level = (((1.0 - part) * levels as f64) as usize).min(levels - 1);
            let cell = &mut self.dots[(level / upward) * self.columns + dot / across];
            match self.glyphs {
                Glyphs::Unicode => *cell |= braille_dot(dot % across, level % upward),
                Glyphs::Ascii if *cell != b'/' => *cell = sign,
                Glyphs::Ascii => {}
            }
        }
    }

    /// Puts a sign at a point; a later one goes over an earlier one.
    pub(super) fn mark(&mut self, x: f64, y: f64, sign: char, style: Style) {
        let at = |part: f64, cells: usize| ((part * cells as f64) as usize).min(cells - 1);
        let column = at(self.window.right(x), self.columns);
        let row = at(1.0 - self.window.up(y), self.rows);
        self.marks[row * self.columns + column] = Some((sign, style));
    }

    /// The plot with its axes, each line ended.
    pub(super) fn lines(&self, axes: &Axes, layout: &Layout) -> String {
        let mut text: String = (0..self.rows).map(|row| self.line(row, axes, layout)).collect();
        text.push_str(&self.lower_axis(axes, layout));
        text
    }

    fn line(&self, row: usize, axes: &Axes, layout: &Layout) -> String {
        let mut line = Line::new();
        line.right(layout.theme.quiet, &self.power_in(row).map(axes.up).unwrap_or_default(), GUTTER - 2);
        line.skip(1);
        line.push(layout.theme.quiet, if layout.glyphs == Glyphs::Unicode { "│" } else { "|" });
        for column in 0..self.columns {
            let cell = row * self.columns + column;
            match self.marks[cell] {
                Some((sign, style)) => line.push(style, &sign.to_string()),
                None if self.dots[cell] == 0 => line.skip(1),
                None => line.push(Style::new(), &self.curve_sign(self.dots[cell]).to_string()),
            }
        }
        line.end()
    }

    fn curve_sign(&self, byte: u8) -> char {
        match self.glyphs {
            Glyphs::Unicode => char::from_u32(0x2800 + u32::from(byte)).unwrap_or(' '),
            Glyphs::Ascii => char::from(byte),
        }
    }

    /// The power of ten that lies in `row`, where one does.
    fn power_in(&self, row: usize) -> Option<f64> {
        let (low, high) = self.window.y;
        let at = |row: usize| high - (high - low) * row as f64 / self.rows as f64;
        let power = at(row).floor();
        (power > at(row + 1)).then(|| 10_f64.powf(power))
    }

    fn lower_axis(&self, axes: &Axes, layout: &Layout) -> String {
        let mut rule = Line::new();
        rule.skip(GUTTER - 1);
        let (corner, along) = if layout.glyphs == Glyphs::Unicode { ("└", "─") } else { ("+", "-") };
        rule.push(layout.theme.quiet, &format!("{corner}{}", along.repeat(self.columns)));
        let mut labels = vec![' '; self.columns + 1];
        for (value, label) in &axes.right {
            let column = (self.window.right(*value) * self.columns as f64) as usize;
            let end = column + label.chars().count();
            let is_free = |from: usize, to: usize| labels[from..to].iter().all(|letter| *letter == ' ');
            if end <= labels.len() && is_free(column.saturating_sub(1), (end + 1).min(labels.len())) {
                labels[column..end].iter_mut().zip(label.chars()).for_each(|(to, from)| *to = from);
            }
        }
        let mut line = Line::new();
        line.skip(GUTTER);
        line.push(layout.theme.quiet, labels.into_iter().collect::<String>().trim_end());
        let mut title = Line::new();
        title.skip(GUTTER);
        title.push(layout.theme.quiet, &axes.title);
        rule.end() + &line.end() + &title.end()
    }
}

/// The bit of a dot in a Braille pattern, Unicode 16.0 chapter 21.1: columns of three dots, then the two lowest.
fn braille_dot(column: usize, row: usize) -> u8 {
    const BITS: [[u8; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];
    BITS[column][row]
}
