//! What is proven and not only tried: that a netlist computes what the Verilog says that it was made of.
//!
//! Registers are taken for wires on both sides, so that two functions are left, which ABC holds against each other; delays are
//! not compared. A proof that takes too long is none, and says nothing.

use super::tools::{Ran, not_run, run_within, version};
use crate::bundle::{Check, CheckState};
use crate::verilog::WIRES;
use std::path::Path;
use std::time::Duration;

/// Time for the proof, once both functions are there.
const PATIENCE: Duration = Duration::from_secs(60);

/// Time to make them.
const TO_MAKE: Duration = Duration::from_secs(120);

/// The netlist that Yosys left in the folder of a design.
pub(super) const NETLIST: &str = "netlist.il";

/// A proof: its name in the ledger, how Yosys makes the two functions, and what is known then.
struct Proof {
    name: &'static str,
    functions: &'static str,
    known: &'static str,
}

const OF_NETLIST: Proof = Proof {
    name: "netlist proof",
    functions: "read_verilog kernel.v; hierarchy -top kernel; proc; flatten; techmap -map wires.v; opt_clean; techmap; opt_clean; write_blif before.blif; \
         design -reset; read_rtlil netlist.il; techmap -map wires.v; techmap -map +/xilinx/cells_sim.v; proc; flatten; simplemap t:$lut %n; opt_clean; write_blif after.blif",
    known: "for every input the netlist matches kernel.v, with registers as wires",
};

const OF_STAGES: Proof = Proof {
    name: "XLS stages proof",
    functions: "read_verilog plain.v; hierarchy -top kernel; proc; flatten; techmap -map wires.v; opt_clean; techmap; opt_clean; write_blif before.blif; \
         design -reset; read_verilog kernel.v; hierarchy -top kernel; proc; flatten; techmap -map wires.v; opt_clean; techmap; opt_clean; write_blif after.blif",
    known: "for every input the stages match the same code compiled by XLS as one stage, with registers as wires",
};

/// Whether the netlist in the folder of a design computes what its Verilog says; `stat` is what Yosys says of its cells.
pub(super) fn netlist(rtl: &Path, stat: &str) -> Check {
    if stat.contains("DSP48") {
        return not_run(OF_NETLIST.name, "the netlist has multipliers (DSP48E2), for which Yosys has no model");
    }
    OF_NETLIST.run(rtl)
}

/// Whether the stages that XLS made compute what it makes of the same code in one stage.
pub(super) fn stages(xls: &Path) -> Check {
    if !xls.join("plain.v").is_file() {
        return not_run(OF_STAGES.name, "XLS did not make the code in one stage when the bundle was made");
    }
    OF_STAGES.run(xls)
}

impl Proof {
    fn run(&self, folder: &Path) -> Check {
        let Some(version) = version("yosys-abc", "-h") else {
            return not_run(self.name, "yosys-abc is not on PATH");
        };
        if std::fs::write(folder.join("wires.v"), WIRES).is_err() {
            return not_run(self.name, "no file could be written");
        }
        let made = run_within(folder, &["yosys", "-q", "-p", self.functions], TO_MAKE);
        let proof = ["yosys-abc", "-c", "cec before.blif after.blif"];
        let command = format!("yosys -q -p \"{}\" && {}", self.functions, proof.join(" "));
        let (state, found, wall_s) = if made.is_success {
            let Ran { said, wall_s, is_late, .. } = run_within(folder, &proof, PATIENCE);
            let (state, found) = judged(&said, is_late, self.known);
            (state, found, made.wall_s + wall_s)
        } else {
            (CheckState::NotFinished, format!("not proven: {}", last(&made.said)), made.wall_s)
        };
        let version = version.trim_end_matches(':').to_owned();
        Check { name: self.name.to_owned(), state, found, command, version, wall_s, figures: Vec::new() }
    }
}

fn judged(said: &str, is_late: bool, known: &str) -> (CheckState, String) {
    if said.contains("Networks are equivalent") {
        return (CheckState::Passed, known.to_owned());
    }
    if said.contains("NOT EQUIVALENT") {
        return (CheckState::Failed, "there are inputs for which the two differ".to_owned());
    }
    let why = if is_late { format!("undecided after {} s", PATIENCE.as_secs()) } else { last(said).to_owned() };
    (CheckState::NotFinished, format!("not proven: {why}"))
}

fn last(said: &str) -> &str {
    said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it printed nothing")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::tools::run;

    /// The lesser of two numbers, two clocks late, one of them negated before where that is asked.
    fn kernel(turned: &str) -> String {
        format!(
            "module kernel(input wire clk, input wire [15:0] x, output wire [7:0] y);\n  reg signed [7:0] a, b, c;\n  always @(posedge clk) begin\n    a <= x[7:0];\n    b <= {turned}x[15:8];\n    c <= a < b ? a : b;\n  end\n  assign y = c;\nendmodule\n"
        )
    }

    #[test]
    fn a_netlist_is_what_it_was_made_of_or_not() {
        for (made_of, expected) in [("", CheckState::Passed), ("-", CheckState::Failed)] {
            let folder = tempfile::tempdir().expect("a folder");
            let rtl = folder.path();
            std::fs::write(rtl.join("kernel.v"), kernel(made_of)).expect("written");
            let script =
                format!("read_verilog kernel.v; synth_xilinx -family xcup -flatten -top kernel; write_rtlil {NETLIST}");
            if !run(rtl, &["yosys", "-q", "-p", &script]).is_success {
                return println!("skipped: a_netlist_is_what_it_was_made_of_or_not: no yosys");
            }
            std::fs::write(rtl.join("kernel.v"), kernel("")).expect("written");
            let check = netlist(rtl, "");
            match check.state {
                CheckState::NotRun => println!("skipped: a_netlist_is_what_it_was_made_of_or_not: {}", check.found),
                state => assert_eq!(state, expected, "{}", check.found),
            }
        }
        assert_eq!(judged("", true, ""), (CheckState::NotFinished, "not proven: undecided after 60 s".to_owned()));
    }
}
