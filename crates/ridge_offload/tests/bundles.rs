//! Regions with a generated core: when it takes the place of the estimate, and what is said where it does not.

use expect_test::{Expect, expect};
use ridge_analysis::{Analysis, Prepared, sheets};
use ridge_hlo::HloModule;
use ridge_offload::{
    Ask, Baseline, Board, BoardAnswer, Bundle, Cells, Core, DesignBasis, Host, Offload, WhatIf, offload,
};

/// Sines of `extent` numbers, and where asked for a loop of ten products behind them.
fn program(extent: u32, has_loop: bool) -> HloModule {
    let of = |text: &str| text.replace("[n]", &format!("[{extent}]"));
    let text = match has_loop {
        false => of(
            "HloModule jit_f\n\nENTRY %main (a: f32[n]) -> f32[n] {\n  %a = f32[n]{0} parameter(0)\n  ROOT %sine.1 = f32[n]{0} sine(%a), metadata={op_name=\"jit(f)/sin\" source_file=\"/here/f.py\" source_line=3}\n}\n",
        ),
        true => of(
            "HloModule jit_f, is_scheduled=true\n\n%body (s: (s32[], f32[n])) -> (s32[], f32[n]) {\n  %s = (s32[], f32[n]) parameter(0)\n  %i = s32[] get-tuple-element(%s), index=0\n  %x = f32[n]{0} get-tuple-element(%s), index=1\n  %one = s32[] constant(1)\n  %next = s32[] add(%i, %one)\n  %mul.1 = f32[n]{0} multiply(%x, %x)\n  ROOT %t = (s32[], f32[n]) tuple(%next, %mul.1)\n}\n\n%cond (s: (s32[], f32[n])) -> pred[] {\n  %s = (s32[], f32[n]) parameter(0)\n  %i = s32[] get-tuple-element(%s), index=0\n  %ten = s32[] constant(10)\n  ROOT %less = pred[] compare(%i, %ten), direction=LT\n}\n\nENTRY %main (a: f32[n]) -> f32[n] {\n  %a = f32[n]{0} parameter(0)\n  %zero = s32[] constant(0)\n  %sine.1 = f32[n]{0} sine(%a), metadata={op_name=\"jit(f)/sin\" source_file=\"/here/f.py\" source_line=3}\n  %init = (s32[], f32[n]) tuple(%zero, %sine.1)\n  %while.1 = (s32[], f32[n]) while(%init), condition=%cond, body=%body\n  ROOT %out = f32[n]{0} get-tuple-element(%while.1), index=1\n}\n",
        ),
    };
    HloModule::from_text(&text).expect("HLO")
}

/// A core of the computation `name` that takes a number per clock.
fn bundle(module: &HloModule, name: &str) -> Bundle {
    let computation = module.computation_named(name).expect("a computation");
    Bundle {
        core: Core {
            bundle: "f.handoff".to_owned(),
            format: "fixed<16,8>".to_owned(),
            is_engine: false,
            call_clocks: 4110.0,
            period_clocks: 4096.0,
            input_bytes: 8192.0,
            output_bytes: 8192.0,
            simulated_by: Some("Verilator 5.006".to_owned()),
            cells: Some(Cells { look_up_tables: 6000.0, registers: 4000.0, multipliers: 8.0, block_rams: 2.5 }),
            counted_block_rams: None,
            synthesized_by: Some("Yosys 0.23".to_owned()),
            not_synthesized: None,
            divides_in_one_clock: false,
        },
        region: "jit_f:3 sine".to_owned(),
        location: "/there/f.py:3".to_owned(),
        scope: String::new(),
        program: module.nameless_text(computation),
        signature: module.signature(computation),
    }
}

