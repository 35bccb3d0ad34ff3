//! Drawings of rooflines as SVG, and the scales that the terminal's drawing shares with them.
//!
//! Both axes are logarithmic: operations per byte to the right, operations per second upward.
//! Nothing is computed here but where a mark goes.

mod svg;

pub use svg::svg;

use crate::plot::{Window, span};
use ridgeline::Chart;
use ridgeline::units::Share;

/// Decades that an axis shows at least.
const LEAST_DECADES: f64 = 2.0;

/// The window that holds all points of `chart`, its roofs and where they meet the memory's slopes.
pub(crate) fn window(chart: &Chart) -> Window {
    let ridges = chart
        .roofs
        .iter()
        .flat_map(|roof| chart.slopes.iter().map(move |slope| roof.flops_per_sec / slope.bytes_per_sec));
    let others = chart.points.iter().flat_map(|point| &point.others).map(|other| other.intensity);
    let intensities = chart.points.iter().map(|point| point.intensity).chain(others);
    let rates = chart.points.iter().map(|point| point.flops_per_sec);
    let roofs = chart.roofs.iter().map(|roof| roof.flops_per_sec);
    Window { x: span(intensities.chain(ridges), 0.4, LEAST_DECADES), y: span(rates.chain(roofs), 0.3, LEAST_DECADES) }
}

/// What the drawing leaves out, in words; empty where that is nothing.
pub(crate) fn left_out(chart: &Chart) -> String {
    if chart.share_left_out < 0.0005 {
        return String::new();
    }
    format!("{} of the time is not drawn: its work is unknown or has no arithmetic", Share(chart.share_left_out))
}

#[cfg(test)]
pub(crate) fn example() -> Chart {
    use ridgeline::{Bound, ChartPoint, ChartRoof, ChartSlope, OtherIntensity};
    let point = |name: &str, intensity, flops_per_sec, share, bound| ChartPoint {
        name: name.to_owned(),
        intensity,
        others: vec![OtherIntensity { label: "", intensity: intensity / 4.0 }],
        flops_per_sec,
        share,
        bound: Some(bound),
    };
    Chart {
        device: "Maker X1".to_owned(),
        basis: "data sheet".to_owned(),
        intensity: "operations per byte of compulsory traffic",
        slopes: vec![ChartSlope { name: "memory".to_owned(), bytes_per_sec: 1e12 }],
        roofs: vec![
            ChartRoof { name: "bf16 matrix".to_owned(), flops_per_sec: 1e15 },
            ChartRoof { name: "f32 plain".to_owned(), flops_per_sec: 6e13 },
        ],
        points: vec![
            point("dot.1", 2000.0, 7e14, 0.6, Bound::Compute),
            point("<loop & fusion>", 0.25, 2e11, 0.3, Bound::Memory),
            point("tiny", 8.0, 1e10, 0.05, Bound::Launch),
        ],
        share_left_out: 0.05,
    }
}

/// A drawing with the three levels of memory.
#[cfg(test)]
pub(crate) fn example_of_levels() -> Chart {
    use ridgeline::{ChartSlope, OtherIntensity};
    let slope = |name: &str, bytes_per_sec| ChartSlope { name: name.to_owned(), bytes_per_sec };
    let mut chart = example();
    chart.slopes = vec![slope("L1", 2e13), slope("L2", 5e12), slope("DRAM", 1e12)];
    for point in &mut chart.points {
        let other = |label, part: f64| OtherIntensity { label, intensity: point.intensity / part };
        point.others = vec![other("L2", 3.0), other("L1", 20.0)];
    }
    chart
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_holds_points_roofs_and_where_they_meet() {
        let chart = example();
        let window = window(&chart);
        for point in &chart.points {
            assert!((0.01..0.99).contains(&window.right(point.intensity)), "{point:?}");
            assert!((0.01..0.99).contains(&window.up(point.flops_per_sec)), "{point:?}");
        }
        assert!(window.right(1000.0) < 1.0 && window.up(1e15) < 1.0);
        assert!((window.across(window.right(8.0)) - 8.0).abs() < 1e-9);
        assert_eq!(chart.attainable(1e15, 10.0), 1e13);
    }

    #[test]
    fn nothing_to_draw_still_has_axes() {
        let empty = Chart { points: Vec::new(), roofs: Vec::new(), slopes: Vec::new(), ..example() };
        assert_eq!(window(&empty), Window { x: (0.0, 2.0), y: (0.0, 2.0) });
        assert!(svg(&[empty]).contains("Maker X1"));
    }
}
