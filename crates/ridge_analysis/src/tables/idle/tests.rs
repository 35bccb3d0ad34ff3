//! The tables of idle time on small traces.

use super::*;
use crate::Prepared;
use expect_test::expect;
use ridge_test::{render, render_sections};

fn analyzed<T>(trace: &Trace, ask: impl FnOnce(&Analysis<'_>) -> T) -> T {
    ask(&Prepared::default().analysis(trace, &[]))
}

const LOOP: &str = "
    thread python
      0 +100 train step=1
        10 +2 cuLaunchKernel launch id=1
        13 +2 cuLaunchKernel launch id=2
        40 +30 \"$solver.py:5 residual\" python
        80 +2 cuLaunchKernel launch id=3
      100 +60 train step=2
        150 +2 cuLaunchKernel launch id=4
      160 +20 cudaDeviceSynchronize
    stream 7 on gpu
      20 +20 gemm op=dot.1 id=1
      42 +8 add op=add.2 id=2
      90 +20 gemm op=dot.1 id=3
      160 +10 add op=add.2 id=4";

#[test]
fn facts_of_a_device() {
    let trace = ridge_test::trace(LOOP);
    let text = analyzed(&trace, |analysis| render_sections(&sections(analysis, &Ask::default())));
    expect![[r#"
        Idle time of gpu
          capture_ns           180
          head_ns              20  0.111
          busy_ns              58  0.322
          idle_ns              92  0.511
          tail_ns              10  0.056
          gaps                 3
          host_late_ns         70  0.389
          launch_call_ns       4  0.022
          launch_latency_ns    16  0.089
          queued_ns            2  0.011
          unknown_ns           0  0
          launch_bound_ns      20  0.133
          queue_empty_ns       112  0.747
          queue_mean_depth     Number(0.25333333333333335)
          queue_max_depth      1
          launches_known       Real(1.0, Share)
          launch_latency_median_ns 10
          launch_latency_p95_ns 10
          small_kernels        1  0.25
          small_kernels_ns     8  0.138
    "#]]
    .assert_eq(&text);
}

#[test]
fn every_table() {
    let trace = ridge_test::trace(LOOP);
    let text = analyzed(&trace, |analysis| {
        let show = |view: &View, columns: &[&str]| render(&view.table(analysis, &Ask::default()), columns);
        [
            show(&BY_DEVICE, &["device", "idle_ns", "idle_share", "cause", "head_ns", "tail_ns"]),
            show(&BY_CAUSE, &["cause", "device", "idle_ns", "window_share", "gaps", "longest_ns"]),
            show(&BY_HOST, &["host", "activity", "cause", "idle_ns", "idle_share", "parts"]),
            show(&BY_OP, &["op", "idle_ns", "idle_share", "gaps", "host_late_ns", "launch_ns"]),
            show(&BY_RANGE, &["annotation", "idle_ns", "gaps", "longest_ns"]),
            show(&BY_SOURCE, &["source", "idle_ns", "gaps"]),
            render(
                &GAPS.table(analysis, &Ask { rows: Some(2), ..Ask::default() }),
                &["start_ns", "length_ns", "cause", "cause_ns", "host", "next", "next_op"],
            ),
        ]
        .join("\n")
    });
    expect![[r#"
        device  idle_ns  idle_share  cause      head_ns  tail_ns
        gpu     92       0.613       host late  20       10

        cause                  device  idle_ns  window_share  gaps  longest_ns
        host late              gpu     70       0.389         2     40
        before the first work  gpu     20       0.111         1     20
        launch latency         gpu     16       0.089         2     8
        after the last work    gpu     10       0.056         1     10
        in the launch call     gpu     4        0.022         2     2
        between queued work    gpu     2        0.011         1     2

        host                   activity            cause                  idle_ns  idle_share  parts
        train                  program's own code  host late              50       0.41        2
        $solver.py:5 residual  Python              host late              20       0.164       1
        cuLaunchKernel         launching           launch latency         16       0.131       2
        cuLaunchKernel         launching           before the first work  10       0.082       2
        train                  program's own code  before the first work  10       0.082       1
        cudaDeviceSynchronize  blocking call       after the last work    10       0.082       1
        cuLaunchKernel         launching           in the launch call     4        0.033       2
        cuLaunchKernel         launching           between queued work    2        0.016       1

        op     idle_ns  idle_share  gaps  host_late_ns  launch_ns
        add.2  52       0.565       2     40            12
        dot.1  40       0.435       1     30            10

        annotation  idle_ns  gaps  longest_ns
        train       92       3     50

        source                  idle_ns  gaps
        (no source line known)  92       3

        start_ns  length_ns  cause      cause_ns  host                           next  next_op
        110       50         host late  40        train                          add   add.2
        50        40         host late  30        $solver.py:5 residual < train  gemm  dot.1
    "#]]
    .assert_eq(&text);
}

#[test]
fn nothing_to_attribute() {
    let trace = ridge_test::trace("thread python\n  0 +5 f");
    let text = analyzed(&trace, |analysis| {
        assert!(sections(analysis, &Ask::default()).is_empty());
        let gaps = GAPS.table(analysis, &Ask { rows: Some(10), ..Ask::default() });
        assert_eq!(gaps.rows_total, 0);
        render(&gaps, &["start_ns", "length_ns"])
    });
    assert_eq!(text, "start_ns  length_ns\n");
}
