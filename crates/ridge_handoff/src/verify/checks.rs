//! The checks, one function each.

use super::cells::Cells;
use super::opened::{Opened, inputs, sets};
use super::proofs;
use super::tools::{Ran, not_run, run, version};
use crate::bundle::{Check, CheckState};
use crate::interpret::equal;
use crate::vectors;
use ridge_hlo::ElementType;
use std::path::Path;
use std::time::Instant;

/// A check that needs a tool.
pub(super) type Run = fn(&Path) -> Vec<Check>;

/// Checks of the Verilog, with how long each takes beside the other checks.
pub(super) const RTL: [(&str, u8, Run); 3] =
    [("Icarus Verilog", 1, icarus), ("Verilator", 3, verilator), ("Yosys", 5, yosys)];

/// Runs what XLS made, and proves that its stages changed nothing; says why there is nothing where it made nothing.
pub(super) fn xls(bundle: &Opened, folder: &Path) -> Vec<Check> {
    let said = &bundle.manifest["engines"]["xls"];
    if !bundle.files.contains_key("xls/kernel.v") {
        return vec![not_run(XLS, said["why"].as_str().unwrap_or("XLS was not run when the bundle was made"))];
    }
    let folder = folder.join("xls");
    vec![simulated(XLS, &folder), proofs::stages(&folder)]
}

/// Its name.
const XLS: &str = "Icarus Verilog XLS";

/// The check of the Verilog of single precision.
pub(super) const RTL_F32: [(&str, u8, Run); 1] = [("Icarus Verilog f32", 3, icarus_f32)];

/// Why a check did not pass.
pub(super) enum Wrong {
    Failed(String),
    TookTooLong(String),
}

impl From<String> for Wrong {
    fn from(why: String) -> Wrong {
        Wrong::Failed(why)
    }
}

impl From<Ran> for Wrong {
    fn from(ran: Ran) -> Wrong {
        if ran.is_late { Wrong::TookTooLong(ran.said) } else { Wrong::Failed(ran.said) }
    }
}

pub(super) fn judged<W: Into<Wrong>>(
    name: &str,
    command: &str,
    version: String,
    wall_s: f64,
    found: Result<String, W>,
) -> Check {
    let (state, found) = match found.map_err(Into::into) {
        Ok(found) => (CheckState::Passed, found),
        Err(Wrong::Failed(why)) => (CheckState::Failed, why),
        Err(Wrong::TookTooLong(why)) => (CheckState::NotFinished, why),
    };
    Check { name: name.to_owned(), state, found, command: command.to_owned(), version, wall_s, figures: Vec::new() }
}

/// Computes the vectors anew from the specification.
pub(super) fn interpreter(bundle: &Opened) -> Check {
    let began = Instant::now();
    let found = bundle.program().and_then(|program| {
        let mut values = 0;
        for set in sets(bundle) {
            let inputs = inputs(bundle, &program, &set)?;
            for (at, bytes) in vectors::strict(&program, &inputs).map_err(|error| error.to_string())?.iter().enumerate()
            {
                let path = format!("golden/{set}/strict.out{at}.bin");
                if bundle.files.get(&path) != Some(bytes) {
                    return Err(format!("{path} does not follow from the specification"));
                }
                values += program.nodes[program.outputs[at]].elements();
            }
        }
        if values == 0 {
            Err("there are no vectors".to_owned())
        } else {
            Ok(format!("{values} values follow from the specification, bit by bit"))
        }
    });
    let version = format!("ridgeline {}", env!("CARGO_PKG_VERSION"));
    judged("interpreter", "spec/module.hlo.txt computed again", version, began.elapsed().as_secs_f64(), found)
}

