//! Other engines, run by a Python that has JAX: what comes out by the compiler and by the reference interpreter.

use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs the bundle's `golden/engines.py`, which writes outputs beside the vectors; gives what each engine says of itself.
pub fn run(python: &Path, folder: &Path) -> Value {
    let mut command = Command::new(python);
    command.arg(folder.join("golden/engines.py")).arg(folder).stdin(Stdio::null());
    let why = |why: String| json!({ "xla": { "why": why }, "stablehlo": { "why": why } });
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => return why(format!("{} could not be run: {error}", python.display())),
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let said = text.lines().rev().find_map(|line| serde_json::from_str::<Value>(line).ok()).filter(Value::is_object);
    said.unwrap_or_else(|| {
        let error = String::from_utf8_lossy(&output.stderr);
        let telling = error.lines().rev().find(|line| line.contains("Check failed") || line.contains("Error"));
        let line = telling.or_else(|| error.lines().rev().find(|line| !line.trim().is_empty()));
        why(line.unwrap_or("it ended without a word").trim().chars().take(300).collect())
    })
}
