//! Small captures, and what is said of their parts: which have a specification, what it is, and the verdict.

use expect_test::{Expect, expect};
use ridge_analysis::{Analysis, Prepared, sheets};
use ridge_hlo::HloModule;
use ridge_offload::{Ask, Baseline, Board, Host, RegionAnswer, TargetGpu, WhatIf, offload, regions};

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
            format!("{:.0}% {} x{}: {spec}\n", 100.0 * region.share, region.name, region.calls)
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
        let answer = offload(
            analysis,
            &Ask { baseline, boards, targets: Vec::new(), captured_on: None, bundles: Vec::new(), what_if },
        );
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
            90% jit_f: multiply x1: stream, in 4096 out 4096 kept 4100 lines 0, path 40, 10 trips
            10% jit_f: sine x1: stream, in 4096 out 4096 kept 0 lines 0, path 14
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
            100% jit_f: custom-call x1: no specification, because custom call `magic` is opaque: the HLO doesn't contain its computation
        "#]],
    );
    check(
        &one("out", 1, 100),
        &entry("  %a = f32[<=64]{0} parameter(0)", "f32[<=64]{0} add(%a, %a)"),
        expect![[r#"
            100% jit_f: add x1: no specification, because `out` has dynamic shapes
        "#]],
    );
    check(
        &one("out", 1, 100),
        &entry(a, "f32[64]{0} all-reduce(%a), replica_groups={{0,1}}, to_apply=%main"),
        expect![[r#"
            100% jit_f: all-reduce x1: no specification, because `out` exchanges data with other devices
        "#]],
    );
    check(
        "module jit_f 1\nstream 1 on gpu\n  0 +100 kernel op=x in=jit_f at=0",
        "",
        expect![[r#"
        100% jit_f x1: no specification, because the capture has no HLO of its module; `ridgeline record` keeps it
    "#]],
    );
    check(
        "stream 1 on gpu\n  0 +100 kernel",
        "",
        expect![[r#"
        100% work without a module x1: no specification, because no compiled module of this work is known, so its computation is unknown
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
            100% jit_f: sort x1: sort, in 147968 out 147968 kept 0 lines 9248, path 15
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
    // 805 MB in 250 µs: 96% of the memory's rate.
    verdict(
        &one("add.1", 2, 250_000),
        STREAM,
        "",
        expect![[r#"
            the board does not beat H100 in any region of this program: never on throughput 100.0%
            never on throughput: even at best, with the data on the board, the rate of the ports to its memory limits a call on AMD Alveo U55C to 1.97 ms; H100 takes 250 µs
        "#]],
    );
    // Not even with all data on the board.
    verdict(
        &one("add.1", 2, 250_000),
        STREAM,
        "resident=1000000",
        expect![[r#"
            the board does not beat H100 in any region of this program: never on throughput 100.0%
            never on throughput: even at best, with the data on the board, the rate of the ports to its memory limits a call on AMD Alveo U55C to 1.97 ms; H100 takes 250 µs
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
            the board does not beat H100 in any region of this program: fix first 100.0%
            GPU first: H100 takes 21 times as long as necessary: its kernels stay far below their roofs: see `ridgeline roofline` and `ridgeline check`; fixed, a call takes 240 µs there at best, and 115 ms on AMD Alveo U55C
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
            no region is worth offloading yet: fix the program on H100 first: fix first 100.0%
            GPU first: H100 takes 90 times as long as necessary: start fewer kernels: one compiled program, a captured graph or one loop on the device; fixed, a call takes 2 µs there at best, and 37.6 µs on AMD Alveo U55C
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
            1 of 1 regions is a candidate against H100: `jit_f: multiply` on AMD Alveo U55C would make all device work 43 times as fast: latency candidate 100.0%
            latency candidate: AMD Alveo U55C answers 43 times (25 to 82) as fast
        "#]],
    );
    // At 60 ns a step the interval holds a gain and a loss.
    verdict(
        &trace.replace("+2500", "+60"),
        LOOP,
        "",
        expect![[r#"
            no region is known to run faster elsewhere than on H100: undecided 100.0%
            undecided: AMD Alveo U55C is 1.04 times (0.59 to 1.96) as fast: the interval includes both a gain and a loss
        "#]],
    );
}

/// A region of an A100 on an H200: by what its time there was found, the time in parts of that here, and the verdict.
#[track_caller]
fn on_h200(work: &str, hlo: &str, expected: Expect) {
    let device = "device gpu model=\"NVIDIA A100-SXM4-80GB\" vendor=Nvidia cores=108 capability=8.0\n";
    let said = with(&format!("{device}{work}"), hlo, |analysis| {
        let sheet = |name: &str| sheets().iter().find(|sheet| sheet.name == name).expect("its sheet");
        let a100 = sheet("NVIDIA A100 SXM4 80GB");
        let baseline =
            Baseline { device: "A100".to_owned(), host: Host::Measured, ceilings: a100.ceilings.clone(), tdp_w: None };
        let targets = vec![TargetGpu { id: "h200".to_owned(), sheet: sheet("NVIDIA H200") }];
        let what_if = WhatIf::default();
        let ask = Ask { baseline, boards: Vec::new(), targets, captured_on: None, bundles: Vec::new(), what_if };
        let line = |one: &RegionAnswer| {
            let Some(there) = one.boards.first() else { return format!("nothing: {}\n", one.why) };
            let bases = there.scaled_by.iter().map(|(by, share)| format!("{} {:.0}%", by.name(), 100.0 * share));
            let part = |secs: f64| secs * 1e9 * one.region.calls / one.region.self_ns;
            format!(
                "{}: {:.2} ({:.2} to {:.2}) of its time: {}: {}\n",
                bases.collect::<Vec<_>>().join(", "),
                part(there.total_s.p50),
                part(there.total_s.p10),
                part(there.total_s.p90),
                one.verdict.name(),
                one.why
            )
        };
        offload(analysis, &ask).regions.iter().map(line).collect::<String>()
    });
    expected.assert_eq(&said);
}

#[test]
fn another_gpu_is_by_waves_where_launches_are_known_and_by_roofs_elsewhere() {
    let kernel =
        |shape: &str| format!("module jit_f 1 hlo=0\nstream 1 on gpu\n  0 +500000 k op=add.1 in=jit_f at=2 {shape}");
    // 805 MB, by 2.04 TB/s here and 4.8 there: 0.42 of the time, once by the roofs, once by full waves.
    on_h200(
        &kernel(""),
        STREAM,
        expect![[r#"
            roof 100%: 0.43 (0.18 to 1.00) of its time: undecided: NVIDIA H200 is 2.34 times (1.00 to 5.49) as fast: the interval includes both a gain and a loss
        "#]],
    );
    on_h200(
        &kernel("grid=262144,1,1 block=256,1,1 registers=16"),
        STREAM,
        expect![[r#"
        waves 100%: 0.43 (0.23 to 0.79) of its time: latency candidate: NVIDIA H200 answers 2.34 times (1.27 to 4.30) as fast
    "#]],
    );
    // 900 blocks of 256: two waves of 864 here, one of 1056 there.
    on_h200(
        &kernel("grid=900,1,1 block=256,1,1 registers=16"),
        STREAM,
        expect![[r#"
        waves 100%: 0.26 (0.14 to 0.48) of its time: latency candidate: NVIDIA H200 answers 3.80 times (2.07 to 7.00) as fast
    "#]],
    );
}

#[test]
fn work_without_hlo_has_a_time_on_another_gpu() {
    on_h200(
        "stream 1 on gpu
           0 +500000 gemm_kernel grid=4096,1,1 block=128,1,1 registers=128
           600000 +100000 Memcpy-D2D d2d",
        "",
        expect![[r#"
            waves 83%, memory 17%: 0.36 (0.20 to 0.66) of its time: latency candidate: NVIDIA H200 answers 2.77 times (1.51 to 5.07) as fast
        "#]],
    );
    // Nothing says what the device was, nor what the kernel did.
    on_h200(
        "stream 1 on other\n  0 +500000 kernel",
        "",
        expect![[r#"
            nothing: no specification, because no compiled module of this work is known, so its computation is unknown; its time on another GPU is unknown as well: `A100` has no data sheet (`--as` names the device)
        "#]],
    );
}

/// The best part of the longest region on a U55C, beside an H100 that was measured.
#[track_caller]
fn best_part(trace: &str, hlo: &str, expected: Expect) {
    let said = with(trace, hlo, |analysis| {
        let sheet = sheets().iter().find(|sheet| sheet.name == "NVIDIA H100 SXM5 80GB").expect("its sheet");
        let baseline =
            Baseline { device: "H100".to_owned(), host: Host::Measured, ceilings: sheet.ceilings.clone(), tdp_w: None };
        let boards = vec![Board::named("u55c").expect("a board")];
        let what_if = WhatIf::default();
        let answer = offload(
            analysis,
            &Ask { baseline, boards, targets: Vec::new(), captured_on: None, bundles: Vec::new(), what_if },
        );
        let one = &answer.regions[0];
        let cut = one.boards[0].cut.as_ref().expect("a cut");
        let opened = cut.opened.map_or(String::new(), |opened| {
            format!(", in each of {} iterations {} B, once {} B", opened.trips, opened.sent_bytes, opened.kept_bytes)
        });
        let whole = if cut.is_whole_loop { ", the loop" } else { "" };
        format!(
            "{} of {}{whole}{opened}: saves {:.0} of {:.0} µs\n",
            if cut.ops.is_empty() { "nothing".to_owned() } else { cut.ops.join(", ") },
            cut.of,
            1e6 * cut.saves_s,
            1e6 * one.call_s.expect("a time").p50
        )
    });
    expected.assert_eq(&said);
}

/// A thousand iterations of `sort.1`, which a board is good at, and `dot.1`, which it is not.
///
/// The sort reads a table that the loop leaves alone, and nobody but itself asks for what it makes.
const SORT_AND_PRODUCT: &str = "HloModule jit_f, is_scheduled=true

%less (p: f32[], q: f32[]) -> pred[] {
  %p = f32[] parameter(0)
  %q = f32[] parameter(1)
  ROOT %l = pred[] compare(%p, %q), direction=LT
}

%body (s: (s32[], f32[27,16384], f32[2048,2048], f32[27,16384])) -> (s32[], f32[27,16384], f32[2048,2048], f32[27,16384]) {
  %s = (s32[], f32[27,16384], f32[2048,2048], f32[27,16384]) parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %table = f32[27,16384]{1,0} get-tuple-element(%s), index=1
  %x = f32[2048,2048]{1,0} get-tuple-element(%s), index=2
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %sort.1 = f32[27,16384]{1,0} sort(%table), dimensions={0}, to_apply=%less
  %dot.1 = f32[2048,2048]{1,0} dot(%x, %x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT %t = (s32[], f32[27,16384], f32[2048,2048], f32[27,16384]) tuple(%next, %table, %dot.1, %sort.1)
}

%cond (s: (s32[], f32[27,16384], f32[2048,2048], f32[27,16384])) -> pred[] {
  %s = (s32[], f32[27,16384], f32[2048,2048], f32[27,16384]) parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %many = s32[] constant(1000)
  ROOT %less.1 = pred[] compare(%i, %many), direction=LT
}

ENTRY %main (a: f32[27,16384], b: f32[2048,2048]) -> f32[2048,2048] {
  %a = f32[27,16384]{1,0} parameter(0)
  %b = f32[2048,2048]{1,0} parameter(1)
  %zero = s32[] constant(0)
  %init = (s32[], f32[27,16384], f32[2048,2048], f32[27,16384]) tuple(%zero, %a, %b, %a)
  %while.1 = (s32[], f32[27,16384], f32[2048,2048], f32[27,16384]) while(%init), condition=%cond, body=%body
  ROOT %out = f32[2048,2048]{1,0} get-tuple-element(%while.1), index=2
}
";

/// A thousand iterations of kernels: name, position in the HLO, duration.
fn iterations(kernels: &[(&str, u32, u32)]) -> String {
    let mut trace = "module jit_f 1 hlo=0\nstream 1 on gpu\n".to_owned();
    let mut at = 0;
    for _ in 0..1000 {
        for (op, position, ns) in kernels {
            trace.push_str(&format!("  {at} +{ns} k op={op} in=jit_f at={position}\n"));
            at += ns;
        }
    }
    trace
}

#[test]
fn a_loop_competes_with_parts_of_its_body() {
    // All of it: what goes from one iteration to the next stays on the board.
    best_part(
        &iterations(&[("mul.1", 5, 2500)]),
        LOOP,
        expect![[r#"
        mul.1 of 1, the loop: saves 2442 of 2500 µs
    "#]],
    );
    // The sort alone, called a thousand times with its table there; the product stays on the GPU.
    let both = [("sort.1", 9, 400_000), ("dot.1", 10, 100_000)];
    best_part(
        &iterations(&both),
        SORT_AND_PRODUCT,
        expect![[r#"
        sort.1 of 2, in each of 1000 iterations 0 B, once 3538944 B: saves 391320 of 500000 µs
    "#]],
    );
    // Where a piece of the product goes into the table, that piece is sent in each iteration, and the table stays.
    let changed = "  %piece = f32[27,2048]{1,0} slice(%dot.1), slice={[0:27], [0:2048]}
  %zero.1 = s32[] constant(0)
  %changed = f32[27,16384]{1,0} dynamic-update-slice(%table, %piece, %zero.1, %zero.1)
  ROOT %t =";
    let carried = SORT_AND_PRODUCT.replace("tuple(%next, %table, %dot.1", "tuple(%next, %changed, %dot.1");
    best_part(
        &iterations(&both),
        &carried.replace("  ROOT %t =", changed),
        expect![[r#"
        sort.1, changed of 4, in each of 1000 iterations 221184 B, once 5308416 B: saves 349036 of 500000 µs
    "#]],
    );
    // And where each is short: nothing gains.
    best_part(
        &iterations(&[("sort.1", 9, 4000), ("dot.1", 10, 100_000)]),
        SORT_AND_PRODUCT,
        expect![[r#"
        nothing of 2: saves 0 of 104000 µs
    "#]],
    );
}

#[test]
fn what_a_loop_leaves_alone_is_sent_once() {
    // A loop with an opaque call in it is called by iterations: its table, 4 KiB, is sent once for ten of them.
    let hlo = "HloModule jit_f, is_scheduled=true

%body (s: (s32[], f32[1024], f32[1024])) -> (s32[], f32[1024], f32[1024]) {
  %s = (s32[], f32[1024], f32[1024]) parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %table = f32[1024]{0} get-tuple-element(%s), index=1
  %x = f32[1024]{0} get-tuple-element(%s), index=2
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %mul.1 = f32[1024]{0} multiply(%x, %table)
  %magic = f32[1024]{0} custom-call(%mul.1), custom_call_target=\"magic\"
  ROOT %t = (s32[], f32[1024], f32[1024]) tuple(%next, %table, %magic)
}

%cond (s: (s32[], f32[1024], f32[1024])) -> pred[] {
  %s = (s32[], f32[1024], f32[1024]) parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %ten = s32[] constant(10)
  ROOT %less = pred[] compare(%i, %ten), direction=LT
}

ENTRY %main (a: f32[1024], b: f32[1024]) -> f32[1024] {
  %a = f32[1024]{0} parameter(0)
  %b = f32[1024]{0} parameter(1)
  %zero = s32[] constant(0)
  %init = (s32[], f32[1024], f32[1024]) tuple(%zero, %a, %b)
  %while.1 = (s32[], f32[1024], f32[1024]) while(%init), condition=%cond, body=%body
  ROOT %out = f32[1024]{0} get-tuple-element(%while.1), index=2
}
";
    let trace = "module jit_f 1 hlo=0\nstream 1 on gpu\n  0 +100 k op=mul.1 in=jit_f at=6";
    let found = with(trace, hlo, |analysis| {
        let found = regions(analysis);
        let work = &found[0].specification.as_ref().expect("a specification").workload;
        let [input, sent, back] = [work.input, work.sent(), work.sent_back()]
            .map(|(bytes, buffers)| format!("{bytes:.1} B in {buffers:.1} buffers"));
        format!("{:?}: of {input}, {sent}; back {back}", found[0].inside)
    });
    assert_eq!(
        found,
        "Some(\"while.1\"): of 8192.0 B in 2.0 buffers, 4505.6 B in 1.1 buffers; back 4096.0 B in 1.0 buffers"
    );
}

/// The region of a program at one size, where the compiler numbers its fusions in its own way.
fn named(rows: u32, fusion: &str, other: &str) -> String {
    let hlo = format!(
        "HloModule jit_f

%inside (a: f32[{rows},8]) -> f32[{rows}] {{
  %a = f32[{rows},8]{{1,0}} parameter(0)
  %zero = f32[] constant(0)
  ROOT %sum = f32[{rows}]{{0}} reduce(%a, %zero), dimensions={{1}}, to_apply=%add
}}

%add (p: f32[], q: f32[]) -> f32[] {{
  %p = f32[] parameter(0)
  %q = f32[] parameter(1)
  ROOT %r = f32[] add(%p, %q)
}}

ENTRY %main (x: f32[{rows},8]) -> f32[{rows}] {{
  %x = f32[{rows},8]{{1,0}} parameter(0)
  %{fusion} = f32[{rows}]{{0}} fusion(%x), kind=kInput, calls=%inside, metadata={{op_name=\"jit(f)/reduce_sum\" source_file=\"solver.py\" source_line=12}}
  ROOT %{other} = f32[{rows}]{{0}} sine(%{fusion}), metadata={{op_name=\"jit(f)/sin\" source_file=\"solver.py\" source_line=13}}
}}
"
    );
    // Which of the two takes longer depends on the size.
    let (first, second) = if rows < 100 { (10, 90) } else { (90, 10) };
    let trace = format!(
        "module jit_f 1 hlo=0\nstream 1 on gpu\n  0 +{first} a op={fusion} in=jit_f at=7 scope=jit(f)/reduce_sum\n  100 +{second} b op={other} in=jit_f at=8 scope=jit(f)/sin"
    );
    with(&trace, &hlo, |analysis| {
        regions(analysis).iter().map(|region| region.name.clone()).collect::<Vec<_>>().join("; ")
    })
}

#[test]
fn a_region_has_the_same_name_at_every_size() {
    let small = named(64, "input_reduce_fusion", "wrapped_sine");
    assert_eq!(small, named(4096, "loop_reduce_fusion.3", "sine.12"));
    assert!(small.starts_with("jit_f") && small.contains("reduce_sum"), "{small}");
}

/// Two modules of one function, compiled for two shapes: the second begins to run first, and takes longer or not.
fn of_two_modules(ns: [u32; 2]) -> Vec<(String, String)> {
    let hlo = "HloModule jit_f

ENTRY %main (x: f32[64]) -> f32[64] {
  %x = f32[64]{0} parameter(0)
  ROOT %sine = f32[64]{0} sine(%x), metadata={op_name=\"jit(f)/sin\" source_file=\"solver.py\" source_line=13}
}
";
    let trace = format!(
        "module jit_f 4 hlo=0\nmodule jit_f 3 hlo=0\nstream 1 on gpu\n  0 +{} a op=sine in=jit_f(4) at=1 scope=jit(f)/sin\n  1000 +{} b op=sine in=jit_f(3) at=1 scope=jit(f)/sin",
        ns[0], ns[1]
    );
    with(&trace, hlo, |analysis| {
        let mut found: Vec<_> =
            regions(analysis).into_iter().map(|region| (format!("{} ns", region.self_ns), region.name)).collect();
        found.sort();
        found
    })
}

#[test]
fn regions_of_one_line_are_numbered_by_the_order_of_compilation_and_not_by_time() {
    let told =
        |ns: [u32; 2]| of_two_modules(ns).into_iter().map(|(ns, name)| format!("{ns} {name}")).collect::<Vec<_>>();
    assert_eq!(told([10, 90]), ["10 ns jit_f:13 sin #2", "90 ns jit_f:13 sin"]);
    assert_eq!(told([90, 10]), ["10 ns jit_f:13 sin", "90 ns jit_f:13 sin #2"]);
}
