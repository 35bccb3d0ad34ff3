//! Replays of CUDA graphs get their operators and modules from a trace of the graphs' capture.

use expect_test::{Expect, expect};
use ridge_import::{Source, import};
use std::fmt::Write as _;

/// A trace of these events: category, name, start, duration, arguments; work of the device is on stream 3.
fn trace(events: &[(&str, &str, u32, u32, &str)]) -> String {
    let event = |(category, name, start, length, arguments): &(&str, &str, u32, u32, &str)| {
        let place =
            if ["kernel", "gpu_memcpy"].contains(category) { r#""pid":0,"tid":3"# } else { r#""pid":9,"tid":9"# };
        format!(
            r#"{{"ph":"X","cat":"{category}","name":"{name}",{place},"ts":{start},"dur":{length},"args":{{{arguments}}}}}"#
        )
    };
    format!(r#"{{"schemaVersion":1,"traceEvents":[{}]}}"#, events.iter().map(event).collect::<Vec<_>>().join(","))
}

/// A launch during a capture, of a kernel that the profiler names.
fn launch(kernel: &str, correlation: u32) -> String {
    format!(r#""kernel":"{kernel}","correlation":{correlation}"#)
}

/// The capture of two layers that hold the same kernels, and of a copy after them.
fn capture(names_kernels: bool) -> String {
    let named = |kernel: &str, number: u32| if names_kernels { launch(kernel, number) } else { String::new() };
    let arguments = [named("gemm", 1), named("norm", 2), named("gemm", 3), named("norm", 4)];
    let mut events = vec![("user_annotation", "capture_32_PIECEWISE", 0, 1000, "")];
    for (at, module) in ["nn.Module: Layer_0", "nn.Module: Layer_1"].into_iter().enumerate() {
        let start = 100 + 300 * at as u32;
        events.push(("python_function", "nn.Module: Model_0", start, 250, ""));
        events.push(("python_function", module, start + 1, 240, ""));
        events.push(("cuda_runtime", "hipStreamBeginCapture", start + 5, 1, ""));
        events.push(("cpu_op", "aten::mm", start + 10, 20, ""));
        events.push(("cuda_runtime", "hipModuleLaunchKernel", start + 15, 5, &arguments[2 * at]));
        events.push(("cpu_op", "aten::rms_norm", start + 40, 20, ""));
        events.push(("cuda_runtime", "hipLaunchKernel", start + 45, 5, &arguments[2 * at + 1]));
        events.push(("cuda_runtime", "hipStreamEndCapture", start + 100, 5, ""));
    }
    events.push(("cuda_runtime", "hipStreamBeginCapture", 800, 1, ""));
    events.push(("cpu_op", "aten::copy_", 810, 30, ""));
    events.push(("cuda_runtime", "hipMemcpyAsync", 815, 5, r#""correlation":5"#));
    events.push(("cuda_runtime", "hipStreamEndCapture", 900, 5, ""));
    trace(&events)
}

/// A step that launches the graphs, twice; the kernels of the second launch of a layer end in another order.
fn replay(kernel: &str) -> String {
    let mut events = vec![];
    for (at, order) in
        [["gemm", "norm"], ["norm", "gemm"], ["copy", ""]].into_iter().chain([["gemm", "norm"]]).enumerate()
    {
        let (at, id) = (
            1000 * at as u32,
            ["\"correlation\":70", "\"correlation\":71", "\"correlation\":72", "\"correlation\":73"][at],
        );
        events.push(("cuda_runtime", "hipGraphLaunch", at, 10, id));
        if order[0] == "copy" {
            events.push(("gpu_memcpy", "Memcpy DtoD (Device -> Device)", at + 100, 10, id));
            continue;
        }
        for (place, name) in order.into_iter().enumerate() {
            let name = if name == "gemm" { kernel } else { name };
            events.push(("kernel", name, at + 100 + 20 * place as u32, 10, id));
        }
    }
    events.push(("cuda_runtime", "hipLaunchKernel", 4000, 5, r#""correlation":80"#));
    events.push(("kernel", "gemm", 4100, 10, r#""correlation":80"#));
    trace(&events)
}

#[track_caller]
fn check(files: &[(&str, &str)], expected: &Expect) {
    let sources: Vec<Source<'_>> = files.iter().map(|(name, text)| Source { name, bytes: text.as_bytes() }).collect();
    let imported = import(&sources, None).expect("captures");
    let (trace, mut text) = (&imported.trace, String::new());
    for track in trace.device_tracks() {
        for row in track.rows.clone().map(|row| row as usize) {
            let operation = trace.operation(row);
            let words = operation.map(|of| [of.name, of.scope].map(|id| trace.strings.get(id)).join(" of "));
            let _ = writeln!(text, "{}: {}", trace.name(row), words.as_deref().unwrap_or("-"));
        }
    }
    imported.notes.iter().for_each(|note| writeln!(text, "note {}: {}", note.source, note.message).expect("text"));
    expected.assert_eq(&text);
}

#[test]
fn launches_of_the_capture_name_the_kernels_of_the_replay() {
    let (capture, replay) = (capture(true), replay("gemm"));
    let expected = expect![[r#"
        gemm: aten::mm of Model_0/Layer_0
        norm: aten::rms_norm of Model_0/Layer_0
        norm: aten::rms_norm of Model_0/Layer_1
        gemm: aten::mm of Model_0/Layer_1
        Memcpy DtoD (Device -> Device): aten::copy_ of 
        gemm: aten::mm of Model_0/Layer_0
        norm: aten::rms_norm of Model_0/Layer_0
        gemm: -
    "#]];
    check(&[("replay", &replay), ("bs_32", &capture)], &expected);
    check(&[("bs_32", &capture), ("replay", &replay)], &expected);
}

#[test]
fn a_capture_that_fits_nothing_says_why() {
    let (named, unnamed) = (capture(true), capture(false).replace("hipMemcpyAsync", "hipLaunchKernel"));
    let only_kernels = |kernel: &str| replay(kernel).replace("gpu_memcpy", "kernel");
    for (files, why) in [
        ([("replay", only_kernels("other")), ("bs_32", named.clone())], "is of another batch size, rank or program"),
        ([("replay", replay("gemm")), ("bs_32", unnamed)], "only ROCm's profiler writes the names"),
        (
            [("rank1.json", replay("gemm")), ("capture_rank0.json", named.clone())],
            "another batch size, rank or program",
        ),
        ([("bs_16", named.clone()), ("bs_32", named)], "no accompanying trace launches one"),
    ] {
        let sources = files.each_ref().map(|(name, text)| Source { name, bytes: text.as_bytes() });
        let notes: Vec<String> =
            import(&sources, None).expect("captures").notes.into_iter().map(|note| note.message).collect();
        assert!(notes.iter().any(|note| note.contains(why)), "{why}: {notes:?}");
    }
}

#[test]
fn a_capture_alone_is_a_trace() {
    check(
        &[("bs_32", &capture(true))],
        &expect![[r#"
        note bs_32: no device activity was recorded, although kernels were launched: device activity and idle times are unknown
    "#]],
    );
}
