//! What a bundle knows of its core as a piece of hardware: clocks, bytes, cells, and for each of them who counted it.

use crate::bundle::{CheckState, Files, usable};
use crate::verify::Opened;
use serde_json::Value;

/// What a bundle knows of its core.
#[derive(Debug, Clone, PartialEq)]
pub struct Design {
    /// Its numbers, `fixed<16,8>`.
    pub format: String,
    /// Whether it makes its arrays one after the other, rather than a result from a window each clock.
    pub is_engine: bool,
    /// Clocks from the first item of a call to its last result, as the generator counts them, while nothing waits.
    pub call_clocks: u64,
    /// Clocks from the first item of a call to that of the next.
    pub period_clocks: u64,
    /// Bytes of a call that its card reads from memory and writes there.
    pub input_bytes: u64,
    /// The same of results.
    pub output_bytes: u64,
    /// The simulator in which clocks were those, to the clock; `None` where none ran.
    pub simulated_by: Option<String>,
    /// The datapath by Yosys, of a core around one.
    pub datapath: Option<CellCounts>,
    /// All but the datapath, or of an engine all but its memories, by Yosys.
    pub rest: Option<CellCounts>,
    /// Blocks of 36 Kbit that the memories of an engine take by their shapes, as the generator counts them.
    pub counted_block_rams: Option<f64>,
    /// The version of Yosys, where it ran.
    pub synthesized_by: Option<String>,
    /// Whether it divides within a clock, which limits its clock.
    pub divides_in_one_clock: bool,
}

/// Cells of UltraScale+, before place and route.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CellCounts {
    /// Look-up tables, with those that are shift registers or small memories.
    pub look_up_tables: f64,
    /// Registers.
    pub registers: f64,
    /// DSP slices.
    pub multipliers: f64,
    /// Blocks of 36 Kbit.
    pub block_rams: f64,
}

impl Design {
    /// What `bundle` knows of its core.
    ///
    /// # Errors
    /// Why it has no core.
    pub fn of(bundle: &Opened) -> Result<Design, String> {
        if let Some(why) = bundle.manifest["no_specification_because"].as_str() {
            return Err(format!("nothing was generated: {why}"));
        }
        let ledger = bundle.manifest["ledger"].as_array().cloned().unwrap_or_default();
        Design::read(&bundle.files, &ledger)
    }

    /// The same of the files and the ledger of a bundle that is being made.
    pub(crate) fn read(files: &Files, ledger: &[Value]) -> Result<Design, String> {
        let Some(core) = json(files, "rtl/core.json") else {
            let why = ["spec/core.txt", "spec/verilog.txt"].iter().find_map(|path| files.get(*path));
            let why = why.map(|why| String::from_utf8_lossy(why).trim().to_owned());
            return Err(why.unwrap_or_else(|| "it has no `rtl/core.json`".to_owned()));
        };
        let predicted = |key: &str| core["predicted"][key].as_u64().filter(|clocks| *clocks > 0);
        let (Some(call_clocks), Some(period_clocks)) =
            (predicted("clocks_of_a_frame"), predicted("clocks_of_each_further_frame"))
        else {
            return Err("`rtl/core.json` doesn't have its clocks".to_owned());
        };
        let is_engine = core["kind"] == "engine";
        let passed = |name: &str| passed(ledger, name);
        let cells = |name: &str| passed(name).and_then(|check| counts(&check["figures"]));
        let simulated = ["Verilator core", "Icarus Verilog core"].iter().find_map(|name| passed(name));
        let synthesized = ["Yosys core", "Yosys"].iter().find_map(|name| passed(name));
        let version = |check: &Value| check["version"].as_str().map(str::to_owned);
        let [input_bytes, output_bytes] = bytes(&core, period_clocks);
        Ok(Design {
            format: format_of(files, &core),
            is_engine,
            call_clocks,
            period_clocks,
            input_bytes,
            output_bytes,
            simulated_by: simulated.and_then(version),
            datapath: if is_engine { None } else { cells("Yosys") },
            rest: cells("Yosys core"),
            counted_block_rams: core["block_rams"].as_f64(),
            synthesized_by: synthesized.and_then(version),
            divides_in_one_clock: divides(files, is_engine),
        })
    }
}

fn json(files: &Files, path: &str) -> Option<Value> {
    serde_json::from_slice(files.get(path)?).ok()
}

fn passed<'a>(ledger: &'a [Value], name: &str) -> Option<&'a Value> {
    ledger.iter().find(|check| check["check"] == name && check["state"] == CheckState::Passed.name())
}

/// The cells of a check; `None` of a bundle from before its ledger had them.
fn counts(figures: &Value) -> Option<CellCounts> {
    let of = |name: &str| figures[name].as_f64();
    Some(CellCounts {
        look_up_tables: of("look_up_tables")? + of("shift_registers")? + of("look_up_tables_as_memory")?,
        registers: of("registers")?,
        multipliers: of("multipliers")?,
        block_rams: of("block_rams")?,
    })
}

/// Bytes of a call in the card's memory, or where there is no card in whole bytes of each item.
fn bytes(core: &Value, period_clocks: u64) -> [u64; 2] {
    let of = |in_memory: &str, bits: &str, rate: &str| {
        core["memory"][in_memory].as_u64().unwrap_or_else(|| {
            let items = core["predicted"][rate].as_f64().unwrap_or(0.0) * period_clocks as f64;
            items.round() as u64 * core[bits].as_u64().unwrap_or(0).div_ceil(8)
        })
    };
    [
        of("bytes_of_a_frame_in", "item_bits", "items_a_clock"),
        of("bytes_of_a_frame_out", "result_bits", "results_a_clock"),
    ]
}

/// The format of the Verilog: the narrowest that the bundle has vectors of.
fn format_of(files: &Files, core: &Value) -> String {
    if let Some(format) = core["number_format"].as_str() {
        return format.to_owned();
    }
    let numerics = json(files, "spec/numerics.json").unwrap_or_default();
    let widths = |slug: &String| slug.split('_').filter_map(|part| part.parse::<u32>().ok()).collect::<Vec<_>>();
    let narrowest = usable(&numerics).iter().map(widths).min();
    match narrowest.as_deref() {
        Some([width, integer]) => format!("fixed<{width},{integer}>"),
        _ => "fixed point".to_owned(),
    }
}

/// Whether the Verilog that makes results has a `/`: positions are divided by multiplications, numbers by dividers.
fn divides(files: &Files, is_engine: bool) -> bool {
    let path = if is_engine { "rtl/engine.v" } else { "rtl/kernel.v" };
    let text = files.get(path).map(|bytes| String::from_utf8_lossy(bytes)).unwrap_or_default();
    text.lines().any(|line| line.split("//").next().unwrap_or("").contains(" / "))
}
