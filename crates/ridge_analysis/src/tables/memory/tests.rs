//! Tables of memory of small traces, input and output side by side.

use crate::{Analysis, Ask, Prepared, Topic, memory_changes, sections};
use expect_test::{Expect, expect};
use ridge_test::{render, render_sections};
use ridge_trace::{BlockState, EventKind, NONE, NewEvent, SegmentEventKind, Step, Trace, TraceBuilder, TrackKind};

fn with_analysis<T>(trace: &Trace, ask: impl FnOnce(&Analysis<'_>) -> T) -> T {
    ask(&Prepared::default().analysis(trace, &[]))
}

/// `time address delta requested owner` a line, with `before` bytes in use at the start.
fn allocations(builder: &mut TraceBuilder, before: i64, lines: &str) {
    let process = builder.add_process("host", None);
    let allocator = builder.strings.intern("gpu:0");
    let mut in_use = before;
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |at: usize| words[at].parse::<i64>().expect("a number of the test");
        in_use += number(2);
        let owner = builder.strings.intern(words.get(4).copied().unwrap_or_default());
        let table = &mut builder.allocations;
        table.process.push(process);
        table.time_ns.push(number(0));
        table.allocator.push(allocator);
        table.delta_bytes.push(number(2));
        table.requested_bytes.push(number(3));
        table.in_use_bytes.push(in_use);
        table.peak_bytes.push(in_use);
        table.reserved_bytes.push(in_use.max(2000));
        table.fragmentation.push(0.0);
        table.address.push(number(1) as u64);
        table.owner.push(owner);
    }
}

const EVENTS: &str = "
    0         1  100  90 x
    10        2  300 290 y
    20        1 -100   0 -
    30        3  250 250 x
    2000040   2 -300   0 -
    2000050   4   20  20 x";

#[track_caller]
fn check(trace: &Trace, by: &str, columns: &[&str], expected: Expect) {
    let prepared = Prepared::default();
    let table = prepared.analysis(trace, &[]).table(Topic::Memory, by).expect("a view");
    expected.assert_eq(&render(&table, columns));
}

