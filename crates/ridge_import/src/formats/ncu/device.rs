//! What a launch's `device__attribute_*` metrics say of its device.

use super::launch::{Launch, MetricValue};
use crate::import::Import;

/// Fills in the device that `launch` ran on, where the report describes it.
pub(super) fn describe(launch: &Launch, process: u32, import: &mut Import) {
    let attribute = |name: &str| launch.metric(&format!("device__attribute_{name}"));
    let Some(MetricValue::Text(model)) = attribute("display_name") else { return };
    let whole = |name: &str| match attribute(name) {
        Some(MetricValue::Number(number)) if *number > 0.0 && *number < 1e18 => Some(*number as u64),
        _ => None,
    };
    let row = import.builder.device(process, &format!("/device:GPU:{}", launch.device.unwrap_or(0)));
    let device = import.builder.device_mut(row);
    device.vendor = Some("Nvidia".to_owned());
    device.model = Some(model.clone());
    device.cores = whole("multiprocessor_count");
    device.clock_khz = whole("clock_rate");
    device.memory_bytes = whole("total_memory");
    let capability = (whole("compute_capability_major"), whole("compute_capability_minor"));
    device.compute_capability = capability.0.map(|major| (major as u32, capability.1.unwrap_or(0) as u32));
    // Two transfers a clock, as XLA's `cupti_collector.cc` computes the same number.
    let clock_and_width = whole("memory_clock_rate").zip(whole("global_memory_bus_width"));
    device.memory_bytes_per_sec = clock_and_width.map(|(khz, bits)| khz.saturating_mul(2000).saturating_mul(bits) / 8);
}
