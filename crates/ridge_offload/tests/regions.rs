//! Small captures, and what is said of their parts: which have a specification, what it is, and the verdict.

use expect_test::{Expect, expect};
use ridge_analysis::{Analysis, Prepared, sheets};
use ridge_hlo::HloModule;
use ridge_offload::{Ask, Baseline, Board, Host, RegionAnswer, WhatIf, offload, regions};

fn with<T>(trace: &str, hlo: &str, ask: impl FnOnce(&Analysis<'_>) -> T) -> T {
    let trace = ridge_test::trace(trace);
    let hlo: Vec<HloModule> = if hlo.is_empty() { Vec::new() } else { vec![HloModule::from_text(hlo).expect("HLO")] };
    ask(&Prepared::with_sheets(&trace).analysis(&trace, &hlo))
}

/// A line for each region: its share, what it is, and what one call has to do or why that cannot be said.
#[track_caller]
fn check(trace: &str, hlo: &str, expected: Expect) {
    let lines = with(trace, hlo, |analysis| {
        let found = regions(analysis);
        let all: f64 = found.iter().map(|region| region.share).sum();
        assert!(all <= 1.0 + 1e-9, "shares add to {all}");
        let line = |region: &ridge_offload::Region| {
            let spec = match &region.specification {
                Err(because) => format!("no specification, because {because}"),
                Ok(spec) => {
                    let work = &spec.workload;
                    let trips =
                        spec.opened.as_ref().map_or(String::new(), |opened| format!(", {} trips", opened.trips));
                    format!(
                        "{}, in {} out {} kept {} lines {}, path {}{trips}",
                        work.class.name(),
                        work.input.0,
                        work.output.0,
                        work.kept_bytes,
                        work.line_buffer_bytes,
                        work.path_clocks
                    )
                }
            };
            format!("{:.0} % {} x{}: {spec}\n", 100.0 * region.share, region.name, region.calls)
        };
        found.iter().map(line).collect::<String>()
    });
    expected.assert_eq(&lines);
}

/// The verdict of the longest region on a U55C, beside an H100 that was measured.
#[track_caller]
fn verdict(trace: &str, hlo: &str, what_if: &str, expected: Expect) {
    let said = with(trace, hlo, |analysis| {
        let sheet = sheets().iter().find(|sheet| sheet.name == "NVIDIA H100 SXM5 80GB").expect("its sheet");
        let baseline = Baseline {
            device: "H100".to_owned(),
            host: Host::Measured,
            ceilings: sheet.ceilings.clone(),
            tdp_w: Some(700.0),
        };
        let what_if = WhatIf::parse(what_if).expect("changes");
        let boards = vec![Board::named("u55c").expect("a board")];
        let answer = offload(analysis, &Ask { baseline, boards, targets: Vec::new(), what_if });
        let line = |one: &RegionAnswer| format!("{}: {}\n", one.verdict.name(), one.why);
        format!("{}\n{}", answer.headline, answer.regions.iter().map(line).collect::<String>())
    });
    expected.assert_eq(&said);
}

const STREAM: &str = "HloModule jit_f, is_scheduled=true

ENTRY %main (a: f32[67108864], b: f32[67108864]) -> f32[67108864] {
  %a = f32[67108864]{0} parameter(0)
  %b = f32[67108864]{0} parameter(1)
  ROOT %add.1 = f32[67108864]{0} add(%a, %b)
}
";

/// A kernel of `ns` that is the operation at `at`.
fn one(op: &str, at: u32, ns: u64) -> String {
    format!("module jit_f 1 hlo=0\nstream 1 on gpu\n  0 +{ns} kernel op={op} in=jit_f at={at}")
}

#[test]
fn a_module_is_one_region_and_loops_are_their_own() {
    let hlo = "HloModule jit_f, is_scheduled=true

%body (s: (s32[], f32[1024])) -> (s32[], f32[1024]) {
  %s = (s32[], f32[1024]) parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %x = f32[1024]{0} get-tuple-element(%s), index=1
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %mul.1 = f32[1024]{0} multiply(%x, %x)
  ROOT %t = (s32[], f32[1024]) tuple(%next, %mul.1)
}

%cond (s: (s32[], f32[1024])) -> pred[] {
  %s = (s32[], f32[1024]) parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %ten = s32[] constant(10)
  ROOT %less = pred[] compare(%i, %ten), direction=LT
}

ENTRY %main (a: f32[1024]) -> f32[1024] {
  %a = f32[1024]{0} parameter(0)
  %zero = s32[] constant(0)
  %sine.1 = f32[1024]{0} sine(%a)
  %init = (s32[], f32[1024]) tuple(%zero, %sine.1)
  %while.1 = (s32[], f32[1024]) while(%init), condition=%cond, body=%body
  ROOT %out = f32[1024]{0} get-tuple-element(%while.1), index=1
}
";
    check(
        "module jit_f 1 hlo=0
         stream 1 on gpu
           0 +100 sin op=sine.1 in=jit_f at=13
           200 +300 mul op=mul.1 in=jit_f at=5
           600 +600 mul op=mul.1 in=jit_f at=5",
        hlo,
        expect![[r#"
            90 % jit_f: mul.1 x1: stream, in 4096 out 4096 kept 4100 lines 0, path 40, 10 trips
            10 % jit_f: sine.1 x1: stream, in 4096 out 4096 kept 0 lines 0, path 14
        "#]],
    );
}

#[test]
fn what_is_opaque_dynamic_or_unknown_has_no_specification() {
    let entry = |parameters: &str, root: &str| {
        format!("HloModule jit_f\n\nENTRY %main {{\n{parameters}\n  ROOT %out = {root}\n}}\n")
    };
    let a = "  %a = f32[64]{0} parameter(0)";
    check(
        &one("out", 1, 100),
        &entry(a, "f32[64]{0} custom-call(%a), custom_call_target=\"magic\""),
        expect![[r#"
        100 % jit_f: out x1: no specification, because custom call `magic` is opaque: what it computes is not in the HLO
    "#]],
    );
    check(
        &one("out", 1, 100),
        &entry("  %a = f32[<=64]{0} parameter(0)", "f32[<=64]{0} add(%a, %a)"),
        expect![[r#"
        100 % jit_f: out x1: no specification, because `out` has dynamic shapes
    "#]],
    );
    check(
        &one("out", 1, 100),
        &entry(a, "f32[64]{0} all-reduce(%a), replica_groups={{0,1}}, to_apply=%main"),
        expect![[r#"
            100 % jit_f: out x1: no specification, because `out` exchanges data with other devices
        "#]],
    );
    check(
        "module jit_f 1\nstream 1 on gpu\n  0 +100 kernel op=x in=jit_f at=0",
        "",
        expect![[r#"
        100 % jit_f x1: no specification, because the capture has no HLO of its module; `ridgeline record` keeps it
    "#]],
    );
    check(
        "stream 1 on gpu\n  0 +100 kernel",
        "",
        expect![[r#"
        100 % work without a module x1: no specification, because no compiled module is known of this work, so that nothing says what it computes
    "#]],
    );
}

#[test]
fn a_median_of_27_is_a_network_and_its_window_a_line_buffer() {
    let hlo = "HloModule jit_f

%less (p: f32[], q: f32[]) -> pred[] {
  %p = f32[] parameter(0)
  %q = f32[] parameter(1)
  ROOT %l = pred[] compare(%p, %q), direction=LT
}

ENTRY %main (a: f32[32,34,34]) -> f32[1,32,34,34] {
  %a = f32[32,34,34]{2,1,0} parameter(0)
  %above = f32[30,34,34]{2,1,0} slice(%a), slice={[0:30], [0:34], [0:34]}
  %below = f32[30,34,34]{2,1,0} slice(%a), slice={[2:32], [0:34], [0:34]}
  %sum = f32[30,34,34]{2,1,0} add(%above, %below)
  %many = f32[27,32,34,34]{3,2,1,0} broadcast(%a), dimensions={1,2,3}
  %sort.1 = f32[27,32,34,34]{3,2,1,0} sort(%many), dimensions={0}, to_apply=%less
  ROOT %out = f32[1,32,34,34]{3,2,1,0} slice(%sort.1), slice={[13:14], [0:32], [0:34], [0:34]}
}
";
    let trace = one("sort.1", 8, 100);
    check(
        &trace,
        hlo,
        expect![[r#"
        100 % jit_f: sort.1 x1: sort, in 147968 out 147968 kept 0 lines 9248, path 15
    "#]],
    );
    let exchanges = with(&trace, hlo, |analysis| {
        let found = regions(analysis);
        let spec = found[0].specification.as_ref().expect("a specification").clone();
        spec.workload.count_of(ridge_offload::Operator::Exchange)
    });
    assert_eq!(exchanges, 126.0 * 32.0 * 34.0 * 34.0);
}

#[test]
fn streaming_through_memory_is_never_faster_on_a_board() {
    // 805 MB in 250 µs: 96 % of the memory's rate.
    verdict(
        &one("add.1", 2, 250_000),
        STREAM,
        "",
        expect![[r#"
            it does not beat H100 in any part of this program: never on throughput 100.0 %
            never on throughput: even with everything at its best and data on the board, the rate of the ports to its memory holds a call on AMD Alveo U55C at 1.97 ms; H100 takes 250 µs
        "#]],
    );
    // Not even with all data on the board.
    verdict(
        &one("add.1", 2, 250_000),
        STREAM,
        "resident=1000000",
        expect![[r#"
            it does not beat H100 in any part of this program: never on throughput 100.0 %
            never on throughput: even with everything at its best and data on the board, the rate of the ports to its memory holds a call on AMD Alveo U55C at 1.97 ms; H100 takes 250 µs
        "#]],
    );
}

#[test]
fn a_program_far_from_its_roof_is_mended_first() {
    verdict(
        &one("add.1", 2, 5_000_000),
        STREAM,
        "",
        expect![[r#"
        it does not beat H100 in any part of this program: GPU first 100.0 %
        GPU first: H100 takes 21 times as long as it must: its kernels stay far below their roofs: `ridgeline roofline` and `ridgeline check` say where; mended, a call takes 240 µs there at best, and 115 ms on AMD Alveo U55C
    "#]],
    );
}

#[test]
fn a_chain_of_small_kernels_is_one_program_first() {
    let mut hlo = "HloModule jit_f\n\nENTRY %main {\n  %x0 = f32[256]{0} parameter(0)\n".to_owned();
    let mut trace = "module jit_f 1 hlo=0\nstream 1 on gpu\n".to_owned();
    // 60 kernels of 3 µs that one could do.
    for at in 1..=60 {
        let root = if at == 60 { "ROOT " } else { "" };
        hlo.push_str(&format!("  {root}%x{at} = f32[256]{{0}} sine(%x{})\n", at - 1));
        trace.push_str(&format!("  {} +3000 k op=x{at} in=jit_f at={at}\n", at * 3000));
    }
    hlo.push_str("}\n");
    verdict(
        &trace,
        &hlo,
        "",
        expect![[r#"
        other hardware beats H100 only where the program itself is what to mend first: GPU first 100.0 %
        GPU first: H100 takes 90 times as long as it must: start fewer kernels: one compiled program, a captured graph or one loop on the device; mended, a call takes 2 µs there at best, and 37.6 µs on AMD Alveo U55C
    "#]],
    );
}

/// A loop of a thousand iterations over 4 KB, 2.5 µs each: starting a kernel takes 2.
const LOOP: &str = "HloModule jit_f, is_scheduled=true

%body (s: (s32[], f32[1024])) -> (s32[], f32[1024]) {
  %s = (s32[], f32[1024]) parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %x = f32[1024]{0} get-tuple-element(%s), index=1
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %mul.1 = f32[1024]{0} multiply(%x, %x)
  ROOT %t = (s32[], f32[1024]) tuple(%next, %mul.1)
}

%cond (s: (s32[], f32[1024])) -> pred[] {
  %s = (s32[], f32[1024]) parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %many = s32[] constant(1000)
  ROOT %less = pred[] compare(%i, %many), direction=LT
}

ENTRY %main (a: f32[1024]) -> f32[1024] {
  %a = f32[1024]{0} parameter(0)
  %zero = s32[] constant(0)
  %init = (s32[], f32[1024]) tuple(%zero, %a)
  %while.1 = (s32[], f32[1024]) while(%init), condition=%cond, body=%body
  ROOT %out = f32[1024]{0} get-tuple-element(%while.1), index=1
}
";

#[test]
fn a_loop_of_small_steps_is_a_latency_candidate() {
    let mut trace = "module jit_f 1 hlo=0\nstream 1 on gpu\n".to_owned();
    (0..1000).for_each(|at| trace.push_str(&format!("  {} +2500 k op=mul.1 in=jit_f at=5\n", at * 2500)));
    verdict(
        &trace,
        LOOP,
        "",
        expect![[r#"
        1 of 1 regions is a candidate against H100: `jit_f: mul.1` on AMD Alveo U55C would make all device work 43 times as fast: latency candidate 100.0 %
        latency candidate: AMD Alveo U55C answers 43 times (25 to 82) as fast
    "#]],
    );
    // At 60 ns a step the interval holds a gain and a loss.
    verdict(
        &trace.replace("+2500", "+60"),
        LOOP,
        "",
        expect![[r#"
        nothing here is known to run faster elsewhere than on H100: undecided 100.0 %
        undecided: AMD Alveo U55C is 1.04 times (0.59 to 1.96) as fast: the interval holds both a gain and a loss
    "#]],
    );
}
