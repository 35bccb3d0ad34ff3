//! Moments that are divided, given up, and explained.

use super::*;
use crate::Prepared;
use expect_test::{Expect, expect};
use ridge_hlo::HloModule;

#[track_caller]
fn check(text: &str, expected: Expect) {
    check_with(text, &[], expected);
}

#[track_caller]
fn check_with(text: &str, hlo: &[HloModule], expected: Expect) {
    let trace = ridge_test::trace(text);
    let prepared = Prepared::with_sheets(&trace);
    let breakdown = prepared.analysis(&trace, hlo).breakdown().clone();
    let line = |row: &BreakdownRow| {
        let what = match row.owner {
            TimeOwner::Work { name, .. } => trace.strings.get(name).to_owned(),
            TimeOwner::Idle { cause, activity, name } => {
                let name = name.map_or("", |name| trace.strings.get(name));
                format!("idle: {}, {} {name}", cause.name(), activity.name())
            }
        };
        format!("{} × {what}: {}\n", row.events, row.ns)
    };
    let lines: String = breakdown.rows.iter().map(line).collect();
    let of_device = |device: &DeviceBreakdown| format!("{} of {} busy\n", device.busy_ns, device.whole_ns);
    expected.assert_eq(&(breakdown.devices.iter().map(of_device).collect::<String>() + &lines));
    let sum: i64 = breakdown.rows.iter().map(|row| row.ns).sum();
    assert_eq!(sum, breakdown.whole_ns());
}

#[test]
fn moments_are_divided_and_gaps_have_reasons() {
    check(
        "thread python
           0 +100 train step=1
           100 +100 train step=2
           110 +40 load
           150 +10 launch launch id=1
           200 +100 train step=3
         stream 1 on gpu
           50 +10 first
           160 +30 gemm id=1
           250 +50 tail
         stream 2 on gpu
           170 +40 copy h2d",
        expect![[r#"
            100 of 200 busy
            1 × tail: 50
            1 × idle: host late, runtime or library load: 40
            1 × idle: unknown, nothing recorded : 40
            1 × copy: 30
            1 × gemm: 20
            1 × idle: host late, program's own code train: 10
            1 × idle: in the launch call, launching launch: 10
        "#]],
    );
}

#[test]
fn nested_work_is_the_innermosts() {
    check(
        "lane 0 on cpu
           0 +100 while.1
           10 +20 body.1
           40 +20 body.1
         lane 1 on cpu
           50 +10 other",
        expect![[r#"
            100 of 100 busy
            1 × while.1: 60
            2 × body.1: 35
            1 × other: 5
        "#]],
    );
}

/// A loop whose body computes on several threads and copies what it has computed; beside it, work that reads neither.
const LOOP: &str = "
HloModule jit_run, is_scheduled=true

%compute (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  ROOT %neg = f32[8]{0} negate(%p)
}

%body (s: (f32[8], f32[8])) -> (f32[8], f32[8]) {
  %s = (f32[8]{0}, f32[8]{0}) parameter(0)
  %x = f32[8]{0} get-tuple-element(%s), index=0
  %y = f32[8]{0} get-tuple-element(%s), index=1
  %fusion.1 = f32[8]{0} fusion(%x), kind=kLoop, calls=%compute
  %sine.1 = f32[8]{0} sine(%y)
  %copy.1 = f32[8]{0} copy(%fusion.1)
  ROOT %out = (f32[8]{0}, f32[8]{0}) tuple(%copy.1, %sine.1)
}

%cond (t: (f32[8], f32[8])) -> pred[] {
  %t = (f32[8]{0}, f32[8]{0}) parameter(0)
  ROOT %true = pred[] constant(true)
}

ENTRY %main (a: (f32[8], f32[8])) -> (f32[8], f32[8]) {
  %a = (f32[8]{0}, f32[8]{0}) parameter(0)
  ROOT %while.1 = (f32[8]{0}, f32[8]{0}) while(%a), condition=%cond, body=%body
}
";

#[test]
fn a_processors_event_that_outlasts_its_work_has_nothing() {
    let hlo = [HloModule::from_text(LOOP).expect("a module")];
    let at = |name: &str| hlo[0].instructions.iter().position(|found| &*found.name == name).expect("an instruction");
    let of = |name: &str| format!("{name} op={name} in=jit_run at={}", at(name));
    let (fusion, sine, copy, all) = (of("fusion.1"), of("sine.1"), of("copy.1"), of("while.1"));
    let text = format!(
        "module jit_run 1 hlo=0
         thread python
           0 +200 Execute launch id=1
         lane 0 on /device:CPU:0
           0 +200 {all}
           10 +130 {fusion}
         lane 1 on /device:CPU:0
           20 +10 {sine}
           40 +20 {copy}
           70 +20 {fusion}
           100 +20 {copy}"
    );
    // The fusion is alone to 20, beside the sine to 30 and alone to 40, where the copy shows that it had ended; it has what
    // nobody else has from 60 to 70, 90 to 100 and 120 to 140.
    check_with(
        &text,
        &hlo,
        expect![[r#"
            200 of 200 busy
            2 × fusion.1: 85
            1 × while.1: 70
            2 × copy.1: 40
            1 × sine.1: 5
        "#]],
    );
}
