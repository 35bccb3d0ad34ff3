//! Nsight Systems exports: a real one against its true answers.
//!
//! The truth is computed from the file with plain SQL and a union of intervals (`fixtures/real/nsys/truth.py`).
//! Small made-up exports are in the reader's own tests.

use ridge_import::{Imported, Source, import};
use ridge_test::union_ns;
use ridge_trace::{EventKind, Trace, TrackKind};
use serde_json::Value;
use std::collections::BTreeMap;

fn open() -> (Imported, Value) {
    let folder = ridge_test::real("nsys");
    let bytes = std::fs::read(folder.join("h100_2gpu.sqlite")).expect("a fixture");
    let truth = std::fs::read_to_string(folder.join("h100_2gpu.truth.json")).expect("its truth");
    let imported = import(&[Source { name: "capture", bytes: &bytes }], None).expect("an intact capture");
    (imported, serde_json::from_str(&truth).expect("valid JSON"))
}

fn whole(value: &Value) -> i64 {
    value.as_i64().expect("a whole number")
}

/// Rows of device work on one device.
fn work(trace: &Trace, device: u32) -> Vec<usize> {
    let tracks = trace.tracks_of_device(device).flat_map(|track| track.rows.clone());
    tracks.map(|row| row as usize).filter(|row| trace.events.kind(*row).is_device_work()).collect()
}

#[test]
fn devices_to_the_nanosecond() {
    let (imported, truth) = open();
    let trace = &imported.trace;
    let expected = truth["devices"].as_object().expect("devices by number");
    assert_eq!(trace.devices.len(), expected.len());
    for (number, device) in expected {
        let plane = format!("/device:GPU:{number}");
        let row = trace.devices.iter().position(|device| device.plane == plane).expect("the device") as u32;
        let work = work(trace, row);
        let kernels = || work.iter().filter(|row| trace.events.kind(**row) == EventKind::Kernel);
        let sum: i64 = kernels().map(|row| trace.events.dur_ns[*row]).sum();
        let first = work.iter().map(|row| trace.events.start_ns[*row]).min().expect("there is work");
        let last = work.iter().map(|row| trace.events.end_ns(*row)).max().expect("there is work");
        let found = [kernels().count() as i64, sum, union_ns(trace, &work), first, last];
        let keys = ["kernels", "kernel_time_sum_ns", "busy_union_ns", "first_ns", "last_ns"];
        assert_eq!(found, keys.map(|key| whole(&device[key])), "{plane}");
    }
}

#[test]
fn copies_to_the_byte() {
    let (imported, truth) = open();
    let trace = &imported.trace;
    let mut sums: BTreeMap<EventKind, (i64, i64, i64)> = BTreeMap::new();
    for row in (0..trace.events.len()).filter(|row| trace.events.kind(*row).is_copy()) {
        let sum = sums.entry(trace.events.kind(row)).or_default();
        sum.0 += 1;
        sum.1 += trace.transfer(row).expect("a copy moves something").bytes as i64;
        sum.2 += trace.events.dur_ns[row];
    }
    let kind = |number: i64| match number {
        1 => EventKind::CopyHostToDevice,
        2 => EventKind::CopyDeviceToHost,
        _ => EventKind::CopyDeviceToDevice,
    };
    let said = truth["memcpy"].as_array().expect("copies by kind");
    let said: BTreeMap<EventKind, (i64, i64, i64)> = said
        .iter()
        .map(|copy| {
            let numbers = (whole(&copy["count"]), whole(&copy["bytes"]), whole(&copy["time_ns"]));
            (kind(whole(&copy["copyKind"])), numbers)
        })
        .collect();
    assert_eq!(sums, said);
}

/// `void at::native::reduce_kernel<(int)512, ...>(T3)` → `reduce_kernel`, as the export's own short names are.
fn short(name: &str) -> &str {
    let name = name.strip_prefix("void ").unwrap_or(name);
    let name = name.strip_prefix("<unnamed>::").unwrap_or(name);
    let end = name.find(['<', '(']).unwrap_or(name.len());
    let start = name[..end].rfind("::").map_or(0, |at| at + 2);
    &name[start..end]
}

#[test]
fn the_kernels_that_took_longest() {
    let (imported, truth) = open();
    let trace = &imported.trace;
    let mut totals: BTreeMap<&str, (i64, i64)> = BTreeMap::new();
    for row in (0..trace.events.len()).filter(|row| trace.events.kind(*row) == EventKind::Kernel) {
        let total = totals.entry(short(trace.name(row))).or_default();
        *total = (total.0 + 1, total.1 + trace.events.dur_ns[row]);
    }
    let mut found: Vec<(&str, (i64, i64))> = totals.into_iter().collect();
    found.sort_by_key(|(_, (_, time))| std::cmp::Reverse(*time));
    found.truncate(10);
    let said = truth["top_kernels"].as_array().expect("ten kernels");
    let said: Vec<(&str, (i64, i64))> = said
        .iter()
        .map(|kernel| (kernel["name"].as_str().expect("a name"), (whole(&kernel["count"]), whole(&kernel["time_ns"]))))
        .collect();
    assert_eq!(found, said);
}

#[test]
fn work_is_linked_within_its_process_alone() {
    let (imported, truth) = open();
    let trace = &imported.trace;
    assert_eq!(trace.processes.iter().map(|process| process.pid).collect::<Vec<_>>(), [Some(111), Some(112)]);
    let mut process_of = vec![0; trace.events.len()];
    for track in &trace.tracks {
        process_of[track.rows.start as usize..track.rows.end as usize].fill(track.process);
    }
    let kernels: Vec<usize> =
        (0..trace.events.len()).filter(|row| trace.events.kind(*row) == EventKind::Kernel).collect();
    let linked: Vec<usize> =
        kernels.iter().copied().filter(|row| trace.events.link[*row] != ridge_trace::NONE).collect();
    // By a join on process and correlation id; the calls of the others came before the window began.
    let expected = ["kernels", "kernels_without_launch"].map(|key| whole(&truth[key]));
    assert_eq!([kernels.len(), kernels.len() - linked.len()].map(|count| count as i64), expected);
    assert!(expected[1] < expected[0], "some are linked");
    for row in linked {
        let launch = trace.events.link[row] as usize;
        assert_eq!(process_of[launch], process_of[row]);
        assert_eq!(trace.events.kind(launch), EventKind::Launch);
    }
}

#[test]
fn threads_have_calls_operators_and_no_names_of_people() {
    let (imported, truth) = open();
    let trace = &imported.trace;
    let count = |kind: EventKind| (0..trace.events.len()).filter(|row| trace.events.kind(*row) == kind).count() as i64;
    let said = |key: &str| whole(&truth[key]);
    assert_eq!(count(EventKind::Operator), said("ranges"));
    assert_eq!(count(EventKind::Synchronization), said("synchronizations"));
    assert_eq!(count(EventKind::Launch), said("calls_that_launch"));
    assert_eq!(count(EventKind::HostRange), said("calls") - said("calls_that_launch") + said("overheads"));
    assert_eq!(trace.tracks.iter().filter(|track| track.kind == TrackKind::HostThread).count(), 2);
    let facts: Vec<(&str, &str)> =
        imported.captures[0].facts.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    assert_eq!(facts, [("Nsight Systems", "2026.2.1.210"), ("schema_version", "3.25.0")]);
    assert_eq!(imported.captures[0].unix_zero_ns, Some(1_779_630_014_975_716_426));
    assert!(trace.strings.iter().all(|text| !text.contains('@') && !text.contains("/home")));
}
