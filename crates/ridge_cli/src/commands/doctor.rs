//! `ridgeline doctor`: what recording needs and this machine, or container, lacks.

use crate::arguments::{Globals, TextOutput};
use crate::ending::Ending;
use crate::failure::{FAILED, Failure};
use crate::output::deliver_checked;
use clap::{Args, ValueEnum, ValueHint};
use ridge_record::doctor::{Check, State, examine};
use ridge_report::doctor::{Line, json, text};
use ridge_report::terminal::Layout;
use std::path::PathBuf;

/// Check what recording needs: Python, JAX and PyTorch, GPUs, hardware counters, limits
///
/// For each missing part, shows the consequence and the command that fixes it. Works inside and outside containers.
/// Libraries are queried for their devices the way a program would, which takes seconds.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct DoctorArguments {
    /// Python interpreter [default: from $VIRTUAL_ENV, else .venv, else python3]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::ExecutablePath)]
    python: Option<PathBuf>,

    /// Output format
    #[arg(long, short = 'f', value_name = "FORMAT", default_value = "text", help_heading = "Output")]
    format: DoctorFormat,

    #[command(flatten)]
    text: TextOutput,
}

const EXAMPLES: &str = "\
Examples:
  ridgeline doctor                                   this machine
  ridgeline doctor --python .venv/bin/python         with another interpreter
  ridgeline doctor -f json                           for programs; docs/json has the schema

Exit status:
  0 if a program can be recorded here, even where something is limited
  1 if Python, or both JAX and PyTorch, are missing or do not start";

/// Forms of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DoctorFormat {
    /// For a terminal
    Text,
    /// A versioned document; see docs/json
    Json,
}

/// Runs the command.
pub(crate) fn run(arguments: &DoctorArguments, globals: &Globals) -> Result<Ending, Failure> {
    let checks = examine(arguments.python.as_deref());
    let lines: Vec<Line> = checks.iter().map(line).collect();
    let render = |layout: &Layout| match arguments.format {
        DoctorFormat::Text => text(&lines, layout),
        DoctorFormat::Json => json(&lines),
    };
    deliver_checked(render, arguments.text.output.as_deref(), &arguments.text.layout, globals)?;
    Ok(Ending::Code(if can_record(&checks) { 0 } else { FAILED }))
}

/// Whether a library that is recorded starts here.
fn can_record(checks: &[Check]) -> bool {
    let works = |check: &Check| ["jax", "torch"].contains(&check.name) && check.state != State::Missing;
    checks.iter().any(works)
}

fn line(check: &Check) -> Line {
    Line {
        name: check.name,
        state: check.state.name(),
        found: check.found.clone(),
        cost: check.cost,
        fix: check.fix.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_starts_is_enough() {
        let check = |name, state| Check { name, state, found: String::new(), cost: None, fix: None };
        let gpu = || check("gpu", State::Missing);
        assert!(can_record(&[gpu(), check("jax", State::Missing), check("torch", State::Limited)]));
        assert!(!can_record(&[gpu(), check("jax", State::Missing), check("python", State::Fine)]));
    }
}
