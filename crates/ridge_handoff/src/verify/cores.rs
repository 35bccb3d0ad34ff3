//! The checks of a core: frames under stalls and resets in two simulators, the proof of its way out, and what it takes.

use super::cells::Cells;
use super::checks::{Run, judged};
use super::tools::{Ran, not_run, run, run_within, version};
use crate::bundle::{Check, CheckState};
use std::path::Path;
use std::time::Duration;

/// Checks of the core in `rtl/`, with how long each takes beside the other checks.
pub(super) const CORE: [(&str, u8, Run); 4] = [
    ("Icarus Verilog core", 4, icarus),
    ("Verilator core", 4, verilator),
    ("core proof", 1, proof),
    ("Yosys core", 2, yosys),
];

/// The check of the card in `rtl/` by the program in `host/`.
pub(super) const CARD: [(&str, u8, Run); 1] = [(PLAYED, 4, played)];

/// The check of the core by the bench in `cocotb/`.
pub(super) const COCOTB: [(&str, u8, Run); 1] = [(BENCHED, 2, benched)];

const PLAYED: &str = "host program on the simulated card";
const BENCHED: &str = "cocotb core";
const ICARUS: &str = "Icarus Verilog core";
const VERILATOR: &str = "Verilator core";
const PROOF: &str = "core proof";
const YOSYS: &str = "Yosys core";

/// Time for the proof.
const PATIENCE: Duration = Duration::from_secs(120);

/// What the core is built around: a datapath of one result a clock, or the stages of an engine.
fn inner(rtl: &Path) -> &'static [&'static str] {
    if rtl.join("engine.v").is_file() { &["engine.v", "memory.v"] } else { &["kernel.v"] }
}

