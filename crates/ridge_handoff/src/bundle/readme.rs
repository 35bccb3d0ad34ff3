//! The honest page of a bundle: what it holds, what is checked, what is predicted, what nobody has run.

use super::plain::plain;
use super::{Check, CheckState, Files, Source, core_page};
use crate::Refusal;
use crate::verilog::NO_CORE;
use serde_json::Value;
use std::fmt::Write as _;

/// README.md.
pub fn readme(files: &Files, source: &Source, refused: Option<&Refusal>, ledger: &[Check]) -> String {
    let mut text = format!("# Hand-off of `{}`\n\n", plain(&source.region));
    let whole = if source.is_whole { "all of module" } else { "part of module" };
    let _ =
        writeln!(text, "This is {whole} `{}`, computation `{}`.", plain(&source.module), plain(&source.computation));
    if !source.location.is_empty() {
        let _ = writeln!(text, "It came from `{}`.", plain(&source.location));
    }
    if let Some(share) = source.share {
        let _ = writeln!(text, "It takes {:.1}% of all device work in the capture.", share * 100.0);
    }
    if let Some(Refusal(why)) = refused {
        let _ = write!(
            text,
            "\n**No generated code and no vectors, because {}.**\nThe HLO in `spec/` is all that is known.\n",
            plain(why)
        );
    }
    text.push_str(&core_page::core(files, ledger));
    section(&mut text, "Checks passed", ledger, CheckState::Passed);
    section(&mut text, "Checks failed", ledger, CheckState::Failed);
    section(&mut text, "Checks that took too long", ledger, CheckState::NotFinished);
    section(&mut text, "Checks not run", ledger, CheckState::NotRun);
    text.push_str("\n`ridgeline handoff verify` on this directory runs all of them again, without a network.\nIt compiles and runs the code in this bundle, so do that only with a bundle from someone you trust.\n");
    text.push_str("\n## Prediction\n\n");
    match &source.verdict {
        Some((verdict, why)) => {
            let _ =
                writeln!(text, "Verdict of `ridgeline offload`: *{verdict}*: {}.", plain(why).trim_end_matches('.'));
            text.push_str("See `perf/offload.json` for the intervals; they come from a model, not from a board.\n");
        }
        None => text.push_str("None: this is not a region of `ridgeline offload`.\n"),
    }
    if let Some((seconds, on)) = &source.call {
        let _ = writeln!(text, "One call takes {} on {}.", duration(*seconds), plain(on));
    }
    text.push_str("\n## Untested\n\n");
    text.push_str("- Nothing here has been on a board or through a vendor's synthesis: its clock and its resources after place and route are unknown, and so is what Vitis HLS makes of `hls/`.\n");
    match source.recorded.len() {
        0 => text.push_str("- The vectors come from a fixed seed. No values of the real program were captured, so the ranges of real data are unknown; `ridgeline record --golden` keeps them.\n"),
        calls => {
            let _ = writeln!(text, "- {calls} calls of the real program are among the vectors (`golden/recorded_*`); other data is untested.");
        }
    }
    let designs = [
        ("rtl/kernel.v", "spec/verilog.txt", "There is no fixed-point Verilog for this region"),
        ("rtl_f32/kernel.v", "spec/verilog_f32.txt", "There is no single-precision Verilog for this region"),
        ("xls/kernel.x", "spec/xls.txt", "There is no XLS code for this region"),
    ];
    for (design, why, words) in designs {
        if refused.is_none() && !files.contains_key(design) {
            let words = if design.starts_with("rtl/") && files.contains_key("rtl/engine.v") {
                "`rtl/core.v` is an engine: it keeps its arrays on the chip and makes them one after the other, an element a clock"
            } else {
                words
            };
            let _ = writeln!(text, "- {words}; see `{why}` for the reason.");
        }
    }
    if let Some(why) = files.get(NO_CORE) {
        let why = String::from_utf8_lossy(why);
        let why = why.trim_end().trim_start_matches("no core, because ");
        let _ = writeln!(
            text,
            "- There is no AXI4-Stream core around `rtl/kernel.v`, because {}; you have to build the logic that supplies the taps.",
            plain(why)
        );
    }
    if files.contains_key("host/Makefile") {
        let (inner, rate) = match files.contains_key("rtl/engine.v") {
            true => (
                "engine,memory",
                "the number of clocks of a call is in `rtl/core.json`, whatever clock it is placed for",
            ),
            false => ("kernel", "the core takes one item per clock at whatever clock it is placed for"),
        };
        text.push_str(&BOARD.replace("INNER", inner).replace("RATE", rate));
    }
    not_recorded(&mut text, files);
    if refused.is_none() {
        text.push_str(FORMATS_HEAD);
        formats(&mut text, files);
    }
    text.push_str("\n## Files\n\n");
    for path in files.keys().filter(|path| !path.starts_with("golden/")) {
        match about(path) {
            "" => writeln!(text, "- `{path}`"),
            about => writeln!(text, "- `{path}`: {about}"),
        }
        .unwrap_or_default();
    }
    if refused.is_none() {
        text.push_str("- `golden/SET/`: inputs `in*.bin`, and outputs by engine: `strict` (as the C++), `f64` with `bound`, `xla`, `stablehlo`, and fixed point\n");
    }
    text
}

