//! What `handoff` says of input that it cannot specify: the reason, and nothing that was guessed.

mod run;

use expect_test::{Expect, expect};
use run::run;
use std::fs;
use std::path::Path;

/// A module of one instruction between parameter and result.
fn module(root: &str) -> String {
    format!(
        "HloModule jit_f\n\nENTRY %main (x: f32[8]) -> f32[8] {{\n  %x = f32[8]{{0}} parameter(0)\n  ROOT %y = {root}\n}}\n"
    )
}

/// What is said, on which stream it stands first, and the files that there are then.
fn said(hlo: &str, options: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let capture = folder.path().join("module.txt");
    fs::write(&capture, hlo).expect("a file");
    let (capture, out) = (capture.display().to_string(), folder.path().join("b.handoff").display().to_string());
    let mut words = vec!["handoff", capture.as_str(), "-o", out.as_str(), "--python", "/nowhere/python"];
    words.extend(options);
    let ran = run(&words);
    let mut text = format!("{:?}\n", ran.code);
    let plain = |text: &str| text.replace(&folder.path().display().to_string(), "");
    let first = |text: &str| plain(text.lines().next().unwrap_or_default());
    text.push_str(&first(if ran.code == Some(0) { &ran.stdout } else { &ran.stderr }));
    text.push('\n');
    if let Ok(readme) = fs::read_to_string(Path::new(&out).join("README.md")) {
        let because = readme.lines().find(|line| line.contains("because")).unwrap_or("no reason");
        text.push_str(&format!("README.md: {because}\n"));
        for generated in ["hls", "rtl", "rtl_f32", "xls", "golden"] {
            assert!(!Path::new(&out).join(generated).exists(), "{generated} of {hlo}");
        }
        let verified = run(&["handoff", "verify", out.as_str()]);
        assert_eq!(verified.code, Some(0), "{}", verified.stderr);
    }
    text
}

#[track_caller]
fn check(text: &str, expected: Expect) {
    expected.assert_eq(text);
}

