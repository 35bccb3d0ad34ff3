//! The core on the page of a bundle: its ports, clocks, registers and resources, each with who counted it.

use super::plain::plain_cell;
use super::{Check, Files};
use crate::design::{CellCounts, Design};
use serde_json::Value;
use std::fmt::Write as _;

/// The section of the core; empty where there is none.
pub(super) fn core(files: &Files, ledger: &[Check]) -> String {
    let ledger: Vec<Value> = ledger.iter().map(Check::document).collect();
    let Ok(design) = Design::read(files, &ledger) else { return String::new() };
    let json = |path: &str| -> Value {
        files.get(path).and_then(|bytes| serde_json::from_slice(bytes).ok()).unwrap_or_default()
    };
    let (core, interface) = (json("rtl/core.json"), json("spec/interface.json"));
    let mut text = String::from("\n## The core\n\n| | |\n|---|---|\n");
    let mut row = |title: &str, words: &str| {
        let _ = writeln!(text, "| {title} | {words} |");
    };
    row(
        "core",
        match design.is_engine {
            true => {
                "`rtl/core.v`, around the stages in `rtl/engine.v`: it takes a call into memories on the chip, runs one stage after the other, and puts the results out"
            }
            false => {
                "`rtl/core.v`, around the datapath `rtl/kernel.v`: it takes an item per clock, and keeps earlier ones for the window"
            }
        },
    );
    row(
        "numbers",
        &format!("`{}`: two's complement, rounded to nearest, saturating; integers as they are", design.format),
    );
    row("clock, reset", "`aclk`; `aresetn` is synchronous, active-low, and may come at any clock");
    let arrays = |key: &str| interface[key].as_array().cloned().unwrap_or_default();
    let taken = taken(&core, arrays("inputs").len());
    let [ins, outs] = ["inputs", "outputs"].map(arrays);
    let named = |at: usize| format!("input {at}, {}", shape(&ins[at]));
    let order = if design.is_engine { ", one after the other" } else { ", side by side in each item" };
    let order = if taken.len() > 1 { order } else { "" };
    let inputs: Vec<String> = taken.iter().map(|at| named(*at)).collect();
    row(
        "in",
        &format!("`s_axis_*`: {}: {}{order}", stream(&core, "item", "items_a_clock", &design), inputs.join("; ")),
    );
    let outputs: Vec<String> = outs.iter().map(shape).collect();
    row("out", &format!("`m_axis_*`: {}: {}", stream(&core, "result", "results_a_clock", &design), outputs.join("; ")));
    let left_out: Vec<String> = (0..ins.len()).filter(|at| !taken.contains(at)).map(named).collect();
    if !left_out.is_empty() {
        row("not streamed", &format!("{}: no result depends on it", left_out.join("; ")));
    }
    row("order", "arrays in logical order, last dimension fastest; `tlast` on the last item and result of a call");
    let simulated = match &design.simulated_by {
        Some(by) => format!("in simulation, to the clock ({})", plain_cell(by)),
        None => "by the generator's count; *not simulated*".to_owned(),
    };
    row(
        "clocks per call",
        &format!(
            "{} from its first item to its last result, {} from call to call, if nothing stalls: {simulated}",
            design.call_clocks, design.period_clocks
        ),
    );
    if let Some(bits) = core["memory"]["bits_of_a_beat"].as_u64() {
        row(
            "memory",
            &format!(
                "`rtl/card.v` adds AXI4 with beats of {bits} bits: a call reads {} bytes and writes {}",
                design.input_bytes, design.output_bytes
            ),
        );
    }
    row("resources", &resources(&design));
    row("achievable clock", "unknown: no tool has placed it");
    if design.divides_in_one_clock {
        row("dividers", "combinational, which limits the clock: replace them first");
    }
    text.push_str(REGISTERS);
    text
}

/// The inputs that are in the stream: those that a window names, or all of an engine's.
fn taken(core: &Value, inputs: usize) -> Vec<usize> {
    let named = core["inputs"].as_array().map(|all| all.iter().filter_map(Value::as_u64).map(|at| at as usize));
    named.map_or((0..inputs).collect(), |named| named.filter(|at| *at < inputs).collect())
}

/// How many beats of a stream there are in a call, and how wide they are.
fn stream(core: &Value, what: &str, rate: &str, design: &Design) -> String {
    let count = core["predicted"][rate].as_f64().unwrap_or(0.0) * design.period_clocks as f64;
    format!("{} {what}s of {} bits per call", count.round(), core[format!("{what}_bits")])
}

fn shape(port: &Value) -> String {
    let dims: Vec<String> = port["dims"].as_array().into_iter().flatten().map(Value::to_string).collect();
    format!("{}[{}]", plain_cell(port["element_type"].as_str().unwrap_or("")), dims.join(","))
}

fn resources(design: &Design) -> String {
    let by = design.synthesized_by.as_deref().map(plain_cell).unwrap_or_default();
    let by = format!("UltraScale+, before place and route: {by}");
    let counted = design.counted_block_rams.unwrap_or(0.0);
    match (design.is_engine, design.datapath, design.rest) {
        (true, _, Some(rest)) => {
            format!("{} ({by}), and {counted} block RAMs for its arrays by their shapes", cells(&rest))
        }
        (true, _, None) => format!("{counted} block RAMs for its arrays by their shapes; the rest *not synthesized*"),
        (false, Some(datapath), Some(rest)) => {
            format!("datapath: {}; the rest: {} ({by})", cells(&datapath), cells(&rest))
        }
        (false, Some(datapath), None) => format!("datapath: {} ({by}); the rest *not synthesized*", cells(&datapath)),
        (false, None, Some(rest)) => {
            format!("besides the datapath: {} ({by}); the datapath *not synthesized*", cells(&rest))
        }
        (false, None, None) => "unknown: *not synthesized*; `make synth` counts cells by Yosys".to_owned(),
    }
}

fn cells(cells: &CellCounts) -> String {
    let all = [
        (cells.look_up_tables, "look-up tables"),
        (cells.registers, "registers"),
        (cells.multipliers, "DSP slices"),
        (cells.block_rams, "block RAMs"),
    ];
    let named = all.iter().filter(|(count, _)| *count > 0.0).map(|(count, name)| format!("{count} {name}"));
    named.collect::<Vec<_>>().join(", ")
}

const REGISTERS: &str = "
| `s_axil_*` | register |
|---|---|
| `0x00` | control: 1 starts, 2 takes frames (calls) without end, 4 clears the counters |
| `0x04` | status: bit 0 idle, bit 1 done, bit 2 `tlast` was misplaced |
| `0x08` | version |
| `0x0c` | frames per start |
| `0x10`, `0x14` | items per frame in, results per frame out |
| `0x20` | clocks while busy |
| `0x24`, `0x28` | clocks spent waiting for input, and for the receiver |
| `0x2c`, `0x30` | items in, results out |
| `0x40`, `0x44` | card only: address of the first item, of a whole beat |
| `0x48`, `0x4c` | card only: address of the first result, of a whole beat |
| `0x50` | card only: bit 0 memory idle, bit 1 a read failed, bit 2 a write failed |
";
