//! What is in a capture, in sections.

use crate::manifest::Manifest;
use ridge_import::Imported;
use ridge_table::{Fact, FactValue, Section};
use ridge_trace::EventKind;
use std::collections::BTreeMap;

/// Sections on files, recording, devices and contents.
pub(crate) fn sections(imported: &Imported, manifest: Option<&Manifest>) -> Vec<Section> {
    let mut sections = captures(imported);
    sections.extend(manifest.map(recording));
    sections.extend(devices(imported));
    sections.push(contents(imported));
    sections
}

fn fact(key: &str, title: &str, value: FactValue) -> Fact {
    Fact::observed(key, title, value, "")
}

fn captures(imported: &Imported) -> Vec<Section> {
    let section = |capture: &ridge_import::CaptureFacts| {
        let mut facts = vec![
            fact("format", "Format", FactValue::Text(capture.format.to_owned())),
            fact("bytes", "Size", FactValue::Bytes(capture.bytes)),
        ];
        facts.extend(capture.facts.iter().map(|(key, value)| fact(key, key, FactValue::Text(readable(key, value)))));
        Section { title: capture.source.clone(), facts }
    };
    imported.captures.iter().map(section).collect()
}

/// A point in time that a profiler gives as nanoseconds since 1970 as a date; anything else as it is.
fn readable(key: &str, value: &str) -> String {
    let nanos = value.parse::<u64>().ok().filter(|_| key.ends_with("_time") && value.len() >= LEAST_DIGITS);
    nanos.map_or_else(|| value.to_owned(), utc)
}

/// Digits of nanoseconds since 1970 from the year 2001 on.
const LEAST_DIGITS: usize = 19;

/// `2026-11-22 20:14:05 UTC`; days to dates as in <https://howardhinnant.github.io/date_algorithms.html#civil_from_days>.
fn utc(unix_ns: u64) -> String {
    let secs = unix_ns / 1_000_000_000;
    let (days, in_day) = (secs / 86_400 + 719_468, secs % 86_400);
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let (day, month) = (of_year - (153 * shifted + 2) / 5 + 1, if shifted < 10 { shifted + 3 } else { shifted - 9 });
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year}-{month:02}-{day:02} {:02}:{:02}:{:02} UTC", in_day / 3_600, in_day / 60 % 60, in_day % 60)
}

fn recording(manifest: &Manifest) -> Section {
    let facts = manifest.facts().into_iter().map(|(key, value)| fact(&key, &key, value));
    Section { title: "Recording".to_owned(), facts: facts.collect() }
}

fn devices(imported: &Imported) -> Vec<Section> {
    let section = |device: &ridge_trace::Device| {
        let mut facts = Vec::new();
        let mut text = |key: &str, title: &str, value: Option<String>| {
            facts.extend(value.map(|value| fact(key, title, FactValue::Text(value))));
        };
        text("vendor", "Vendor", device.vendor.clone());
        text("model", "Model", device.model.clone());
        text(
            "compute_capability",
            "Compute capability",
            device.compute_capability.map(|(major, minor)| format!("{major}.{minor}")),
        );
        text("clock", "Core clock", device.clock_khz.map(|khz| format!("{} MHz", khz / 1000)));
        text(
            "memory_bandwidth",
            "Memory bandwidth (driver)",
            device.memory_bytes_per_sec.map(|rate| ridge_units::BytesPerSec(rate as f64).to_string()),
        );
        facts.extend(device.cores.map(|cores| fact("cores", "Multiprocessors", FactValue::Count(cores))));
        facts.extend(device.memory_bytes.map(|bytes| fact("memory_bytes", "Memory", FactValue::Bytes(bytes))));
        Section { title: device.plane.clone(), facts }
    };
    imported.trace.devices.iter().map(section).filter(|section| !section.facts.is_empty()).collect()
}

fn contents(imported: &Imported) -> Section {
    let trace = &imported.trace;
    let mut by_byte = [0_u64; 256];
    trace.events.kind.iter().for_each(|byte| by_byte[usize::from(*byte)] += 1);
    let mut by_kind: BTreeMap<EventKind, u64> = BTreeMap::new();
    for (byte, count) in (0..=u8::MAX).zip(by_byte).filter(|(_, count)| *count > 0) {
        *by_kind.entry(EventKind::from_byte(byte)).or_default() += count;
    }
    let count = |key: &str, title: &str, count: usize| fact(key, title, FactValue::Count(count as u64));
    let mut facts = vec![
        count("processes", "Processes", trace.processes.len()),
        count("devices", "Devices", trace.devices.len()),
        count("tracks", "Tracks", trace.tracks.len()),
        count("modules", "Modules", trace.modules.len()),
        count("modules_with_hlo", "Modules with HLO", imported.hlo.len()),
        count("operations", "Operations that ran", trace.operations.len()),
        count("steps", "Steps", trace.steps.len()),
        count("allocations", "Allocator events", trace.allocations.time_ns.len()),
        count("blocks", "Memory blocks", trace.memory.blocks.len()),
        count("samples", "Counter samples", trace.counters.time_ns.len()),
        count("profiled_launches", "Profiled launches", trace.profiles.launches.len()),
        count("events", "Events", trace.events.len()),
    ];
    let name = |kind: EventKind| format!("Events: {}", kind.name());
    facts.extend(by_kind.into_iter().map(|(kind, events)| fact(kind.name(), &name(kind), FactValue::Count(events))));
    Section { title: "Contents".to_owned(), facts }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_dates() {
        // `date -u -d @1795378347`, `date -u -d @951782399`.
        assert_eq!(readable("profile_stop_time", "1795378347782012473"), "2026-11-22 20:12:27 UTC");
        assert_eq!(utc(951_782_399 * 1_000_000_000), "2000-02-28 23:59:59 UTC");
        assert_eq!(readable("profile_stop_time", "soon"), "soon");
        assert_eq!(readable("jaxlib_version", "1795378347782012473"), "1795378347782012473");
    }
}
