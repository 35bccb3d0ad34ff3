//! Tables of small traces, input and output side by side.
//!
//! Every table goes through [`check`] and every overview through [`check_overview`]: when the API changes, two
//! functions do.

use crate::{Analysis, Prepared, Topic, overview};
use expect_test::{Expect, expect};
use ridge_hlo::HloModule;
use ridge_test::{render, render_sections};
use ridge_trace::Trace;

fn analyzed<T>(trace: &Trace, hlo: &[HloModule], ask: impl FnOnce(&Analysis<'_>) -> T) -> T {
    ask(&Prepared::with_sheets(trace).analysis(trace, hlo))
}

/// The columns that tests of a table look at.
fn columns(by: &str) -> &'static [&'static str] {
    match by {
        "op" => &["op", "category", "self_ns", "self_share", "total_ns", "events", "executions", "attribution"],
        "kernel" => &["kernel", "op", "self_ns", "events", "min_ns", "median_ns", "max_ns", "grid", "block"],
        "category" => &["category", "self_ns", "self_share", "total_ns", "events"],
        "module" => &["module", "self_ns", "self_share", "total_ns", "events"],
        "source" => &["source", "self_ns", "self_share", "inclusive_ns", "events"],
        "scope" => &["tree", "inclusive_ns", "inclusive_share", "self_ns", "events"],
        "operation" => &["operation", "device_ns", "device_self_ns", "count", "wall_ns", "events", "depth"],
        "operator" | "operator-shapes" => {
            &["operator", "calls", "self_cpu_ns", "total_cpu_ns", "self_device_ns", "device_ns"]
        }
        "collective" => &["kernel", "ranks", "latency_ns"],
        "rank" => &["rank", "busy_ns", "wait_ns", "times_last"],
        "step" => &["step", "number", "wall_ns", "device_ns", "device_share", "copies_ns", "kernels", "device_span_ns"],
        "track" => &["track", "device", "kind", "busy_ns", "busy_share", "events"],
        "profile" => &["kernel", "duration_ns", "bound", "dram_bytes", "rule"],
        "call" => &["call", "total_ns", "total_share", "count", "launches", "mean_ns", "median_ns"],
        "copy" => &["copy", "source", "destination", "total_ns", "count", "bytes", "bytes_per_sec"],
        "launch" => &["kernel", "call", "count", "mean_total_ns", "mean_call_ns", "mean_queue_ns", "mean_kernel_ns"],
        other => panic!("no columns are chosen for {other}"),
    }
}

#[track_caller]
fn check_with(text: &str, hlo: &[&str], by: &str, expected: Expect) {
    let trace = ridge_test::trace(text);
    let hlo: Vec<HloModule> =
        hlo.iter().map(|text| HloModule::from_text(text).expect("HLO text of the test")).collect();
    let table = analyzed(&trace, &hlo, |analysis| analysis.table(Topic::Time, by).expect("a view"));
    expected.assert_eq(&render(&table, columns(by)));
}

#[track_caller]
fn check(text: &str, by: &str, expected: Expect) {
    check_with(text, &[], by, expected);
}

#[track_caller]
fn check_overview(text: &str, expected: Expect) {
    let trace = ridge_test::trace(text);
    let sections = analyzed(&trace, &[], overview);
    let nanos = |key: &str| {
        let fact = sections[0].facts.iter().find(|fact| fact.key == key)?;
        match fact.value {
            ridge_table::FactValue::Nanos(nanos) => Some(nanos),
            ref other => panic!("{key} is no time: {other:?}"),
        }
    };
    let always = ["busy_ns", "idle_compile_ns", "idle_host_ns", "idle_unknown_ns"];
    let always = always.map(|key| nanos(key).expect("every overview has it"));
    let parts: Vec<i64> = always.into_iter().chain(nanos("idle_recorder_ns")).collect();
    assert!(parts.iter().all(|part| *part >= 0), "{parts:?}");
    assert_eq!(Some(parts.iter().sum::<i64>()), nanos("wall_ns"), "the parts add up to the wall time");
    expected.assert_eq(&render_sections(&sections));
}

