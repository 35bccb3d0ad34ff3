//! Chrome traces as they come: every spelling, every kind of damage, and the same trace however the file is read.

use expect_test::{Expect, expect};
use flate2::Compression;
use flate2::write::GzEncoder;
use ridge_import::{Imported, Source, import};
use ridge_trace::{NONE, TrackKind};
use std::fmt::Write as _;
use std::io::Write as _;

fn read(text: &[u8]) -> Imported {
    import(&[Source { name: "trace.json", bytes: text }], Some("chrome")).expect("something can be read")
}

/// Tracks with their events, then side tables and notes.
fn summary(imported: &Imported) -> String {
    let (trace, mut text) = (&imported.trace, String::new());
    let events = &trace.events;
    for track in trace.tracks.iter().filter(|track| track.kind != TrackKind::Derived) {
        let device = track.device.map_or(String::new(), |row| format!(" of {}", trace.devices[row as usize].plane));
        let _ = writeln!(text, "{}{device}", trace.strings.get(track.name));
        for row in track.rows.clone().map(|row| row as usize) {
            let _ = write!(text, "  {} +{} {}", events.start_ns[row], events.dur_ns[row], trace.name(row));
            let _ = write!(text, " ({})", events.kind(row).name());
            if events.link[row] != NONE {
                let _ = write!(text, " by {}", trace.name(events.link[row] as usize));
            }
            if let Some(op) = trace.operation(row) {
                let _ = write!(text, " for {}", trace.strings.get(op.name));
            }
            text.push('\n');
        }
    }
    for step in &trace.steps {
        let _ = writeln!(text, "step {} is {}", step.number, trace.name(step.event as usize));
    }
    let memory = &trace.allocations;
    for row in 0..memory.time_ns.len() {
        let texts = [memory.allocator[row], memory.owner[row]].map(|id| trace.strings.get(id));
        let _ =
            writeln!(text, "{} {:+} at {} for {}", texts[0], memory.delta_bytes[row], memory.time_ns[row], texts[1]);
    }
    for note in &imported.notes {
        let place = note.offset.map_or(String::new(), |offset| format!(" at {offset}"));
        let _ = writeln!(text, "{:?} x{}{place}: {}", note.severity, note.count, note.message);
    }
    text
}

#[track_caller]
fn check(text: &str, expected: Expect) {
    expected.assert_eq(&summary(&read(text.as_bytes())));
}

#[test]
fn spellings_of_2021() {
    check(
        r#"{"schemaVersion": 1, "traceEvents": [
        {"ph": "X", "cat": "Operator", "name": "aten::add", "pid": 9, "tid": "9", "ts": 1623142623460111, "dur": 25,
         "args": {"External id": 2, "Input Dims": [[]], "Input type": ["GenericList"]}},
        {"ph": "i", "s": "t", "name": "[memory]", "pid": 9, "tid": 9, "ts": 1623142623460121,
         "args": {"Device Type": 0, "Device Id": -1, "Bytes": 4}},
        {"ph": "X", "cat": "Runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": "9", "ts": 1623142623460115, "dur": 5,
         "args": {"correlation": 7, "external id": 2}},
        {"ph": "X", "cat": "Kernel", "name": "add", "pid": 0, "tid": "stream 7", "ts": 1623142623460130, "dur": 0,
         "args": {"device": 0, "stream": 7, "correlation": 7, "external id": 2}},
        {"ph": "f", "id": 7, "pid": 0, "tid": "stream 7", "ts": 1623142623460130, "cat": "async", "name": "launch"}]}"#,
        expect![[r#"
            thread 9
              0 +25000 aten::add (operator)
              4000 +5000 cudaLaunchKernel (launch)
            Stream #7 of /device:GPU:0
              19000 +0 add (kernel) by cudaLaunchKernel for aten::add
            CPU +4 at 10000 for aten::add
        "#]],
    );
}

