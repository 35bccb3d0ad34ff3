//! Growth as SVG: measured times as disks, their law as a line, dashed to the next size with its interval.

use super::{SHOWN, left_out, ticks, window};
use crate::drawing::{Frame, GRID, INK, QUIET, Taken, place, short, style};
use crate::escape_controls;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};
use ridgeline::units::{Nanos, three_digits};
use ridgeline::{GrowthChart, GrowthFit, GrowthLine};

const SIZE: (u32, u32) = (1000, 640);
/// Least pixels between two sizes that are named.
const TICK_ROOM: i32 = 34;
const DASH: f64 = 6.0;

/// The colors of Okabe and Ito, "Color Universal Design" (2008), which people of all color visions tell apart.
const COLORS: [RGBColor; SHOWN] = [
    RGBColor(213, 94, 0),
    RGBColor(0, 114, 178),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
    RGBColor(120, 120, 120),
];

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Outcome = Result<(), Box<dyn std::error::Error>>;

/// The drawing of `chart`.
pub fn svg(chart: &GrowthChart) -> String {
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        let drawn = draw(chart, &root);
        drawn.and_then(|()| Ok(root.present()?)).expect("a drawing in memory cannot fail to be written");
    }
    text
}

fn draw(chart: &GrowthChart, area: &Area<'_>) -> Outcome {
    area.fill(&WHITE)?;
    let window = window(chart);
    let range = |(low, high): (f64, f64)| 10_f64.powf(low)..10_f64.powf(high);
    let mut plot = ChartBuilder::on(area)
        .margin_top(64)
        .margin_right(24)
        .margin_bottom(8)
        .x_label_area_size(46)
        .y_label_area_size(80)
        .build_cartesian_2d(range(window.x).log_scale(), range(window.y).log_scale())?;
    plot.configure_mesh()
        .axis_style(QUIET)
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .disable_x_mesh()
        // The sizes themselves are written below, not powers of ten.
        .x_labels(0)
        .x_label_formatter(&|_| String::new())
        .set_tick_mark_size(LabelAreaPosition::Bottom, 0)
        .y_labels(8)
        .y_label_formatter(&|secs| time(*secs))
        .label_style(("sans-serif", 13).into_font().color(&INK))
        .x_desc("size")
        .draw()?;
    let (across, upward) = plot.plotting_area().get_pixel_range();
    let frame = Frame::new(window, across, upward, area.get_base_pixel());
    heading(chart, area)?;
    sizes(chart, &frame, area)?;
    let shown = || chart.lines.iter().take(SHOWN).zip(COLORS);
    for (line, ink) in shown() {
        operation(line, chart.next, ink, &frame, area)?;
    }
    labels(chart, &frame, area)
}

fn time(secs: f64) -> String {
    Nanos((secs * 1e9).round() as i64).to_string()
}

fn heading(chart: &GrowthChart, area: &Area<'_>) -> Outcome {
    area.draw(&Text::new("Time by size", (16, 12), ("sans-serif", 20).into_font().color(&INK)))?;
    area.draw(&Text::new(left_out(chart), (16, 38), ("sans-serif", 13).into_font().color(&QUIET)))?;
    Ok(())
}

/// A line up from each size that has room for its name.
fn sizes(chart: &GrowthChart, frame: &Frame, area: &Area<'_>) -> Outcome {
    let mut named: Vec<i32> = Vec::new();
    for size in ticks(chart) {
        let (x, bottom) = (frame.at(size, 1.0).0, frame.upward.1);
        area.draw(&PathElement::new(vec![(x, frame.upward.0), (x, bottom)], GRID.stroke_width(1)))?;
        if named.iter().all(|other| (other - x).abs() >= TICK_ROOM) {
            area.draw(&Text::new(three_digits(size), (x, bottom + 7), style(INK, HPos::Center, VPos::Top)))?;
            named.push(x);
        }
    }
    Ok(())
}

fn operation(line: &GrowthLine, next: Option<f64>, ink: RGBColor, frame: &Frame, area: &Area<'_>) -> Outcome {
    let at = |(size, secs): (f64, f64)| frame.at(size, secs);
    if let Some(fit) = &line.fit {
        area.draw(&PathElement::new(vec![at(fit.from), at(fit.to)], ink.stroke_width(2)))?;
        if let (Some(size), Some(secs)) = (next, fit.next) {
            extrapolated(fit, (size, secs), ink, frame, area)?;
        }
    }
    for point in &line.points {
        area.draw(&Circle::new(at(*point), 4, ink.filled()))?;
    }
    Ok(())
}

