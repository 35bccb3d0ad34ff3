//! GPU metrics, sampled by hardware counters, as counters of the trace.

use super::place::Placed;
use super::tables::Tables;
use crate::import::Import;
use ridge_sqlite::Row;
use ridge_trace::{NONE, StringId};
use rustc_hash::FxHashMap;

pub(super) const METRICS: &str = "GPU_METRICS";

/// Reads every sample; `shift_ns` is added to its time.
pub(super) fn read(tables: &impl Tables, placed: &Placed, shift_ns: i64, import: &mut Import) {
    let name = |row: &Row<'_>| Some(((row.int(0)?, row.int(1)?), row.text(2)?.into_owned()));
    let named = tables.collect("TARGET_INFO_GPU_METRICS", &["typeId", "metricId", "metricName"], name);
    let names: FxHashMap<(i64, i64), StringId> =
        named.into_iter().map(|(key, name)| (key, import.builder.strings.intern(&name))).collect();
    let sample = |samples: &mut Vec<(i64, i64, i64, f64)>, row: &Row<'_>| {
        let found = (row.int(0), row.int(1), row.int(2), row.real(3));
        if let (Some(time), Some(kind), Some(metric), Some(value)) = found {
            samples.push((time, kind, metric, value));
        }
    };
    let mut devices: FxHashMap<i64, u32> = FxHashMap::default();
    for (time, kind, metric, value) in
        tables.scan(METRICS, &["timestamp", "typeId", "metricId", "value"], sample).into_iter().flatten()
    {
        // The type's lowest byte is the GPU; which process sees it under which number is the first that does.
        let gpu = kind & 0xff;
        let device = *devices.entry(gpu).or_insert_with(|| {
            placed.devices.iter().find(|((_, device), _)| *device == gpu).map_or(NONE, |(_, row)| *row)
        });
        let unnamed = || format!("metric {metric}");
        let metric = match names.get(&(kind, metric)) {
            Some(name) => *name,
            None => import.builder.strings.intern(&unnamed()),
        };
        let counters = &mut import.builder.counters;
        counters.device.push(device);
        counters.metric.push(metric);
        counters.time_ns.push(time.saturating_add(shift_ns));
        counters.value.push(value);
    }
}