/// What a recording may keep and this one did not, with how it would be there.
fn not_recorded(text: &mut String, files: &Files) {
    let parts = [
        ("HLO before optimization", "record with `--hlo before`", &["spec/module.before.hlo.txt"] as &[&str]),
        (
            "StableHLO",
            "record with `--hlo stablehlo`",
            &["spec/module.stablehlo.mlir", "spec/whole_module.stablehlo.mlir"],
        ),
        ("StableHLO as portable bytecode", "name a Python with JAX using `--python`", &["spec/module.vhlo.mlirbc"]),
        (
            "buffer assignment",
            "record with `--hlo proto`",
            &["spec/buffer_assignment.json", "spec/buffer_assignment.txt"],
        ),
        ("copies between host and device", "record on the accelerator", &["spec/dma.csv"]),
    ];
    let missing: Vec<_> =
        parts.iter().filter(|(_, _, names)| !names.iter().any(|name| files.contains_key(*name))).collect();
    if missing.is_empty() {
        return;
    }
    text.push_str("\n## Not recorded\n\n");
    for (what, how, _) in missing {
        let _ = writeln!(text, "- {what}: {how}.");
    }
}

/// What a file is for; empty where its name says it.
fn about(path: &str) -> &'static str {
    match path {
        "Makefile" => "runs everything below",
        "rtl/kernel.v" => "the datapath: a window in, a result out, without handshake",
        "rtl/engine.v" => "the stages of the engine",
        "rtl/memory.v" => "its memories",
        "rtl/core.v" => "the core: AXI4-Stream in and out, registers",
        "rtl/stream.v" => "its delays, output queue and registers",
        "rtl/card.v" => "the core with AXI4 to a board's memory",
        "rtl/mover.v" => "the reader and the writer of the card",
        "rtl/core.json" => "sizes, clocks and layout in memory",
        "rtl/wires.v" => "cells without registers, for the netlist proof",
        "rtl/formal.ys" => "the proof of the output queue",
        "rtl/bench.v" | "rtl/tb_core.v" | "rtl/sim_core.cpp" => "test bench of the core; not for synthesis",
        "rtl/tb.v" | "rtl/sim.cpp" | "rtl_f32/tb.v" | "xls/tb.v" => "test bench of the datapath; not for synthesis",
        "rtl/core_x.hex" | "rtl/x.hex" | "rtl_f32/x.hex" | "xls/x.hex" => "items of the test bench",
        "rtl/core_y.hex" | "rtl/y.hex" | "rtl_f32/y.hex" | "xls/y.hex" => "results that it expects",
        "rtl_f32/kernel.v" => "the datapath in single precision, each operation in one clock",
        "hls/kernel.cpp" => "reference C++ with pragmas",
        "hls/tb.cpp" => "its test bench",
        "host/play.cpp" | "host/play.py" => "plays the vectors on the card, and compares",
        "host/simulated.cpp" => "the card in Verilator, as a library for it",
        "host/xrt.cpp" => "the card on a board by XRT, as a library for it; never run",
        "host/card.h" => "layout in memory and registers, for C",
        "board/vivado.tcl" | "board/package.tcl" | "board/card.cfg" | "board/card.xdc" | "hls/hls.cfg" => "never run",
        "spec/interface.json" => "inputs and outputs: type, shape, access",
        "spec/numerics.json" => "order of operations, bounds, errors by number format",
        "spec/dma.csv" => "copies in the capture",
        "perf/offload.json" => "the prediction, with intervals",
        path if path.starts_with("rtl/table_") => "a table of the engine",
        _ => "",
    }
}

