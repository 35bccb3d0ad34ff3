//! Drawings of growth: times by size on logarithmic axes, where a power law is a straight line.
//!
//! Nothing is computed here but where a mark goes.

mod svg;

pub use svg::svg;

use crate::plot::{Window, span};
use ridgeline::{GrowthChart, GrowthLine};

/// Operations that a drawing has room for; the others take less time.
pub(crate) const SHOWN: usize = 8;

/// The window that holds all that is shown of `chart`.
pub(crate) fn window(chart: &GrowthChart) -> Window {
    let shown = || chart.lines.iter().take(SHOWN);
    let points = || shown().flat_map(|line| &line.points);
    let fits = || shown().filter_map(|line| line.fit);
    let sizes = points().map(|(size, _)| *size).chain(chart.next);
    let intervals = fits().filter_map(|fit| fit.between).flat_map(|between| [between.low, between.high]);
    let times = points().map(|(_, secs)| *secs).chain(fits().filter_map(|fit| fit.next)).chain(intervals);
    Window { x: span(sizes, 0.06, 0.3), y: span(times, 0.15, 1.0) }
}

/// The sizes that the lower axis names: the next one first, then from the largest to the smallest.
pub(crate) fn ticks(chart: &GrowthChart) -> Vec<f64> {
    let lines = chart.lines.iter().take(SHOWN);
    let mut sizes: Vec<f64> = lines.flat_map(|line: &GrowthLine| line.points.iter().map(|(size, _)| *size)).collect();
    sizes.sort_by(|one, other| other.total_cmp(one));
    sizes.dedup();
    chart.next.into_iter().chain(sizes).collect()
}

/// What the marks are and what is left out, in words.
pub(crate) fn left_out(chart: &GrowthChart) -> String {
    let mut words = Vec::new();
    if chart.next.is_some() {
        words.push("rings are extrapolated".to_owned());
    }
    match chart.lines.len().saturating_sub(SHOWN) {
        0 => {}
        1 => words.push("1 operation that takes less is not drawn".to_owned()),
        more => words.push(format!("{more} operations that take less are not drawn")),
    }
    words.join("; ")
}

#[cfg(test)]
pub(crate) fn example() -> GrowthChart {
    use ridgeline::{Between, GrowthFit};
    let project = GrowthFit {
        exponent: 3.0,
        from: (32.0, 0.03),
        to: (128.0, 1.92),
        next: Some(15.4),
        between: Some(Between { low: 12.0, high: 20.0 }),
    };
    let line = |operation: &str, points: &[(f64, f64)], fit| GrowthLine {
        operation: operation.to_owned(),
        points: points.to_vec(),
        fit,
    };
    GrowthChart {
        next: Some(256.0),
        lines: vec![
            line("project", &[(32.0, 0.03), (64.0, 0.25), (96.0, 0.8), (128.0, 1.92)], Some(project)),
            line("<filter & sum>", &[(128.0, 0.002)], None),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_holds_what_was_measured_and_what_is_predicted() {
        let chart = example();
        let window = window(&chart);
        for (size, secs) in
            chart.lines.iter().flat_map(|line| &line.points).copied().chain([(256.0, 20.0), (256.0, 12.0)])
        {
            assert!(
                (0.01..0.99).contains(&window.right(size)) && (0.01..0.99).contains(&window.up(secs)),
                "{size} {secs}"
            );
        }
        assert_eq!(ticks(&chart), [256.0, 128.0, 96.0, 64.0, 32.0]);
    }

    #[test]
    fn what_has_no_room_is_counted() {
        let mut chart = example();
        chart.lines = vec![chart.lines[0].clone(); SHOWN + 2];
        assert_eq!(left_out(&chart), "rings are extrapolated; 2 operations that take less are not drawn");
    }
}
