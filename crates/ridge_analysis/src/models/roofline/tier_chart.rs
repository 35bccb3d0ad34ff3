//! The drawing of profiled launches: a slope for each level of memory, and of each launch its intensity at each level.

use super::chart::{Chart, ChartPoint, ChartRoof, ChartSlope, OtherIntensity};
use super::launches::Launch as Row;
use super::tiers::{LEVEL_NAMES, Tiers};
use crate::Analysis;
use crate::models::work::Bound;
use ridge_trace::KernelProfile;

/// One chart per model of device that a launch ran on.
pub(super) fn charts(analysis: &Analysis<'_>, rows: &[Row]) -> Vec<Chart> {
    let mut models: Vec<(&str, Vec<&Row>)> = Vec::new();
    for row in rows {
        let model = model(analysis, &row.launch);
        match models.iter_mut().find(|(known, _)| *known == model) {
            Some((_, own)) => own.push(row),
            None => models.push((model, vec![row])),
        }
    }
    let charts = models.into_iter().map(|(model, own)| chart(analysis, model, &own));
    charts.filter(|chart| !chart.points.is_empty()).collect()
}

/// The model of the device that `launch` ran on, as its report has it.
fn model<'a>(analysis: &Analysis<'a>, launch: &KernelProfile) -> &'a str {
    let plane = format!("/device:GPU:{}", launch.device.unwrap_or(0));
    let mut devices = analysis.trace.devices.iter();
    let found = devices.find(|device| device.process == launch.process && device.plane == plane);
    found.and_then(|device| device.model.as_deref()).unwrap_or("a profiled device")
}

fn chart(analysis: &Analysis<'_>, model: &str, rows: &[&Row]) -> Chart {
    let all: f64 = rows.iter().filter_map(|row| row.tiers.secs).sum();
    let points: Vec<ChartPoint> = rows.iter().filter_map(|row| point(analysis, row, all)).collect();
    let shown: f64 = points.iter().map(|point| point.share).sum();
    Chart {
        device: model.to_owned(),
        basis: "measured by the same counters, each the highest of its launches".to_owned(),
        intensity: "operations per byte of a level's traffic, by counters",
        slopes: slopes(rows),
        roofs: roofs(rows),
        points,
        share_left_out: (1.0 - shown).clamp(0.0, 1.0),
    }
}

/// A launch where its outermost known level puts it, with its other levels beside.
fn point(analysis: &Analysis<'_>, row: &Row, all: f64) -> Option<ChartPoint> {
    let tiers = &row.tiers;
    let positive = |value: Option<f64>| value.filter(|value| *value > 0.0 && value.is_finite());
    let levels = LEVEL_NAMES.into_iter().enumerate().rev();
    let mut known =
        levels.filter_map(|(at, label)| Some(OtherIntensity { label, intensity: positive(tiers.intensity(at))? }));
    let intensity = known.next()?.intensity;
    Some(ChartPoint {
        name: analysis.text(row.launch.name).to_owned(),
        intensity,
        others: known.collect(),
        flops_per_sec: positive(tiers.flops_per_sec())?,
        share: if all > 0.0 { tiers.secs? / all } else { 0.0 },
        bound: tiers.binding().map(|roof| if LEVEL_NAMES.contains(&roof) { Bound::Memory } else { Bound::Compute }),
    })
}

/// The levels' bandwidths, fastest first.
fn slopes(rows: &[&Row]) -> Vec<ChartSlope> {
    let levels = LEVEL_NAMES.into_iter().enumerate();
    let mut slopes: Vec<ChartSlope> = levels
        .filter_map(|(at, name)| {
            let bytes_per_sec = highest(rows, |tiers| tiers.levels[at].roof_per_sec)?;
            Some(ChartSlope { name: name.to_owned(), bytes_per_sec })
        })
        .collect();
    slopes.sort_by(|one, other| other.bytes_per_sec.total_cmp(&one.bytes_per_sec));
    slopes
}

/// The peak rates of the types that some launch computed with, highest first.
fn roofs(rows: &[&Row]) -> Vec<ChartRoof> {
    let used = rows.iter().flat_map(|row| &row.tiers.pipes).filter(|(_, pipe)| pipe.amount > Some(0.0));
    let mut names: Vec<&str> = used.map(|(name, _)| *name).collect();
    names.sort_unstable();
    names.dedup();
    let roof = |name: &str, tiers: &Tiers| {
        let own = tiers.pipes.iter().filter(|(pipe, _)| *pipe == name);
        own.filter_map(|(_, pipe)| pipe.roof_per_sec).reduce(f64::max)
    };
    let mut roofs: Vec<ChartRoof> = names
        .into_iter()
        .filter_map(|name| {
            let flops_per_sec = highest(rows, |tiers| roof(name, tiers))?;
            Some(ChartRoof { name: name.to_owned(), flops_per_sec })
        })
        .collect();
    roofs.sort_by(|one, other| other.flops_per_sec.total_cmp(&one.flops_per_sec));
    roofs
}

fn highest(rows: &[&Row], of: impl Fn(&Tiers) -> Option<f64>) -> Option<f64> {
    rows.iter().filter_map(|row| of(&row.tiers)).filter(|rate| *rate > 0.0).reduce(f64::max)
}