#[test]
fn allocators_over_time() {
    let mut builder = TraceBuilder::new();
    allocations(&mut builder, 1000, EVENTS);
    let trace = builder.finish();
    check(
        &trace,
        "allocator",
        &[
            "allocator",
            "peak_bytes",
            "peak_at_ns",
            "end_bytes",
            "cached_bytes",
            "rounding_bytes",
            "allocations",
            "frees",
            "burst",
        ],
        expect![[r#"
            allocator  peak_bytes  peak_at_ns  end_bytes  cached_bytes  rounding_bytes  allocations  frees  burst
            gpu:0      1550        30          1270       900           10              4            2      4
        "#]],
    );
    // Alive after the event at 30: block 2 (300 for y) and block 3 (250 for x); 1000 are from before.
    check(
        &trace,
        "holder",
        &["owner", "bytes", "share", "blocks", "requested_bytes", "since_ns"],
        expect![[r#"
            owner                           bytes  share  blocks  requested_bytes  since_ns
            (allocated before the capture)  1000   0.645  -       -                -
            y                               300    0.194  1       290              10
            x                               250    0.161  1       250              30
        "#]],
    );
    with_analysis(&trace, |analysis| {
        let lines = analysis.memory().lines(&trace);
        let (name, line) = &lines[0];
        assert_eq!((name.as_str(), line.len(), line[0], line[50], line[99]), ("gpu:0", 100, 1550, 1550, 1550));
        assert!(line.iter().all(|bytes| *bytes == 1550), "nothing is freed until the last stretch: {line:?}");
    });
}

/// Three blocks are older than the history: they were there all at once, and nobody allocated them in the capture.
#[test]
fn what_was_held_before_the_history_is_no_event_of_it() {
    let mut builder = TraceBuilder::new();
    allocations(&mut builder, 0, "0 1 500 500 -\n 0 2 500 500 -\n 0 3 900 900 -\n 10 4 50 50 x\n 20 2 -500 0 -");
    builder.allocations.is_older = vec![true, true, true, false, false];
    let trace = builder.finish();
    check(
        &trace,
        "allocator",
        &["peak_bytes", "end_bytes", "cached_bytes", "allocations", "frees", "burst"],
        expect![[r#"
            peak_bytes  end_bytes  cached_bytes  allocations  frees  burst
            1950        1450       550           1            1      2
        "#]],
    );
}

#[test]
fn a_timeline_without_addresses_is_kept_by_category() {
    let mut builder = TraceBuilder::new();
    allocations(
        &mut builder,
        0,
        "0 0 100 0 weights\n 10 0 50 0 activations\n 20 0 70 0 activations\n 30 0 -120 0 activations",
    );
    let trace = builder.finish();
    check(
        &trace,
        "holder",
        &["owner", "bytes", "share"],
        expect![[r#"
        owner        bytes  share
        activations  120    0.545
        weights      100    0.455
    "#]],
    );
    with_analysis(&trace, |analysis| {
        let table = analysis.table(Topic::Memory, "usage").expect("a view");
        let text = render(&table, &["owner", "time_ns", "most_bytes", "last_bytes"]);
        let lines: Vec<&str> =
            text.lines().filter(|line| [" 10 ", " 30 "].iter().any(|time| line.contains(time))).collect();
        expect![[r#"
            -            10       150         150
            -            30       220         100
            weights      10       100         100
            weights      30       100         100
            activations  10       50          50
            activations  30       120         0
        "#]]
        .assert_eq(&(lines.join("\n") + "\n"));
    });
}

#[test]
fn growth_from_step_to_step() {
    let mut builder = TraceBuilder::new();
    let lines: String = (0..6).map(|step| format!("{} {} {} 64 x\n", step * 100 + 5, step + 1, 64)).collect();
    allocations(&mut builder, 0, &lines);
    let track = builder.add_track(0, None, TrackKind::HostThread, "python", 1);
    let name = builder.strings.intern("step");
    for number in 0..6 {
        let event = builder.push(track, NewEvent::new(EventKind::Step, name, number * 100, 90));
        builder.steps.push(Step { event, number });
    }
    let trace = builder.finish();
    check(
        &trace,
        "allocator",
        &["peak_bytes", "growth_bytes_per_step", "suspected_leak"],
        expect![[r#"
        peak_bytes  growth_bytes_per_step  suspected_leak
        384         64                     true
    "#]],
    );
}

#[test]
fn snapshots_and_segments() {
    let mut builder = TraceBuilder::new();
    allocations(&mut builder, 0, "0 1 100 100 x");
    let [file, allocator, large, frame, outer] =
        ["a.pickle", "gpu:0", "large", "/home/me/net.py:7 forward", "/home/me/train.py:3 <module>"]
            .map(|text| builder.strings.intern(text));
    let caller = builder.memory.stacks.push(NONE, outer);
    let stack = builder.memory.stacks.push(caller, frame);
    for (state, bytes, requested, segment) in [
        (BlockState::Allocated, 512, 500, 0),
        (BlockState::Inactive, 1024, 0, 0),
        (BlockState::AwaitingFree, 2048, 2048, 1),
        (BlockState::Inactive, 4096, 0, 2),
        (BlockState::Allocated, 512, 400, 1),
    ] {
        let blocks = &mut builder.memory.blocks;
        blocks.snapshot.push(file);
        blocks.allocator.push(allocator);
        blocks.kind.push(large);
        blocks.state.push(state);
        blocks.count.push(1);
        blocks.bytes.push(bytes);
        blocks.requested_bytes.push(requested);
        blocks.segment.push(segment);
        blocks.stack.push(if state == BlockState::Allocated { stack } else { NONE });
    }
    let segments = &mut builder.memory.segments;
    for (kind, bytes, free_bytes) in
        [(SegmentEventKind::Allocated, 4096, None), (SegmentEventKind::OutOfMemory, 1 << 20, Some(2048))]
    {
        segments.allocator.push(allocator);
        segments.process.push(0);
        segments.time_ns.push(7);
        segments.kind.push(kind);
        segments.bytes.push(bytes);
        segments.free_bytes.push(free_bytes);
        segments.stack.push(stack);
    }
    let trace = builder.finish();
    check(
        &trace,
        "snapshot",
        &[
            "reserved_bytes",
            "allocated_bytes",
            "awaiting_bytes",
            "inactive_bytes",
            "inactive_split_bytes",
            "rounding_bytes",
            "fragmentation",
            "blocks",
            "segments",
        ],
        expect![[r#"
            reserved_bytes  allocated_bytes  awaiting_bytes  inactive_bytes  inactive_split_bytes  rounding_bytes  fragmentation  blocks  segments
            8192            1024             2048            5120            1024                  124             0.2            3       3
        "#]],
    );
    check(
        &trace,
        "block",
        &["source", "bytes", "blocks", "state", "stack"],
        expect![[r#"
        source                     bytes  blocks  state          stack
        (no stack)                 5120   2       inactive       -
        (no stack)                 2048   1       awaiting free  -
        /home/me/net.py:7 forward  1024   2       allocated      /home/me/net.py:7 forward < /home/me/train.py:3 <module>
    "#]],
    );
    check(
        &trace,
        "segment",
        &["time_ns", "event", "bytes", "free_bytes", "source"],
        expect![[r#"
        time_ns  event          bytes    free_bytes  source
        7        allocated      4096     -           /home/me/net.py:7 forward
        7        out of memory  1048576  2048        /home/me/net.py:7 forward
    "#]],
    );
    check(
        &trace,
        "allocator",
        &["driver_allocations", "driver_frees"],
        expect![[r#"
        driver_allocations  driver_frees
        1                   0
    "#]],
    );
    with_analysis(&trace, |analysis| {
        expect![[r#"
            Allocator gpu:0
              peak_bytes           100
              peak_at_ns           0
              end_bytes            100  1
              reserved_bytes       2000
              cached_bytes         1900
              allocations          1
              frees                0
              burst                1
            Snapshot a.pickle of gpu:0
              held_bytes           8192
              allocated_bytes      1024  0.125
              awaiting_bytes       2048  0.25
              inactive_bytes       5120  0.625
              inactive_split_bytes 1024  0.125
              rounding_bytes       124  0.015
            Out of memory
              time_ns              7
              requested_bytes      1048576
              free_bytes           2048
              source               /home/me/net.py:7 forward
        "#]]
        .assert_eq(&render_sections(&sections(analysis, Topic::Memory, &Ask::default())));
    });
}

#[test]
fn changes_between_captures() {
    let [before, after] = [&EVENTS[..EVENTS.len() - 1], "0 1 3000 0 x"].map(|events| {
        let mut builder = TraceBuilder::new();
        allocations(&mut builder, 0, events);
        builder.finish()
    });
    with_analysis(&before, |before| {
        with_analysis(&after, |after| {
            let columns = ["what", "name", "change_bytes", "before_bytes", "after_bytes"];
            expect![[r#"
                what       name   change_bytes  before_bytes  after_bytes
                allocator  gpu:0  2450          550           3000
            "#]]
            .assert_eq(&render(&memory_changes(before, after), &columns));
            expect![[r#"
                what  name  change_bytes  before_bytes  after_bytes
                * 1 more are the same in both
            "#]]
            .assert_eq(&render(&memory_changes(before, before), &columns));
        });
    });
}
