//! Captures that one process wrote one after the other: an operation is one row, as in one capture.

use ridge_import::{Imported, Source, import};
use std::path::Path;

/// A real capture, and the same as if it had been made an hour later.
fn two_windows() -> (Vec<u8>, Vec<u8>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/xplane/train_steps.xplane.pb");
    let first = std::fs::read(path).expect("the fixture");
    let capture = &read(&[&first]).captures[0];
    let stop = capture.facts.iter().find(|(key, _)| key == "profile_stop_time").expect("it says when it ended");
    let times = [capture.unix_zero_ns.expect("it says when it began"), stop.1.parse().expect("nanoseconds")];
    let mut second = first.clone();
    for time in times {
        let (now, later) = (varint(time), varint(time + 3_600_000_000_000));
        let at = second.windows(now.len()).position(|bytes| bytes == now).expect("it is there");
        second[at..at + now.len()].copy_from_slice(&later);
    }
    (first, second)
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

fn read(captures: &[&[u8]]) -> Imported {
    let sources: Vec<Source<'_>> = captures.iter().map(|bytes| Source { name: "run/trace/host0", bytes }).collect();
    import(&sources, None).expect("a capture")
}

/// Processes, modules, operations and HLO modules.
fn counts(captures: &[&[u8]]) -> [usize; 4] {
    let read = read(captures);
    [read.trace.processes.len(), read.trace.modules.len(), read.trace.operations.len(), read.hlo.len()]
}

#[test]
fn windows_of_a_process_share_its_operations_and_ranks_do_not() {
    let (first, second) = two_windows();
    let [one, modules, operations, hlo] = counts(&[&first]);
    assert!(modules > 0 && operations > 0 && hlo > 0);
    assert_eq!(counts(&[&first, &second]), [2 * one, modules, operations, hlo]);
    assert_eq!(counts(&[&first, &first]), [2 * one, 2 * modules, 2 * operations, 2 * hlo], "captured at the same time");
}
