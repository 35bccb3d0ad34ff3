//! A roofline as SVG: roofs, points sized by their share of the time and colored by what bounds them, and a thin line
//! from each to where other counts of bytes would put it: XLA's, or those of the levels of memory further in.

use super::{left_out, window};
use crate::drawing::{Frame, GRID, INK, QUIET, Taken, place, short, style};
use crate::escape_controls;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};
use ridgeline::units::{BytesPerSec, FlopsPerSec};
use ridgeline::{Bound, Chart, ChartPoint};

/// Size of the drawing of one device.
const SIZE: (u32, u32) = (1000, 640);
/// Points with their names written beside them.
const LABELED: usize = 8;
/// The colors of Okabe and Ito, "Color Universal Design" (2008), which people of all color visions tell apart.
fn color(bound: Option<Bound>) -> RGBColor {
    match bound {
        Some(Bound::Compute) => RGBColor(213, 94, 0),
        Some(Bound::Memory) => RGBColor(0, 114, 178),
        Some(Bound::Launch) => RGBColor(230, 159, 0),
        Some(Bound::Unknown) | None => RGBColor(120, 120, 120),
    }
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Outcome = Result<(), Box<dyn std::error::Error>>;

/// `charts` one under the other.
pub fn svg(charts: &[Chart]) -> String {
    let mut text = String::new();
    let size = (SIZE.0, SIZE.1 * charts.len().max(1) as u32);
    {
        let root = SVGBackend::with_string(&mut text, size).into_drawing_area();
        let drawn = draw_all(&root, charts);
        drawn.and_then(|()| Ok(root.present()?)).expect("a drawing in memory cannot fail to be written");
    }
    text
}

fn draw_all(root: &Area<'_>, charts: &[Chart]) -> Outcome {
    root.fill(&WHITE)?;
    let areas = root.split_evenly((charts.len().max(1), 1));
    charts.iter().zip(&areas).try_for_each(|(chart, area)| draw(chart, area))
}

fn draw(chart: &Chart, area: &Area<'_>) -> Outcome {
    let window = window(chart);
    let range = |(low, high): (f64, f64)| 10_f64.powf(low)..10_f64.powf(high);
    let (x, y) = (range(window.x), range(window.y));
    let mut plot = ChartBuilder::on(area)
        .margin_top(64)
        .margin_right(24)
        .margin_bottom(8)
        .x_label_area_size(46)
        .y_label_area_size(96)
        .build_cartesian_2d(x.log_scale(), y.log_scale())?;
    plot.configure_mesh()
        .axis_style(QUIET)
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .x_labels(decades(window.x))
        .y_labels(decades(window.y))
        .x_label_formatter(&|value| tick(*value))
        .y_label_formatter(&|value| FlopsPerSec(*value).to_string())
        .label_style(("sans-serif", 13).into_font().color(&INK))
        .x_desc(chart.intensity)
        .draw()?;
    // Marks are placed in pixels: their sizes and labels are.
    let (across, upward) = plot.plotting_area().get_pixel_range();
    let frame = Frame::new(window, across, upward, area.get_base_pixel());
    heading(chart, area)?;
    roofs(chart, &frame, area)?;
    points(chart, &frame, area)?;
    Ok(())
}

fn decades((low, high): (f64, f64)) -> usize {
    ((high - low).ceil() as usize + 1).clamp(3, 12)
}

fn tick(value: f64) -> String {
    if (0.001..10_000.0).contains(&value) { format!("{value}") } else { format!("{value:e}") }
}

fn heading(chart: &Chart, area: &Area<'_>) -> Outcome {
    let title = ("sans-serif", 20).into_font().color(&INK);
    let small = ("sans-serif", 13).into_font().color(&QUIET);
    area.draw(&Text::new(escape_controls(&chart.device).into_owned(), (16, 12), title))?;
    let parts = [format!("roofs: {}", chart.basis), left_out(chart)];
    let parts: Vec<&str> = parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    area.draw(&Text::new(parts.join("; "), (16, 38), small.clone()))?;
    let mut x = SIZE.0 as i32 - 390;
    for bound in [Bound::Compute, Bound::Memory, Bound::Launch, Bound::Unknown] {
        area.draw(&Circle::new((x, 22), 6, color(Some(bound)).mix(0.6).filled()))?;
        area.draw(&Text::new(bound.name(), (x + 11, 15), small.clone()))?;
        x += 94;
    }
    Ok(())
}

/// Each roof from the fastest slope to the right edge, and the slopes themselves.
fn roofs(chart: &Chart, frame: &Frame, area: &Area<'_>) -> Outcome {
    let (left, right) = (frame.window.across(0.0), frame.window.across(1.0));
    let highest = chart.roofs.first().map(|roof| roof.flops_per_sec);
    for slope in &chart.slopes {
        let bandwidth = slope.bytes_per_sec;
        // Without a peak it leaves the window at the top.
        let ridge = (highest.unwrap_or(10_f64.powf(frame.window.y.1)) / bandwidth).clamp(left, right);
        // The slope begins where it enters the window, at the left or at the bottom.
        let start = left.max(10_f64.powf(frame.window.y.0) / bandwidth);
        let line = vec![frame.at(start, start * bandwidth), frame.at(ridge, ridge * bandwidth)];
        let (from, to) = (line[0], line[1]);
        area.draw(&PathElement::new(line, INK.stroke_width(2)))?;
        let label = format!("{} {}", slope.name, BytesPerSec(bandwidth));
        let at = (from.0 + (to.0 - from.0) / 3, from.1 + (to.1 - from.1) / 3);
        area.draw(&Text::new(label, (at.0 - 8, at.1 - 6), style(INK, HPos::Right, VPos::Bottom)))?;
    }
    for roof in &chart.roofs {
        let fastest = chart.slopes.first();
        let ridge = fastest.map_or(left, |slope| (roof.flops_per_sec / slope.bytes_per_sec).clamp(left, right));
        let rate = chart.attainable(roof.flops_per_sec, right);
        let line = vec![frame.at(ridge, rate), frame.at(right, rate)];
        let end = line[1];
        area.draw(&PathElement::new(line, INK.stroke_width(2)))?;
        let label = format!("{} {}", roof.name, FlopsPerSec(roof.flops_per_sec));
        area.draw(&Text::new(label, (end.0 - 4, end.1 - 4), style(INK, HPos::Right, VPos::Bottom)))?;
    }
    Ok(())
}

fn points(chart: &Chart, frame: &Frame, area: &Area<'_>) -> Outcome {
    for point in &chart.points {
        ghosts(point, frame, area)?;
    }
    // The largest are drawn first so that they hide nobody.
    for point in &chart.points {
        let at = frame.at(point.intensity, point.flops_per_sec);
        let ink = color(point.bound);
        area.draw(&Circle::new(at, radius(point), ink.mix(0.45).filled()))?;
        area.draw(&Circle::new(at, radius(point), ink.stroke_width(1)))?;
    }
    labels(chart, frame, area)
}

fn radius(point: &ChartPoint) -> i32 {
    (3.0 + 17.0 * point.share.clamp(0.0, 1.0).sqrt()).round() as i32
}

/// A thin line to where each other count of bytes would put the point.
fn ghosts(point: &ChartPoint, frame: &Frame, area: &Area<'_>) -> Outcome {
    let own = frame.at(point.intensity, point.flops_per_sec);
    for other in &point.others {
        let at = frame.at(other.intensity, point.flops_per_sec);
        if (own.0 - at.0).abs() <= radius(point) {
            continue;
        }
        area.draw(&PathElement::new(vec![own, at], QUIET.mix(0.5).stroke_width(1)))?;
        area.draw(&Circle::new(at, 3, QUIET.mix(0.7).stroke_width(1)))?;
        area.draw(&Text::new(other.label, (at.0, at.1 + 5), style(QUIET, HPos::Center, VPos::Top)))?;
    }
    Ok(())
}

fn labels(chart: &Chart, frame: &Frame, area: &Area<'_>) -> Outcome {
    let mut taken: Vec<Taken> = chart
        .points
        .iter()
        .map(|point| {
            let ((x, y), r) = (frame.at(point.intensity, point.flops_per_sec), f64::from(radius(point)));
            (f64::from(x) - r, f64::from(y) - r, f64::from(x) + r, f64::from(y) + r)
        })
        .collect();
    for point in chart.points.iter().take(LABELED) {
        let name = short(&escape_controls(&point.name));
        let at = frame.at(point.intensity, point.flops_per_sec);
        let Some(place) = place(at, f64::from(radius(point)), &name, frame, &taken) else { continue };
        area.draw(&Text::new(name, (place.0 as i32, place.1 as i32), style(INK, HPos::Left, VPos::Top)))?;
        taken.push(place);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roofline::{example, example_of_levels};

    #[test]
    fn names_and_roofs_are_written_and_escaped() {
        let drawing = svg(&[example(), Chart { device: "Maker X2".to_owned(), ..example() }]);
        for text in
            ["Maker X1", "Maker X2", "dot.1", "&lt;loop &amp; fusion&gt;", "bf16 matrix 1 PFLOP/s", "memory 1 TB/s"]
        {
            assert!(drawing.contains(text), "{text}:\n{drawing}");
        }
        assert!(drawing.contains("height=\"1280\""), "one under the other");
    }

    #[test]
    fn each_level_has_its_slope_and_its_mark() {
        let drawing = svg(&[example_of_levels()]);
        for text in ["L1 20 TB/s", "L2 5 TB/s", "DRAM 1 TB/s"] {
            assert!(drawing.contains(text), "{text}:\n{drawing}");
        }
        let marks = |label: &str| drawing.lines().filter(|line| line.trim() == label).count();
        assert_eq!((marks("L1"), marks("L2")), (3, 3), "three points\n{drawing}");
    }
}