#[test]
fn ids_that_mean_nothing_and_work_without_a_launch() {
    check(
        r#"{"traceEvents": [
        {"ph": "X", "cat": "cpu_op", "name": "aten::outer", "pid": 1, "tid": 1, "ts": 0, "dur": 50, "args": {"External id": 40}},
        {"ph": "X", "cat": "cpu_op", "name": "aten::inner", "pid": 1, "tid": 1, "ts": 5, "dur": 20, "args": {"External id": 41}},
        {"ph": "X", "cat": "python_function", "name": "f.py(1): f", "pid": 1, "tid": 1, "ts": 6, "dur": 18},
        {"ph": "X", "cat": "cuda_runtime", "name": "cudaGraphLaunch", "pid": 1, "tid": 1, "ts": 10, "dur": 5, "args": {"correlation": 40}},
        {"ph": "X", "cat": "kernel", "name": "a", "pid": 3, "tid": 0, "ts": 20, "dur": 2, "args": {"External id": 40, "correlation": 40}},
        {"ph": "X", "cat": "kernel", "name": "b", "pid": 3, "tid": 0, "ts": 22, "dur": 2, "args": {"External id": 40, "correlation": 40}},
        {"ph": "X", "cat": "kernel", "name": "before", "pid": 3, "tid": 0, "ts": 2, "dur": 4, "args": {"correlation": 39}}]}"#,
        expect![[r#"
            thread 1
              0 +50000 aten::outer (operator)
              5000 +20000 aten::inner (operator)
              6000 +18000 f.py(1): f (Python call)
              10000 +5000 cudaGraphLaunch (launch)
            Stream #0 of /device:GPU:3
              2000 +4000 before (kernel)
              20000 +2000 a (kernel) by cudaGraphLaunch for aten::inner
              22000 +2000 b (kernel) by cudaGraphLaunch for aten::inner
            Info x1: 1 of 3 device events have no launch in the file, 50.0% of device time: they began before it or their calls were left out; they count in all totals
        "#]],
    );
}

