//! The files of a bundle, made from a program and what is known of the region; and the manifest that holds their hashes.

mod core_page;
mod documents;
mod drawing;
mod files;
mod plain;
mod readme;

pub(crate) use documents::laid_out;
pub use files::{Files, Recorded, Source};
pub use readme::readme;

use crate::arithmetic::Fixed;
use crate::jobs::{Job, Progress, side_by_side};
use crate::program::Program;
use crate::vectors::{self, Vectors};
use crate::verilog::{self, Numbers};
use crate::{Refusal, cpp, xls};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Name and version of a bundle's manifest.
pub const SCHEMA: &str = "ridgeline.handoff.v1";

/// The manifest's name.
pub const MANIFEST: &str = "MANIFEST.json";

/// All files that follow from the program alone; `tell` hears how far the vectors and the designs are.
///
/// # Errors
/// [`Refusal`] where vectors cannot be computed.
pub fn files(
    program: &Program,
    source: &Source,
    formats: &[Fixed],
    tell: &mut dyn FnMut(&Progress),
) -> Result<Files, Refusal> {
    let mut files = specification(source);
    let mut put = |path: &str, text: String| files.insert(path.to_owned(), text.into_bytes());
    put("spec/interface.json", documents::laid_out(&documents::interface(program, source)));
    put("spec/dataflow.json", documents::laid_out(&documents::dataflow(program)));
    put("spec/dataflow.dot", documents::dot(program));
    if let Some(picture) = drawing::svg(program) {
        put("spec/dataflow.svg", picture);
    }
    put("spec/memory_plan.json", documents::laid_out(&documents::memory(program, source)));
    put("hls/numbers.h", cpp::NUMBERS.to_owned());
    put("hls/kernel.h", cpp::header(program));
    put("hls/kernel.cpp", cpp::kernel(program));
    put("hls/tb.cpp", cpp::test_bench(program));
    put("golden/engines.py", include_str!("engines.py").to_owned());
    let mut sets = vectors::sets(program);
    sets.extend(recorded(program, source, &mut files)?);
    let numerics = golden(program, &sets, formats, &mut files, tell)?;
    let designs = designs(program, formats, &files, tell);
    files.extend(designs);
    let names: Vec<Value> = sets.iter().map(|set| json!({ "name": set.name })).collect();
    let mut put = |path: &str, text: String| files.insert(path.to_owned(), text.into_bytes());
    put(
        "golden/vectors.json",
        documents::laid_out(&json!({ "seeded": true, "captured": !source.recorded.is_empty(), "sets": names })),
    );
    put("spec/numerics.json", documents::laid_out(&numerics));
    put("hls/Makefile", documents::makefile(&sets, &usable(&numerics)));
    Ok(files)
}

/// The files of a region that has no program: what there is to specify it, and nothing that was generated.
pub fn specification(source: &Source) -> Files {
    let mut files = Files::new();
    let mut put = |path: &str, text: &str| files.insert(path.to_owned(), text.as_bytes().to_vec());
    put("spec/module.hlo.txt", &source.hlo);
    put("spec/region.hlo.txt", &source.region_hlo);
    if let Some(text) = &source.before {
        put("spec/module.before.hlo.txt", text);
    }
    if let Some(text) = &source.stablehlo {
        put(if source.is_whole { "spec/module.stablehlo.mlir" } else { "spec/whole_module.stablehlo.mlir" }, text);
    }
    if let Some(text) = &source.buffers_text {
        put("spec/buffer_assignment.txt", text);
    }
    if let Some(plan) = &source.buffers {
        files.insert("spec/buffer_assignment.json".to_owned(), documents::laid_out(plan).into_bytes());
    }
    files
}

/// Verilog and its like, or why there is none.
fn designs(program: &Program, formats: &[Fixed], files: &Files, tell: &mut dyn FnMut(&Progress)) -> Files {
    let fixed = design_format(formats).map(Numbers::Fixed);
    let all: Vec<Numbers> = fixed.into_iter().chain([Numbers::Single, Numbers::Flushed]).collect();
    let jobs = all.iter().map(|numbers| {
        Job::new(numbers.name(), 1, move || match numbers {
            Numbers::Flushed => (numbers, xls::files(program, files)),
            _ => (numbers, verilog::files(program, *numbers, files)),
        })
    });
    let made = side_by_side(jobs.collect(), at_once(program), tell);
    let files_of = |(numbers, made): (&Numbers, Result<Files, Refusal>)| {
        made.unwrap_or_else(|Refusal(why)| {
            let words = if *numbers == Numbers::Flushed { "not for XLS" } else { "no Verilog" };
            Files::from([(numbers.refusal().to_owned(), format!("{words}, because {why}\n").into_bytes())])
        })
    };
    made.into_iter().flat_map(files_of).collect()
}

