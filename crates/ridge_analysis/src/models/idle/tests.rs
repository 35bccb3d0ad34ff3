//! The rules on small traces: a trace in text, and the parts of each of its gaps.
//!
//! [`check`] also proves that the parts of every gap add up to it and that the capture window is the sum of its parts.

use super::activity::DoingKey;
use super::attribute::{Attributor, Gap};
use super::cause::Cause;
use super::{DeviceIdle, Idle};
use crate::{Analysis, Prepared};
use expect_test::{Expect, expect};
use ridge_trace::Trace;

fn analyzed<T>(trace: &Trace, ask: impl FnOnce(&Analysis<'_>, &Idle) -> T) -> T {
    let prepared = Prepared::default();
    let analysis = prepared.analysis(trace, &[]);
    ask(&analysis, analysis.get())
}

/// The capture window is the sum of the busy time and of all causes; the gaps are the sum of the inner causes.
fn assert_exact(device: &DeviceIdle) {
    let ns = |causes: &[Cause]| causes.iter().map(|cause| device.sums.ns(*cause)).sum::<i64>();
    assert_eq!(ns(&Cause::ALL) + device.busy_ns, device.capture_ns(), "the capture window is the sum of its parts");
    assert_eq!(ns(&Cause::ALL[2..]), device.idle_ns(), "the idle time is the sum of its causes");
    let by_host: i64 = device.sums.doings.values().map(|sum| sum.ns).sum();
    assert_eq!(by_host, ns(&Cause::ALL), "what the host did covers all of it");
}

/// One line a gap: its times, then its parts.
fn line(trace: &Trace, idle: &Idle, device: &DeviceIdle, gap: &Gap) -> String {
    let mut attributor = Attributor::new(trace, &idle.context, device.device);
    let parts = attributor.parts(gap);
    assert_eq!(parts.iter().map(|part| part.ns).sum::<i64>(), gap.length(), "the parts add up to the gap");
    assert!(parts.iter().all(|part| part.ns > 0), "{parts:?}");
    let mut line = format!("{}..{}", gap.start, gap.end);
    for part in parts {
        let name = part.doing.row().map_or("", |row| trace.name(row as usize));
        let activity = DoingKey::of(trace, &idle.context, part.doing).activity(name).name();
        let host = format!("{activity} {name}");
        line.push_str(&format!(" | {} {}: {}", part.ns, part.cause.name(), host.trim_end()));
    }
    line + "\n"
}

#[track_caller]
fn check(text: &str, expected: Expect) {
    let trace = ridge_test::trace(text);
    let mut found = String::new();
    analyzed(&trace, |_, idle| {
        for device in &idle.devices {
            assert_exact(device);
            found.push_str(&format!("{}\n", trace.devices[device.device as usize].plane));
            for gap in device.gaps.gaps.iter(&trace) {
                found.push_str(&line(&trace, idle, device, &gap));
            }
        }
    });
    expected.assert_eq(&found);
}

#[test]
fn late_launches_say_what_the_host_did() {
    check(
        "thread python
           0 +200 train step=1
             10 +2 cudaLaunchKernel launch id=1
             20 +100 \"$solver.py:5 residual\" python
               40 +30 cudaStreamSynchronize
               75 +20 \"$jax.py:1 compile\" compile
                 80 +10 \"$mlir.py:2 lower\" python
               100 +10 aten::mul operator
             130 +5 cudaMalloc
             140 +4 cudaLaunchKernel launch id=2
           200 +50 \"$loader.py:1 next\" python
             210 +20 DataLoader.__next__
               215 +5 \"$PIL.py:3 decode\" python
           260 +2 cudaLaunchKernel launch id=3
         stream 7 on gpu
           14 +6 a id=1
           150 +20 b id=2
           266 +10 c id=3",
        expect![[r#"
            gpu
            20..150 | 20 host late: Python $solver.py:5 residual | 30 host late: blocking call cudaStreamSynchronize | 5 host late: Python $solver.py:5 residual | 5 host late: compiling $jax.py:1 compile | 10 host late: compiling $mlir.py:2 lower | 5 host late: compiling $jax.py:1 compile | 5 host late: Python $solver.py:5 residual | 10 host late: operator aten::mul | 10 host late: Python $solver.py:5 residual | 10 host late: program's own code train | 5 host late: allocating memory cudaMalloc | 5 host late: program's own code train | 4 in the launch call: launching cudaLaunchKernel | 6 launch latency: launching cudaLaunchKernel
            170..266 | 30 host late: program's own code train | 10 host late: Python $loader.py:1 next | 5 host late: loading data DataLoader.__next__ | 5 host late: loading data $PIL.py:3 decode | 10 host late: loading data DataLoader.__next__ | 20 host late: Python $loader.py:1 next | 10 host late: nothing recorded | 2 in the launch call: launching cudaLaunchKernel | 4 launch latency: launching cudaLaunchKernel
        "#]],
    );
}

#[test]
fn queued_work_is_not_late() {
    // Two kernels launched on an empty stream measure the ordinary latency: 10 ns at most.
    check(
        "thread python
           0 +2 cuLaunchKernel launch id=1
           3 +2 cuLaunchKernel launch id=2
           6 +2 cuLaunchKernel launch id=3
           100 +2 cuLaunchKernel launch id=4
         stream 1 on gpu
           10 +10 a id=1
           23 +10 b id=2
           63 +10 c id=3
           105 +10 d id=4",
        expect![[r#"
            gpu
            20..23 | 3 between queued work: launching cuLaunchKernel
            33..63 | 10 between queued work: launching cuLaunchKernel | 20 unknown: nothing recorded
            73..105 | 27 host late: nothing recorded | 2 in the launch call: launching cuLaunchKernel | 3 launch latency: launching cuLaunchKernel
        "#]],
    );
}

#[test]
fn copies_waits_and_graphs() {
    check(
        "thread python
           0 +1 cudaMemcpyAsync launch id=1
           2 +1 cudaGraphLaunch launch id=2
           4 +1 cudaLaunchKernel launch id=3
           6 +1 cudaMemcpyAsync launch id=4
         stream 1 on gpu
           5 +5 MemcpyH2D h2d bytes=8 id=1
           12 +5 a id=2
           19 +5 b id=2
         stream 3 on gpu
           3 +0 \"Stream Wait Event\" sync
           30 +5 c id=3
         stream 2 on gpu
           40 +5 MemcpyD2H d2h bytes=8 id=4",
        expect![[r#"
            gpu
            10..12 | 2 between queued work: launching cudaGraphLaunch
            17..19 | 2 inside a graph replay: launching cudaGraphLaunch
            24..30 | 6 waiting for another stream: device Stream Wait Event
            35..40 | 5 waiting for a copy: launching cudaMemcpyAsync
        "#]],
    );
}

#[test]
fn a_wait_for_an_event_counts_from_when_the_host_asked_for_it() {
    // The host told stream 2 to wait between its launches of b and c, long before c was due; d had no wait of its own, and
    // what e is told of came after it.
    check(
        "thread python
           0 +1 cudaLaunchKernel launch id=1
           2 +1 cudaLaunchKernel launch id=2
           4 +2 cudaStreamWaitEvent
           6 +1 cudaLaunchKernel launch id=3
           8 +1 cudaLaunchKernel launch id=4
           10 +1 cudaLaunchKernel launch id=5
           12 +2 cudaStreamWaitEvent
         stream 1 on gpu
           20 +30 a id=1
           72 +8 e id=5
         stream 2 on gpu
           5 +1 \"Stream Wait Event\" sync
           13 +1 \"Stream Wait Event\" sync
           22 +4 b id=2
           55 +5 c id=3
           64 +5 d id=4",
        expect![[r#"
            gpu
            50..55 | 5 waiting for another stream: device Stream Wait Event
            60..64 | 4 between queued work: launching cudaLaunchKernel
            69..72 | 3 between queued work: launching cudaLaunchKernel
        "#]],
    );
}

#[test]
fn the_drivers_overhead_is_not_the_profilers() {
    check(
        "thread python
           0 +1 cudaLaunchKernel launch id=1
           20 +40 cudaLaunchKernel launch id=2
             25 +10 \"Command Buffer Full\" overhead
         stream 1 on gpu
           2 +5 a id=1
           62 +5 b id=2",
        expect![[r#"
            gpu
            7..62 | 13 host late: nothing recorded | 5 in the launch call: launching cudaLaunchKernel | 10 in the launch call: blocking call Command Buffer Full | 25 in the launch call: launching cudaLaunchKernel | 2 launch latency: launching cudaLaunchKernel
        "#]],
    );
}

#[test]
fn other_devices_and_the_profiler() {
    check(
        "thread python
           0 +1 cudaLaunchKernel launch id=1
           2 +1 cudaLaunchKernel launch id=2
           3 +1 cudaLaunchKernel launch id=3
           4 +1 cudaLaunchKernel launch id=4
         stream 1 on gpu0
           5 +5 a id=1
           53 +5 b id=2
           100 +5 unlinked
         stream 2 on gpu0
           64 +6 \"Activity Buffer Flush\" overhead
         stream 1 on gpu1
           8 +2 a id=3
           12 +39 ncclDevKernel_AllReduce id=4",
        expect![[r#"
            gpu0
            10..53 | 2 between queued work: launching cudaLaunchKernel | 39 waiting for another stream: device ncclDevKernel_AllReduce | 2 between queued work: launching cudaLaunchKernel
            58..100 | 6 unknown: nothing recorded | 6 profiler overhead: profiler Activity Buffer Flush | 30 unknown: nothing recorded
            gpu1
            10..12 | 2 between queued work: launching cudaLaunchKernel
        "#]],
    );
}

#[test]
fn lanes_of_a_processor_follow_their_runs_back() {
    check(
        "thread python
           0 +100 PjitFunction
             10 +5 compile compile
             30 +0 ThreadpoolListener::Record instant as=record
           100 +80 \"$solver.py:1 think\" python
             120 +0 ThreadpoolListener::Record instant as=second
         thread pool
           35 +40 ThreadpoolListener::StartRegion pool by=record as=region
           130 +40 ThreadpoolListener::StartRegion pool by=second as=other
         lane 0 on cpu
           40 +10 dot.1 by=region
           55 +10 add.2 by=region
           140 +10 dot.1 by=other",
        expect![[r#"
            cpu
            50..55 | 5 inside a program run: pool worker ThreadpoolListener::StartRegion
            65..140 | 10 host late: hand-over to a thread ThreadpoolListener::StartRegion | 35 host late: runtime or library PjitFunction | 20 host late: Python $solver.py:1 think | 10 in the launch call: pool worker ThreadpoolListener::StartRegion
        "#]],
    );
}

/// Python waits in the compiler while a pool thread, to which nothing in the capture leads, hands on what another runs.
#[test]
fn what_other_threads_did_is_shown_where_the_thread_at_work_did_nothing() {
    check(
        "thread python
           0 +12 PjitFunction
           60 +100 backend_compile_and_load
         thread pool-1
           170 +5 Execute as=run
         thread pool-2
           11 +20 ThreadpoolListener::StartRegion pool as=first
           180 +20 ThreadpoolListener::StartRegion pool by=run as=second
         lane 0 on cpu
           15 +10 dot.1 by=first
           185 +10 dot.1 by=second",
        expect![[r#"
            cpu
            25..185 | 5 host late: hand-over to a thread ThreadpoolListener::StartRegion | 6 host late: pool worker ThreadpoolListener::StartRegion | 29 host late: nothing recorded | 100 host late: compiling backend_compile_and_load | 10 host late: nothing recorded | 5 host late: runtime or library Execute | 5 in the launch call: pool worker ThreadpoolListener::StartRegion
        "#]],
    );
}

/// What a module does while it is loaded is part of loading it.
#[test]
fn importing_is_told_from_the_programs_own_python() {
    check(
        "thread python
           0 +90 \"train.py(9): step\" python
             10 +5 cudaLaunchKernel launch id=1
             20 +50 \"<frozen importlib._bootstrap>(1165): _find_and_load\" python
               30 +20 \"scipy/signal/__init__.py(1): <module>\" python
             80 +5 cudaLaunchKernel launch id=2
         stream 7 on gpu
           15 +5 a id=1
           85 +5 b id=2",
        expect![[r#"
            gpu
            20..85 | 10 host late: importing libraries <frozen importlib._bootstrap>(1165): _find_and_load | 20 host late: importing libraries scipy/signal/__init__.py(1): <module> | 20 host late: importing libraries <frozen importlib._bootstrap>(1165): _find_and_load | 10 host late: Python train.py(9): step | 5 in the launch call: launching cudaLaunchKernel
        "#]],
    );
}

/// The recorder marks imports where there is no Python tracer; a range that the program called so is its own.
#[test]
fn importing_is_known_without_the_programs_python() {
    check(
        "thread python
           10 +5 cudaLaunchKernel launch id=1
           20 +50 \"import scipy.signal\"
             30 +20 Inside
           72 +6 \"import the data\" annotation
             73 +2 Inside
           80 +5 cudaLaunchKernel launch id=2
         stream 7 on gpu
           15 +5 a id=1
           85 +5 b id=2",
        expect![[r#"
            gpu
            20..85 | 10 host late: importing libraries import scipy.signal | 20 host late: importing libraries Inside | 20 host late: importing libraries import scipy.signal | 2 host late: nothing recorded | 1 host late: program's own code import the data | 2 host late: runtime or library Inside | 3 host late: program's own code import the data | 2 host late: nothing recorded | 5 in the launch call: launching cudaLaunchKernel
        "#]],
    );
}

/// Nothing says what launched the second piece of work; the host was in a call that waits all the while.
#[test]
fn an_unknown_wait_shows_what_the_host_did() {
    check(
        "thread python
           0 +5 hipLaunchKernel launch id=1
           20 +80 hipMemcpyWithStream
         stream 7 on gpu
           10 +10 a id=1
           110 +10 b",
        expect![[r#"
            gpu
            20..110 | 80 unknown: blocking call hipMemcpyWithStream | 10 unknown: nothing recorded
        "#]],
    );
}

#[test]
fn launches_on_a_line_of_their_own_have_a_companion() {
    check(
        "thread python
           0 +300 main annotation
         thread executor
           5 +30 ExecuteThunks
             8 +8 dot.1
           100 +40 Allocate
           150 +30 ExecuteThunks
             158 +8 dot.1
         thread \"Host Threads/7\"
           10 +4 cuLaunchKernel launch id=1
           160 +4 cuLaunchKernel launch id=2
         stream 7 on gpu
           20 +40 a id=1
           170 +40 a id=2",
        expect![[r#"
            gpu
            60..170 | 40 host late: program's own code main | 40 host late: runtime or library Allocate | 10 host late: program's own code main | 8 host late: runtime or library ExecuteThunks | 2 host late: runtime or library dot.1 | 4 in the launch call: launching cuLaunchKernel | 6 launch latency: launching cuLaunchKernel
        "#]],
    );
}
