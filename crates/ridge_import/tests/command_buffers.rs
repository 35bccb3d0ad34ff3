//! Kernels of a command buffer carry its name instead of their operations': what is found for them, and how.
//!
//! The capture is written by hand with the names of XLA's `cupti_collector.cc`; its module is a real one.

mod support;

use expect_test::{Expect, expect};
use ridge_import::{Imported, Source, import};
use ridge_trace::{Attribution, EventKind};
use std::fmt::Write as _;
use support::proto::{Message, event, line, plane, with_stats};

/// Statistics of the device's events, with ids from 1.
const STATS: [&str; 4] = ["correlation_id", "hlo_op", "hlo_module", "program_id"];
const PROGRAM: i64 = 7;

/// A space with the module of `fixtures/hlo/linalg.after.hlo.pb` and these device events: name, correlation, operation.
fn capture(events: &[(&str, i64, &str)]) -> Imported {
    let proto = std::fs::read(ridge_test::fixtures("hlo").join("linalg.after.hlo.pb")).expect("a fixture");
    let hlo_proto = Message::new().int(1, 1).bytes(6, &proto);
    let metadata = Message::new().int(1, PROGRAM).text(2, "jit_linalg(7)").message(5, &hlo_proto);
    let entry = Message::new().int(1, PROGRAM).message(2, &metadata);
    let modules = with_stats(Message::new().text(2, "/host:metadata").message(4, &entry), &["Hlo Proto"]);
    let names: Vec<&str> = events.iter().map(|(name, _, _)| *name).collect();
    let mut stream = line(13, "Stream #13(Compute)", 1_000_000);
    for (at, (_, correlation, operation)) in events.iter().enumerate() {
        let at = at as i64;
        let mut work = event(at + 1, at * 1000, 500).message(4, &Message::new().int(1, 1).int(3, *correlation));
        if !operation.is_empty() {
            work = work
                .message(4, &Message::new().int(1, 2).text(5, operation))
                .message(4, &Message::new().int(1, 3).text(5, "jit_linalg"))
                .message(4, &Message::new().int(1, 4).int(3, PROGRAM));
        }
        stream = stream.message(4, &work);
    }
    let device = with_stats(plane("/device:GPU:0", &names), &STATS).message(3, &stream);
    let space = Message::new().message(1, &modules).message(1, &device);
    import(&[Source { name: "capture", bytes: &space.0 }], None).expect("a capture")
}

/// Each event with its operation and how that was found.
#[track_caller]
fn check(events: &[(&str, i64, &str)], expected: Expect) {
    let imported = capture(events);
    let trace = &imported.trace;
    let mut text = String::new();
    for row in 0..trace.events.len() {
        if trace.events.kind(row) == EventKind::Derived {
            continue;
        }
        let operation = trace.operation(row).map_or("-", |operation| trace.strings.get(operation.name));
        let how = Attribution::from_byte(trace.events.attribution[row]);
        writeln!(text, "{}: {operation} {how:?}", trace.name(row)).expect("a string");
    }
    expected.assert_eq(&text);
}

const KERNELS: [&str; 8] = [
    "copy_copy_fusion",
    "ynn_fusion",
    "multiply_copy_fusion",
    "potrf_panel",
    "potrf_update",
    "select_select_fusion",
    "trsm",
    "wrapped_copy",
];

#[test]
fn a_buffer_s_kernels_are_found_by_name_and_by_order() {
    check(
        &KERNELS.map(|kernel| (kernel, 5, "command_buffer_1")),
        expect![[r#"
            copy_copy_fusion: copy_copy_fusion ByModule
            ynn_fusion: ynn_fusion ByModule
            multiply_copy_fusion: multiply_copy_fusion ByModule
            potrf_panel: cholesky.0 ByOrder
            potrf_update: cholesky.0 ByOrder
            select_select_fusion: select_select_fusion ByModule
            trsm: triangular_solve.1 ByOrder
            wrapped_copy: wrapped_copy ByModule
        "#]],
    );
}

#[test]
fn kernels_without_annotations_are_those_of_the_module_that_knows_them() {
    check(
        &KERNELS.map(|kernel| (kernel, 5, "")),
        expect![[r#"
        copy_copy_fusion: copy_copy_fusion ByModule
        ynn_fusion: ynn_fusion ByModule
        multiply_copy_fusion: multiply_copy_fusion ByModule
        potrf_panel: cholesky.0 ByOrder
        potrf_update: cholesky.0 ByOrder
        select_select_fusion: select_select_fusion ByModule
        trsm: triangular_solve.1 ByOrder
        wrapped_copy: wrapped_copy ByModule
    "#]],
    );
}

#[test]
fn what_nothing_places_keeps_the_name_of_its_buffer() {
    let buffer = "command_buffer";
    check(
        &[("trsm", 5, buffer), ("nvjet", 6, buffer), ("MemcpyD2D", 6, buffer), ("wrapped_copy", 6, buffer)],
        expect![[r#"
            trsm: command_buffer ModuleOnly
            nvjet: triangular_solve.1 ByOrder
            MemcpyD2D: command_buffer ModuleOnly
            wrapped_copy: wrapped_copy ByModule
        "#]],
    );
}

#[test]
fn an_operation_of_the_module_is_no_buffer() {
    check(
        &[("trsm", 5, "triangular_solve.1"), ("nvjet", 6, "all-gather.9")],
        expect![[r#"
        trsm: triangular_solve.1 ByStat
        nvjet: all-gather.9 ByStat
    "#]],
    );
}

/// A capture without HLO and a dump of what it ran: its kernels are found as if the capture had it.
#[test]
fn a_dump_beside_a_capture_names_its_kernels() {
    let proto = std::fs::read(ridge_test::fixtures("hlo").join("linalg.after.hlo.pb")).expect("a fixture");
    let mut stream = line(13, "Stream #13(Compute)", 1_000_000);
    for at in 0..KERNELS.len() as i64 {
        stream = stream.message(4, &event(at + 1, at * 1000, 500).message(4, &Message::new().int(1, 1).int(3, 5)));
    }
    let device = with_stats(plane("/device:GPU:0", &KERNELS), &STATS).message(3, &stream);
    let space = Message::new().message(1, &device);
    let capture = Source { name: "capture", bytes: &space.0 };
    let found = |sources: &[Source<'_>]| {
        let trace = import(sources, None).expect("a capture").trace;
        (0..trace.events.len()).filter(|row| trace.operation(*row).is_some()).count()
    };
    assert_eq!(found(&[capture]), 0);
    assert_eq!(found(&[capture, Source { name: "dump", bytes: &proto }]), KERNELS.len());
}