#[test]
fn parts_of_the_wall_time() {
    check_overview(
        "thread python
           0 +100 compile compile
           50 +100 setup
           300 +20 wait
           310 +0 marker instant
           500 +100 \"worker is there\" pool
         stream 1 on gpu
           140 +60 a op=a
           180 +40 b op=b
           305 +5 copy h2d bytes=64
         stream 2 on gpu
           150 +10 c
         derived Steps on gpu
           0 +9999 step",
        expect![[r#"
            Overview
              wall_ns              600
              busy_ns              85  0.142
              idle_compile_ns      100  0.167
              idle_host_ns         55  0.092
              idle_unknown_ns      360  0.6
              compile_ns           100  0.167
              device_work_ns       115
              overlap_ns           30  0.261
              events               10
            gpu
              busy_ns              85  0.142
              idle_ns              515  0.858
              window_ns            170  0.283
              compute_ns           80  0.133
              copies_ns            5  0.008
              kernels              3
              copied_bytes         64
            Kernel attribution
              by_stat_ns           100  0.909
              by_stat_events       2
              unattributed_ns      10  0.091
              unattributed_events  1
              unnamed_events       1
        "#]],
    );
}

#[test]
fn busy_is_a_union_over_streams_and_devices() {
    check_overview(
        "stream 1 on gpu0
           0 +10 a op=a
           10 +10 a op=a
         stream 2 on gpu0
           5 +10 b op=b
         stream 1 on gpu1
           15 +15 a op=a
           40 +10 d2d d2d bytes=8",
        expect![[r#"
            Overview
              wall_ns              50
              busy_ns              40  0.8
              idle_compile_ns      0  0
              idle_host_ns         0  0
              idle_unknown_ns      10  0.2
              compile_ns           0  0
              device_work_ns       55
              overlap_ns           15  0.273
              events               5
            gpu0
              busy_ns              20  0.4
              idle_ns              30  0.6
              window_ns            20  0.4
              compute_ns           20  0.4
              copies_ns            0  0
              kernels              3
            gpu1
              busy_ns              25  0.5
              idle_ns              25  0.5
              window_ns            35  0.7
              compute_ns           15  0.3
              copies_ns            10  0.2
              kernels              1
              copied_bytes         8
            Kernel attribution
              by_stat_ns           45  1
        "#]],
    );
}

#[test]
fn nothing_at_all() {
    let trace = ridge_test::trace("");
    expect![[r#"
        Overview
          events               0
    "#]]
    .assert_eq(&render_sections(&analyzed(&trace, &[], overview)));
    check(
        "",
        "op",
        expect![[r#"
        op  category  self_ns  self_share  total_ns  events  executions  attribution
    "#]],
    );
    check(
        "",
        "step",
        expect![[r#"
        step  number  wall_ns  device_ns  device_share  copies_ns  kernels  device_span_ns
        * no steps found; mark them with `jax.profiler.StepTraceAnnotation`, or PyTorch's with `profiler.step()`
    "#]],
    );
    check(
        "",
        "operation",
        expect![[r#"
        operation  device_ns  device_self_ns  count  wall_ns  events  depth
    "#]],
    );
    check(
        "",
        "source",
        expect![[r#"
        source  self_ns  self_share  inclusive_ns  events
    "#]],
    );
    check(
        "",
        "track",
        expect![[r#"
        track  device  kind  busy_ns  busy_share  events
    "#]],
    );
}

#[test]
fn one_event() {
    check_overview(
        "stream 1 on gpu\n 7 +3 k",
        expect![[r#"
        Overview
          wall_ns              3
          busy_ns              3  1
          idle_compile_ns      0  0
          idle_host_ns         0  0
          idle_unknown_ns      0  0
          compile_ns           0  0
          device_work_ns       3
          overlap_ns           0  0
          events               1
        gpu
          busy_ns              3  1
          idle_ns              0  0
          window_ns            3  1
          compute_ns           3  1
          copies_ns            0  0
          kernels              1
        Kernel attribution
          by_stat_ns           0  0
          by_stat_events       0
          unattributed_ns      3  1
          unattributed_events  1
          unnamed_events       1
    "#]],
    );
    check(
        "stream 1 on gpu\n 7 +3 k",
        "op",
        expect![[r#"
        op              category         self_ns  self_share  total_ns  events  executions  attribution
        (unattributed)  kernel, unknown  3        1           3         1       -           nothing
    "#]],
    );
    check(
        "stream 1 on gpu\n 7 +3 k grid=2,1,1 block=64,1,1",
        "kernel",
        expect![[r#"
        kernel  op              self_ns  events  min_ns  median_ns  max_ns  grid   block
        k       (unattributed)  3        1       3       3          3       2,1,1  64,1,1
    "#]],
    );
}

#[test]
fn no_duration() {
    let text = "thread python
          5 +0 mark annotation
          5 +0 step step=1
        stream 1 on gpu
          5 +0 k op=k
          5 +0 k op=k";
    check_overview(
        text,
        expect![[r#"
            Overview
              wall_ns              0
              busy_ns              0
              idle_compile_ns      0
              idle_host_ns         0
              idle_unknown_ns      0
              compile_ns           0
              device_work_ns       0
              overlap_ns           0
              events               4
            gpu
              busy_ns              0
              idle_ns              0
              window_ns            0
              compute_ns           0
              copies_ns            0
              kernels              2
            Kernel attribution
              by_stat_ns           0
        "#]],
    );
    check(
        text,
        "op",
        expect![[r#"
        op  category         self_ns  self_share  total_ns  events  executions  attribution
        k   kernel, unknown  0        0           0         2       2           stat
    "#]],
    );
    check(
        text,
        "scope",
        expect![[r#"
        tree              inclusive_ns  inclusive_share  self_ns  events
        (no scope known)  0             0                0        2
    "#]],
    );
    check(
        text,
        "step",
        expect![[r#"
        step  number  wall_ns  device_ns  device_share  copies_ns  kernels  device_span_ns
        step  1       0        0          0             0          0        -
    "#]],
    );
    check(
        text,
        "operation",
        expect![[r#"
        operation              device_ns  device_self_ns  count  wall_ns  events  depth
        (outside every range)  0          0               0      0        2       0
        mark                   0          0               1      0        0       0
    "#]],
    );
    check(
        text,
        "category",
        expect![[r#"
            category         self_ns  self_share  total_ns  events
            kernel, unknown  0        0           0         2
        "#]],
    );
}

#[test]
fn self_time_on_lanes_leaves_out_what_runs_inside() {
    let text = "lane 0 on cpu
          0 +100 while.1 op=while.1
          10 +30 dot.2 op=dot.2
          15 +5 add.3 op=add.3
          50 +20 dot.2 op=dot.2
          200 +10 add.3 op=add.3
        lane 1 on cpu
          20 +10 dot.2 op=dot.2";
    check(
        text,
        "op",
        expect![[r#"
        op       category         self_ns  self_share  total_ns  events  executions  attribution
        dot.2    kernel, unknown  55       0.458       60        3       3           stat
        while.1  kernel, unknown  50       0.417       100       1       1           stat
        add.3    kernel, unknown  15       0.125       15        2       2           stat
    "#]],
    );
    // A loop and its body in one row count once in its total.
    check(
        text,
        "module",
        expect![[r#"
        module       self_ns  self_share  total_ns  events
        (no module)  120      1           120       6
    "#]],
    );
    check(
        text,
        "category",
        expect![[r#"
        category         self_ns  self_share  total_ns  events
        kernel, unknown  120      1           120       6
    "#]],
    );
    // Operations of a CPU launch no kernels.
    check(
        text,
        "kernel",
        expect![[r#"
        kernel  op  self_ns  events  min_ns  median_ns  max_ns  grid  block
    "#]],
    );
    check_overview(
        text,
        expect![[r#"
            Overview
              wall_ns              210
              busy_ns              110  0.524
              idle_compile_ns      0  0
              idle_host_ns         0  0
              idle_unknown_ns      100  0.476
              compile_ns           0  0
              device_work_ns       120
              overlap_ns           10  0.083
              events               6
            cpu
              busy_ns              110  0.524
              idle_ns              100  0.476
              window_ns            210  1
              compute_ns           110  0.524
              copies_ns            0  0
              kernels              6
            Kernel attribution
              by_stat_ns           120  1
        "#]],
    );
}

#[test]
fn kernels_on_a_stream_never_nest() {
    check(
        "stream 1 on gpu
           0 +100 outer op=outer
           10 +10 inner op=inner",
        "op",
        expect![[r#"
            op     category         self_ns  self_share  total_ns  events  executions  attribution
            outer  kernel, unknown  100      0.909       100       1       1           stat
            inner  kernel, unknown  10       0.091       10        1       1           stat
        "#]],
    );
}

#[test]
fn executions_are_not_kernels() {
    check(
        "stream 1 on gpu
           0 +10 im2col op=conv
           10 +30 gemm op=conv
           40 +5 add op=add
           50 +10 im2col op=conv
           60 +30 gemm op=conv
           90 +5 rest
         stream 1 on gpu1
           0 +30 gemm op=conv",
        "op",
        expect![[r#"
            op              category         self_ns  self_share  total_ns  events  executions  attribution
            conv            mixed            110      0.917       110       5       3           stat
            add             elementwise      5        0.042       5         1       1           stat
            (unattributed)  kernel, unknown  5        0.042       5         1       -           nothing
        "#]],
    );
}

#[test]
fn kernels_by_name_operation_and_launch() {
    check(
        "stream 1 on gpu
           0 +10 gemm op=dot.1 grid=4,1,1 block=64,1,1
           20 +20 gemm op=dot.1 grid=4,1,1 block=64,1,1
           40 +60 gemm op=dot.1 grid=8,1,1 block=64,1,1
           110 +5 gemm op=dot.2 grid=4,1,1 block=64,1,1
           120 +7 MemcpyH2D h2d bytes=4096
           130 +1 Memset memset bytes=16
           140 +2 MemoryAlloc memory
           150 +3 flush overhead",
        "kernel",
        expect![[r#"
            kernel     op     self_ns  events  min_ns  median_ns  max_ns  grid   block
            gemm       dot.1  60       1       60      60         60      8,1,1  64,1,1
            gemm       dot.1  30       2       10      10         20      4,1,1  64,1,1
            MemcpyH2D  -      7        1       7       7          7       -      -
            gemm       dot.2  5        1       5       5          5       4,1,1  64,1,1
            Memset     -      1        1       1       1          1       -      -
        "#]],
    );
}

#[test]
fn categories_come_from_instructions_or_names() {
    check_with(
        "module jit_f 1 hlo=0
         stream 1 on gpu
           0 +10 wrapped_thing op=dot.3 in=jit_f at=2
           10 +20 nvjet_tst_128
           30 +40 MemcpyD2H d2h bytes=64
           70 +1 whatever",
        &[DOT],
        "category",
        expect![[r#"
            category             self_ns  self_share  total_ns  events
            copy device to host  40       0.563       40        1
            matrix product       20       0.282       20        1
            dot                  10       0.141       10        1
            kernel, unknown      1        0.014       1         1
        "#]],
    );
}

#[test]
fn modules_of_one_name_are_told_apart() {
    check(
        "module jit_f 1
         module jit_g 2
         module jit_f 3
         stream 1 on gpu
           0 +10 k op=k in=jit_f(1)
           10 +20 k op=k in=jit_f(3)
           30 +7 k op=k in=jit_g
           40 +5 rest",
        "module",
        expect![[r#"
            module       self_ns  self_share  total_ns  events
            jit_f        20       0.476       20        1
            jit_f        10       0.238       10        1
            jit_g        7        0.167       7         1
            (no module)  5        0.119       5         1
        "#]],
    );
}

#[test]
fn scopes_are_a_tree() {
    check(
        "stream 1 on gpu
           0 +10 a op=a scope=jit(f)/while/body/mul
           10 +20 b op=b scope=jit(f)/while/body/add
           30 +5 c op=c scope=jit(f)/dot
           40 +3 d op=d scope=jit(g)/vmap(a/b)/sin
           50 +1 e",
        "scope",
        expect![[r#"
            tree                  inclusive_ns  inclusive_share  self_ns  events
            jit(f)                35            0.897            0        3
              while/body          30            0.769            0        2
                add               20            0.513            20       1
                mul               10            0.256            10       1
              dot                 5             0.128            5        1
            jit(g)/vmap(a/b)/sin  3             0.077            3        1
            (no scope known)      1             0.026            1        1
        "#]],
    );
}

#[test]
fn launches_without_device_records_are_no_idle_device() {
    let trace = ridge_test::trace(
        "thread python
           0 +100 setup
           10 +2 cudaLaunchKernel launch id=1
           20 +2 cudaLaunchKernel launch id=2",
    );
    let sections = analyzed(&trace, &[], overview);
    expect![[r#"
        Overview
          wall_ns              100
          compile_ns           0  0
          launches_unseen      2
          events               3
    "#]]
    .assert_eq(&render_sections(&sections));
}

#[test]
fn what_steps_caused_on_devices_that_nobody_recorded_is_not_nothing() {
    check(
        "thread python
           0 +100 train step=3
           5 +2 cuLaunch launch id=1",
        "step",
        expect![[r#"
            step   number  wall_ns  device_ns  device_share  copies_ns  kernels  device_span_ns
            train  3       100      -          -             -          -        -
        "#]],
    );
}

#[test]
fn what_the_recorder_did_is_no_work_of_the_program() {
    check_overview(
        "thread python
           0 +100 call
           10 +40 compile compile
           30 +10 \"ridgeline: collect module\" overhead
           60 +5 \"ridgeline: collect module\" overhead
         lane 0 on cpu
           90 +10 dot op=dot",
        expect![[r#"
            Overview
              wall_ns              100
              busy_ns              10  0.1
              idle_recorder_ns     15  0.15
              idle_compile_ns      30  0.3
              idle_host_ns         45  0.45
              idle_unknown_ns      0  0
              compile_ns           40  0.4
              device_work_ns       10
              overlap_ns           0  0
              events               5
            cpu
              busy_ns              10  0.1
              idle_ns              90  0.9
              window_ns            10  0.1
              compute_ns           10  0.1
              copies_ns            0  0
              kernels              1
            Kernel attribution
              by_stat_ns           10  1
        "#]],
    );
}

#[test]
fn annotations_nest_and_reach_across_threads() {
    let text = "thread python
          0 +100 solve annotation as=solve
          10 +40 forward annotation
          20 +5 cuLaunch launch id=1
          60 +5 cuLaunch launch id=2
          70 +5 schedule as=schedule
          200 +50 solve annotation
        thread pool
          80 +300 region pool by=schedule
          90 +5 cuLaunch launch id=3
        stream 7 on gpu
          100 +10 a op=a id=1
          110 +20 b op=b id=2
          130 +40 c op=c id=3
          190 +1 nobody op=n
          210 +2 \"by time\" op=t";
    check(
        text,
        "operation",
        expect![[r#"
            operation              device_ns  device_self_ns  count  wall_ns  events  depth
            solve                  70         60              2      150      3       0
            forward                10         10              1      40       1       1
            (outside every range)  3          3               0      0        2       0
        "#]],
    );
}

#[test]
fn a_thread_without_ranges_works_for_the_range_open_at_the_launch() {
    check(
        "thread python
           0 +100 step annotation
           5 +2 cuLaunch launch id=1
           100 +100 step annotation
           120 +80 backward annotation
           205 +2 cuLaunch launch id=5
         thread autograd
           150 +2 cuLaunch launch id=2
           195 +2 cuLaunch launch id=3
           210 +2 cuLaunch launch id=4
         stream 7 on gpu
           50 +10 a op=a id=1
           300 +20 \"runs late\" op=b id=2
           330 +40 \"runs later\" op=c id=3
           380 +1 \"launched after\" op=d id=4
           390 +2 \"outside on its own thread\" op=e id=5",
        "operation",
        expect![[r#"
            operation              device_ns  device_self_ns  count  wall_ns  events  depth
            step                   70         10              2      200      3       0
            backward               60         60              1      80       2       1
            (outside every range)  3          3               0      0        2       0
            * 2 events were launched by threads that work for others: attributed to the range open at their launch
        "#]],
    );
}

#[test]
fn autograd_works_for_others_though_its_collectives_are_ranges() {
    check(
        "thread python
           0 +100 step annotation
           5 +2 cuLaunch launch id=1
           20 +70 backward annotation
         thread autograd
           30 +20 autograd::engine::evaluate_function:Mm operator
           32 +2 cuLaunch launch id=2
           60 +20 autograd::engine::evaluate_function:AccumulateGrad operator
           62 +10 nccl:all_reduce annotation
           64 +2 cuLaunch launch id=3
         stream 7 on gpu
           50 +10 a op=a id=1
           100 +20 mm op=b id=2
           130 +40 ncclDevKernel op=c id=3",
        "operation",
        expect![[r#"
            operation        device_ns  device_self_ns  count  wall_ns  events  depth
            step             70         10              1      100      3       0
            backward         60         20              1      70       2       1
            nccl:all_reduce  40         40              1      10       1       2
            * 1 event was launched by threads that work for others: attributed to the range open at their launch
        "#]],
    );
}

#[test]
fn backlog_from_before_the_capture_is_nobodys() {
    check(
        "thread python
           0 +100 sleep annotation
           110 +2 cuLaunch launch id=1
         stream 7 on gpu
           10 +60 \"from before\" op=a
           120 +5 b op=b id=1",
        "operation",
        expect![[r#"
            operation              device_ns  device_self_ns  count  wall_ns  events  depth
            (outside every range)  65         65              0      0        2       0
            sleep                  0          0               1      100      0       0
        "#]],
    );
}

#[test]
fn of_ranges_on_two_threads_neither_is_guessed() {
    check(
        "thread one
           0 +100 one annotation
           1 +1 cuLaunch launch id=1
         thread two
           50 +100 two annotation
           51 +1 cuLaunch launch id=2
         thread pool
           60 +2 cuLaunch launch id=3
           120 +2 cuLaunch launch id=4
         stream 7 on gpu
           2 +1 a op=a id=1
           52 +2 b op=b id=2
           62 +4 \"whose?\" op=c id=3
           122 +8 \"of two\" op=d id=4",
        "operation",
        expect![[r#"
            operation              device_ns  device_self_ns  count  wall_ns  events  depth
            two                    10         10              1      100      2       0
            (outside every range)  4          4               0      0        1       0
            one                    1          1               1      100      1       0
            * 1 event was launched by threads that work for others: attributed to the range open at their launch
        "#]],
    );
}

#[test]
fn a_range_of_no_length_owns_nothing_that_comes_later() {
    check(
        "thread python
           5 +0 mark annotation
           10 +10 solve annotation
         stream 1 on gpu
           5 +1 a
           12 +2 b
           50 +4 c",
        "operation",
        expect![[r#"
            operation              device_ns  device_self_ns  count  wall_ns  events  depth
            (outside every range)  5          5               0      0        2       0
            solve                  2          2               1      10       1       0
            mark                   0          0               1      0        0       0
            * 1 event was attributed to the range open at the time: no launch on that device was recorded
        "#]],
    );
}

#[test]
fn one_name_inside_itself_counts_once() {
    check(
        "thread python
           0 +100 solve annotation
           10 +50 solve annotation
           20 +5 cuLaunch launch id=1
         stream 7 on gpu
           200 +10 a op=a id=1",
        "operation",
        expect![[r#"
            operation  device_ns  device_self_ns  count  wall_ns  events  depth
            solve      10         10              2      150      1       1
        "#]],
    );
}

#[test]
fn causes_in_a_circle_end() {
    check(
        "thread a
           0 +10 x as=x
         thread b
           0 +10 y as=y by=x
           5 +50 z annotation
         stream 1 on gpu
           3 +4 k op=k by=y",
        "operation",
        expect![[r#"
            operation              device_ns  device_self_ns  count  wall_ns  events  depth
            (outside every range)  4          4               0      0        1       0
            z                      0          0               1      50       0       0
        "#]],
    );
}

#[test]
fn steps_with_the_work_they_caused() {
    check(
        "thread python
           0 +100 train step=0
           5 +2 cuLaunch launch id=1
           10 +60 forward annotation
           20 +2 cuLaunch launch id=2
           100 +100 train step=1
           120 +2 cuMemcpy launch id=3
         stream 7 on gpu
           50 +40 a op=a id=1
           90 +30 b op=b id=2
           130 +50 MemcpyH2D h2d bytes=4096 id=3
           190 +5 \"by time\"
           400 +1 after",
        "step",
        expect![[r#"
            step   number  wall_ns  device_ns  device_share  copies_ns  kernels  device_span_ns
            train  0       100      70         0.7           0          2        70
            train  1       100      50         0.5           50         0        50
        "#]],
    );
}

#[test]
fn tracks_by_how_busy_they_were() {
    check(
        "thread python
           0 +100 f
           10 +20 g
           200 +10 region pool
         stream 1 on gpu
           0 +10 a
           5 +10 b
           40 +5 MemoryAlloc memory
         lane 0 on cpu
           0 +30 while
           5 +5 dot
         derived Steps on gpu
           0 +1000 step",
        "track",
        expect![[r#"
            track      device  kind    busy_ns  busy_share  events
            lane 0     cpu     lane    30       0.143       2
            Stream #1  gpu     stream  15       0.071       3
            python     -       thread  100      0.476       3
        "#]],
    );
}

// As XLA prints them, frames count from 1 and the number of a parent is one more than its own.
const DOT: &str = r#"HloModule jit_f, entry_computation_layout={(f32[4,4]{1,0})->f32[4,4]{1,0}}

FileNames
1 "/home/user/solver.py"
2 "/home/user/helpers.py"

FunctionNames
1 "main"
2 "solve"
3 "product"

FileLocations
1 {file_name_id=1 function_name_id=1 line=30 end_line=30 column=0 end_column=9}
2 {file_name_id=1 function_name_id=2 line=12 end_line=12 column=4 end_column=20}
3 {file_name_id=2 function_name_id=3 line=5 end_line=5 column=4 end_column=20}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}
3 {file_location_id=3 parent_frame_id=3}

ENTRY %main (x: f32[4,4]) -> f32[4,4] {
  %x = f32[4,4]{1,0} parameter(0)
  %sin.2 = f32[4,4]{1,0} sine(%x), metadata={op_name="jit(f)/sin" stack_frame_id=2}
  ROOT %dot.3 = f32[4,4]{1,0} dot(%sin.2, %x), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="jit(f)/dot_general" stack_frame_id=3}
}
"#;

#[test]
fn source_lines_with_the_stack_above_them() {
    check_with(
        "module jit_f 1 hlo=0
         stream 1 on gpu
           0 +10 sine op=sin.2 in=jit_f at=1
           10 +30 gemm op=dot.3 in=jit_f at=2
           40 +2 nobody
           50 +4 MemcpyH2D h2d bytes=64",
        &[DOT],
        "source",
        expect![[r#"
            source                   self_ns  self_share  inclusive_ns  events
            /home/user/helpers.py:5  30       0.652       30            1
            /home/user/solver.py:12  10       0.217       40            1
            (no source line known)   6        0.13        6             2
            /home/user/solver.py:30  0        0           40            0
        "#]],
    );
}

#[test]
fn shares_of_what_is_known() {
    check(
        "stream 1 on gpu
           0 +60 a op=a
           60 +30 b
           90 +10 MemcpyH2D h2d bytes=64",
        "op",
        expect![[r#"
            op                     category             self_ns  self_share  total_ns  events  executions  attribution
            a                      kernel, unknown      60       0.6         60        1       1           stat
            (unattributed)         kernel, unknown      30       0.3         30        1       -           nothing
            (copy host to device)  copy host to device  10       0.1         10        1       -           nothing
        "#]],
    );
}

#[test]
fn operators_nest_and_own_the_work_they_launch() {
    check(
        "thread python
           0 +100 \"ProfilerStep#4\" step=4
           5 +90 f.py python
           10 +50 aten::mean operator
           12 +40 aten::mean operator      # the same call again
           15 +20 aten::sum operator
           20 +10 cudaLaunchKernel launch id=1
           70 +20 aten::add operator
           75 +30 overlaps operator        # ends after what it began in
           76 +2 aten::is_leaf operator
           110 +10 \"ProfilerStep#5\" step=5
         stream 7 on gpu
           40 +30 sum_kernel id=1
           80 +5 nobody's id=9",
        "operator",
        expect![[r#"
            operator          calls  self_cpu_ns  total_cpu_ns  self_device_ns  device_ns
            aten::sum         1      10           20            30              30
            ProfilerStep*     2      40           110           0               30
            aten::mean        1      30           50            0               30
            overlaps          1      30           30            0               0
            aten::add         1      20           20            0               0
            cudaLaunchKernel  1      10           10            0               0
        "#]],
    );
    check(
        "thread python\n 0 +1 solve annotation",
        "operator",
        expect![[r#"
        operator  calls  self_cpu_ns  total_cpu_ns  self_device_ns  device_ns
        * the capture has no framework operators; PyTorch's profiler writes them
    "#]],
    );
}

/// Two launches and a wait on the host; a kernel that begins before its call returns, one that queues, copies.
const CALLS: &str = "thread python
       0 +10 cuLaunchKernel launch id=1
       20 +10 cuLaunchKernel launch id=2
       40 +60 cuStreamSynchronize
       0 +100 step annotation
     stream 7 on gpu
       5 +20 gemm id=1
       50 +30 gemm id=2
       80 +5 orphan
       90 +10 MemcpyH2D h2d bytes=1000
       100 +30 MemcpyH2D h2d bytes=3000";

#[test]
fn a_call_recorded_at_two_levels_is_one_call() {
    check(
        "thread python
           0 +100 cudaMalloc
           1 +98 cudaMalloc_v3020
           200 +50 PjitFunction(step)
           202 +40 PjitFunction(step)
           300 +90 walk
           310 +30 walk",
        "call",
        expect![[r#"
            call                total_ns  total_share  count  launches  mean_ns  median_ns
            walk                120       0.444        2      false     60       30
            cudaMalloc          100       0.37         1      false     100      100
            PjitFunction(step)  50        0.185        1      false     50       50
        "#]],
    );
}

#[test]
fn calls_of_the_host() {
    check(
        CALLS,
        "call",
        expect![[r#"
        call                 total_ns  total_share  count  launches  mean_ns  median_ns
        cuStreamSynchronize  60        0.75         1      false     60       60
        cuLaunchKernel       20        0.25         2      true      10       10
    "#]],
    );
}

#[test]
fn copies_have_bytes_and_a_rate() {
    check(
        CALLS,
        "copy",
        expect![[r#"
        copy                 source  destination  total_ns  count  bytes  bytes_per_sec
        copy host to device  pinned  device       40        2      4000   100000000000
    "#]],
    );
}

#[test]
fn launches_wait_in_their_queue() {
    check(
        CALLS,
        "launch",
        expect![[r#"
        kernel  call            count  mean_total_ns  mean_call_ns  mean_queue_ns  mean_kernel_ns
        gemm    cuLaunchKernel  2      43             10            10             25
        * left out, with no call in the capture: 1
    "#]],
    );
}
