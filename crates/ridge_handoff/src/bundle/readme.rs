//! The honest page of a bundle: what it holds, what is checked, what is predicted, what nobody has run.

use super::{Check, CheckState, Files, Source};
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
        let _ = writeln!(text, "One call takes {:.4} ms on {}.", seconds * 1e3, plain(on));
    }
    text.push_str("\n## Untested\n\n");
    text.push_str("- Nothing here has been on a board or through a vendor's synthesis: clock, initiation interval and resources after place and route are unknown.\n");
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
        let _ = writeln!(text, "- `{path}`");
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

/// Text from outside on one line of Markdown.
fn plain(text: &str) -> String {
    let letter = |letter: char| match letter {
        '`' => '\'',
        letter if letter.is_control() => ' ',
        letter => letter,
    };
    text.chars().map(letter).collect()
}
