//! Tables of growth and of steps, input and output side by side.

use super::{growth_table, next_table, steps_tables};
use crate::Prepared;
use crate::scaling::{Series, SizePoint, capture_work, growth_chart};
use expect_test::expect;
use ridge_hlo::HloModule;
use ridge_test::render;
use std::fmt::Write as _;

/// An operation whose time is `factor N^exponent` milliseconds, with wobble, and whose work is `N^3` operations.
fn series(operation: &str, factor: f64, exponent: f64, sizes: &[f64]) -> Series {
    let wobble = [1.01, 0.99, 1.0, 1.01, 0.99];
    let point = |(at, size): (usize, &f64)| SizePoint {
        size: *size,
        time_s: Some(factor * 1e-3 * size.powf(exponent) * wobble[at % 5]),
        flops: Some(2.0 * size.powi(3)),
        compulsory_bytes: Some(8.0 * size.powi(2)),
        peak_bytes: Some(4.0 * size.powi(3)),
    };
    Series { operation: operation.to_owned(), points: sizes.iter().enumerate().map(point).collect() }
}

fn suite() -> Vec<Series> {
    let sizes = [16.0, 32.0, 64.0, 128.0];
    let untimed = SizePoint { size: 16.0, ..SizePoint::default() };
    vec![
        series("project", 1e-3, 3.0, &sizes),
        series("filter", 0.5e-3, 4.0, &sizes),
        series("weights", 2.0, 1.0, &sizes[2..]),
        Series { operation: "fails".to_owned(), points: vec![untimed] },
    ]
}

