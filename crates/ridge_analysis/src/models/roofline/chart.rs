//! The numbers of a roofline drawing, for whoever draws it.

use super::rows::RooflineRow;
use crate::Analysis;
use crate::device::{Ceilings, Limit};
use crate::models::work::Bound;
use ridge_table::Basis;

/// One horizontal roof: a peak rate.
#[derive(Debug, Clone, PartialEq)]
pub struct ChartRoof {
    /// Its name: `bf16 matrix`.
    pub name: String,
    /// Operations per second.
    pub flops_per_sec: f64,
}

/// One sloping roof: a bandwidth.
#[derive(Debug, Clone, PartialEq)]
pub struct ChartSlope {
    /// Its name: `memory`, or that of a level.
    pub name: String,
    /// Bytes per second, positive.
    pub bytes_per_sec: f64,
}

/// The intensity of a row by another count of bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct OtherIntensity {
    /// Whose bytes: `L2`; empty for XLA's, of which every row has one.
    pub label: &'static str,
    /// Operations per byte, positive.
    pub intensity: f64,
}

/// One row of the roofline.
#[derive(Debug, Clone, PartialEq)]
pub struct ChartPoint {
    /// Its name.
    pub name: String,
    /// Operations per byte, positive: of compulsory traffic, or at the outermost level whose traffic is known.
    pub intensity: f64,
    /// The same by other counts of bytes: XLA's, or those of the levels further in.
    pub others: Vec<OtherIntensity>,
    /// Operations per second, positive.
    pub flops_per_sec: f64,
    /// Part of the measured time of all rows on this kind of device, 0 to 1.
    pub share: f64,
    /// What bounds it; `None` where no roof is known.
    pub bound: Option<Bound>,
}

/// The drawing of one kind of device.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// The device's name.
    pub device: String,
    /// Where its ceilings are from, in a few words.
    pub basis: String,
    /// What the axis of intensities is, in words.
    pub intensity: &'static str,
    /// The bandwidths of its memory, where known, fastest first.
    pub slopes: Vec<ChartSlope>,
    /// Its peak rates that some point needs, highest first.
    pub roofs: Vec<ChartRoof>,
    /// The points, most time first.
    pub points: Vec<ChartPoint>,
    /// Part of the measured time that has no place in the drawing: unknown work, or none.
    pub share_left_out: f64,
}

impl Chart {
    /// The rate that a roof of `flops_per_sec` allows at `intensity`: the lesser of the peak and intensity times the fastest
    /// bandwidth.
    pub fn attainable(&self, flops_per_sec: f64, intensity: f64) -> f64 {
        self.slopes.first().map_or(flops_per_sec, |slope| flops_per_sec.min(intensity * slope.bytes_per_sec))
    }
}

/// One chart per kind of device that did countable work.
pub(crate) fn charts(analysis: &Analysis<'_>, rows: &[RooflineRow]) -> Vec<Chart> {
    let classes = analysis.workload().classes.iter().enumerate();
    let charts = classes.map(|(class, ceilings)| {
        let own: Vec<&RooflineRow> = rows.iter().filter(|row| row.class as usize == class).collect();
        chart(ceilings, &own)
    });
    charts.filter(|chart| !chart.points.is_empty()).collect()
}

fn chart(ceilings: &Ceilings, rows: &[&RooflineRow]) -> Chart {
    let all: f64 = rows.iter().map(|row| row.sums.self_ns()).sum();
    let points: Vec<ChartPoint> = rows.iter().filter_map(|row| point(row, all)).collect();
    let shown: f64 = points.iter().map(|point| point.share).sum();
    let memory = ceilings.value(Limit::Memory).into_iter();
    let slopes = memory.map(|bytes_per_sec| ChartSlope { name: "memory".to_owned(), bytes_per_sec });
    Chart {
        device: ceilings.device.clone(),
        basis: basis(ceilings),
        intensity: "operations per byte of compulsory traffic",
        slopes: slopes.collect(),
        roofs: roofs(ceilings, rows),
        points,
        share_left_out: (1.0 - shown).clamp(0.0, 1.0),
    }
}

fn point(row: &RooflineRow, all: f64) -> Option<ChartPoint> {
    let sums = &row.sums;
    let positive = |value: Option<f64>| value.filter(|value| *value > 0.0 && value.is_finite());
    let xla = positive(sums.xla_intensity());
    Some(ChartPoint {
        name: row.name.clone(),
        intensity: positive(sums.intensity())?,
        others: xla.map(|intensity| OtherIntensity { label: "", intensity }).into_iter().collect(),
        flops_per_sec: positive(sums.flops_per_sec())?,
        share: if all > 0.0 { sums.self_ns() / all } else { 0.0 },
        bound: sums.bound(),
    })
}

/// The ceilings of the rates that rows are bounded by, highest first; roofs of one height are one.
fn roofs(ceilings: &Ceilings, rows: &[&RooflineRow]) -> Vec<ChartRoof> {
    let mut limits: Vec<Limit> = rows.iter().filter_map(|row| row.sums.roof()).collect();
    limits.sort_unstable();
    limits.dedup();
    let mut roofs: Vec<ChartRoof> = limits
        .into_iter()
        .filter_map(|limit| {
            let flops_per_sec = ceilings.value(limit)?;
            Some(ChartRoof { name: limit.to_string().replace('.', " "), flops_per_sec })
        })
        .collect();
    roofs.sort_by(|one, other| other.flops_per_sec.total_cmp(&one.flops_per_sec));
    roofs.dedup_by(|next, first| {
        let is_same = next.flops_per_sec == first.flops_per_sec;
        if is_same {
            first.name = format!("{}, {}", first.name, next.name);
        }
        is_same
    });
    roofs
}

fn basis(ceilings: &Ceilings) -> String {
    let has = |basis| ceilings.entries.iter().any(|entry| entry.basis == basis);
    let words =
        [(Basis::Measured, "measured ceilings"), (Basis::Sheet, "data sheet"), (Basis::Capture, "the capture's word")];
    let found: Vec<&str> = words.into_iter().filter(|(basis, _)| has(*basis)).map(|(_, words)| words).collect();
    if found.is_empty() { "no ceilings known".to_owned() } else { found.join(", ") }
}