/// What is said of a kernel of `ns` that computes `module`, beside a processor that was measured.
fn asked(module: &HloModule, trace: &str, bundle: Bundle, board: &str, what_if: &str) -> Offload {
    let trace = ridge_test::trace(trace);
    let hlo = vec![module.clone()];
    let prepared = Prepared::with_sheets(&trace);
    let analysis: Analysis<'_> = prepared.analysis(&trace, &hlo);
    let sheet = sheets().iter().find(|sheet| sheet.name == "NVIDIA H100 SXM5 80GB").expect("its sheet");
    let baseline = Baseline {
        device: "CPU".to_owned(),
        host: Host::MeasuredOnProcessor,
        ceilings: sheet.ceilings.clone(),
        tdp_w: None,
    };
    offload(
        &analysis,
        &Ask {
            baseline,
            boards: vec![Board::named(board).expect("a board")],
            targets: Vec::new(),
            captured_on: None,
            bundles: vec![bundle],
            what_if: WhatIf::parse(what_if).expect("changes"),
        },
    )
}

/// A kernel of `ns` that is the sine.
fn sine(ns: u64) -> String {
    format!("module jit_f 1 hlo=0\nstream 1 on gpu\n  0 +{ns} kernel op=sine.1 in=jit_f at=1")
}

fn board(answer: &Offload) -> &BoardAnswer {
    &answer.regions[0].boards[0]
}

fn micros(seconds: f64) -> f64 {
    (seconds * 1e7).round() / 10.0
}

/// What the first region's board says: basis, interval of a call and that of the model alone, in microseconds.
#[track_caller]
fn check(answer: &Offload, expected: Expect) {
    let board = board(answer);
    let interval = |one: &ridge_offload::Interval| [one.p10, one.p50, one.p90].map(micros);
    let mut text = format!(
        "{}: {:?}\n{}: {}\n",
        board.basis().map_or("-", DesignBasis::name),
        interval(&board.total_s),
        answer.regions[0].verdict.name(),
        answer.regions[0].why
    );
    if let Some(generated) = &board.generated {
        text.push_str(&format!("alone: {:?}; copies {:?}\n", interval(&generated.prior_total_s), generated.copies));
    }
    text.extend(board.core_unused.iter().map(|why| format!("unused: {why}\n")));
    text.extend(answer.bundles.iter().filter_map(|one| Some(format!("{}: {}\n", one.bundle, one.why_not.as_ref()?))));
    expected.assert_eq(&text);
}