#[test]
fn what_has_no_specification_says_why() {
    let mut told = String::new();
    for (what, root) in [
        ("opaque custom call", "f32[8]{0} custom-call(%x), custom_call_target=\"cublasLtMatmul\""),
        ("Pallas on a GPU", "f32[8]{0} custom-call(%x), custom_call_target=\"__gpu$xla.gpu.triton\""),
        ("Pallas on a TPU", "f32[8]{0} custom-call(%x), custom_call_target=\"tpu_custom_call\""),
        ("dynamic shape", "f32[<=8]{0} negate(%x)"),
        ("another type", "bf16[8]{0} convert(%x)"),
        ("collective", "f32[8]{0} all-reduce(%x), to_apply=%main"),
    ] {
        told.push_str(&format!("{what}: {}", said(&module(root), &["--module", "jit_f"])));
    }
    check(
        &told,
        expect![[r#"
        opaque custom call: Some(0)
        no specification, because `y` is an opaque custom call of `cublasLtMatmul`
        README.md: **No generated code and no vectors, because 'y' is an opaque custom call of 'cublasLtMatmul'.**
        Pallas on a GPU: Some(0)
        no specification, because `y` is an opaque custom call of `__gpu$xla.gpu.triton`
        README.md: **No generated code and no vectors, because 'y' is an opaque custom call of '__gpu$xla.gpu.triton'.**
        Pallas on a TPU: Some(0)
        no specification, because `y` is an opaque custom call of `tpu_custom_call`
        README.md: **No generated code and no vectors, because 'y' is an opaque custom call of 'tpu_custom_call'.**
        dynamic shape: Some(0)
        no specification, because `y` has a dynamic shape
        README.md: **No generated code and no vectors, because 'y' has a dynamic shape.**
        another type: Some(0)
        no specification, because `y` is of type bf16
        README.md: **No generated code and no vectors, because 'y' is of type bf16.**
        collective: Some(0)
        no specification, because `y` is an unsupported operation, `all-reduce`
        README.md: **No generated code and no vectors, because 'y' is an unsupported operation, 'all-reduce'.**
    "#]],
    );
}

#[test]
fn what_is_not_there_is_an_error() {
    let good = module("f32[8]{0} negate(%x)");
    let mut told = String::new();
    for (what, hlo, options) in [
        ("no such module", good.as_str(), ["--module", "jit_g"]),
        ("no such region", good.as_str(), ["--region", "1"]),
        ("no module in it", "HloModule jit_f\n", ["--module", "jit_f"]),
    ] {
        told.push_str(&format!("{what}: {}", said(hlo, &options)));
    }
    check(
        &told,
        expect![[r#"
        no such module: Some(1)
        error: no module is called `jit_g`
        no such region: Some(1)
        error: the capture has no region: no work of a compiled module is in it
        no module in it: Some(1)
        error: module `jit_f` has no entry
    "#]],
    );
}

#[test]
fn a_capture_without_modules_has_nothing_to_hand_over() {
    let capture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/chrome/torch_mlp.json");
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("b.handoff").display().to_string();
    let ran = run(&["handoff", &capture.display().to_string(), "--region", "1", "-o", &out]);
    let text = ran.stderr.replace(&format!("{}/../../", env!("CARGO_MANIFEST_DIR")), "");
    check(
        &format!("{:?}\n{text}", ran.code),
        expect![[r#"
        Some(1)
        error: the region is work of no compiled module, and a bundle is made of one
        hint: see `ridgeline guide` for how to record one
    "#]],
    );
    assert!(!Path::new(&out).exists());
}

#[test]
fn values_that_nobody_captured_are_said_to_be_made_up() {
    let folder = tempfile::tempdir().expect("a folder");
    let capture = folder.path().join("module.txt");
    fs::write(&capture, module("f32[8]{0} negate(%x)")).expect("a file");
    let (capture, out) = (capture.display().to_string(), folder.path().join("b.handoff"));
    let words =
        ["handoff", &capture, "-o", &out.display().to_string(), "--python", "/nowhere/python", "--module", "jit_f"];
    assert_eq!(run(&words).code, Some(0));
    let readme = fs::read_to_string(out.join("README.md")).expect("a page");
    let lines: Vec<&str> = readme.lines().skip_while(|line| !line.contains("## Untested")).collect();
    let end = lines.iter().position(|line| line.contains("Fixed point")).unwrap_or(lines.len());
    check(
        &(lines[..end].join("\n") + "\n"),
        expect![[r#"
            ## Untested

            - Nothing here has been on a board or through a vendor's synthesis: its clock and its resources after place and route are unknown, and so is what Vitis HLS makes of `hls/`.
            - The vectors come from a fixed seed. No values of the real program were captured, so the ranges of real data are unknown; `ridgeline record --golden` keeps them.

            ## Running on a board

            `rtl/card.v` reads frames from a board's memory over AXI4, passes them through the core, and writes the results back; `host/play.cpp` loads the vectors, starts the card, and compares every result.
            `rtl/core.json` and `host/card.h` have the layout of a frame, `rtl/card.v` the registers.

            1. `make sim` plays the vectors through the core and on the card in Verilator, `make cocotb` through the core by cocotb, `make synth` counts its cells by Yosys: these are the checks above.
            2. `make vivado PART=…` takes the card through Vivado, out of context: `board/utilization.rpt` and `board/timing.rpt` say its resources and clock. *Not run.*
            3. `make hls PART=…` takes the C++ through Vitis HLS instead. *Not run.*
            4. `make xclbin PART=… PLATFORM=…` packages `rtl/{card,mover,core,stream,kernel}.v` as a user-managed RTL kernel and links it for a board's platform. *Not run.*
            5. `make xrt` plays the same vectors on the board by `host/play.cpp`, `make pynq` by `host/play.py`. *Not run.*

            Clock and resources are unknown before step 2; the core takes one item per clock at whatever clock it is placed for.

            ## Not recorded

            - HLO before optimization: record with `--hlo before`.
            - StableHLO: record with `--hlo stablehlo`.
            - StableHLO as portable bytecode: name a Python with JAX using `--python`.
            - buffer assignment: record with `--hlo proto`.
            - copies between host and device: record on the accelerator.

        "#]],
    );
    let interface = fs::read_to_string(out.join("spec/interface.json")).expect("a document");
    assert!(interface.contains("\"values_captured\": false") && interface.contains("\"observed_range\": null"));
}
