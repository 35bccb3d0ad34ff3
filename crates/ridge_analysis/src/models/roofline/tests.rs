//! Small traces with their HLO on a device whose ceilings make the arithmetic easy: 1 operation and 1 byte per
//! nanosecond, 2 operations in matrix units.

use super::{RooflineBy, charts};
use crate::{Analysis, Ask, Ceiling, Ceilings, ComputeUnit, Limit, NumberType, Prepared, Topic, sections};
use arrow_array::{Array, Float64Array};
use expect_test::{Expect, expect};
use ridge_hlo::HloModule;
use ridge_table::Basis;
use ridge_test::{render, render_sections};

/// The dot takes 2 * 8 * 4 * 16 = 1024 operations and 4 * (8 * 16 + 16 * 4 + 8 * 4) = 896 bytes, so 512 ns in matrix
/// units and 896 ns of memory; the sine 32 operations and 256 bytes.
const HLO: &str = "HloModule jit_f, is_scheduled=true

ENTRY %main (a: f32[8,16], b: f32[16,4]) -> f32[8,4] {
  %a = f32[8,16]{1,0} parameter(0)
  %b = f32[16,4]{1,0} parameter(1)
  %dot.1 = f32[8,4]{1,0} dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %magic.1 = f32[8,4]{1,0} custom-call(%dot.1), custom_call_target=\"magic\"
  ROOT %sine.1 = f32[8,4]{1,0} sine(%magic.1)
}
";

const COLUMNS: [&str; 8] =
    ["self_ns", "flops_per_sec", "bytes_per_sec", "intensity", "bound", "headroom", "unknown_share", "roof"];

fn toy() -> Ceilings {
    let entry = |limit, value| Ceiling { limit, value, basis: Basis::Sheet, source: "toy".to_owned() };
    Ceilings {
        device: "toy".to_owned(),
        entries: vec![
            entry(Limit::Rate(NumberType::F32, ComputeUnit::Plain), 1e9),
            entry(Limit::Rate(NumberType::F32, ComputeUnit::Matrix), 2e9),
            entry(Limit::Memory, 1e9),
            entry(Limit::Launch, 300e-9),
        ],
        ..Ceilings::default()
    }
}