/// Holds what another engine gave against double precision and its bound.
pub(super) fn agreement(bundle: &Opened, engine: &str, words: &str) -> Check {
    let said = &bundle.manifest["engines"][engine];
    let name = format!("{engine} within the bound");
    if said["ran"].is_null() {
        let why = said["why"].as_str().unwrap_or("it was not run when the bundle was made");
        return not_run(&name, why);
    }
    let began = Instant::now();
    let (mut values, mut undecided, mut same, mut worst) = (0_u64, 0_u64, 0_u64, 0.0_f64);
    let ran: Vec<&str> = said["sets"].as_array().into_iter().flatten().filter_map(serde_json::Value::as_str).collect();
    let found = bundle.program().and_then(|program| {
        for set in sets(bundle).iter().filter(|set| ran.contains(&set.as_str())) {
            for (at, output) in program.outputs.iter().enumerate() {
                let node = &program.nodes[*output];
                let read = |kind: &str, ty: ElementType| -> Result<Vec<f64>, String> {
                    let path = format!("golden/{set}/{kind}.out{at}.bin");
                    let bytes = bundle.files.get(&path).ok_or(format!("{path} is missing"))?;
                    let cells = vectors::numbers(bytes, ty, node.elements()).ok_or(format!("{path} has a different length"))?;
                    Ok(cells.into_iter().map(|cell| match cell {
                        crate::Cell::Real(value) => value,
                        crate::Cell::Whole(value, _) => value as f64,
                    }).collect())
                };
                let theirs = read(engine, node.element_type)?;
                let ours = read("strict", node.element_type)?;
                let exact = read("f64", ElementType::F64)?;
                let bounds = read("bound", ElementType::F64)?;
                let ours_and_exact = ours.iter().zip(exact.iter().zip(&bounds));
                for (place, (their, (our, (&value, &bound)))) in theirs.iter().zip(ours_and_exact).enumerate() {
                    values += 1;
                    same += u64::from(equal(*their, *our));
                    if bound.is_infinite() {
                        undecided += 1;
                    } else if !equal(*their, value) {
                        let off = (their - value).abs();
                        if off.is_nan() || off > bound {
                            return Err(format!("set `{set}`, output {at}, element {place}: {their:e} instead of {value:e} within {bound:e} (double precision)"));
                        }
                        worst = worst.max(off / bound);
                    }
                }
            }
        }
        if values == 0 {
            return Err("there are no vectors".to_owned());
        }
        let largest = if same == values { String::new() } else { format!("; the largest takes {:.0}% of the bound", worst * 100.0) };
        let left_out = sets(bundle).iter().filter(|set| !ran.contains(&set.as_str())).count();
        let left_out = if left_out == 0 || engine == "program" { String::new() } else { format!("; {left_out} sets were not run, for time") };
        Ok(format!("of {values} values of {words} all are within the bound{largest}; {same} equal ours; for {undecided}, rounding decides and the bound doesn't apply{left_out}"))
    });
    let version = said["version"].as_str().unwrap_or("").to_owned();
    judged(&name, "values of the bundle", version, began.elapsed().as_secs_f64(), found)
}

/// Compiles the reference and runs the vectors; in a number format, or as typed.
pub(super) fn cpp(bundle: &Opened, folder: &Path, slug: Option<&str>) -> Check {
    let name = slug.map_or("c++".to_owned(), |slug| format!("c++ {slug}"));
    let Some(version) = version("g++", "--version") else { return not_run(&name, "g++ is not on PATH") };
    let engine = slug.unwrap_or("strict");
    let program = format!("tb_{engine}");
    let mut parts = engine.split('_').skip(1);
    let (width, integer) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let mut words = vec![
        "g++".to_owned(),
        "-std=c++17".into(),
        "-O1".into(),
        "-ffp-contract=off".into(),
        "-Wno-unknown-pragmas".into(),
    ];
    if slug.is_some() {
        if !is_number(width) || !is_number(integer) {
            return not_run(&name, "the format was not generated by this program");
        }
        words.extend([format!("-DFIXED_WIDTH={width}"), format!("-DFIXED_INTEGER={integer}")]);
    }
    words.extend(["-o".to_owned(), program.clone(), "kernel.cpp".into(), "tb.cpp".into()]);
    let hls = folder.join("hls");
    let compiled = run(&hls, &words.iter().map(String::as_str).collect::<Vec<_>>());
    if !compiled.is_success {
        let said = format!("it does not compile: {}", compiled.said);
        let compiled = if compiled.is_late { compiled } else { Ran { said, ..compiled } };
        return judged(&name, &words.join(" "), version, compiled.wall_s, Err(compiled));
    }
    let mut test = vec![format!("./{program}"), engine.to_owned()];
    test.extend(sets(bundle).iter().map(|set| format!("../golden/{set}")));
    let ran = run(&hls, &test.iter().map(String::as_str).collect::<Vec<_>>());
    let command = format!("{} && {}", words.join(" "), test.join(" "));
    judged(&name, &command, version, compiled.wall_s + ran.wall_s, said(ran))
}

