//! The trend of the steps of one capture, by the steps' name.

use super::drift::{Drift, drift};
use crate::{Analysis, Shared};
use ridge_trace::{EventRow, StringId, Trace};
use rustc_hash::FxHashMap;

/// The steps that a capture has, by name, those of the most steps first.
#[derive(Debug, Clone, PartialEq)]
pub struct StepTrends(pub Vec<StepTrend>);

/// Steps of one name, in order of time.
#[derive(Debug, Clone, PartialEq)]
pub struct StepTrend {
    /// Their name.
    pub name: StringId,
    /// Their events.
    pub events: Vec<EventRow>,
    /// Their numbers as the program gave them.
    pub numbers: Vec<i64>,
    /// Their wall times, nanoseconds.
    pub durations_ns: Vec<i64>,
    /// Warm-up, drift and outliers.
    pub drift: Drift,
}

impl Shared for StepTrends {
    fn make(analysis: &Analysis<'_>) -> StepTrends {
        StepTrends(trends(analysis.trace))
    }
}

fn trends(trace: &Trace) -> Vec<StepTrend> {
    let mut by_name: FxHashMap<StringId, Vec<(i64, i64, i64, EventRow)>> = FxHashMap::default();
    for step in &trace.steps {
        let at = step.event as usize;
        let trend = (trace.events.start_ns[at], step.number, trace.events.dur_ns[at], EventRow(step.event));
        by_name.entry(StringId(trace.events.name[at])).or_default().push(trend);
    }
    let trend = |(name, mut steps): (StringId, Vec<(i64, i64, i64, EventRow)>)| {
        steps.sort_unstable();
        let durations_ns: Vec<i64> = steps.iter().map(|(_, _, duration, _)| *duration).collect();
        let drift = drift(&durations_ns.iter().map(|duration| *duration as f64).collect::<Vec<_>>())?;
        let numbers = steps.iter().map(|(_, number, ..)| *number).collect();
        let events = steps.iter().map(|(.., event)| *event).collect();
        Some(StepTrend { name, events, numbers, durations_ns, drift })
    };
    let mut trends: Vec<StepTrend> = by_name.into_iter().filter_map(trend).collect();
    let text = |trend: &StepTrend| trace.strings.get(trend.name);
    trends.sort_by(|a, b| (b.durations_ns.len(), text(a)).cmp(&(a.durations_ns.len(), text(b))));
    trends
}
