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
        facts.extend(capture.facts.iter().map(|(key, value)| fact(key, key, FactValue::Text(value.clone()))));
        Section { title: capture.source.clone(), facts }
    };
    imported.captures.iter().map(section).collect()
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
    let mut by_kind: BTreeMap<EventKind, u64> = BTreeMap::new();
    for row in 0..trace.events.len() {
        *by_kind.entry(trace.events.kind(row)).or_default() += 1;
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