/// What a test bench said.
fn said(ran: Ran) -> Result<String, Ran> {
    let last = ran.said.lines().last().unwrap_or("it printed nothing").to_owned();
    if ran.is_success { Ok(last) } else { Err(Ran { said: last, ..ran }) }
}

fn icarus(folder: &Path) -> Vec<Check> {
    vec![simulated("Icarus Verilog", &folder.join("rtl"))]
}

fn icarus_f32(folder: &Path) -> Vec<Check> {
    vec![simulated("Icarus Verilog f32", &folder.join("rtl_f32"))]
}

fn simulated(name: &str, rtl: &Path) -> Check {
    let Some(version) = version("iverilog", "-V") else { return not_run(name, "iverilog is not on PATH") };
    let command = "iverilog -g2005 -o tb.vvp kernel.v tb.v && vvp tb.vvp";
    let built = run(rtl, &["iverilog", "-g2005", "-o", "tb.vvp", "kernel.v", "tb.v"]);
    if !built.is_success {
        return judged(name, command, version, built.wall_s, Err(built));
    }
    let ran = run(rtl, &["vvp", "tb.vvp"]);
    let wall_s = built.wall_s + ran.wall_s;
    let found = if ran.said.lines().any(|line| line.starts_with("0 differ")) { said(ran) } else { Err(ran) };
    judged(name, command, version, wall_s, found)
}

fn verilator(folder: &Path) -> Vec<Check> {
    vec![verilated(&folder.join("rtl"))]
}

fn verilated(rtl: &Path) -> Check {
    let Some(version) = version("verilator", "--version") else {
        return not_run("Verilator", "verilator is not on PATH");
    };
    let words = [
        "verilator",
        "--cc",
        "--exe",
        "--build",
        "-O0",
        "-Wno-fatal",
        "-Wno-WIDTH",
        "--top-module",
        "kernel",
        "-o",
        "sim",
        "kernel.v",
        "sim.cpp",
    ];
    let built = run(rtl, &words);
    if !built.is_success {
        return judged("Verilator", &words.join(" "), version, built.wall_s, Err(built));
    }
    let ran = run(rtl, &["obj_dir/sim"]);
    judged("Verilator", &format!("{} && obj_dir/sim", words.join(" ")), version, built.wall_s + ran.wall_s, said(ran))
}

/// What Yosys makes of the design, and the proof that it is the same.
fn yosys(folder: &Path) -> Vec<Check> {
    let rtl = folder.join("rtl");
    let made = synthesis(&rtl);
    let stat = std::fs::read_to_string(rtl.join("stat.txt")).unwrap_or_default();
    match made.state {
        CheckState::Passed => vec![made, proofs::netlist(&rtl, &stat)],
        _ => vec![made],
    }
}

fn synthesis(rtl: &Path) -> Check {
    let Some(version) = version("yosys", "-V") else { return not_run("Yosys", "yosys is not on PATH") };
    let script = format!(
        "read_verilog kernel.v; synth_xilinx -family xcup -flatten -top kernel; tee -o stat.txt stat; write_rtlil {}",
        proofs::NETLIST
    );
    let words = ["yosys", "-q", "-p", &script];
    let ran = run(rtl, &words);
    let command = words.join(" ");
    if !ran.is_success {
        return judged("Yosys", &command, version, ran.wall_s, Err(ran));
    }
    let cells = Cells::of(&std::fs::read_to_string(rtl.join("stat.txt")).unwrap_or_default());
    let found = if cells.is_empty() {
        Err(Wrong::Failed("it reported no cells".to_owned()))
    } else {
        Ok(format!("{} (UltraScale+, before place and route)", cells.words()))
    };
    Check { figures: cells.figures(), ..judged("Yosys", &command, version, ran.wall_s, found) }
}
