//! A capture that is a monitor's log and nothing else: what it can tell, in numbers.

use crate::case::Case;
use ridge_analysis::models::counters::{CounterRow, CounterRows, Meaning};
use std::collections::BTreeSet;

/// Rules that judge a log by itself.
pub(crate) const OF_LOGS: [&str; 3] = ["low-utilization", "clocks-throttled", "near-memory-limit"];

/// What a monitor's log says by itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MonitorLog {
    /// Devices that it is about.
    pub devices: usize,
    /// Samples of the counter that has most.
    pub samples: u64,
    /// The least and the most used device, as a mean over the time in which it was used, 0 to 1; `None` where the log does not say.
    pub used: Option<(f64, f64)>,
    /// The largest part of a device's memory that was taken, 0 to 1; `None` where the log does not say.
    pub memory: Option<f64>,
}

impl MonitorLog {
    /// What the log of `case` says; `None` where the capture is more than a log, or none.
    pub(crate) fn of(case: &Case<'_>) -> Option<MonitorLog> {
        let trace = case.trace();
        let is_log = !trace.counters.time_ns.is_empty()
            && trace.events.start_ns.is_empty()
            && trace.allocations.time_ns.is_empty()
            && trace.profiles.launches.is_empty()
            && !case.known.is_predicted;
        if !is_log {
            return None;
        }
        let CounterRows(rows) = case.analysis.get();
        let used = || rows.iter().filter(|row| row.meaning == Some(Meaning::Utilization)).map(|row| row.mean / 100.0);
        let least = used().min_by(f64::total_cmp);
        Some(MonitorLog {
            devices: rows.iter().map(|row| row.device.map(|device| device.0)).collect::<BTreeSet<_>>().len(),
            samples: rows.iter().map(|row| row.all_samples).max().unwrap_or(0),
            used: least.zip(used().max_by(f64::total_cmp)),
            memory: rows.iter().filter_map(|row| part_taken(case, rows, row)).max_by(f64::total_cmp),
        })
    }
}

/// The part of a device's memory that was taken at the most, where `row` counts memory and what there is of it is known.
pub(crate) fn part_taken(case: &Case<'_>, rows: &[CounterRow], row: &CounterRow) -> Option<f64> {
    let (used, total) = taken(case, rows, row)?;
    Some(used / total)
}

/// Bytes that were taken at the most and bytes that there are, where `row` counts memory and both are known.
pub(crate) fn taken(case: &Case<'_>, rows: &[CounterRow], row: &CounterRow) -> Option<(f64, f64)> {
    let Some(Meaning::MemoryUsed(unit)) = row.meaning else { return None };
    let total = rows.iter().find_map(|other| match other.meaning {
        Some(Meaning::MemoryTotal(unit)) if other.device == row.device => Some(other.max * unit as f64),
        _ => None,
    });
    let of_device = || {
        let device = case.trace().devices.get(row.device?.0 as usize)?;
        device.memory_bytes.map(|bytes| bytes as f64)
    };
    let total = total.or_else(of_device).filter(|total| *total > 0.0)?;
    Some((row.max * unit as f64, total))
}
