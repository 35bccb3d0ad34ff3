//! Copies as ROCm's tracer writes them: named after commands of HIP, on streams of other copies, described in words.

mod support;

use ridge_import::{Source, import};
use ridge_trace::{EventKind, MemoryKind};
use support::proto::{Message, event, line, plane, space, with_stats};

#[test]
fn commands_of_hip_are_copies() {
    let names = ["CopyDeviceToDevice", "CopyHostToDevice", "CopyDeviceToHost", "FillBuffer", "copy_fusion"];
    let mut stream = line(3, "Stream #3(MemcpyOther)", 1_000_000);
    for at in 0..names.len() as i64 {
        let details = Message::new().int(1, 1).text(5, "kind:Unknown size:512 dest:0 async:1");
        stream = stream.message(4, &event(at + 1, at * 1000, 500).message(4, &details));
    }
    let device = with_stats(plane("/device:GPU:0", &names), &["memcpy_details"]).message(3, &stream);
    let bytes = space(&device).0;
    let trace = import(&[Source { name: "capture", bytes: &bytes }], None).expect("a capture").trace;
    let found: Vec<(EventKind, Option<u64>)> = (0..trace.events.len())
        .map(|row| (trace.events.kind(row), trace.transfer(row).map(|transfer| transfer.bytes)))
        .collect();
    let moved = Some(512);
    assert_eq!(
        found,
        [
            (EventKind::CopyDeviceToDevice, moved),
            (EventKind::CopyHostToDevice, moved),
            (EventKind::CopyDeviceToHost, moved),
            (EventKind::Memset, moved),
            (EventKind::Kernel, None),
        ]
    );
    assert_eq!(trace.transfer(0).map(|transfer| transfer.source), Some(MemoryKind::Unknown), "it is not said");
}
