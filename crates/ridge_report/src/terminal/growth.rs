//! Growth drawn with characters: the laws as dots, measured times as digits, what they predict as rings, and a key.

use super::canvas::{Axes, Canvas};
use super::line::{Line, width};
use super::words::shorten_middle;
use super::{Glyphs, Layout, heading};
use crate::scaling::{SHOWN, left_out, ticks, window};
use anstyle::Style;
use ridgeline::units::{Nanos, three_digits};
use ridgeline::{GrowthChart, GrowthLine};

/// The signs of the operations; as many as [`SHOWN`].
const SIGNS: &str = "12345678";

/// `chart` for a terminal: heading, plot, key; each line ended. Empty where nothing was timed.
pub fn growth(chart: &GrowthChart, layout: &Layout) -> String {
    if chart.lines.is_empty() {
        return String::new();
    }
    let mut text = heading("Time by size", layout);
    let axes = Axes {
        right: ticks(chart).into_iter().map(|size| (size, three_digits(size))).collect(),
        title: "size".to_owned(),
        up: time,
    };
    text.push_str(&draw(chart, layout).lines(&axes, layout));
    text.push_str(&key(chart, layout));
    text.push_str(&super::words::paragraph(&left_out(chart), layout.theme.quiet, layout));
    text
}

fn time(secs: f64) -> String {
    Nanos((secs * 1e9).round() as i64).to_string()
}

fn draw(chart: &GrowthChart, layout: &Layout) -> Canvas {
    let mut canvas = Canvas::new(window(chart), layout);
    let shown: Vec<(&GrowthLine, char)> = chart.lines.iter().take(SHOWN).zip(SIGNS.chars()).collect();
    for fit in shown.iter().filter_map(|(line, _)| line.fit) {
        let end = chart.next.unwrap_or(fit.to.0).max(fit.to.0);
        canvas.curve(|size| {
            let law = fit.to.1 * (size / fit.to.0).powf(fit.exponent);
            (fit.from.0..=end).contains(&size).then_some((law, b'.'))
        });
    }
    let ring = if layout.glyphs == Glyphs::Unicode { '○' } else { 'o' };
    for (line, sign) in shown.iter().rev() {
        if let (Some(size), Some(secs)) = (chart.next, line.fit.and_then(|fit| fit.next)) {
            canvas.mark(size, secs, ring, layout.theme.quiet);
        }
        line.points.iter().for_each(|(size, secs)| canvas.mark(*size, *secs, *sign, layout.theme.title));
    }
    canvas
}

/// A line for each operation: sign, name, exponent, time at its largest size and at the next.
fn key(chart: &GrowthChart, layout: &Layout) -> String {
    const NUMBERS: usize = 40;
    let room = layout.width.saturating_sub(NUMBERS + 2).clamp(12, 60);
    let name = |line: &GrowthLine| shorten_middle(&crate::escape_controls(&line.operation), room, layout.glyphs);
    let names: Vec<String> = chart.lines.iter().take(SHOWN).map(name).collect();
    let widest = names.iter().map(|name| width(name)).max().unwrap_or(0);
    let mut text = String::new();
    for ((line, sign), name) in chart.lines.iter().zip(SIGNS.chars()).zip(&names) {
        let mut row = Line::new();
        row.push(layout.theme.title, &sign.to_string());
        row.skip(1);
        row.left(Style::new(), name, widest + 2);
        row.left(Style::new(), &line.fit.map_or(String::new(), |fit| format!("N^{:.2}", fit.exponent)), 8);
        let last = line.points.last().map_or(0.0, |(_, secs)| *secs);
        row.right(Style::new(), &time(last), 9);
        if let (Some(size), Some(secs)) = (chart.next, line.fit.and_then(|fit| fit.next)) {
            row.push(layout.theme.quiet, &format!(", at {} {}", three_digits(size), time(secs)));
        }
        text.push_str(&row.end());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaling::example;
    use expect_test::expect;

    #[test]
    fn times_laws_and_what_they_predict() {
        expect![[r#"
            Time by size
                        │                                                    ○
                   10 s │                                              ⢀⡠⠤⠒⠊⠉
                        │                                        ⢀⣀⠤⠔⠒⠉⠁
                        │                                   ⣀1⠤⠒⠊⠁
                    1 s │                             ⢀⣀⠤⠔⠊⠉
                        │                        ⣀⡠⠔⠒⠉1
                        │                  ⢀1⠤⠒⠊⠉
                 100 ms │            ⢀⣀⠤⠔⠒⠉⠁
                        │       ⣀⡠⠤⠒⠊⠁
                        │   1⠔⠊⠉
                        │
                  10 ms │
                        │
                        │                                    2
                        └────────────────────────────────────────────────────────
                            32              64        96     128             256
                         size
            1 project         N^3.00     1.92 s, at 256 15.4 s
            2 <filter & sum>               2 ms
            rings are extrapolated
        "#]]
        .assert_eq(&growth(&example(), &Layout::plain(70)));
    }

    #[test]
    fn ascii_alone_where_that_is_asked() {
        let layout = Layout { glyphs: Glyphs::Ascii, ..Layout::plain(60) };
        let text = growth(&example(), &layout);
        assert!(text.is_ascii(), "{text}");
        assert!(text.contains("o") && text.contains("1 project"), "{text}");
    }

    #[test]
    fn nothing_timed_is_no_drawing() {
        assert_eq!(growth(&GrowthChart { next: None, lines: Vec::new() }, &Layout::plain(70)), "");
    }
}
