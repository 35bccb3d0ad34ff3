//! The numbers of a drawing of growth, for whoever draws it: times by size, the law through them, and what it says of the
//! next size.

use super::next::telling;
use super::power_law::Between;
use super::series::Series;

/// The drawing of several operations over their sizes.
#[derive(Debug, Clone, PartialEq)]
pub struct GrowthChart {
    /// The size that the laws are extrapolated to; `None` where fewer than two sizes are known.
    pub next: Option<f64>,
    /// The operations that were timed, the longest at its largest size first.
    pub lines: Vec<GrowthLine>,
}

/// One operation.
#[derive(Debug, Clone, PartialEq)]
pub struct GrowthLine {
    /// Its name.
    pub operation: String,
    /// Sizes and median times in seconds, all positive, sizes ascending; at least one.
    pub points: Vec<(f64, f64)>,
    /// The law through the times; `None` for fewer than two sizes.
    pub fit: Option<GrowthFit>,
}

/// A power law as a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GrowthFit {
    /// The exponent of time in the size.
    pub exponent: f64,
    /// Size and time in seconds where it begins: the smallest size, or the bend.
    pub from: (f64, f64),
    /// The same at the largest size that was timed.
    pub to: (f64, f64),
    /// Time at the chart's next size, seconds.
    pub next: Option<f64>,
    /// The 95% interval of a measurement there, where it tells something.
    pub between: Option<Between>,
}

/// The drawing of `series`, extrapolated to the size `next`.
pub fn growth_chart(series: &[Series], next: Option<f64>) -> GrowthChart {
    let next = next.filter(|size| *size > 0.0 && size.is_finite());
    let mut lines: Vec<GrowthLine> = series.iter().filter_map(|series| line(series, next)).collect();
    let last = |line: &GrowthLine| line.points.last().map_or(0.0, |point| point.1);
    lines.sort_by(|a, b| last(b).total_cmp(&last(a)));
    GrowthChart { next, lines }
}

fn line(series: &Series, next: Option<f64>) -> Option<GrowthLine> {
    let timed = series.points.iter().filter_map(|point| Some((point.size, point.time_s?)));
    let points: Vec<(f64, f64)> = timed.filter(|(size, time)| *size > 0.0 && *time > 0.0).collect();
    let (first, last) = (points.first()?.0, points.last()?.0);
    let fit = series.growth(|point| point.time_s).map(|growth| {
        let (law, from) = (growth.law, growth.bend.map_or(first, |bend| bend.size));
        GrowthFit {
            exponent: law.exponent,
            from: (from, law.at(from)),
            to: (last, law.at(last)),
            next: next.map(|size| law.at(size)),
            between: next.and_then(|size| telling(&law, size)),
        }
    });
    Some(GrowthLine { operation: series.operation.clone(), points, fit })
}
