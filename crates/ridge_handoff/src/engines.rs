//! Other engines, run by a Python that has JAX: what comes out by the compiler and by the reference interpreter.

use crate::running::answer;
use serde_json::{Value, json};
use std::path::Path;

/// Runs the bundle's `golden/engines.py`, which writes outputs beside the vectors; gives what each engine says of itself.
pub fn run(python: &Path, folder: &Path) -> Value {
    let why = |why: String| json!({ "xla": { "why": why }, "stablehlo": { "why": why } });
    let ran = answer(python, &folder.join("golden/engines.py"), Some(folder));
    let said =
        ran.said.lines().rev().find_map(|line| serde_json::from_str::<Value>(line).ok()).filter(Value::is_object);
    said.unwrap_or_else(|| {
        let error = &ran.said;
        let telling = error.lines().rev().find(|line| line.contains("Check failed") || line.contains("Error"));
        let line = telling.or_else(|| error.lines().rev().find(|line| !line.trim().is_empty()));
        why(line.unwrap_or("it ended without output").trim().chars().take(300).collect())
    })
}