#[test]
fn a_core_takes_the_place_of_the_estimate_and_narrows_it() {
    let module = program(4096, false);
    let answer = asked(&module, &sine(100_000), bundle(&module, "main"), "u55c", "");
    assert_eq!(answer.bundles[0].regions, ["jit_f:3 sine"]);
    let board = board(&answer);
    // 4110 clocks at 280 MHz, the likeliest clock.
    let compute = board.parts.expect("parts").compute_s;
    assert!((10e-6..28e-6).contains(&compute), "{compute}");
    let prior = board.generated.as_ref().expect("a core").prior_total_s;
    assert!(board.total_s.p90 / board.total_s.p10 < prior.p90 / prior.p10);
    check(
        &answer,
        expect![[r#"
        synthesized: [45.8, 49.7, 55.1]
        latency candidate: AMD Alveo U55C answers 2.01 times (1.82 to 2.18) as fast with the core of `f.handoff` (synthesized)
        alone: [21.2, 37.0, 59.2]; copies Some(99.0)
    "#]],
    );
}

#[test]
fn a_basis_says_no_more_than_was_done() {
    let module = program(4096, false);
    let of = |board: &str, change: &dyn Fn(&mut Core)| {
        let mut bundle = bundle(&module, "main");
        change(&mut bundle.core);
        let answer = asked(&module, &sine(100_000), bundle, board, "");
        let found = self::board(&answer);
        (found.basis().expect("a board"), found.total_s.p90 / found.total_s.p10)
    };
    let (synthesized, narrow) = of("u55c", &|_| {});
    assert_eq!(synthesized, DesignBasis::Synthesized);
    // Cells of UltraScale+ are not those of another family.
    assert_eq!(of("agilex7m", &|_| {}).0, DesignBasis::Simulated);
    assert_eq!(of("v80", &|_| {}).0, DesignBasis::Simulated);
    assert_eq!(of("u55c", &|core| core.cells = None).0, DesignBasis::Simulated);
    // What nobody simulated is not known better than the model.
    let (counted, wide) = of("u55c", &|core| core.simulated_by = None);
    assert_eq!(counted, DesignBasis::Counted);
    assert!(wide > narrow, "{wide} {narrow}");
    let (_, divided) = of("u55c", &|core| core.divides_in_one_clock = true);
    assert_eq!(divided, wide);
    assert_eq!(of("u55c", &|core| core.is_engine = true), (DesignBasis::Synthesized, wide));
}

#[test]
fn another_size_is_another_core() {
    let (here, there) = (program(8192, false), program(4096, false));
    check(
        &asked(&here, &sine(100_000), bundle(&there, "main"), "u55c", ""),
        expect![[r#"
        prior: [23.8, 41.4, 65.9]
        latency candidate: AMD Alveo U55C answers 2.42 times (1.52 to 4.21) as fast
        f.handoff: `jit_f:3 sine` has another size in this capture: (f32[8192]) -> f32[8192] instead of the bundle's (f32[4096]) -> f32[4096]; clocks and resources do not carry over
    "#]],
    );
}

#[test]
fn a_module_is_no_region_that_is_a_part_of_it_and_a_loop_is_its_body() {
    let module = program(4096, true);
    let trace = "module jit_f 1 hlo=0
         stream 1 on gpu
           0 +100000 sin op=sine.1 in=jit_f at=13
           100000 +25000 mul op=mul.1 in=jit_f at=5";
    check(
        &asked(&module, trace, bundle(&module, "main"), "u55c", ""),
        expect![[r#"
        prior: [21.2, 37.0, 59.2]
        latency candidate: AMD Alveo U55C answers 2.70 times (1.69 to 4.71) as fast
        f.handoff: the bundle has all of module `jit_f`, and `jit_f:3 sine` is only a part of it in this capture
    "#]],
    );
    let trace = trace.replace("+25000", "+900000");
    let answer = asked(&module, &trace, bundle(&module, "body"), "u55c", "");
    assert_eq!(answer.bundles[0].regions, ["jit_f: multiply"]);
    // Each of ten iterations is started by the host.
    let parts = board(&answer).parts.expect("parts");
    assert!((parts.fill_s / parts.launch_s - 9.0).abs() < 1e-9, "{parts:?}");
}

#[test]
fn a_core_that_does_not_fit_or_computes_otherwise_is_not_used() {
    let module = program(4096, false);
    let mut large = bundle(&module, "main");
    large.core.cells = Some(Cells { look_up_tables: 2e6, ..Cells::default() });
    check(
        &asked(&module, &sine(100_000), large, "u55c", ""),
        expect![[r#"
        prior: [21.2, 37.0, 59.2]
        latency candidate: AMD Alveo U55C answers 2.70 times (1.69 to 4.71) as fast
        unused: it does not fit: it takes 1.7 times the look-up tables of AMD Alveo U55C
    "#]],
    );
    check(
        &asked(&module, &sine(100_000), bundle(&module, "main"), "u55c", "dtype=f16"),
        expect![[r#"
        prior: [19.9, 34.8, 55.9]
        latency candidate: AMD Alveo U55C answers 2.87 times (1.79 to 5.02) as fast
        unused: it computes in fixed<16,8>, and another format was requested
    "#]],
    );
}

#[test]
fn a_slow_core_forbids_no_faster_design() {
    let module = program(4096, false);
    let mut slow = bundle(&module, "main");
    slow.core.call_clocks = 4e5;
    check(
        &asked(&module, &sine(100_000), slow, "u55c", ""),
        expect![[r#"
        synthesized: [1186.8, 1462.4, 1944.9]
        undecided: AMD Alveo U55C is 0.07 times (0.05 to 0.08) as fast with the core of `f.handoff` (synthesized); of a design that fills AMD Alveo U55C, the model expects 2.70 times (1.69 to 4.71)
        alone: [21.2, 37.0, 59.2]; copies Some(99.0)
    "#]],
    );
}