#[test]
fn time_is_compared_with_work() {
    let table = growth_table(&suite(), 1);
    let columns = ["operation", "last_ns", "exponent", "flops_exponent", "bytes_exponent", "excess", "verdict"];
    expect![[r#"
        operation  last_ns       exponent  flops_exponent  bytes_exponent  excess  verdict
        filter     135559905280  4.001     3               2               1.001   faster than its work
        project    2118123520    3.001     3               2               0.001   no faster than its work
        weights    253440000     0.971     3               2               -2.029  no faster than its work
        fails      -             -         -               -               -       unknown
        * 1 with two sizes: the exponent fits exactly and has no interval; measure a third
    "#]]
    .assert_eq(&render(&table, &columns));
    assert_eq!(table.footnotes, ["1 with two sizes: the exponent fits exactly and has no interval; measure a third"]);
}

#[test]
fn exponents_of_elements_are_parts_of_those_of_the_edge() {
    let table = growth_table(&suite()[..1], 3);
    expect![[r#"
        operation  exponent  flops_exponent  memory_exponent
        project    1         1               1
    "#]]
    .assert_eq(&render(&table, &["operation", "exponent", "flops_exponent", "memory_exponent"]));
}

#[test]
fn the_next_size_is_extrapolated_with_its_interval() {
    let table = next_table(&suite(), 256.0);
    let columns = ["operation", "share_now", "next_ns", "next_low_ns", "next_high_ns", "share_next", "peak_bytes"];
    expect![[r#"
        operation  share_now  next_ns        next_low_ns    next_high_ns   share_next  peak_bytes
        filter     0.983      2158194356079  1994250289022  2335615997777  0.992       67108864
        project    0.015      16860893407    15580080383    18246999983    0.008       67108864
        weights    0.002      496842772      -              -              0           67108864
        * 1 without an interval: two sizes have none, and one wider than a factor of 100 tells nothing; measure more sizes
        * modelled: valid as long as nothing new limits it, such as a cache or memory that becomes too small
    "#]]
    .assert_eq(&render(&table, &columns));
}

fn with_steps(text: &str) -> Vec<ridge_table::Table> {
    let trace = ridge_test::trace(text);
    steps_tables(&Prepared::default().analysis(&trace, &[]))
}

#[test]
fn steps_have_a_course() {
    let mut text = "thread python\n".to_owned();
    let (mut start, steps) = (0, [300, 120, 102, 101, 103, 102, 104, 103, 180, 105, 104, 106]);
    for (number, length) in steps.iter().enumerate() {
        writeln!(text, "{start} +{length} train step={number}").expect("text");
        start += 1000;
    }
    let tables = with_steps(&text);
    let columns = ["step", "steps", "median_ns", "warm_up", "warm_up_ns", "drift_ns", "course", "outliers"];
    expect![[r#"
        step   steps  median_ns  warm_up  warm_up_ns  drift_ns  course             outliers
        train  12     104        2        213         1         slower and slower  1
    "#]]
    .assert_eq(&render(&tables[0], &columns));
    expect![[r#"
        step   number  wall_ns  of_median
        train  8       180      1.739
        * an outlier is off by a modified z-score over 3.5 and over 1% of the median; warm-up ends within 10%
    "#]]
    .assert_eq(&render(&tables[1], &["step", "number", "wall_ns", "of_median"]));
}

#[test]
fn a_capture_without_steps_says_how_to_mark_them() {
    let tables = with_steps("thread python\n0 +10 main");
    assert_eq!((tables.len(), tables[0].batch.num_rows(), tables[0].footnotes.len()), (1, 0, 1));
}

#[test]
fn work_is_that_of_the_modules_that_ran_as_often_as_they_did() {
    let hlo = HloModule::from_text(
        "HloModule jit_f\n\nENTRY %main (a: f32[8,16], b: f32[16,4]) -> f32[8,4] {\n  %a = f32[8,16]{1,0} parameter(0)\n  \
         %b = f32[16,4]{1,0} parameter(1)\n  ROOT %dot.1 = f32[8,4]{1,0} dot(%a, %b), lhs_contracting_dims={1}, \
         rhs_contracting_dims={0}\n}\n",
    )
    .expect("HLO text of the test");
    let trace = ridge_test::trace(
        "module jit_f 1 hlo=0
         lane 0 on cpu
           0 +10 dot.1 op=dot.1 in=jit_f at=2
           20 +10 dot.1 op=dot.1 in=jit_f at=2
           40 +10 dot.1 op=dot.1 in=jit_f at=2",
    );
    let analyze = |hlo: &[HloModule]| capture_work(&Prepared::default().analysis(&trace, hlo));
    let work = analyze(&[hlo]).expect("a module ran");
    assert_eq!(work.flops, 3.0 * 2.0 * 8.0 * 4.0 * 16.0);
    assert_eq!(work.compulsory_bytes, 3.0 * 4.0 * (8.0 * 16.0 + 16.0 * 4.0 + 8.0 * 4.0));
    assert!(work.is_whole);
    assert_eq!(analyze(&[]), None);
}

#[test]
fn the_drawing_has_times_laws_and_the_next_size() {
    let point = |size: f64, time_s: Option<f64>| SizePoint { size, time_s, ..SizePoint::default() };
    let cubic = |size: f64| point(size, Some(size.powi(3) * 1e-6));
    let series =
        |operation: &str, points: &[SizePoint]| Series { operation: operation.to_owned(), points: points.to_vec() };
    let chart = growth_chart(
        &[
            series("once", &[point(16.0, None), cubic(32.0)]),
            series("project", &[cubic(16.0), cubic(32.0), cubic(64.0)]),
            series("failed", &[point(16.0, None)]),
        ],
        Some(128.0),
    );
    let names: Vec<&str> = chart.lines.iter().map(|line| line.operation.as_str()).collect();
    assert_eq!((names, chart.next), (vec!["project", "once"], Some(128.0)), "the longest first, and what was timed");
    assert_eq!((chart.lines[1].points.len(), chart.lines[1].fit), (1, None));
    let fit = chart.lines[0].fit.expect("three sizes");
    let near = |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-9, "{found}, {expected}");
    near(fit.exponent, 3.0);
    near(fit.from.1, 16_f64.powi(3) * 1e-6);
    near(fit.to.1, 64_f64.powi(3) * 1e-6);
    near(fit.next.expect("a next size"), 128_f64.powi(3) * 1e-6);
    let without = growth_chart(&[series("project", &[cubic(16.0), cubic(32.0)])], Some(f64::NAN));
    assert_eq!((without.next, without.lines[0].fit.and_then(|fit| fit.next)), (None, None));
}
