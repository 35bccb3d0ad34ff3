//! Device monitor logs: `nvidia-smi --query-gpu=… --format=csv`, `nvidia-smi dmon`, `rocm-smi --csv`.
//!
//! Every number becomes a sample of a counter, with the log's name and unit. Values that the monitor could not determine
//! (`N/A`, `-`) stay absent.
//! Times in such logs are local and have no time zone. If a trace was read before, Ridgeline chooses the quarter-hour offset
//! nearest to UTC with which the log overlaps the trace; otherwise the log has its own clock.
//! Only numbers and device model names are read.

mod clock;
mod columns;
mod local_time;

use crate::formats::Format;
use crate::import::{CaptureFacts, Import, ImportError, Source};
use crate::note::Severity;
use columns::Log;
use ridge_redact::Redactor;
use ridge_trace::StringId;
use rustc_hash::FxHashMap;

/// The format of monitors' logs.
pub(super) struct Monitor;

impl Format for Monitor {
    fn name(&self) -> &'static str {
        "monitor"
    }

    fn sniff(&self, head: &[u8]) -> bool {
        columns::kind_of(head).is_some()
    }

    fn redactor(&self, _head: &[u8]) -> Redactor {
        Redactor::Table
    }

    fn import(&self, source: Source<'_>, import: &mut Import) -> Result<(), ImportError> {
        let log = columns::read(source.bytes);
        if log.samples.is_empty() {
            return Err(ImportError::Broken {
                source_name: source.name.to_owned(),
                offset: 0,
                what: "expected a monitor log with numbers, found none".to_owned(),
            });
        }
        if log.odd_rows > 0 {
            let message = "rows that do not fit their header were left out".to_owned();
            import.note(Severity::Partial, source.name, None, log.odd_rows, message);
        }
        if log.deviceless_rows > 0 {
            let message = "rows without a device are shown on device 0".to_owned();
            import.note(Severity::Partial, source.name, None, log.deviceless_rows, message);
        }
        let shift_ns = clock::place(&log, source, import);
        import.captures.push(CaptureFacts {
            source: source.name.to_owned(),
            format: "monitor",
            bytes: source.bytes.len() as u64,
            ..CaptureFacts::default()
        });
        add(&log, shift_ns, source, import);
        Ok(())
    }
}

/// Adds every sample; `shift_ns` is added to its time.
fn add(log: &Log, shift_ns: i64, source: Source<'_>, import: &mut Import) {
    let mut devices: FxHashMap<u32, u32> = FxHashMap::default();
    let mut process = None;
    let names: Vec<StringId> = log.metrics.iter().map(|name| import.builder.strings.intern(name)).collect();
    for sample in &log.samples {
        let device = *devices.entry(sample.gpu).or_insert_with(|| {
            let plane = format!("/device:GPU:{}", sample.gpu);
            let known = import.builder.devices().iter().position(|device| device.plane == plane);
            known.map_or_else(
                || {
                    let process = *process.get_or_insert_with(|| import.builder.add_process(source.name, None));
                    import.builder.device(process, &plane)
                },
                |row| row as u32,
            )
        });
        let counters = &mut import.builder.counters;
        counters.device.push(device);
        counters.metric.push(names[sample.metric as usize]);
        counters.time_ns.push(sample.time_ns.saturating_add(shift_ns));
        counters.value.push(sample.value);
    }
    for (gpu, model) in &log.models {
        if let Some(row) = devices.get(gpu) {
            import.builder.device_mut(*row).model.get_or_insert_with(|| model.clone());
        }
    }
}

#[cfg(test)]
mod tests;
