//! What a capture says of itself: versions, times, options, and what each device is.

use super::plane::{Plane, StatTable};
use super::stats::StatValue;
use ridge_hlo::wire::text;
use ridge_trace::Device;

/// Facts that are the capture's own, by plane.
#[derive(Debug, Default)]
pub(super) struct SpaceFacts {
    pub(super) facts: Vec<(String, String)>,
    pub(super) unix_start_ns: Option<u64>,
    pub(super) unix_stop_ns: Option<u64>,
    pub(super) process_id: Option<u64>,
}

/// Collects the facts of the planes that have no timeline.
pub(super) fn space_facts(planes: &[Plane<'_>]) -> SpaceFacts {
    let mut space = SpaceFacts::default();
    for plane in planes {
        if !matches!(plane.name, b"/host:metadata" | b"Task Environment" | b"/host:CPU") {
            continue;
        }
        let table = StatTable::new(&plane.stat_names);
        for (name, value) in table.named(&plane.stats) {
            match (name, value.integer()) {
                (b"profile_start_time", Some(time)) => space.unix_start_ns = Some(time),
                (b"process_id", Some(id)) => space.process_id = Some(id),
                (b"profile_stop_time", Some(time)) => {
                    space.unix_stop_ns = Some(time);
                    push(&mut space, "profile_stop_time", time.to_string());
                }
                _ if plane.name == b"/host:metadata" => push(&mut space, &text(name), fact_text(&table, value)),
                _ => {}
            }
        }
    }
    space
}

fn push(space: &mut SpaceFacts, key: &str, value: String) {
    if !value.is_empty() && !space.facts.iter().any(|(known, _)| known == key) {
        space.facts.push((key.to_owned(), value));
    }
}

fn fact_text(table: &StatTable<'_>, value: StatValue<'_>) -> String {
    if let Some(found) = table.text(value) {
        return text(found).chars().take(200).collect();
    }
    match value {
        StatValue::Integer(number) => number.to_string(),
        StatValue::Double(number) => number.to_string(),
        _ => String::new(),
    }
}

/// Fills in what the plane of a device says of it; what it leaves out stays unknown.
pub(super) fn describe_device(device: &mut Device, plane: &Plane<'_>, table: &StatTable<'_>) {
    let mut capability = (None, None);
    for (name, value) in table.named(&plane.stats) {
        let words = table.text(value).map(|found| text(found).into_owned());
        match name {
            b"device_vendor" => device.vendor = words,
            b"gpu_device_name" | b"device_type_string" => device.model = words,
            b"core_count" => device.cores = value.integer(),
            b"clock_rate" => device.clock_khz = value.integer(),
            b"memory_bandwidth" => device.memory_bytes_per_sec = value.integer(),
            // Giga is 10⁹ here: a v6e's 1640 GB/s of its data sheet stand as 1638.
            b"peak_hbm_bw_gigabytes_per_second" => {
                let said = device.memory_bytes_per_sec;
                device.memory_bytes_per_sec = said.or_else(|| value.real().map(|giga| (giga * 1e9) as u64));
            }
            b"memory_size" => device.memory_bytes = value.integer(),
            b"compute_cap_major" => capability.0 = value.integer(),
            b"compute_cap_minor" => capability.1 = value.integer(),
            _ => {}
        }
    }
    if let (Some(major), Some(minor)) = capability {
        device.compute_capability = Some((major as u32, minor as u32));
    }
}
