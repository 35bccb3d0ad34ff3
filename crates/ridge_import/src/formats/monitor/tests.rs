//! The hand-made logs of `fixtures/monitor/`, alone and beside a trace.

use crate::import::{Imported, Source, import};
use expect_test::{Expect, expect};
use std::fmt::Write as _;

const QUERY: &[u8] = include_bytes!("../../../../../fixtures/monitor/query.csv");
const DMON: &[u8] = include_bytes!("../../../../../fixtures/monitor/dmon.log");
const ROCM: &[u8] = include_bytes!("../../../../../fixtures/monitor/rocm.csv");
/// Its clock's zero is 2023-11-14 22:13:20 UTC.
const TRACE: &[u8] = include_bytes!("../../../../../fixtures/nsys/two_processes.sqlite");

fn open(sources: &[&[u8]]) -> Imported {
    let sources: Vec<Source<'_>> = sources.iter().map(|bytes| Source { name: "capture", bytes }).collect();
    import(&sources, None).expect("it can be read")
}

/// Every sample of the log, then every note.
#[track_caller]
fn check(imported: &Imported, skip: usize, expected: Expect) {
    let (trace, counters) = (&imported.trace, &imported.trace.counters);
    let mut text = String::new();
    for row in skip..counters.value.len() {
        let device = &trace.devices[counters.device[row] as usize].plane;
        let metric = trace.strings.get(counters.metric[row]);
        let _ = writeln!(text, "{} {device} {metric} {}", counters.time_ns[row], counters.value[row]);
    }
    for note in imported
        .notes
        .iter()
        .filter(|note| note.message.contains("log") || note.message.contains("its ") || note.message.contains("rows"))
    {
        let _ = writeln!(text, "* {} x{}", note.message, note.count);
    }
    expected.assert_eq(&text);
}

#[test]
fn a_query_log_has_a_clock_of_its_own() {
    let imported = open(&[QUERY]);
    check(
        &imported,
        0,
        expect![[r#"
        0 /device:GPU:0 utilization.gpu [%] 55
        0 /device:GPU:0 memory.used [MiB] 1024
        0 /device:GPU:0 power.draw [W] 312.5
        0 /device:GPU:0 temperature.gpu 41
        2000000 /device:GPU:1 utilization.gpu [%] 0
        2000000 /device:GPU:1 memory.used [MiB] 4
        2000000 /device:GPU:1 temperature.gpu 30
        1000000000 /device:GPU:0 utilization.gpu [%] 97
        1000000000 /device:GPU:0 memory.used [MiB] 2048
        1000000000 /device:GPU:0 power.draw [W] 650.25
        1000000000 /device:GPU:0 temperature.gpu 44
        * rows that do not fit their header were left out x1
    "#]],
    );
    let models: Vec<Option<&str>> = imported.trace.devices.iter().map(|device| device.model.as_deref()).collect();
    assert_eq!(models, [Some("NVIDIA H100 80GB HBM3"), Some("NVIDIA A100-SXM4-40GB")]);
}

#[test]
fn dmon_names_its_units_in_a_second_line() {
    check(
        &open(&[DMON]),
        0,
        expect![[r#"
            0 /device:GPU:0 pwr [W] 71
            0 /device:GPU:0 gtemp [C] 35
            0 /device:GPU:0 sm [%] 0
            0 /device:GPU:0 mem [%] 0
            0 /device:GPU:1 pwr [W] 69
            0 /device:GPU:1 gtemp [C] 33
            0 /device:GPU:1 sm [%] 10
            0 /device:GPU:1 mem [%] 2
            * rows that do not fit their header were left out x1
        "#]],
    );
}

#[test]
fn rounds_without_times_are_a_second_apart() {
    check(
        &open(&[ROCM]),
        0,
        expect![[r#"
        0 /device:GPU:0 Temperature (Sensor edge) (C) 35
        0 /device:GPU:0 Average Graphics Package Power (W) 90
        0 /device:GPU:0 GPU use (%) 0
        0 /device:GPU:1 Temperature (Sensor edge) (C) 36
        0 /device:GPU:1 GPU use (%) 12
        1000000000 /device:GPU:0 Temperature (Sensor edge) (C) 36.5
        1000000000 /device:GPU:0 Average Graphics Package Power (W) 250
        1000000000 /device:GPU:0 GPU use (%) 88
        * the log has no dates: its rounds are shown one second apart, from the trace's beginning on x1
    "#]],
    );
}

#[test]
fn one_device_that_is_not_the_first_has_rounds_too() {
    let log = b"# gpu    pwr\n# Idx      W\n    3     70\n    3     71\n";
    check(
        &open(&[log]),
        0,
        expect![[r#"
            0 /device:GPU:3 pwr [W] 70
            1000000000 /device:GPU:3 pwr [W] 71
            * the log has no dates: its rounds are shown one second apart, from the trace's beginning on x1
        "#]],
    );
}

#[test]
fn times_without_a_date_are_no_times() {
    let log = b"#Time        gpu    pwr\n#HH:MM:SS    Idx      W\n 22:13:20      0     70\n 22:13:21      0     71\n";
    check(
        &open(&[log]),
        0,
        expect![[r#"
            0 /device:GPU:0 pwr [W] 70
            1000000000 /device:GPU:0 pwr [W] 71
            * the log has no dates: its rounds are shown one second apart, from the trace's beginning on x1
        "#]],
    );
}

#[test]
fn rows_of_no_device_are_said_to_be() {
    let log = b"timestamp, power.draw [W]\n2023/11/15 00:13:20.000, 70.5 W\n";
    check(
        &open(&[log]),
        0,
        expect![[r#"
            0 /device:GPU:0 power.draw [W] 70.5
            * rows without a device are shown on device 0 x1
        "#]],
    );
}

#[test]
fn a_log_finds_its_zone_beside_a_trace() {
    let samples = open(&[TRACE]).trace.counters.value.len();
    // 00:13:20 of the next day is 22:13:20 UTC at two hours before UTC.
    check(
        &open(&[TRACE, QUERY]),
        samples,
        expect![[r#"
            0 /device:GPU:0 utilization.gpu [%] 55
            0 /device:GPU:0 memory.used [MiB] 1024
            0 /device:GPU:0 power.draw [W] 312.5
            0 /device:GPU:0 temperature.gpu 41
            2000000 /device:GPU:1 utilization.gpu [%] 0
            2000000 /device:GPU:1 memory.used [MiB] 4
            2000000 /device:GPU:1 temperature.gpu 30
            1000000000 /device:GPU:0 utilization.gpu [%] 97
            1000000000 /device:GPU:0 memory.used [MiB] 2048
            1000000000 /device:GPU:0 power.draw [W] 650.25
            1000000000 /device:GPU:0 temperature.gpu 44
            * rows that do not fit their header were left out x1
            * its local times were read as UTC+02:00, in which they overlap the trace x1
        "#]],
    );
    assert_eq!(open(&[TRACE, QUERY]).trace.devices.len(), 3, "the first is the trace's own, the second is new");
}