/// The law in dashes to `then`, a ring there, and its interval as a bar.
fn extrapolated(fit: &GrowthFit, then: (f64, f64), ink: RGBColor, frame: &Frame, area: &Area<'_>) -> Outcome {
    let (from, to) = (frame.at(fit.to.0, fit.to.1), frame.at(then.0, then.1));
    let length = f64::from(to.0 - from.0).hypot(f64::from(to.1 - from.1));
    let on_the_way = |part: f64| {
        let between = |from: i32, to: i32| f64::from(from) + part * f64::from(to - from);
        (between(from.0, to.0).round() as i32, between(from.1, to.1).round() as i32)
    };
    for dash in 0..(length / (2.0 * DASH)) as usize {
        let start = dash as f64 * 2.0 * DASH / length;
        let dash = vec![on_the_way(start), on_the_way((start + DASH / length).min(1.0))];
        area.draw(&PathElement::new(dash, ink.stroke_width(2)))?;
    }
    if let Some(between) = fit.between {
        let (low, high) = (frame.at(then.0, between.low), frame.at(then.0, between.high));
        area.draw(&PathElement::new(vec![low, high], ink.stroke_width(1)))?;
        for (x, y) in [low, high] {
            area.draw(&PathElement::new(vec![(x - 4, y), (x + 4, y)], ink.stroke_width(1)))?;
        }
    }
    area.draw(&Circle::new(to, 5, WHITE.filled()))?;
    area.draw(&Circle::new(to, 5, ink.stroke_width(2)))?;
    Ok(())
}

/// Name and exponent of each operation beside its largest size.
fn labels(chart: &GrowthChart, frame: &Frame, area: &Area<'_>) -> Outcome {
    let shown = || chart.lines.iter().take(SHOWN);
    let disk = |(size, secs): &(f64, f64)| {
        let (x, y) = frame.at(*size, *secs);
        (f64::from(x) - 4.0, f64::from(y) - 4.0, f64::from(x) + 4.0, f64::from(y) + 4.0)
    };
    // Names lie on neither disks nor dashes.
    let dashes = |line: &GrowthLine| {
        let ends = line.fit.and_then(|fit| Some((fit.to, (chart.next?, fit.next?))));
        let along = |part: f64, (from, to): ((f64, f64), (f64, f64))| {
            (from.0 * (to.0 / from.0).powf(part), from.1 * (to.1 / from.1).powf(part))
        };
        ends.into_iter().flat_map(move |ends| (0..=16).map(move |step| along(f64::from(step) / 16.0, ends)))
    };
    let marks = shown().flat_map(|line| line.points.iter().copied().chain(dashes(line)));
    let mut taken: Vec<Taken> = marks.map(|mark| disk(&mark)).collect();
    for (line, ink) in shown().zip(COLORS) {
        let Some(point) = line.points.last() else { continue };
        let exponent = line.fit.map_or(String::new(), |fit| format!("  N^{:.2}", fit.exponent));
        let label = format!("{}{exponent}", short(&escape_controls(&line.operation)));
        let Some(place) = place(frame.at(point.0, point.1), 4.0, &label, frame, &taken) else { continue };
        area.draw(&Text::new(label, (place.0 as i32, place.1 as i32), style(ink, HPos::Left, VPos::Top)))?;
        taken.push(place);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaling::example;

    #[test]
    fn names_exponents_and_sizes_are_written_and_escaped() {
        let drawing = svg(&example());
        let texts: Vec<&str> = drawing.lines().map(str::trim).collect();
        for text in
            ["project  N^3.00", "&lt;filter &amp; sum&gt;", "256", "128", "32", "rings are extrapolated", "size"]
        {
            assert!(texts.contains(&text), "{text}:\n{drawing}");
        }
        assert_eq!(drawing.matches("<circle").count(), 7, "five measured, and a ring in white and in color");
    }

    #[test]
    fn one_size_alone_can_be_drawn() {
        let mut chart = example();
        chart.next = None;
        chart.lines.remove(0);
        assert!(svg(&chart).contains("sum"));
    }
}
