//! A roofline drawn with characters: roofs in dots of Braille patterns, points as digits whose key stands below.

use super::line::Line;
use super::words::{paragraph, shorten_middle};
use super::{Glyphs, Layout, Theme, heading};
use crate::roofline::{Window, left_out};
use anstyle::{AnsiColor, Style};
use ridgeline::units::{FlopsPerSec, Share, three_digits};
use ridgeline::{Bound, Chart, ChartSlope};

/// Columns for the rates at the left.
const GUTTER: usize = 13;
/// Widest and narrowest plot, and its rows.
const COLUMNS: (usize, usize) = (24, 96);
const ROWS: (usize, usize) = (10, 22);
/// Points with a sign of their own and a line in the key.
const SIGNS: &str = "123456789abcdef";
/// Dots of a Braille character: columns and rows.
const DOTS: (usize, usize) = (2, 4);

/// `chart` for a terminal: heading, plot, key; each line ended.
pub fn roofline(chart: &Chart, layout: &Layout) -> String {
    let mut text = heading(&format!("Roofline of {}", chart.device), layout);
    let canvas = Canvas::draw(chart, layout);
    text.push_str(&canvas.lines(layout));
    text.push_str(&key(chart, layout));
    let about = format!("roofs: {}", chart.basis);
    let about = [about, left_out(chart)].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ");
    text.push_str(&paragraph(&about, layout.theme.quiet, layout));
    text
}

fn bound_style(bound: Option<Bound>, theme: Theme) -> Style {
    if theme == Theme::PLAIN {
        return Style::new();
    }
    let color = match bound {
        Some(Bound::Compute) => AnsiColor::Red,
        Some(Bound::Memory) => AnsiColor::Blue,
        Some(Bound::Launch) => AnsiColor::Yellow,
        Some(Bound::Unknown) | None => return theme.quiet,
    };
    color.on_default().bold()
}

/// The plot's characters: marks over the dots of the roofs.
struct Canvas {
    window: Window,
    columns: usize,
    rows: usize,
    /// One byte of Braille dots a cell, or the sign of an ASCII roof.
    roofs: Vec<u8>,
    marks: Vec<Option<(char, Style)>>,
    glyphs: Glyphs,
    /// What the lower axis is.
    intensity: &'static str,
}

impl Canvas {
    fn draw(chart: &Chart, layout: &Layout) -> Canvas {
        let columns = layout.width.saturating_sub(GUTTER + 1).clamp(COLUMNS.0, COLUMNS.1);
        let rows = (columns / 4).clamp(ROWS.0, ROWS.1);
        let mut canvas = Canvas {
            window: Window::of(chart),
            columns,
            rows,
            roofs: vec![0; columns * rows],
            marks: vec![None; columns * rows],
            glyphs: layout.glyphs,
            intensity: chart.intensity,
        };
        chart.roofs.iter().for_each(|roof| canvas.roof(roof.flops_per_sec, chart.slopes.first()));
        // The fastest slope leads to every peak, the others to the highest.
        let highest = chart.roofs.first().map_or(f64::INFINITY, |roof| roof.flops_per_sec);
        let led = usize::from(!chart.roofs.is_empty());
        chart.slopes.iter().skip(led).for_each(|slope| canvas.roof(highest, Some(slope)));
        canvas.points(chart, layout.theme);
        canvas
    }

    /// A peak and the slope that leads to it.
    fn roof(&mut self, flops_per_sec: f64, slope: Option<&ChartSlope>) {
        let (across, upward) = match self.glyphs {
            Glyphs::Unicode => DOTS,
            Glyphs::Ascii => (1, 1),
        };
        let (dots, levels) = (self.columns * across, self.rows * upward);
        for dot in 0..dots {
            let intensity = self.window.intensity((dot as f64 + 0.5) / dots as f64);
            let rate = slope.map_or(flops_per_sec, |slope| flops_per_sec.min(intensity * slope.bytes_per_sec));
            let part = self.window.up(rate);
            // Roofs that leave the window are not drawn along its edge.
            if part <= 0.0 || part >= 1.0 {
                continue;
            }
            let level = (((1.0 - part) * levels as f64) as usize).min(levels - 1);
            let cell = (level / upward) * self.columns + dot / across;
            self.roofs[cell] |= match self.glyphs {
                Glyphs::Unicode => braille_dot(dot % across, level % upward),
                Glyphs::Ascii if rate < flops_per_sec => b'/',
                Glyphs::Ascii => b'-',
            };
            if self.glyphs == Glyphs::Ascii && self.roofs[cell] != b'/' {
                self.roofs[cell] = b'-';
            }
        }
    }

    /// Small ones first, so that the largest are not covered; what other levels of memory say of them lies under all.
    fn points(&mut self, chart: &Chart, theme: Theme) {
        let (usual, level) = if self.glyphs == Glyphs::Unicode { ('•', '·') } else { ('o', '.') };
        for point in &chart.points {
            let levels = point.others.iter().filter(|other| !other.label.is_empty());
            levels.for_each(|other| self.mark(other.intensity, point.flops_per_sec, (level, theme.quiet)));
        }
        let signs = SIGNS.chars().map(Some).chain(std::iter::repeat(None));
        let signed: Vec<_> = chart.points.iter().zip(signs).collect();
        for (point, sign) in signed.into_iter().rev() {
            let mark = (sign.unwrap_or(usual), bound_style(point.bound, theme));
            self.mark(point.intensity, point.flops_per_sec, mark);
        }
    }

