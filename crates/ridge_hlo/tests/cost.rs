//! What programs cost, against numbers worked out by hand.

#![allow(clippy::disallowed_methods, reason = "tests read fixtures and take the time")]

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use ridge_hlo::HloModule;
use ridge_hlo::cost::{Cost, ModuleCosts};

fn module(body: &str) -> HloModule {
    let module = HloModule::from_text(&format!("HloModule m\n\n{body}")).expect("text of a module");
    assert_eq!(module.notes, [], "the test's own text");
    module
}

fn render(module: &HloModule, cost: &Cost) -> String {
    let mut out = String::new();
    for item in cost.work.by() {
        let name = item.kind.name();
        writeln!(out, "{} {name} {} {:?}", item.count, item.element_type, item.unit).expect("a string");
    }
    let Cost { bytes_accessed, compulsory, collective_bytes, .. } = cost;
    writeln!(out, "compulsory {} + {}", compulsory.read, compulsory.written).expect("a string");
    writeln!(out, "accessed {} + {}", bytes_accessed.read, bytes_accessed.written).expect("a string");
    if *collective_bytes > 0.0 {
        writeln!(out, "to others {collective_bytes}").expect("a string");
    }
    if let Some(unknown) = cost.unknown {
        writeln!(out, "unknown: {} x {}", unknown.calls, unknown.reason(module)).expect("a string");
    }
    cost.assumptions.iter().for_each(|assumption| writeln!(out, "{}", assumption.name()).expect("a string"));
    out
}

/// The cost of the entry computation.
fn check(body: &str, expected: Expect) {
    let module = module(body);
    expected.assert_eq(&render(&module, ModuleCosts::new(&module).total()));
}

