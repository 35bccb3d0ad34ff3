//! A roofline drawn with characters: roofs in dots of Braille patterns, points as digits whose key stands below.

use super::canvas::{Axes, Canvas};
use super::line::Line;
use super::words::{paragraph, shorten_middle};
use super::{Glyphs, Layout, Theme, heading};
use crate::roofline::{left_out, window};
use anstyle::{AnsiColor, Style};
use ridgeline::units::{FlopsPerSec, Share, three_digits};
use ridgeline::{Bound, Chart, ChartSlope};

/// Points with a sign of their own and a line in the key.
const SIGNS: &str = "123456789abcdef";
/// `chart` for a terminal: heading, plot, key; each line ended.
pub fn roofline(chart: &Chart, layout: &Layout) -> String {
    let mut text = heading(&format!("Roofline of {}", chart.device), layout);
    text.push_str(&draw(chart, layout).lines(&axes(chart), layout));
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

fn draw(chart: &Chart, layout: &Layout) -> Canvas {
    let mut canvas = Canvas::new(window(chart), layout);
    let mut roof = |flops_per_sec: f64, slope: Option<&ChartSlope>| {
        canvas.curve(|intensity| {
            let rate = slope.map_or(flops_per_sec, |slope| flops_per_sec.min(intensity * slope.bytes_per_sec));
            Some((rate, if rate < flops_per_sec { b'/' } else { b'-' }))
        });
    };
    chart.roofs.iter().for_each(|own| roof(own.flops_per_sec, chart.slopes.first()));
    // The fastest slope leads to every peak, the others to the highest.
    let highest = chart.roofs.first().map_or(f64::INFINITY, |own| own.flops_per_sec);
    let led = usize::from(!chart.roofs.is_empty());
    chart.slopes.iter().skip(led).for_each(|slope| roof(highest, Some(slope)));
    points(chart, layout, &mut canvas);
    canvas
}

/// Small ones first, so that the largest are not covered; what other levels of memory say of them lies under all.
fn points(chart: &Chart, layout: &Layout, canvas: &mut Canvas) {
    let (usual, level) = if layout.glyphs == Glyphs::Unicode { ('•', '·') } else { ('o', '.') };
    for point in &chart.points {
        let levels = point.others.iter().filter(|other| !other.label.is_empty());
        levels.for_each(|other| canvas.mark(other.intensity, point.flops_per_sec, level, layout.theme.quiet));
    }
    let signs = SIGNS.chars().map(Some).chain(std::iter::repeat(None));
    let signed: Vec<_> = chart.points.iter().zip(signs).collect();
    for (point, sign) in signed.into_iter().rev() {
        let style = bound_style(point.bound, layout.theme);
        canvas.mark(point.intensity, point.flops_per_sec, sign.unwrap_or(usual), style);
    }
}

/// The powers of ten of intensities that `chart` shows.
fn axes(chart: &Chart) -> Axes {
    let (low, high) = window(chart).x;
    let powers = (low.ceil() as i32..=high.floor() as i32).map(|power| 10_f64.powi(power));
    Axes {
        right: powers.map(|power| (power, three_digits(power))).collect(),
        title: chart.intensity.to_owned(),
        up: |rate| FlopsPerSec(rate).to_string(),
    }
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
        let mut line = Line::new();
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
                                  0.1     1        10       100     1,000
                             operations per byte of compulsory traffic
                1 dot.1               60.0%  compute
                2 <loop & fusion>     30.0%  memory
                3 tiny                 5.0%  launch
                roofs: data sheet; 5.0% of the time is not drawn: its work
                is unknown or has no arithmetic
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
                            0.01      0.1       1          10        100       1,000
                         operations per byte of compulsory traffic
            1 dot.1               60.0%  compute
            2 <loop & fusion>     30.0%  memory
            3 tiny                 5.0%  launch
            roofs: data sheet; 5.0% of the time is not drawn: its work is unknown or has
            no arithmetic
        "#]]
        .assert_eq(&roofline(&example_of_levels(), &Layout::plain(76)));
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
                                  0.1     1        10       100     1,000
                             operations per byte of compulsory traffic
                1 dot.1               60.0%  compute
                2 <loop & fusion>     30.0%  memory
                3 tiny                 5.0%  launch
                roofs: data sheet; 5.0% of the time is not drawn: its work
                is unknown or has no arithmetic
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