/// Bytes of memory that computing a program several times at once may take.
const MOST_MEMORY: usize = 4 << 30;

/// How often a program may be computed at once, by what its values take; each is a number with an account of its error.
fn at_once(program: &Program) -> usize {
    let elements = program.nodes.iter().fold(1_usize, |all, node| all.saturating_add(node.elements()));
    (MOST_MEMORY / elements.saturating_mul(24).max(1)).max(1)
}

/// The format of the Verilog: the narrowest that was asked for.
fn design_format(formats: &[Fixed]) -> Option<Fixed> {
    formats.iter().copied().min_by_key(|format| format.width)
}

/// Formats that a bundle has vectors of.
pub(crate) fn usable(numerics: &Value) -> Vec<String> {
    let rows = numerics["formats"].as_array().into_iter().flatten();
    rows.filter(|row| row["why_not"].is_null()).filter_map(|row| row["slug"].as_str().map(str::to_owned)).collect()
}

/// What one of our own engines made of one set.
enum Made {
    Strict(Vec<Vec<u8>>),
    Bounded(Vec<vectors::Bounds>),
    Fixed(Result<Vec<vectors::InFormat>, String>),
}

/// Vectors with what comes out by our own engines, and what that says of numbers.
fn golden(
    program: &Program,
    sets: &[Vectors],
    formats: &[Fixed],
    files: &mut Files,
    tell: &mut dyn FnMut(&Progress),
) -> Result<Value, Refusal> {
    let refused = |error: crate::CannotCompute| Refusal(error.to_string());
    let inputs: Vec<_> =
        sets.iter().map(|set| vectors::inputs_of(program, &set.inputs)).collect::<Result<_, _>>().map_err(refused)?;
    let mut jobs: Vec<Job<'_, Result<Made, crate::CannotCompute>>> = Vec::new();
    for (set, inputs) in sets.iter().zip(&inputs) {
        let name = |engine: &str| format!("`{}` {engine}", set.name);
        jobs.push(Job::new(name("as typed"), 1, || vectors::strict(program, inputs).map(Made::Strict)));
        jobs.push(Job::new(name("with bounds"), 2, || vectors::bounded(program, inputs).map(Made::Bounded)));
        for format in formats {
            let made = || vectors::fixed(program, inputs, *format).map_err(|error| error.to_string());
            jobs.push(Job::new(name(&format!("in {format}")), 1, move || Ok(Made::Fixed(made()))));
        }
    }
    let mut made = side_by_side(jobs, at_once(program), tell).into_iter();
    let mut tolerances = Vec::new();
    let mut rows: Vec<documents::FormatRow> = formats.iter().map(|format| documents::FormatRow::new(*format)).collect();
    for set in sets {
        let folder = format!("golden/{}", set.name);
        for (at, bytes) in set.inputs.iter().enumerate() {
            files.insert(format!("{folder}/in{at}.bin"), bytes.clone());
        }
        let (mut references, mut of_formats) = (Vec::new(), Vec::new());
        for one in made.by_ref().take(2 + formats.len()) {
            match one.map_err(refused)? {
                Made::Strict(outputs) => {
                    let named = |(at, bytes)| (format!("{folder}/strict.out{at}.bin"), bytes);
                    files.extend(outputs.into_iter().enumerate().map(named));
                }
                Made::Bounded(outputs) => references = outputs,
                Made::Fixed(outputs) => of_formats.push(outputs),
            }
        }
        for (row, outputs) in rows.iter_mut().zip(of_formats) {
            match outputs {
                Ok(outputs) if row.why_not.is_none() => row.add(&set.name, &outputs, &references, files),
                Ok(_) => {}
                Err(why) => row.why_not = Some(why),
            }
        }
        for (at, (values, errors)) in references.into_iter().enumerate() {
            tolerances.push(documents::tolerance(&set.name, at, &values, &errors));
            files.insert(format!("{folder}/f64.out{at}.bin"), values);
            files.insert(format!("{folder}/bound.out{at}.bin"), errors);
        }
    }
    for row in rows.iter().filter(|row| row.why_not.is_some()) {
        files.retain(|path, _| !path.contains(&format!("/{}.out", row.format.slug())));
    }
    Ok(documents::numerics(program, &tolerances, &rows))
}