const BOARD: &str = "
## Running on a board

`rtl/card.v` reads frames from a board's memory over AXI4, passes them through the core, and writes the results back; `host/play.cpp` loads the vectors, starts the card, and compares every result.
`rtl/core.json` and `host/card.h` have the layout of a frame, `rtl/card.v` the registers.

1. `make sim` plays the vectors through the core and on the card in Verilator, `make cocotb` through the core by cocotb, `make synth` counts its cells by Yosys: these are the checks above.
2. `make vivado PART=…` takes the card through Vivado, out of context: `board/utilization.rpt` and `board/timing.rpt` say its resources and clock. *Not run.*
3. `make hls PART=…` takes the C++ through Vitis HLS instead. *Not run.*
4. `make xclbin PART=… PLATFORM=…` packages `rtl/{card,mover,core,stream,INNER}.v` as a user-managed RTL kernel and links it for a board's platform. *Not run.*
5. `make xrt` plays the same vectors on the board by `host/play.cpp`, `make pynq` by `host/play.py`. *Not run.*

Clock and resources are unknown before step 2; RATE.
";

const FORMATS_HEAD: &str = "\n## Fixed point\n\nError against double precision, on the vectors of set `random`:\n\n";

fn formats(text: &mut String, files: &Files) {
    let numerics: Value =
        files.get("spec/numerics.json").and_then(|bytes| serde_json::from_slice(bytes).ok()).unwrap_or_default();
    let rows: Vec<&Value> = numerics["formats"].as_array().into_iter().flatten().collect();
    if rows.is_empty() {
        text.push_str("No format was requested.\n");
        return;
    }
    text.push_str("| format | output | largest error | root mean square | beyond the range |\n|---|---|---|---|---|\n");
    for row in rows {
        let format = row["format"].as_str().unwrap_or("");
        if let Some(why) = row["why_not"].as_str() {
            let _ = writeln!(text, "| `{format}` | – | not computed: {} | – | – |", plain(why));
            continue;
        }
        for one in row["errors"].as_array().into_iter().flatten().filter(|one| one["set"] == "random") {
            let number = |key: &str| one[key].as_f64().map_or("–".to_owned(), |value| format!("{value:.3e}"));
            let _ = writeln!(
                text,
                "| `{format}` | {} | {} | {} | {} of {} |",
                one["output"],
                number("largest_error"),
                number("rms_error"),
                one["beyond_range"],
                one["beyond_range"].as_u64().unwrap_or(0) + one["compared"].as_u64().unwrap_or(0)
            );
        }
    }
}

fn section(text: &mut String, title: &str, ledger: &[Check], state: CheckState) {
    let checks: Vec<&Check> = ledger.iter().filter(|check| check.state == state).collect();
    if checks.is_empty() {
        return;
    }
    let _ = write!(text, "\n## {title}\n\n");
    for check in checks {
        let version = if check.version.is_empty() { String::new() } else { format!(" ({})", plain(&check.version)) };
        let _ = writeln!(text, "- {}{version}: {}", check.name, plain(&check.found));
    }
}

/// A time with three digits.
fn duration(seconds: f64) -> String {
    let (value, unit) = match seconds {
        seconds if seconds >= 1.0 => (seconds, "s"),
        seconds if seconds >= 1e-3 => (seconds * 1e3, "ms"),
        seconds if seconds >= 1e-6 => (seconds * 1e6, "µs"),
        seconds => (seconds * 1e9, "ns"),
    };
    match value {
        value if value >= 99.95 => format!("{value:.0} {unit}"),
        value if value >= 9.995 => format!("{value:.1} {unit}"),
        value => format!("{value:.2} {unit}"),
    }
}