#[test]
fn a_loop_runs_its_body_and_asks_once_more() {
    let text = |config: &str, start: &str| {
        format!(
            "%body (s: (s32[], f32[100])) -> (s32[], f32[100]) {{
  %s = (s32[], f32[100]{{0}}) parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %one = s32[] constant(2)
  %next = s32[] add(%i, %one)
  %x = f32[100]{{0}} get-tuple-element(%s), index=1
  %y = f32[100]{{0}} multiply(%x, %x)
  ROOT %t = (s32[], f32[100]{{0}}) tuple(%next, %y)
}}

%cond (c: (s32[], f32[100])) -> pred[] {{
  %c = (s32[], f32[100]{{0}}) parameter(0)
  %n = s32[] constant(10)
  %j = s32[] get-tuple-element(%c), index=0
  ROOT %less = pred[] compare(%j, %n), direction=LT
}}

ENTRY %main (x.1: f32[100], k: s32[]) -> (s32[], f32[100]) {{
  %x.1 = f32[100]{{0}} parameter(0)
  %k = s32[] parameter(1)
  %zero = s32[] constant(1)
  %t.1 = (s32[], f32[100]{{0}}) tuple({start}, %x.1)
  ROOT %w = (s32[], f32[100]{{0}}) while(%t.1), condition=%cond, body=%body{config}
}}
"
        )
    };
    let known = text(", backend_config={\"known_trip_count\":{\"n\":\"7\"}}", "%k");
    check(
        &known,
        expect![[r#"
        15 integer s32 Plain
        700 multiply f32 Plain
        compulsory 2920 + 2836
        accessed 5720 + 2964
    "#]],
    );
    // 1, 3, 5, 7, 9: five iterations.
    check(
        &text("", "%zero"),
        expect![[r#"
        11 integer s32 Plain
        500 multiply f32 Plain
        compulsory 2088 + 2026
        accessed 4088 + 2122
        trip_count_derived
    "#]],
    );
    check(
        &text("", "%k"),
        expect![[r#"
        2 integer s32 Plain
        100 multiply f32 Plain
        compulsory 416 + 405
        accessed 816 + 437
        trip_count_unknown
    "#]],
    );
    let module = module(&text("", "%k"));
    let observed = ModuleCosts::with_observed(&module, &|id| (module.instruction(id).name == "w").then_some(3.0));
    expect![[r#"
        7 integer s32 Plain
        300 multiply f32 Plain
        compulsory 1256 + 1216
        accessed 2456 + 1280
        trip_count_observed
    "#]]
    .assert_eq(&render(&module, observed.total()));
}

#[test]
fn a_stencil_reads_its_array_once() {
    check(
        "%stencil (p: f32[10,10]) -> f32[8,8] {
  %p = f32[10,10]{1,0} parameter(0)
  %up = f32[8,8]{1,0} slice(%p), slice={[0:8], [1:9]}
  %down = f32[8,8]{1,0} slice(%p), slice={[2:10], [1:9]}
  %left = f32[8,8]{1,0} slice(%p), slice={[1:9], [0:8]}
  %right = f32[8,8]{1,0} slice(%p), slice={[1:9], [2:10]}
  %a = f32[8,8]{1,0} add(%up, %down)
  %b = f32[8,8]{1,0} add(%left, %right)
  ROOT %c = f32[8,8]{1,0} add(%a, %b)
}

ENTRY %main (x: f32[10,10]) -> f32[8,8] {
  %x = f32[10,10]{1,0} parameter(0)
  ROOT %f = f32[8,8]{1,0} fusion(%x), kind=kLoop, calls=%stencil
}
",
        expect![[r#"
            192 add f32 Plain
            compulsory 384 + 256
            accessed 1024 + 256
        "#]],
    );
}

#[test]
fn an_update_in_a_fusion_writes_the_update() {
    check(
        "%update (p: f32[1000], i: s32[], v: f32[10]) -> f32[1000] {
  %p = f32[1000]{0} parameter(0)
  %i = s32[] parameter(1)
  %v = f32[10]{0} parameter(2)
  %n = f32[10]{0} negate(%v)
  ROOT %u = f32[1000]{0} dynamic-update-slice(%p, %n, %i)
}

%fill (j: s32[], v.1: f32[10]) -> f32[1000] {
  %j = s32[] parameter(0)
  %v.1 = f32[10]{0} parameter(1)
  %zero = f32[] constant(0)
  %zeros = f32[1000]{0} broadcast(%zero), dimensions={}
  ROOT %u.1 = f32[1000]{0} dynamic-update-slice(%zeros, %v.1, %j)
}

ENTRY %main (x: f32[1000], k: s32[], w: f32[10]) -> (f32[1000], f32[1000]) {
  %x = f32[1000]{0} parameter(0)
  %k = s32[] parameter(1)
  %w = f32[10]{0} parameter(2)
  %f = f32[1000]{0} fusion(%x, %k, %w), kind=kLoop, calls=%update
  %g = f32[1000]{0} fusion(%k, %w), kind=kLoop, calls=%fill
  ROOT %t = (f32[1000]{0}, f32[1000]{0}) tuple(%f, %g)
}
",
        expect![[r#"
            10 add f32 Plain
            compulsory 88 + 4040
            accessed 88 + 96
        "#]],
    );
}

#[test]
fn what_a_custom_call_does_is_unknown_unless_its_name_says() {
    check(
        "ENTRY %main (x: f32[64,64]) -> f32[64,64] {
  %x = f32[64,64]{1,0} parameter(0)
  %known = (f32[64,64]{1,0}, s32[64]{0}, s32[]) custom-call(%x), custom_call_target=\"lapack_sgetrf_ffi\"
  ROOT %secret = f32[64,64]{1,0} custom-call(%x), custom_call_target=\"my_kernel\"
}
",
        expect![[r#"
            85344 multiply_add f32 Matrix
            2080 multiply f32 Plain
            compulsory 32768 + 33028
            accessed 32768 + 33028
            unknown: 1 x custom call `my_kernel`
        "#]],
    );
}

#[test]
fn inside_a_fusion_what_is_not_asked_for_costs_nothing() {
    // Half of the rows, transposed, padded and joined to others: each step needs its own half of what it is made of.
    check(
        "%body (p: f32[8,6], q: f32[8,6], w: f32[6,5]) -> f32[3,14] {
  %p = f32[8,6]{1,0} parameter(0)
  %q = f32[8,6]{1,0} parameter(1)
  %w = f32[6,5]{1,0} parameter(2)
  %e = f32[8,6]{1,0} exponential(%p)
  %s = f32[4,6]{1,0} slice(%e), slice={[4:8], [0:6]}
  %t = f32[6,4]{1,0} transpose(%s), dimensions={1,0}
  %u = f32[3,4]{1,0} slice(%t), slice={[0:6:2], [0:4]}
  %d = f32[8,5]{1,0} dot(%q, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %v = f32[3,5]{1,0} slice(%d), slice={[0:3], [0:5]}
  %zero = f32[] constant(0)
  %x = f32[3,10]{1,0} pad(%v, %zero), padding=0_0x2_3
  ROOT %c = f32[3,14]{1,0} concatenate(%u, %x), dimensions={1}
}

ENTRY %main (a: f32[8,6], b: f32[8,6], m: f32[6,5]) -> f32[3,14] {
  %a = f32[8,6]{1,0} parameter(0)
  %b = f32[8,6]{1,0} parameter(1)
  %m = f32[6,5]{1,0} parameter(2)
  ROOT %f = f32[3,14]{1,0} fusion(%a, %b, %m), kind=kLoop, calls=%body
}
",
        // Of the exponential 3 by 4; of the product 3 rows, 3 by 5 by 6; read 12 + 18 + 30 elements.
        expect![[r#"
            12 transcendental f32 Plain
            90 multiply_add f32 Matrix
            compulsory 240 + 168
            accessed 504 + 168
        "#]],
    );
}

#[test]
fn products_of_integers_count_with_those_of_floats() {
    let module = module(
        "ENTRY %main (a: s8[4,8], b: s8[8,2]) -> s32[4,2] {
  %a = s8[4,8]{1,0} parameter(0)
  %b = s8[8,2]{1,0} parameter(1)
  %d = s32[4,2]{1,0} dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT %s = s32[4,2]{1,0} add(%d, %d)
}
",
    );
    let costs = ModuleCosts::new(&module);
    let cost = costs.total();
    assert_eq!((cost.work.flops(), cost.counted_operations()), (0.0, 2.0 * 4.0 * 8.0 * 2.0));
    assert!(cost.intensity().is_some_and(|intensity| intensity > 0.0));
}

#[test]
fn places_that_differ_are_not_united() {
    // From one start that is not known, two windows move at different paces: 60 and 20 elements, which may be others.
    check(
        "%add (l: f32[], r: f32[]) -> f32[] {
  %l = f32[] parameter(0)
  %r = f32[] parameter(1)
  ROOT %sum = f32[] add(%l, %r)
}

%windows (p: f32[100], i: s32[]) -> f32[10] {
  %p = f32[100]{0} parameter(0)
  %i = s32[] parameter(1)
  %zero = f32[] constant(0)
  %near = f32[50]{0} reduce-window(%p, %zero), window={size=51}, to_apply=%add
  %far = f32[50]{0} reduce-window(%p, %zero), window={size=2 stride=2}, to_apply=%add
  %a = f32[10]{0} dynamic-slice(%near, %i), dynamic_slice_sizes={10}
  %b = f32[10]{0} dynamic-slice(%far, %i), dynamic_slice_sizes={10}
  ROOT %c = f32[10]{0} add(%a, %b)
}

ENTRY %main (x: f32[100], k: s32[]) -> f32[10] {
  %x = f32[100]{0} parameter(0)
  %k = s32[] parameter(1)
  ROOT %f = f32[10]{0} fusion(%x, %k), kind=kLoop, calls=%windows
}
",
        expect![[r#"
            520 add f32 Plain
            compulsory 324 + 40
            accessed 404 + 40
        "#]],
    );
    // Two rows of a product of an array with itself: two rows of the left operand, two columns of the right one.
    check(
        "%square (p: f32[8,8], i: s32[]) -> f32[2,2] {
  %p = f32[8,8]{1,0} parameter(0)
  %i = s32[] parameter(1)
  %d = f32[8,8]{1,0} dot(%p, %p), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  ROOT %s = f32[2,2]{1,0} dynamic-slice(%d, %i, %i), dynamic_slice_sizes={2,2}
}

ENTRY %main (x: f32[8,8], k: s32[]) -> f32[2,2] {
  %x = f32[8,8]{1,0} parameter(0)
  %k = s32[] parameter(1)
  ROOT %f = f32[2,2]{1,0} fusion(%x, %k), kind=kLoop, calls=%square
}
",
        expect![[r#"
            32 multiply_add f32 Matrix
            compulsory 132 + 16
            accessed 260 + 16
        "#]],
    );
}

#[test]
fn what_enters_a_loop_and_stays_is_not_at_its_boundary() {
    let module = module(
        "%body (s: (s32[], f32[1000], f32[10])) -> (s32[], f32[1000], f32[10]) {
  %s = (s32[], f32[1000]{0}, f32[10]{0}) parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %x = f32[1000]{0} get-tuple-element(%s), index=1
  %y = f32[10]{0} get-tuple-element(%s), index=2
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %part = f32[10]{0} dynamic-slice(%x, %i), dynamic_slice_sizes={10}
  %z = f32[10]{0} multiply(%part, %y)
  ROOT %t = (s32[], f32[1000]{0}, f32[10]{0}) tuple(%next, %x, %z)
}
",
    );
    let costs = ModuleCosts::new(&module);
    let body = module.computation_named("body").expect("it is there");
    // The counter, a slice of ten and ten more come in; the counter and ten go out.
    assert_eq!((costs.boundary(body).read, costs.boundary(body).written), (4.0 + 40.0 + 40.0, 4.0 + 40.0));
    assert_eq!(costs.computation(body).compulsory.read, 8.0 + 44.0 + 80.0);
}

#[test]
fn circles_and_depth_are_bounded() {
    // Computations that call each other in a circle, and a chain of loops each of which runs the next 2^40 times.
    let circle = module(
        "%one (p: f32[2]) -> f32[2] {
  %p = f32[2]{0} parameter(0)
  ROOT %c = f32[2]{0} call(%p), to_apply=%two
}

%two (q: f32[2]) -> f32[2] {
  %q = f32[2]{0} parameter(0)
  ROOT %d = f32[2]{0} call(%q), to_apply=%one
}
",
    );
    let costs = ModuleCosts::new(&circle);
    let unknown = circle.instruction_ids().filter_map(|id| costs.of(id).unknown).count();
    assert_eq!(unknown, 2);

    let mut chain = String::from(
        "%cond (c: f32[2]) -> pred[] {\n  %c = f32[2]{0} parameter(0)\n  ROOT %true = pred[] constant(true)\n}\n\n\
         %body0 (b0: f32[2]) -> f32[2] {\n  %b0 = f32[2]{0} parameter(0)\n  ROOT %n = f32[2]{0} negate(%b0)\n}\n",
    );
    for depth in 1..20_000 {
        let inner = depth - 1;
        writeln!(
            chain,
            "\n%body{depth} (b{depth}: f32[2]) -> f32[2] {{\n  %b{depth} = f32[2]{{0}} parameter(0)\n  ROOT %w{depth} = \
             f32[2]{{0}} while(%b{depth}), condition=%cond, body=%body{inner}, \
             backend_config={{\"known_trip_count\":{{\"n\":\"1099511627776\"}}}}\n}}"
        )
        .expect("a string");
    }
    let chain = module(&chain);
    let last = ModuleCosts::new(&chain);
    let deepest = chain.instruction_named("w19999").expect("it is there");
    assert_eq!(last.of(deepest).work.flops(), 1e300);
}