fn with_toy<T>(text: &str, hlo: &str, ask: impl FnOnce(&Analysis<'_>) -> T) -> T {
    let trace = ridge_test::trace(text);
    let hlo = [HloModule::from_text(hlo).expect("HLO text of the test")];
    let ceilings = vec![toy(); trace.devices.len()];
    ask(&Prepared::with_ceilings(ceilings).analysis(&trace, &hlo))
}

#[track_caller]
fn check(text: &str, by: &str, expected: Expect) {
    with_toy(text, HLO, |analysis| {
        let table = analysis.table(Topic::Roofline, by).expect("a view");
        let first = table.batch.schema().field(0).name().clone();
        let columns: Vec<&str> = std::iter::once(first.as_str()).chain(COLUMNS).collect();
        expected.assert_eq(&render(&table, &columns));
    });
}

#[test]
fn rates_are_over_all_executions_and_devices() {
    // Two executions on one device and one on another: 3 * 1024 operations in 2200 + 800 ns.
    check(
        "module jit_f 1 hlo=0
         stream 1 on gpu0
           0 +1000 gemm op=dot.1 in=jit_f at=2
           1000 +1200 gemm op=dot.1 in=jit_f at=2
           2300 +600 sin op=sine.1 in=jit_f at=4
         stream 1 on gpu1
           0 +800 gemm op=dot.1 in=jit_f at=2",
        "op",
        expect![[r#"
            op      self_ns  flops_per_sec  bytes_per_sec  intensity  bound   headroom  unknown_share  roof
            dot.1   3000     1024000000     896000000      1.143      memory  1.116     0              f32.matrix
            sine.1  600      53333333.333   426666666.667  0.125      launch  2         0              f32.plain
        "#]],
    );
}

#[test]
fn a_launch_is_a_floor_of_what_is_shorter_at_the_roof() {
    // The sine takes 256 ns at the roof and 300 ns to start: of 600 ns it could lose half, of 280 ns nothing. At the roof
    // is without the launch.
    for (dur, expected) in [(600, [256.0, 300.0, 2.0]), (280, [256.0, 280.0, 1.0]), (200, [256.0, 256.0, 0.78125])] {
        let text = format!("module jit_f 1 hlo=0\nstream 1 on gpu\n0 +{dur} sin op=sine.1 in=jit_f at=4");
        with_toy(&text, HLO, |analysis| {
            let table = analysis.table(Topic::Roofline, "op").expect("a view");
            let number = |key: &str| {
                let column = table.batch.column_by_name(key).expect("a column of the table");
                column.as_any().downcast_ref::<Float64Array>().expect("a real column").value(0)
            };
            let found = ["light_ns", "least_ns", "headroom"].map(number);
            let is_near = found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-9);
            assert!(is_near, "{dur} ns: {found:?}");
        });
    }
}

#[test]
fn kernels_of_one_execution_share_its_work() {
    let text = "module jit_f 1 hlo=0
         stream 1 on gpu
           0 +100 prepare op=dot.1 in=jit_f at=2
           100 +900 gemm op=dot.1 in=jit_f at=2
           1000 +600 sin op=sine.1 in=jit_f at=4
           2000 +100 prepare op=dot.1 in=jit_f at=2
           2100 +900 gemm op=dot.1 in=jit_f at=2";
    check(
        text,
        "op",
        expect![[r#"
            op      self_ns  flops_per_sec  bytes_per_sec  intensity  bound   headroom  unknown_share  roof
            dot.1   2000     1024000000     896000000      1.143      memory  1.116     0              f32.matrix
            sine.1  600      53333333.333   426666666.667  0.125      launch  2         0              f32.plain
        "#]],
    );
    check(
        text,
        "kernel",
        expect![[r#"
            kernel   self_ns  flops_per_sec  bytes_per_sec  intensity  bound    headroom  unknown_share  roof
            gemm     1800     -              -              -          unknown  -         1              -
            sin      600      53333333.333   426666666.667  0.125      launch   2         0              f32.plain
            prepare  200      -              -              -          unknown  -         1              -
        "#]],
    );
    check(
        text,
        "module",
        expect![[r#"
            module  self_ns  flops_per_sec  bytes_per_sec  intensity  bound   headroom  unknown_share  roof
            jit_f   2600     800000000      787692307.692  1.016      memory  1.243     0              f32.matrix
        "#]],
    );
}

#[test]
fn unknown_work_is_unknown_and_its_share_is_said() {
    let text = "module jit_f 1 hlo=0
         stream 1 on gpu
           0 +1000 gemm op=dot.1 in=jit_f at=2
           1000 +2000 k op=magic.1 in=jit_f at=3
           3000 +1000 stray
           4000 +500 copy h2d bytes=64";
    check(
        text,
        "op",
        expect![[r#"
            op              self_ns  flops_per_sec  bytes_per_sec  intensity  bound    headroom  unknown_share  roof
            magic.1         2000     -              -              -          unknown  -         1              -
            dot.1           1000     1024000000     896000000      1.143      memory   1.116     0              f32.matrix
            (unattributed)  1000     -              -              -          unknown  -         1              -
            * the work of 75.0% of the time is unknown: custom call `magic` (50.0%), kernels of no known operation (25.0%)
        "#]],
    );
    with_toy(text, HLO, |analysis| {
        expect![[r#"
            Achieved on toy
              work_ns              4000
              flops                Real(1024.0, Flops)
              bytes                896
              flops_per_sec        Real(255999999.99999997, FlopsPerSec)
              bytes_per_sec        Real(223999999.99999997, BytesPerSec)
              intensity            Real(1.1428571428571428, FlopPerByte)
              light_ns             896  0.224
              least_ns             896  0.224
              headroom             Number(1.1160714285714288)
              bound_memory_ns      1000  0.25
              bound_unknown_ns     3000  0.75
              memory_bytes_per_sec Real(1000000000.0, BytesPerSec)
        "#]]
        .assert_eq(&render_sections(&sections(analysis, Topic::Roofline, &Ask::default())))
    });
}

#[test]
fn steps_and_annotations_have_the_work_they_caused() {
    let text = "module jit_f 1 hlo=0
         thread python
           0 +2000 train step=1
           10 +500 forward annotation
           20 +10 launch launch id=1
           2000 +2000 train step=2
           2010 +10 launch launch id=2
         stream 1 on gpu
           100 +1000 gemm op=dot.1 in=jit_f at=2 id=1
           2100 +1200 gemm op=dot.1 in=jit_f at=2 id=2";
    check(
        text,
        "step",
        expect![[r#"
        step   self_ns  flops_per_sec  bytes_per_sec  intensity  bound   headroom  unknown_share  roof
        train  1200     853333333.333  746666666.667  1.143      memory  1.339     0              f32.matrix
        train  1000     1024000000     896000000      1.143      memory  1.116     0              f32.matrix
    "#]],
    );
    check(
        text,
        "operation",
        expect![[r#"
        operation  self_ns  flops_per_sec  bytes_per_sec  intensity  bound   headroom  unknown_share  roof
        forward    1000     1024000000     896000000      1.143      memory  1.116     0              f32.matrix
    "#]],
    );
}

#[test]
fn a_loop_has_no_work_but_that_of_its_body() {
    let hlo = "HloModule jit_l, is_scheduled=true

%body (p: (s32[], f32[64])) -> (s32[], f32[64]) {
  %p = (s32[], f32[64]{0}) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %x = f32[64]{0} get-tuple-element(%p), index=1
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %sine.2 = f32[64]{0} sine(%x)
  ROOT %out = (s32[], f32[64]{0}) tuple(%next, %sine.2)
}

%cond (q: (s32[], f32[64])) -> pred[] {
  %q = (s32[], f32[64]{0}) parameter(0)
  %j = s32[] get-tuple-element(%q), index=0
  %n = s32[] constant(3)
  ROOT %less = pred[] compare(%j, %n), direction=LT
}

ENTRY %main (a: (s32[], f32[64])) -> (s32[], f32[64]) {
  %a = (s32[], f32[64]{0}) parameter(0)
  ROOT %while.1 = (s32[], f32[64]{0}) while(%a), condition=%cond, body=%body
}
";
    let text = "module jit_l 1 hlo=0
         lane 0 on cpu
           0 +3000 while.1 op=while.1 in=jit_l at=12
           100 +700 sine.2 op=sine.2 in=jit_l at=5
           900 +700 sine.2 op=sine.2 in=jit_l at=5
           1700 +700 sine.2 op=sine.2 in=jit_l at=5";
    with_toy(text, hlo, |analysis| {
        let module = &analysis.hlo[0];
        let at = |name| module.instruction_named(name).expect("the text names it").0;
        assert_eq!((at("while.1"), at("sine.2")), (12, 5), "positions that the trace names");
        let table = analysis.table(Topic::Roofline, "op").expect("a view");
        let columns: Vec<&str> = std::iter::once("op").chain(COLUMNS).collect();
        expect![[r#"
            op       self_ns  flops_per_sec  bytes_per_sec  intensity  bound   headroom  unknown_share  roof
            sine.2   2100     91428571.429   731428571.429  0.125      memory  1.367     0              f32.plain
            while.1  900      0              0              -          -       -         0              -
        "#]]
        .assert_eq(&render(&table, &columns));
    });
}

#[test]
fn a_call_has_no_work_but_that_of_the_loop_in_it() {
    let hlo = "HloModule jit_c, is_scheduled=true

%body (p: f32[64]) -> f32[64] {
  %p = f32[64]{0} parameter(0)
  ROOT %sine.2 = f32[64]{0} sine(%p)
}

%cond (q: f32[64]) -> pred[] {
  %q = f32[64]{0} parameter(0)
  ROOT %no = pred[] constant(false)
}

%called (r: f32[64]) -> f32[64] {
  %r = f32[64]{0} parameter(0)
  ROOT %while.1 = f32[64]{0} while(%r), condition=%cond, body=%body
}

ENTRY %main (a: f32[64]) -> f32[64] {
  %a = f32[64]{0} parameter(0)
  ROOT %call.1 = f32[64]{0} call(%a), to_apply=%called
}
";
    let text = "module jit_c 1 hlo=0
         lane 0 on cpu
           0 +2000 call.1 op=call.1 in=jit_c at=7
           100 +700 sine.2 op=sine.2 in=jit_c at=1
           900 +700 sine.2 op=sine.2 in=jit_c at=1";
    with_toy(text, hlo, |analysis| {
        let module = &analysis.hlo[0];
        let at = |name| module.instruction_named(name).expect("the text names it").0;
        assert_eq!((at("call.1"), at("sine.2")), (7, 1), "positions that the trace names");
        expect![[r#"
            op      self_ns  flops_per_sec  bytes_per_sec  unknown_share
            sine.2  1400     91428571.429   731428571.429  0
            call.1  600      0              0              0
        "#]]
        .assert_eq(&render(
            &analysis.table(Topic::Roofline, "op").expect("a view"),
            &["op", "self_ns", "flops_per_sec", "bytes_per_sec", "unknown_share"],
        ));
    });
}

#[test]
fn tables_gain_columns_where_work_is_known() {
    let known = "module jit_f 1 hlo=0\n stream 1 on gpu\n 0 +1000 gemm op=dot.1 in=jit_f at=2";
    let groupings = ["op", "kernel", "module", "step", "operation"];
    let has = |text: &str| {
        with_toy(text, HLO, |analysis| {
            groupings
                .map(|by| analysis.table(Topic::Time, by).expect("a view").batch.column_by_name("headroom").is_some())
        })
    };
    assert_eq!(has(known), [true; 5]);
    assert_eq!(has("stream 1 on gpu\n 0 +1000 gemm"), [false; 5]);
}

#[test]
fn the_drawing_has_a_place_for_everything_with_both_rates() {
    let text = "module jit_f 1 hlo=0
         stream 1 on gpu
           0 +1000 gemm op=dot.1 in=jit_f at=2
           1000 +3000 k op=magic.1 in=jit_f at=3";
    with_toy(text, HLO, |analysis| {
        let charts = charts(analysis, RooflineBy::Op);
        assert_eq!(charts.len(), 1);
        let chart = &charts[0];
        assert_eq!(
            (chart.device.as_str(), chart.basis.as_str(), chart.slopes.first().map(|slope| slope.bytes_per_sec)),
            ("toy", "data sheet", Some(1e9))
        );
        let roofs: Vec<(&str, f64)> = chart.roofs.iter().map(|roof| (roof.name.as_str(), roof.flops_per_sec)).collect();
        assert_eq!(roofs, [("f32 matrix", 2e9)]);
        let point = &chart.points[0];
        assert_eq!((point.name.as_str(), point.share, chart.share_left_out), ("dot.1", 0.25, 0.75));
        assert!((point.intensity - 1024.0 / 896.0).abs() < 1e-12 && (point.flops_per_sec - 1.024e9).abs() < 1.0);
    });
}