#[test]
fn arrows_link_where_no_correlation_does() {
    check(
        r#"[{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 10, "dur": 5},
        {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 20, "dur": 2},
        {"ph": "s", "cat": "ac2g", "id": 5, "pid": 1, "tid": 1, "ts": 10}, {"ph": "f", "cat": "ac2g", "id": 5, "pid": 0, "tid": 7, "ts": 20}]"#,
        expect![[r#"
            thread 1
              0 +5000 cudaLaunchKernel (launch)
            Stream #7 of /device:GPU:0
              10000 +2000 k (kernel) by cudaLaunchKernel
        "#]],
    );
}

#[test]
fn waits_and_copies_of_mtia_are_no_kernels() {
    check(
        r#"{"traceEvents": [
        {"ph": "X", "cat": "mtia_ccp_events", "name": "event_wait", "pid": 17, "tid": 3774, "ts": 0, "dur": 100,
         "args": {"stream": 108, "wait_on_stream": 104, "seq_num": 550218}},
        {"ph": "X", "cat": "mtia_ccp_events", "name": "dma_request", "pid": 17, "tid": 3774, "ts": 100, "dur": 5,
         "args": {"stream": 108, "direction": "DEVICE_TO_HOST", "size": 1024}},
        {"ph": "X", "cat": "mtia_ccp_events", "name": "fc-dtype_Float", "pid": 17, "tid": 3774, "ts": 110, "dur": 50,
         "args": {"stream": 108, "correlation": 18}}]}"#,
        expect![[r#"
            Stream #108 of /device:GPU:17
              0 +100000 event_wait (synchronization)
              100000 +5000 dma_request (copy device to host)
              110000 +50000 fc-dtype_Float (kernel)
            Info x2: 2 of 2 device events have no launch in the file, 100.0% of device time: they began before it or their calls were left out; they count in all totals
        "#]],
    );
}

#[test]
fn what_is_no_work_is_no_kernel() {
    check(
        r#"[{"ph": "X", "cat": "gpu_user_annotation", "name": "step", "pid": 0, "tid": 7, "ts": 0, "dur": 50},
        {"ph": "X", "cat": "cuda_sync", "name": "Stream Wait Event", "pid": 0, "tid": 7, "ts": 1, "dur": 2, "args": {"stream": -1}},
        {"ph": "X", "cat": "cpu_op", "name": "triton_poi_fused", "pid": 1, "tid": 1, "ts": 1, "dur": 2, "args": {"stream": 7, "device": 0}},
        {"ph": "X", "cat": "overhead", "name": "Buffer Flush", "pid": -1, "tid": 0, "ts": 1, "dur": 2}]"#,
        expect![[r#"
            thread 1
              1000 +2000 triton_poi_fused (operator)
            profiler overhead
              1000 +2000 Buffer Flush (profiler overhead)
            Stream #-1 of /device:GPU:0
              1000 +2000 Stream Wait Event (synchronization)
            Stream #7 of /device:GPU:0
              0 +50000 step (range on a device)
        "#]],
    );
}

#[test]
fn servers_name_their_own_steps() {
    check(
        r#"[{"ph": "X", "cat": "user_annotation", "name": "execute_context_1(8)_generation_0(0)", "pid": 1, "tid": 1, "ts": 5, "dur": 9},
        {"ph": "X", "cat": "user_annotation", "name": "execute_context_0(0)_generation_1(8)", "pid": 1, "tid": 1, "ts": 20, "dur": 9}]"#,
        expect![[r#"
            thread 1
              0 +9000 execute_context_1(8)_generation_0(0) (step)
              15000 +9000 execute_context_0(0)_generation_1(8) (step)
            step 0 is execute_context_1(8)_generation_0(0)
            step 1 is execute_context_0(0)_generation_1(8)
            Info x2: no ProfilerStep in the file: ranges named `execute_…` are used as steps, numbered by time
        "#]],
    );
}

#[test]
fn slightly_invalid_files_are_read() {
    check(
        "{\"traceEvents\": [{\"ph\": \"X\", \"name\": \"bell\u{7}\", \"pid\": 1, \"tid\": 1, \"ts\": 0, \"dur\": 1,},
        {\"ph\": \"X\", \"name\": \"say \"hi\" twice\", \"pid\": 1, \"tid\": 1, \"ts\": 1, \"dur\": 1},
        {\"ph\": \"X\", \"name\": \"C:\\windows\", \"pid\": 1, \"tid\": 1, \"ts\": 2, \"dur\": -1}, null,
        {\"ph\": \"X\", \"name\": \"NaN\", \"pid\": 1, \"tid\": 1, \"ts\": NaN, \"dur\": 1},
        {\"ph\": \"X\", \"name\": broken \"pid\": 1, \"args\": {\"a\": 1}},
        {\"ph\": \"X\", \"name\": \"last\", \"pid\": 1, \"tid\": 1, \"ts\": 4, \"dur\": Infinity, \"args\": {\"x\": NaN}},],}",
        expect![[r#"
            thread 1
              0 +1000 bell (host range)
              1000 +1000 say "hi" twice (host range)
              2000 +0 C:\windows (host range)
              4000 +0 last (host range)
            Lost x3 at 270: events with invalid times were left out or count as instantaneous
            Partial x1 at 181: events with a negative duration count as instantaneous
            Info x1 at 95: events contain unescaped quotes; their ends were guessed from the characters after them
            Info x1: names contain control characters, which JSON forbids
            Info x1: names contain escapes that are invalid in JSON; they were kept as written
        "#]],
    );
}

#[test]
fn cut_files_give_what_came_before() {
    let whole =
        r#"{"traceEvents": [{"ph": "X", "name": "a", "ts": 0, "dur": 1}, {"ph": "X", "name": "b", "ts": 1, "dur": 1}"#;
    check(
        &whole[..whole.len() - 12],
        expect![[r#"
            thread 
              0 +1000 a (host range)
            Lost x1 at 62: the file is truncated; everything before the cut was read
        "#]],
    );
    check("{\"traceEvents\": []}", expect![""]);
    let error = import(&[Source { name: "x", bytes: b"{\"displayTimeUnit\": \"ms\"}" }], None).expect_err("no events");
    expect!["not a trace: expected a list of events or an object with `traceEvents`, found neither"]
        .assert_eq(&error.to_string());
}

#[test]
fn json_that_is_no_trace_is_a_quiet_note_beside_a_capture_and_one_that_is_cut_a_loss() {
    let trace = Source { name: "t.json", bytes: br#"[{"ph": "X", "name": "a", "ts": 0, "dur": 1}]"# };
    let said = |other: &str| {
        let found = import(&[trace, Source { name: "x.json", bytes: other.as_bytes() }], None).expect("a trace");
        found.notes.iter().map(|note| format!("{:?}: {}", note.severity, note.message)).collect::<Vec<_>>().join("; ")
    };
    expect!["Info: left out: not a trace: expected a list of events or an object with `traceEvents`, found neither"]
        .assert_eq(&said(r#"{"metadata": {"model": "bert"}, "loss": [1, 2, 3]}"#));
    expect!["Lost: the whole file could not be read: not a trace: expected a list of events or an object with `traceEvents`, found neither at byte 32"]
        .assert_eq(&said(r#"{"deviceProperties": [{"id": 0}], "s"#));
}

#[test]
fn hostile_nesting_and_endless_strings_cost_little() {
    let said = |text: &str| match import(&[Source { name: "x", bytes: text.as_bytes() }], Some("chrome")) {
        Ok(found) => {
            let notes = found.notes.iter().map(|note| format!("{} x{}", note.message, note.count));
            (found.trace.events.len(), notes.collect::<Vec<_>>().join("; "))
        }
        Err(error) => (0, error.to_string()),
    };
    let deep = format!("{{\"traceEvents\": [{{\"ph\": \"X\", \"args\": {}", "[{\"a\":".repeat(200_000));
    let (events, words) = said(&deep);
    assert!(events == 0 && words.contains("the file is truncated; everything before the cut was read"), "{words}");
    let endless = format!("[{}", "{\"ph\": \"X\", \"args\": {\"a\": [}}, ".repeat(20_000));
    let (events, words) = said(&endless);
    assert!(events == 0 && words.starts_with("not a trace: expected a list of events"), "{events} {words}");
    let strings = format!("[{}", "{\"ph\": \"X\", \"name\": \"a\\\"}, ".repeat(20_000));
    let (events, words) = said(&strings);
    let left_out = "events with invalid times were left out or count as instantaneous x19999";
    assert!(events == 0 && words.contains(left_out) && words.contains("the file is truncated"), "{words}");
}

/// Events whose strings and arguments look like the borders between events.
fn tricky(events: usize) -> Vec<u8> {
    let mut text = b"{\"traceEvents\": [\n".to_vec();
    for at in 0..events {
        let name = ["}, {\\\"ph\\\": ", "}, {\"", "a\\\\", "plain"][at % 4].replace("{\"", "{ \\\"");
        let _ = writeln!(
            text,
            "{{\"ph\": \"X\", \"name\": \"{name}\", \"pid\": 1, \"tid\": {}, \"ts\": {at}.125, \"dur\": 0.5,
              \"args\": {{\"list\": [{{\"a\": 1}}, {{\"b\": 2}}, {{\"ph\": \"X\", \"name\": \"inside\", \"ts\": 1}}], \"t\": \"}},{{\"}}}},",
            at % 3
        );
    }
    text.truncate(text.len() - 2);
    text.extend_from_slice(b"], \"baseTimeNanoseconds\": 1711964646000000000, \"distributedInfo\": {\"rank\": 5}}");
    text
}

#[test]
fn a_file_is_read_the_same_in_stretches_and_while_it_is_unpacked() {
    let text = tricky(120_000);
    assert!(text.len() > 20 << 20, "several stretches: {}", text.len());
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&text).expect("memory takes all");
    let packed = encoder.finish().expect("memory takes all");
    let (stretches, streamed) = (read(&text), read(&packed));
    for imported in [&stretches, &streamed] {
        let trace = &imported.trace;
        assert_eq!(trace.events.len(), 120_000);
        assert!(imported.notes.is_empty(), "{:?}", imported.notes);
        assert_eq!(trace.processes[0].rank, Some(5));
        assert_eq!(imported.captures[0].unix_zero_ns, Some(1_711_964_646_000_000_125));
    }
    assert_eq!(stretches.trace.events.start_ns, streamed.trace.events.start_ns);
    assert_eq!(stretches.trace.events.name, streamed.trace.events.name);
    assert_eq!(stretches.trace.tracks, streamed.trace.tracks);
}

/// A rank's trace: five collectives that end at 1000, 2000, … µs of its own clock, plus `late` µs.
fn rank(rank: u32, base_ns: i64, late_us: i64) -> String {
    let mut text =
        format!("{{\"baseTimeNanoseconds\": {base_ns}, \"distributedInfo\": {{\"rank\": {rank}}}, \"traceEvents\": [");
    for at in 1..=5 {
        let _ = write!(
            text,
            "{{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"ncclDevKernel_AllReduce\", \"pid\": 0, \"tid\": 7, \"ts\": {}, \
             \"dur\": 100, \"args\": {{\"Collective name\": \"allreduce\", \"Process Group Name\": \"0\", \"Seq\": {at}}}}},",
            at * 1000 - 100 + late_us
        );
    }
    text + "]}"
}

#[test]
fn clocks_of_other_hosts_are_aligned() {
    let zero = 1_711_964_646_000_000_000;
    let texts = [rank(0, zero, 0), rank(1, zero, 7000), rank(2, zero + 7_000_000, -7000)];
    let sources: Vec<Source<'_>> =
        texts.iter().map(|text| Source { name: "rank.json", bytes: text.as_bytes() }).collect();
    let imported = import(&sources, None).expect("three ranks");
    let trace = &imported.trace;
    let firsts: Vec<i64> = trace.tracks.iter().map(|track| trace.events.start_ns[track.rows.start as usize]).collect();
    assert_eq!(firsts, [0, 0, 0], "{:?}", imported.notes);
    let notes = imported.notes.iter().map(|note| note.message.as_str());
    let shifts: Vec<&str> = notes.filter(|note| note.contains("shifted")).collect();
    assert_eq!(shifts, ["its clock was shifted by -7 ms to align the ends of its collectives with the first rank's"]);
    assert_eq!(trace.processes.iter().map(|process| process.rank).collect::<Vec<_>>(), [Some(0), Some(1), Some(2)]);
}

/// Kernels were launched and none was recorded: the devices were not idle, they were not looked at.
#[test]
fn launches_without_device_records_are_said_first() {
    let text = r#"{"traceEvents": [
        {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 0, "dur": 50},
        {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 1, "dur": 2, "args": {"correlation": 7}},
        {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 9, "dur": -2, "args": {"correlation": 8}}
    ]}"#;
    let imported = read(text.as_bytes());
    let first = imported.notes.first().expect("a note");
    assert!(first.message.starts_with("no device activity was recorded"), "{:?}", imported.notes);
    assert_eq!((first.count, imported.trace.processes_without_device_activity()), (2, vec![(0, 2)]));
    let kernel = r#"{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 4, "dur": 1, "args": {"device": 0, "stream": 7}}"#;
    let with_kernel = text.replace("    ]}", &format!(",{kernel}]}}"));
    assert_eq!(read(with_kernel.as_bytes()).trace.processes_without_device_activity(), []);
    let host_alone = r#"[{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 0, "dur": 50}]"#;
    assert_eq!(read(host_alone.as_bytes()).trace.processes_without_device_activity(), []);
}