/// Sets of the calls that were recorded, and what the program itself made of them.
fn recorded(program: &Program, source: &Source, files: &mut Files) -> Result<Vec<Vectors>, Refusal> {
    let mut sets = Vec::new();
    for one in &source.recorded {
        let widths = program.outputs.iter().map(|output| {
            let node = &program.nodes[*output];
            node.elements() * vectors::width(node.element_type)
        });
        if !one.outputs.iter().map(Vec::len).eq(widths) {
            return Err(Refusal(format!("call {} was recorded with values of a different length", one.call)));
        }
        for (at, bytes) in one.outputs.iter().enumerate() {
            files.insert(format!("golden/{}/program.out{at}.bin", one.set()), bytes.clone());
        }
        sets.push(Vectors { name: one.set(), inputs: one.inputs.clone() });
    }
    Ok(sets)
}

/// Writes files into a folder, which is made where it is missing.
///
/// # Errors
/// The path of the first file that cannot be written, and why.
pub fn write(files: &Files, folder: &Path) -> Result<(), (PathBuf, io::Error)> {
    files.iter().try_for_each(|(name, bytes)| {
        let path = folder.join(name);
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        made.and_then(|()| fs::write(&path, bytes)).map_err(|error| (path, error))
    })
}

/// SHA-256 in hexadecimal.
pub fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// One check of a bundle.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// Its name, `c++`.
    pub name: String,
    /// How it ended.
    pub state: CheckState,
    /// What was found, or why it was not run.
    pub found: String,
    /// The command, as it was run.
    pub command: String,
    /// The tool's version; empty where there is none.
    pub version: String,
    /// How long it took, seconds.
    pub wall_s: f64,
    /// What it measured, by name: cells by Yosys, clocks by a simulation.
    pub figures: Vec<(&'static str, f64)>,
}

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckState {
    /// It was run and holds.
    Passed,
    /// It was run and does not hold.
    Failed,
    /// It was begun and took too long: that says nothing.
    NotFinished,
    /// Nobody ran it.
    NotRun,
}

impl CheckState {
    /// The word in the ledger.
    pub fn name(self) -> &'static str {
        match self {
            CheckState::Passed => "passed",
            CheckState::Failed => "failed",
            CheckState::NotFinished => "not finished",
            CheckState::NotRun => "not run",
        }
    }
}

impl Check {
    /// The check in the ledger.
    pub fn document(&self) -> Value {
        json!({
            "check": self.name,
            "state": self.state.name(),
            "found": self.found,
            "command": self.command,
            "version": self.version,
            "wall_s": (self.wall_s * 1e3).round() / 1e3,
            "figures": self.figures.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect::<serde_json::Map<_, _>>(),
        })
    }
}

/// The manifest: hashes of all files, the ledger, and a seal over itself.
pub fn manifest(
    files: &Files,
    source: &Source,
    refused: Option<&Refusal>,
    engines: &Value,
    ledger: &[Check],
) -> String {
    let hashes: serde_json::Map<String, Value> = files
        .iter()
        .map(|(path, bytes)| (path.clone(), json!({ "sha256": hash(bytes), "bytes": bytes.len() })))
        .collect();
    let document = json!({
        "schema": SCHEMA,
        "made_by": format!("ridgeline {}", env!("CARGO_PKG_VERSION")),
        "source": {
            "region": source.region,
            "module": source.module,
            "computation": source.computation,
            "whole_module": source.is_whole,
            "location": source.location,
            "scope": source.scope,
        },
        "no_specification_because": refused.map(|refusal| refusal.0.clone()),
        "engines": engines,
        "ledger": ledger.iter().map(Check::document).collect::<Vec<_>>(),
        "files": hashes,
        "seal": "",
    });
    sealed(document)
}

/// The document with the hash of itself, where that is empty, in `seal`.
pub(crate) fn sealed(mut document: Value) -> String {
    document["seal"] = Value::String(String::new());
    let seal = hash(documents::laid_out(&document).as_bytes());
    document["seal"] = Value::String(seal);
    documents::laid_out(&document)
}