    fn mark(&mut self, intensity: f64, flops_per_sec: f64, mark: (char, Style)) {
        let at = |part: f64, cells: usize| ((part * cells as f64) as usize).min(cells - 1);
        let column = at(self.window.right(intensity), self.columns);
        let row = at(1.0 - self.window.up(flops_per_sec), self.rows);
        self.marks[row * self.columns + column] = Some(mark);
    }

    fn lines(&self, layout: &Layout) -> String {
        let mut text: String = (0..self.rows).map(|row| self.line(row, layout)).collect();
        text.push_str(&self.axis(layout));
        text
    }

    fn line(&self, row: usize, layout: &Layout) -> String {
        let mut line = Line::new(layout.glyphs);
        line.right(layout.theme.quiet, &self.rate_at(row), GUTTER - 2);
        line.skip(1);
        line.push(layout.theme.quiet, if layout.glyphs == Glyphs::Unicode { "│" } else { "|" });
        for column in 0..self.columns {
            let cell = row * self.columns + column;
            match self.marks[cell] {
                Some((sign, style)) => line.push(style, &sign.to_string()),
                None if self.roofs[cell] == 0 => line.skip(1),
                None => line.push(Style::new(), &self.roof_sign(self.roofs[cell]).to_string()),
            }
        }
        line.end()
    }

    fn roof_sign(&self, byte: u8) -> char {
        match self.glyphs {
            Glyphs::Unicode => char::from_u32(0x2800 + u32::from(byte)).unwrap_or(' '),
            Glyphs::Ascii => char::from(byte),
        }
    }

    /// The power of ten of rates that lies in `row`, where one does.
    fn rate_at(&self, row: usize) -> String {
        let (low, high) = self.window.y;
        let at = |row: usize| high - (high - low) * row as f64 / self.rows as f64;
        let power = at(row).floor();
        if power > at(row + 1) { FlopsPerSec(10_f64.powf(power)).to_string() } else { String::new() }
    }

    fn axis(&self, layout: &Layout) -> String {
        let mut rule = Line::new(layout.glyphs);
        rule.skip(GUTTER - 1);
        let (corner, along) = if layout.glyphs == Glyphs::Unicode { ("└", "─") } else { ("+", "-") };
        rule.push(layout.theme.quiet, &format!("{corner}{}", along.repeat(self.columns)));
        let mut labels = vec![' '; self.columns + 1];
        let (low, high) = self.window.x;
        for power in low.ceil() as i32..=high.floor() as i32 {
            let label = three_digits(10_f64.powi(power));
            let column = (self.window.right(10_f64.powi(power)) * self.columns as f64) as usize;
            let free = column == 0 || labels[column - 1] == ' ';
            let fits = column + label.len() <= labels.len();
            if free && fits {
                labels[column..column + label.len()].iter_mut().zip(label.chars()).for_each(|(to, from)| *to = from);
            }
        }
        let mut line = Line::new(layout.glyphs);
        line.skip(GUTTER);
        line.push(layout.theme.quiet, labels.into_iter().collect::<String>().trim_end());
        let mut unit = Line::new(layout.glyphs);
        unit.skip(GUTTER);
        unit.push(layout.theme.quiet, self.intensity);
        rule.end() + &line.end() + &unit.end()
    }
}

