//! A TPU's capture, against numbers computed from the file without this project.

use ridge_import::{Imported, Source, import};
use ridge_trace::{Attribution, EventKind, MemoryKind, NONE, Trace, TrackKind};

fn capture() -> Imported {
    let path = ridge_test::fixtures("xplane").join("tpu_host_offload.xplane.pb");
    let bytes = std::fs::read(path).expect("a fixture");
    import(&[Source { name: "tpu", bytes: &bytes }], None).expect("a capture")
}

/// Count and nanoseconds of the events of `kind` on `plane` whose operation is `op`.
fn sums(trace: &Trace, plane: &str, kind: EventKind, op: &str) -> (usize, i64) {
    let device = trace.devices.iter().position(|device| device.plane == plane).expect("the device is there") as u32;
    let rows = trace.tracks_of_device(device).flat_map(|track| track.rows.clone()).map(|row| row as usize);
    let is_it = |row: &usize| {
        let name = trace.operation(*row).map_or("", |operation| trace.strings.get(operation.name));
        trace.events.kind(*row) == kind && name == op
    };
    let found: Vec<usize> = rows.filter(is_it).collect();
    (found.len(), found.iter().map(|row| trace.events.dur_ns[*row]).sum())
}

#[test]
fn operations_and_transfers_are_told_apart() {
    use EventKind::{CopyDeviceToHost, CopyHostToDevice, DeviceOp};
    let imported = capture();
    for (plane, kind, op, expected) in [
        ("/device:TPU:0", DeviceOp, "all-reduce", (3, 365_076_257)),
        ("/device:TPU:0", DeviceOp, "copy-done.2", (3, 687_031_435)),
        ("/device:TPU:0", DeviceOp, "broadcast_add_fusion", (3, 16_265_685)),
        ("/device:TPU:0", DeviceOp, "copy-start.2", (3, 16)),
        ("/device:TPU:0", CopyHostToDevice, "copy-start.2", (3, 1_278_353_965)),
        ("/device:TPU:0", CopyDeviceToHost, "copy-start.1", (3, 1_214_078_880)),
        ("/device:TPU:1", DeviceOp, "copy-done.5", (5, 901_550_939)),
    ] {
        assert_eq!(sums(&imported.trace, plane, kind, op), expected, "{plane} {op}");
    }
    let copies = (0..imported.trace.events.len()).filter_map(|row| imported.trace.transfer(row));
    for copy in copies {
        // f32[5,1024,1024,256]
        assert_eq!(copy.bytes, 5 << 30);
        assert!([copy.source, copy.destination].contains(&MemoryKind::Pinned), "{copy:?}");
    }
}

#[test]
fn work_belongs_to_modules_and_to_the_calls_that_started_them() {
    let imported = capture();
    let trace = &imported.trace;
    let modules: Vec<(&str, bool)> =
        trace.modules.iter().map(|module| (trace.strings.get(module.name), module.hlo.is_some())).collect();
    let expected =
        [("jit__psum", true), ("jit_broadcast_in_dim", true), ("jit_f", true), ("jit_convert_element_type", true)];
    assert_eq!(modules, expected, "symbol tables are no modules");
    for row in (0..trace.events.len()).filter(|row| EventKind::from_byte_is_work(trace.events.kind[*row])) {
        let operation = trace.operation(row).expect("every operation is named");
        assert_ne!((operation.module, operation.instruction), (NONE, NONE), "{}", trace.name(row));
        assert_eq!(Attribution::from_byte(trace.events.attribution[row]), Attribution::ByStat);
        let cause = trace.events.link[row];
        assert_ne!(cause, NONE, "{}", trace.name(row));
        assert_eq!(trace.name(cause as usize), "DoEnqueueProgram");
    }
}

#[test]
fn collectives_are_listed_once() {
    let imported = capture();
    let names: Vec<&str> =
        imported.trace.collectives.iter().map(|found| imported.trace.strings.get(found.name)).collect();
    assert_eq!(names, ["all-reduce"; 6]);
    assert!(imported.trace.collectives.iter().all(|found| found.bytes_in == Some(5 << 30)));
}

/// What runs at once on the asynchronous line is on lanes, none of which overlaps itself.
#[test]
fn lanes_do_not_overlap() {
    let imported = capture();
    let trace = &imported.trace;
    let lanes: Vec<_> = (trace.tracks.iter())
        .filter(|track| track.kind == TrackKind::OperationLane)
        .filter(|track| trace.strings.get(track.name).starts_with("Async"))
        .collect();
    assert!(lanes.len() > 1, "three copies are in flight at once");
    for lane in lanes {
        let rows: Vec<usize> = lane.rows.clone().map(|row| row as usize).collect();
        assert!(rows.windows(2).all(|pair| trace.events.end_ns(pair[0]) <= trace.events.start_ns[pair[1]]));
    }
}
