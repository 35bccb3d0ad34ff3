//! Counters of each device, such as those of a monitor's log, over the part of the capture in which the device worked.
//!
//! What a counter means is told by its name ([`Meaning`]), as the monitors write it.

mod meaning;

pub use meaning::{Meaning, unit_of};

use crate::{Analysis, Shared};
use ridge_trace::{DeviceRow, EventKind, NONE, StringId, Trace};
use std::collections::BTreeMap;

/// The samples that a row's numbers are over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// From the first device work to the last, as the trace beside them has it.
    Work,
    /// From the first sample in which the device was in use to the last, as the counters themselves say.
    Use,
    /// All of them.
    All,
}

impl Over {
    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Over::Work => "device work",
            Over::Use => "in use",
            Over::All => "all samples",
        }
    }
}

/// One counter of one device.
#[derive(Debug, Clone, PartialEq)]
pub struct CounterRow {
    /// The device; `None` where the capture names none.
    pub device: Option<DeviceRow>,
    /// Its name, with its unit as the capture writes it.
    pub metric: StringId,
    /// What it means, where its name says it.
    pub meaning: Option<Meaning>,
    /// The samples of the numbers below.
    pub over: Over,
    /// How many those are; at least one.
    pub samples: u64,
    /// How many the capture has.
    pub all_samples: u64,
    /// The smallest value, in the counter's unit, as are those that follow.
    pub min: f64,
    /// The mean; each sample weighs the same.
    pub mean: f64,
    /// The value that 95% of the samples do not exceed (nearest rank).
    pub p95: f64,
    /// The largest value.
    pub max: f64,
    /// The values themselves with their times, in order of time.
    pub values: Vec<(i64, f64)>,
}

/// Every counter, by device and then as the capture names them.
#[derive(Debug)]
pub struct CounterRows(pub Vec<CounterRow>);

impl CounterRows {
    /// The counter of `device` that means `meaning`.
    pub fn find(&self, device: Option<DeviceRow>, meaning: Meaning) -> Option<&CounterRow> {
        self.0.iter().find(|row| row.device == device && row.meaning == Some(meaning))
    }
}

impl Shared for CounterRows {
    fn make(analysis: &Analysis<'_>) -> CounterRows {
        let (trace, counters) = (analysis.trace, &analysis.trace.counters);
        let mut order: BTreeMap<StringId, usize> = BTreeMap::new();
        let mut found: BTreeMap<(u32, usize), Vec<(i64, f64)>> = BTreeMap::new();
        for (at, metric) in counters.metric.iter().enumerate() {
            let next = order.len();
            let place = *order.entry(*metric).or_insert(next);
            found.entry((counters.device[at], place)).or_default().push((counters.time_ns[at], counters.value[at]));
        }
        let mut metrics: Vec<(usize, StringId)> = order.into_iter().map(|(metric, place)| (place, metric)).collect();
        metrics.sort_unstable();
        let spans = Spans::of(trace, &found, &metrics);
        let rows = found
            .into_iter()
            .filter_map(|((device, place), values)| row(trace, device, metrics[place].1, values, &spans));
        CounterRows(rows.collect())
    }
}

fn row(trace: &Trace, device: u32, metric: StringId, mut all: Vec<(i64, f64)>, spans: &Spans) -> Option<CounterRow> {
    all.retain(|(_, value)| value.is_finite());
    all.sort_by_key(|(time, _)| *time);
    let all_samples = all.len() as u64;
    let within = |(first, last): (i64, i64)| -> Vec<(i64, f64)> {
        all.iter().copied().filter(|(time, _)| (first..=last).contains(time)).collect()
    };
    let tried = [(Over::Work, spans.work(device)), (Over::Use, spans.used.get(&device).copied())];
    let (over, values) = (tried.into_iter())
        .filter_map(|(over, span)| Some((over, within(span?))))
        .find(|(_, values)| !values.is_empty())
        .unwrap_or_else(|| (Over::All, all.clone()));
    let mut sorted: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
    sorted.sort_by(f64::total_cmp);
    let rank = (0.95 * sorted.len() as f64).ceil() as usize;
    Some(CounterRow {
        device: (device != NONE).then_some(DeviceRow(device)),
        metric,
        meaning: Meaning::of(trace.strings.get(metric)),
        over,
        samples: sorted.len() as u64,
        all_samples,
        min: *sorted.first()?,
        mean: sorted.iter().sum::<f64>() / sorted.len() as f64,
        p95: *sorted.get(rank.max(1) - 1)?,
        max: *sorted.last()?,
        values,
    })
}

/// When devices worked, by their rows.
struct Spans {
    worked: BTreeMap<u32, (i64, i64)>,
    used: BTreeMap<u32, (i64, i64)>,
}

impl Spans {
    fn of(trace: &Trace, found: &BTreeMap<(u32, usize), Vec<(i64, f64)>>, metrics: &[(usize, StringId)]) -> Spans {
        let (mut worked, mut used) = (BTreeMap::new(), BTreeMap::new());
        if !trace.counters.has_own_clock {
            for track in trace.device_tracks() {
                for row in track
                    .rows
                    .clone()
                    .map(|row| row as usize)
                    .filter(|row| EventKind::from_byte_is_work(trace.events.kind[*row]))
                {
                    let start = trace.events.start_ns[row];
                    let end = start.saturating_add(trace.events.dur_ns[row]);
                    track.device.iter().for_each(|device| widen(&mut worked, *device, start, end));
                }
            }
        }
        for ((device, place), values) in found {
            if Meaning::of(trace.strings.get(metrics[*place].1)) == Some(Meaning::Utilization) {
                let times = values.iter().filter(|(_, value)| *value > 0.0).map(|(time, _)| *time);
                times.for_each(|time| widen(&mut used, *device, time, time));
            }
        }
        Spans { worked, used }
    }

    /// Of a device that did nothing itself, those of all: it may be the same under another name.
    fn work(&self, device: u32) -> Option<(i64, i64)> {
        let whole = || {
            let first = self.worked.values().map(|(first, _)| *first).min()?;
            Some((first, self.worked.values().map(|(_, last)| *last).max()?))
        };
        self.worked.get(&device).copied().or_else(whole)
    }
}

fn widen(spans: &mut BTreeMap<u32, (i64, i64)>, device: u32, first: i64, last: i64) {
    let span = spans.entry(device).or_insert((first, last));
    *span = (span.0.min(first), span.1.max(last));
}