/// The bit of a dot in a Braille pattern, Unicode 16.0 chapter 21.1: columns of three dots, then the two lowest.
fn braille_dot(column: usize, row: usize) -> u8 {
    const BITS: [[u8; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];
    BITS[column][row]
}

/// A line for each point that has a sign: sign, name, share, what bounds it.
fn key(chart: &Chart, layout: &Layout) -> String {
    const NUMBERS: usize = 20;
    let room = layout.width.saturating_sub(NUMBERS + 4).clamp(12, 60);
    let named: Vec<_> = chart.points.iter().zip(SIGNS.chars()).collect();
    let names: Vec<String> = named
        .iter()
        .map(|(point, _)| shorten_middle(&crate::escape_controls(&point.name), room, layout.glyphs))
        .collect();
    let width = names.iter().map(|name| super::line::width(name)).max().unwrap_or(0);
    let mut text = String::new();
    for ((point, sign), name) in named.into_iter().zip(&names) {
        let mut line = Line::new(layout.glyphs);
        let style = bound_style(point.bound, layout.theme);
        line.push(style, &sign.to_string());
        line.skip(1);
        line.left(Style::new(), name, width + 2);
        line.right(Style::new(), &Share(point.share).to_string(), 8);
        line.skip(2);
        line.push(style, point.bound.map_or("", Bound::name));
        text.push_str(&line.end());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roofline::{example, example_of_levels};
    use expect_test::{Expect, expect};

    #[track_caller]
    fn check(layout: &Layout, expected: Expect) {
        expected.assert_eq(&roofline(&example(), layout));
    }

    #[test]
    fn roofs_points_and_key() {
        check(
            &Layout::plain(60),
            expect![[r#"
                Roofline of Maker X1
                  1 PFLOP/s │                                      ⣀⠤⠤⠤1⠤⠤⠤
                            │                                 ⢀⣀⠤⠒⠉
                100 TFLOP/s │                             ⢀⣠⣔⣊⣁⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀
                            │                         ⣀⠤⠒⠉⠁
                 10 TFLOP/s │                    ⢀⡠⠔⠒⠉
                            │                ⣀⠤⠒⠊⠁
                  1 TFLOP/s │           ⢀⡠⠤⠒⠉
                            │       ⣀2⠔⠊⠁
                100 GFLOP/s │   ⣀⠤⠒⠉
                            │⠔⠊⠉
                 10 GFLOP/s │                     3
                            └──────────────────────────────────────────────
                                  0.1     1        10       100     1000
                             operations per byte of compulsory traffic
                1 dot.1                60 %  compute
                2 <loop & fusion>      30 %  memory
                3 tiny                  5 %  launch
                roofs: data sheet; 5.0 % of the time is not drawn: its work
                is not known or has no arithmetic
            "#]],
        );
    }

    #[test]
    fn levels_have_slopes_and_marks_of_their_own() {
        expect![[r#"
            Roofline of Maker X1
              1 PFLOP/s │                                        ⢀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀
                        │                                    ⢀⡠⠔⠊⠁  ⣀·⠒⠉   ⣀⠤·⠉   1
                        │                                 ⣀⠤⠒⠁  ⣀⠤⠒⠉   ⢀⡠⠒⠉
            100 TFLOP/s │                             ⣀⠤⠒⠉  ⣀⠤⠒⠉   ⢀⡠⠔⠊⠁
                        │                         ⣀⠤⠒⠉⠉⠉⢉⡩⠝⠋⠉⠉⠉⢉⡩⠝⠋⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉
                        │                     ⢀⡠⠒⠉  ⢀⡠⠔⠊⠁  ⢀⡠⠔⠊⠁
             10 TFLOP/s │                 ⢀⡠⠔⠊⠁ ⢀⡠⠔⠊⠁   ⣀⠤⠒⠁
                        │             ⢀⡠⠔⠊⠁  ⣀⠔⠊⠁   ⣀⠤⠒⠉
              1 TFLOP/s │         ⢀⡠⠔⠊⠁  ⣀⠤⠒⠉   ⣀⠤⠒⠉
                        │      ⣀⠤⠒⠁  ⣀⠤⠒⠉   ⢀⡠⠒⠉
                        │  ⣀⠤·⠉  ⣀⠤⠒⠉·  ⢀⡠2⠊⠁
            100 GFLOP/s │⠒⠉  ⢀⡠⠔⠊   ⢀⡠⠔⠊⠁
                        │⢀⡠⠔⠊⠁  ⢀⡠⠔⠊⠁
                        │⠁   ⣀⠤⠒⠁
             10 GFLOP/s │⣀⠤⠒⠉               ·        ·    3
                        └──────────────────────────────────────────────────────────────
                            0.01      0.1       1          10        100       1000
                         operations per byte of compulsory traffic
            1 dot.1                60 %  compute
            2 <loop & fusion>      30 %  memory
            3 tiny                  5 %  launch
            roofs: data sheet; 5.0 % of the time is not drawn: its work is not known or
            has no arithmetic
        "#]].assert_eq(&roofline(&example_of_levels(), &Layout::plain(76)));
    }

    #[test]
    fn ascii_alone_where_that_is_asked() {
        let layout = Layout { glyphs: Glyphs::Ascii, ..Layout::plain(60) };
        check(
            &layout,
            expect![[r#"
                Roofline of Maker X1
                  1 PFLOP/s |                                      //--1---
                            |                                  ////
                100 TFLOP/s |                             /////------------
                            |                         ////
                 10 TFLOP/s |                    /////
                            |                ////
                  1 TFLOP/s |            ////
                            |       /2///
                100 GFLOP/s |   ////
                            |///
                 10 GFLOP/s |                     3
                            +----------------------------------------------
                                  0.1     1        10       100     1000
                             operations per byte of compulsory traffic
                1 dot.1                60 %  compute
                2 <loop & fusion>      30 %  memory
                3 tiny                  5 %  launch
                roofs: data sheet; 5.0 % of the time is not drawn: its work
                is not known or has no arithmetic
            "#]],
        );
        assert!(roofline(&example(), &layout).is_ascii());
    }

    #[test]
    fn colors_say_what_bounds() {
        let colored = roofline(&example(), &Layout { theme: Theme::COLOR, ..Layout::plain(60) });
        let compute = bound_style(Some(Bound::Compute), Theme::COLOR);
        assert!(colored.contains(&format!("{compute}1{compute:#}")), "{colored}");
    }
}
