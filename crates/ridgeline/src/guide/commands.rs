//! Commands that a stage advises, with the paths and the program of this capture in them.

use crate::escape::shell_word;
use crate::scaling::is_benchmark;
use crate::session::Session;
use ridge_documents::Manifest;
use serde_json::Value;

/// What stands for a program that the capture does not name.
const PROGRAM: &str = "python PROGRAM.py";

/// Makes commands.
pub(super) struct Commands {
    /// The capture, as it is typed.
    path: String,
    /// The program that was recorded, as it is typed.
    program: String,
    /// The suite of a benchmark.
    suite: Option<String>,
    /// Whether the path is the folder of a recording of the program, which counters can be put into.
    is_recording: bool,
    /// Its largest size.
    largest: Option<u64>,
    /// Sizes that were measured.
    pub(super) sizes: usize,
    /// The device that is meant.
    meant: Option<String>,
}

impl Commands {
    pub(super) fn of(session: &Session, meant: Option<&str>) -> Commands {
        let manifest = session.manifest().map(|manifest| &manifest.document);
        let suite = manifest
            .filter(|document| document.kind == "bench")
            .and_then(|document| document.options.get("suite").and_then(Value::as_str).map(str::to_owned));
        let sizes: Vec<u64> = manifest
            .and_then(|document| document.options.get("sizes"))
            .and_then(Value::as_array)
            .map(|sizes| sizes.iter().filter_map(Value::as_u64).collect())
            .unwrap_or_default();
        let command = manifest.filter(|document| document.kind != "bench" && !document.command.is_empty());
        let words =
            |document: &Manifest| document.command.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ");
        let program = command.map(words);
        let is_whole = is_benchmark(session.root());
        Commands {
            path: shell_word(&session.root().display().to_string()),
            program: program.unwrap_or_else(|| PROGRAM.to_owned()),
            is_recording: command.is_some() && session.root().is_dir(),
            suite,
            largest: sizes.iter().copied().max(),
            sizes: if is_whole { sizes.len() } else { 0 },
            meant: meant.map(str::to_owned),
        }
    }

    /// `ridgeline WHAT PATH`.
    pub(super) fn show(&self, what: &str) -> String {
        format!("ridgeline {what} {}", self.path)
    }

    /// The same, with more behind the path.
    pub(super) fn show_with(&self, what: &str, more: &str) -> String {
        format!("ridgeline {what} {} {more}", self.path)
    }

    /// `ridgeline offload`, beside the device that is meant.
    pub(super) fn offload(&self) -> String {
        match &self.meant {
            Some(meant) => self.show_with("offload", &format!("--as {}", shell_word(meant))),
            None => self.show("offload"),
        }
    }

    /// Recording the program again, with `options`.
    pub(super) fn record(&self, options: &str) -> String {
        let options = if options.is_empty() { String::new() } else { format!("{options} ") };
        match &self.suite {
            Some(suite) => format!("ridgeline bench {} {options}-o RUN", shell_word(suite)),
            None => format!("ridgeline record {options}-o RUN -- {}", self.program),
        }
    }

    /// Counting what the `top` longest kernels do, and looking at it.
    pub(super) fn count(&self, top: usize) -> Vec<String> {
        let folder = if self.is_recording { self.path.as_str() } else { "RUN" };
        vec![
            format!("ridgeline record --with ncu:top={top} -o {folder} -- {}", self.program()),
            format!("ridgeline roofline {folder} --by profile"),
        ]
    }

    /// Running the program with the code of a bundle in the place of its region.
    pub(super) fn emulate(&self, bundle: &str) -> String {
        format!("ridgeline handoff emulate {} -- {}", shell_word(bundle), self.program())
    }

    /// Running the program with a change and without it, one beside the other.
    pub(super) fn try_fix(&self) -> String {
        format!("ridgeline try --patch FIX.diff -- {}", self.program())
    }

    /// The program; that of a suite is not known.
    fn program(&self) -> &str {
        if self.suite.is_some() { PROGRAM } else { &self.program }
    }

    /// Recording a part of the program that somebody wrote in JAX.
    pub(super) fn in_jax(&self) -> String {
        "ridgeline record -o RUN -- python PART_IN_JAX.py".to_owned()
    }

    /// The program under another tool.
    pub(super) fn under(&self, tool: &str) -> String {
        format!("{tool} {}", self.program())
    }

    /// Recording the program with more to do.
    pub(super) fn larger(&self, options: &str) -> String {
        format!("ridgeline record {options} -o LARGER -- {}", self.program)
    }

    /// Measuring the suite at more sizes.
    pub(super) fn at_sizes(&self) -> String {
        let suite = self.suite.as_deref().unwrap_or("SUITE");
        let sizes = match self.largest {
            Some(largest) => format!("{largest},{},{}", largest.saturating_mul(2), largest.saturating_mul(4)),
            None => "32,64,128".to_owned(),
        };
        format!("ridgeline bench {} --sizes {sizes} -o RUN", shell_word(suite))
    }
}