fn document(rtl: &Path) -> serde_json::Value {
    let text = std::fs::read_to_string(rtl.join("core.json")).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

fn icarus(folder: &Path) -> Vec<Check> {
    let Some(version) = version("iverilog", "-V") else { return vec![not_run(ICARUS, "iverilog is not on PATH")] };
    let rtl = folder.join("rtl");
    let core = document(&rtl);
    if core["simulated_in_icarus"] == false {
        let clocks = &core["predicted"]["clocks_of_each_further_frame"];
        return vec![not_run(ICARUS, &format!("a call takes {clocks} clocks, too many for Icarus Verilog"))];
    }
    let parts = ["stream.v", "core.v", "bench.v", "tb_core.v"];
    let build = [&["iverilog", "-g2005", "-o", "core.vvp"], inner(&rtl), &parts].concat();
    vec![simulated(ICARUS, &rtl, &version, &build, &["vvp", "core.vvp"])]
}

fn verilator(folder: &Path) -> Vec<Check> {
    let Some(version) = version("verilator", "--version") else {
        return vec![not_run(VERILATOR, "verilator is not on PATH")];
    };
    let rtl = folder.join("rtl");
    let tool = [
        "verilator",
        "--cc",
        "--exe",
        "--build",
        "-Wno-fatal",
        "-Wno-WIDTH",
        "-CFLAGS",
        "-O1",
        "--Mdir",
        "obj_core",
        "--top-module",
        "bench",
        "-o",
        "sim_core",
    ];
    let build = [&tool, inner(&rtl), &["stream.v", "core.v", "bench.v", "sim_core.cpp"]].concat();
    vec![simulated(VERILATOR, &rtl, &version, &build, &["obj_core/sim_core"])]
}

fn simulated(name: &str, rtl: &Path, version: &str, build: &[&str], simulate: &[&str]) -> Check {
    let built = run(rtl, build);
    let command = format!("{} && {}", build.join(" "), simulate.join(" "));
    if !built.is_success {
        return judged(name, &command, version.to_owned(), built.wall_s, Err(built));
    }
    let ran = run(rtl, simulate);
    let wall_s = built.wall_s + ran.wall_s;
    let (figures, found) = match found(&ran.said, &document(rtl)) {
        Some((found, figures)) if ran.is_success => (figures, Ok(found)),
        _ => (Vec::new(), Err(ran)),
    };
    Check { figures, ..judged(name, &command, version.to_owned(), wall_s, found) }
}

/// One pass as the bench tells it: stalls of 16 clocks in and out, items, clocks, results.
fn pass(line: &str) -> Option<[u64; 5]> {
    let numbers: Vec<u64> = line
        .strip_prefix("pass ")?
        .split(|letter: char| !letter.is_ascii_digit())
        .filter_map(|word| word.parse().ok())
        .collect();
    match numbers[..] {
        [_, 16, stalls_in, stalls_out, items, clocks, results] => Some([stalls_in, stalls_out, items, clocks, results]),
        _ => None,
    }
}

/// What the bench says, in one line and as figures, where nothing was wrong; beside it what was predicted.
fn found(said: &str, core: &serde_json::Value) -> Option<(String, Vec<(&'static str, f64)>)> {
    let passes: Vec<[u64; 5]> = said.lines().filter_map(pass).collect();
    let end = said.lines().find(|line| line.starts_with("0 wrong in "))?;
    let predicted = |key: &str| core["predicted"][key].as_f64();
    let counted = |stalls: (u64, u64)| {
        let [_, _, items, clocks, results] = *passes.iter().find(|pass| (pass[0], pass[1]) == stalls)?;
        Some([items, clocks, results].map(|count| count as f64))
    };
    let ([items, clocks, results], [stalled_items, stalled_clocks, _]) = (counted((0, 0))?, counted((8, 8))?);
    let found = format!(
        "{end}; {:.3} items in and {:.3} results out per clock without stalls (predicted {:.3} and {:.3} in the long run, and to the clock for these frames), {:.3} in with both sides stalled half of the time",
        items / clocks,
        results / clocks,
        predicted("items_a_clock")?,
        predicted("results_a_clock")?,
        stalled_items / stalled_clocks,
    );
    let figures = vec![
        ("items_without_stalls", items),
        ("results_without_stalls", results),
        ("clocks_without_stalls", clocks),
        ("items_half_stalled", stalled_items),
        ("clocks_half_stalled", stalled_clocks),
    ];
    Some((found, figures))
}

fn proof(folder: &Path) -> Vec<Check> {
    let Some(version) = version("yosys", "-V") else { return vec![not_run(PROOF, "yosys is not on PATH")] };
    let words = ["yosys", "-q", "-s", "formal.ys"];
    let ran = run_within(&folder.join("rtl"), &words, PATIENCE);
    let (state, found) = match &ran {
        Ran { is_success: true, .. } => (
            CheckState::Passed,
            "by induction, for every pattern of stalls and resets: no result is lost, duplicated or reordered, the queue never overflows, and a result that waits stays as it is; for a queue of 4 places behind 3 clocks, not for this core's own length, and without the datapath".to_owned(),
        ),
        Ran { is_late: true, .. } => (CheckState::NotFinished, format!("not proven: undecided after {} s", PATIENCE.as_secs())),
        ran => (CheckState::Failed, ran.said.lines().last().unwrap_or("it printed nothing").to_owned()),
    };
    vec![Check {
        name: PROOF.to_owned(),
        state,
        found,
        command: words.join(" "),
        version,
        wall_s: ran.wall_s,
        figures: Vec::new(),
    }]
}

/// The host program, whose card is Verilator's and whose memory is late, and then stalls at random.
fn played(folder: &Path) -> Vec<Check> {
    let Some(version) = version("verilator", "--version") else {
        return vec![not_run(PLAYED, "verilator is not on PATH")];
    };
    let words = ["make", "-s", "sim"];
    let ran = run(&folder.join("host"), &words);
    let wall_s = ran.wall_s;
    let found = match rates(&ran.said) {
        Some(found) if ran.is_success => Ok(found),
        _ => Err(ran),
    };
    vec![judged(PLAYED, "make -C host sim", version, wall_s, found)]
}

/// The bench of cocotb, which runs in Icarus Verilog.
fn benched(folder: &Path) -> Vec<Check> {
    let Some(version) = version("cocotb-config", "--version") else {
        return vec![not_run(BENCHED, "cocotb-config is not on PATH")];
    };
    if self::version("iverilog", "-V").is_none() {
        return vec![not_run(BENCHED, "iverilog is not on PATH")];
    }
    if document(&folder.join("rtl"))["simulated_in_icarus"] == false {
        return vec![not_run(BENCHED, "a call takes too many clocks for Icarus Verilog")];
    }
    let ran = run(&folder.join("cocotb"), &["make", "-s"]);
    let wall_s = ran.wall_s;
    let found = match ran.is_success && ran.said.contains("PASS=1 FAIL=0") {
        true => {
            Ok("a frame without stalls and one with both sides stalled half of the time: every result is right"
                .to_owned())
        }
        false => Err(ran),
    };
    vec![judged(BENCHED, "make -C cocotb", format!("cocotb {version}"), wall_s, found)]
}

/// Items a clock with all frames at once, by a memory that is late alone and by one that stalls.
fn rates(said: &str) -> Option<String> {
    let clean = said.lines().filter(|line| *line == "0 wrong, 0 rules of the bus broken").count();
    // Each of the two runs plays all frames, and then the first again.
    let runs: Vec<Vec<u64>> = said
        .lines()
        .filter(|line| line.contains(" frames: "))
        .map(|line| line.split(' ').filter_map(|word| word.parse().ok()).collect())
        .collect();
    let [steady, _, stalled, _] = &runs[..] else { return None };
    let rate = |run: &[u64]| match *run {
        [_, items, clocks, _] if clocks > 0 => Some(items as f64 / clocks as f64),
        _ => None,
    };
    (clean == 2).then_some(())?;
    Some(format!(
        "{} frames from memory and back: {:.3} items per clock with answers after 40 clocks, {:.3} where most clocks stall; every result is right, and no monitored AXI4 rule was broken",
        steady.first()?,
        rate(steady)?,
        rate(stalled)?
    ))
}

/// What the core takes besides the datapath.
fn yosys(folder: &Path) -> Vec<Check> {
    let Some(version) = version("yosys", "-V") else { return vec![not_run(YOSYS, "yosys is not on PATH")] };
    let rtl = folder.join("rtl");
    let (read, what) = match inner(&rtl) {
        ["kernel.v"] => ("read_verilog -lib kernel.v; read_verilog stream.v core.v", "besides the datapath".to_owned()),
        _ => {
            let blocks = &document(&rtl)["block_rams"];
            let what = format!("memories of {blocks} block RAMs by their shapes, and besides them");
            ("read_verilog -lib memory.v; read_verilog engine.v stream.v core.v", what)
        }
    };
    let script = |options: &str| {
        format!("{read}; synth_xilinx -family xcup -flatten{options} -top core; tee -o core_stat.txt stat")
    };
    let mut command = script("");
    let mut ran = run(&rtl, &["yosys", "-q", "-p", &command]);
    let mut without = "";
    // Yosys 0.23 fails on some small memories of UltraScale+: its rule for them is that of older devices.
    if !ran.is_success && ran.said.contains("lutrams_") {
        command = script(" -nolutram");
        let before = ran.wall_s;
        ran = run(&rtl, &["yosys", "-q", "-p", &command]);
        ran.wall_s += before;
        without = ", without look-up tables as memory, which this Yosys fails to map";
    }
    let cells = Cells::of(&std::fs::read_to_string(rtl.join("core_stat.txt")).unwrap_or_default());
    let wall_s = ran.wall_s;
    let (figures, found) = if ran.is_success && !cells.is_empty() {
        (cells.figures(), Ok(format!("{what} {}{without} (UltraScale+, before place and route)", cells.words())))
    } else {
        (Vec::new(), Err(ran))
    };
    vec![Check { figures, ..judged(YOSYS, &format!("yosys -q -p {command}"), version, wall_s, found) }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_host_program_says_is_read() {
        let run = "4 frames: 756 items in 800 clocks, 42 of them waiting for memory\n1 frames: 189 items in 265 clocks, 42 of them waiting for memory\n0 wrong, 0 rules of the bus broken\n";
        let said = format!("{run}{}", run.replace("800", "1512"));
        assert_eq!(
            rates(&said).as_deref(),
            Some(
                "4 frames from memory and back: 0.945 items per clock with answers after 40 clocks, 0.500 where most clocks stall; every result is right, and no monitored AXI4 rule was broken"
            )
        );
        for broken in [said.replacen("0 wrong", "1 wrong", 1), run.to_owned(), String::new()] {
            assert_eq!(rates(&broken), None, "{broken}");
        }
    }

    #[test]
    fn what_the_bench_says_is_read() {
        let said = "pass 0: of 16 clocks 0 stalled in and 0 out: 140 items in 160 clocks, 70 results\npass 1: of 16 clocks 8 stalled in and 8 out: 105 items in 210 clocks, 52 results\n0 wrong in 6 passes and 4 resets\n";
        let core = &serde_json::json!({"predicted": {"items_a_clock": 1.0, "results_a_clock": 0.5}});
        assert_eq!(
            found(said, core).map(|(found, figures)| (found, figures[2])),
            Some((
                "0 wrong in 6 passes and 4 resets; 0.875 items in and 0.438 results out per clock without stalls (predicted 1.000 and 0.500 in the long run, and to the clock for these frames), 0.500 in with both sides stalled half of the time".to_owned(),
                ("clocks_without_stalls", 160.0)
            ))
        );
        for broken in [said.replace("0 wrong", "1 wrong"), said.replace("16 clocks 8", "16 clocks 7"), String::new()] {
            assert_eq!(found(&broken, core), None, "{broken}");
        }
    }
}
