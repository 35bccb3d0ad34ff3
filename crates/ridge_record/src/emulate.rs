//! Run a program with the part of the harness that puts generated code in the place of a region.
//!
//! What the region is, and how its code is made, is said by the caller in the configuration.

use crate::error::RecordError;
use crate::harness::write_harness;
use crate::launch::run_under;
use crate::no_harness::why_no_harness;
use crate::options::RecordOptions;
use crate::outcome::ProgramStatus;
use crate::pieces::read_pieces;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Tells the harness where its configuration is.
const CONFIG_VARIABLE: &str = "RIDGELINE_EMULATE";

/// What a region is, for the harness.
#[derive(Debug, Clone)]
pub struct Region {
    /// The compiled module, where the whole of it is the region.
    pub module: Option<String>,
    /// Names under which a program may call a function the region.
    pub names: Vec<String>,
    /// What goes in, `f32[8,8]` each, and what comes out.
    pub inputs: Vec<String>,
    /// The same of what comes out.
    pub outputs: Vec<String>,
    /// StableHLO of the module, where it is known.
    pub stablehlo: Option<PathBuf>,
    /// HLO of the module.
    pub hlo: PathBuf,
    /// File and line of the program; empty where not known.
    pub location: String,
}

/// How a run went.
#[derive(Debug, Clone)]
pub struct EmulatedRun {
    /// How the program ended.
    pub status: ProgramStatus,
    /// How long it took.
    pub wall: Duration,
    /// Why no process loaded the harness, where none did.
    pub no_harness: Option<String>,
}

/// Runs `command` on processors, with `library` in the place of the region, or with nothing replaced; what the harness finds
/// is left in `folder`, and what the program says in `log`, where that is named.
///
/// # Errors
/// [`RecordError`] if the program could not be started or watched.
pub fn run(
    command: &[OsString],
    region: &Region,
    library: Option<&Path>,
    folder: &Path,
    log: Option<&Path>,
) -> Result<EmulatedRun, RecordError> {
    let harness = folder.join("harness");
    let config = folder.join("config.json");
    let failed = |source| RecordError::Folder { path: folder.to_path_buf(), source };
    fs::create_dir_all(folder.join("pieces")).map_err(failed)?;
    write_harness(&harness).map_err(failed)?;
    fs::write(&config, configuration(region, library, folder).to_string()).map_err(failed)?;
    let options = RecordOptions {
        environment: vec![("JAX_PLATFORMS".into(), "cpu".into())],
        log: log.map(Path::to_path_buf),
        ..RecordOptions::new(command.iter().cloned())
    };
    let run = run_under(&options, &options.command, &harness, (CONFIG_VARIABLE, &config), &mut |_| {}, &mut |_, _| {})?;
    let is_attached = fs::read_dir(folder)
        .is_ok_and(|entries| entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with("events.")));
    let why = || why_no_harness(command, &read_pieces(&folder.join("pieces")).refused);
    Ok(EmulatedRun { status: run.status, wall: run.wall, no_harness: (!is_attached).then(why) })
}

fn configuration(region: &Region, library: Option<&Path>, folder: &Path) -> Value {
    json!({
        "schema": "ridgeline.emulate.v1",
        "out": folder,
        "library": library,
        "module": region.module,
        "names": region.names,
        "inputs": region.inputs,
        "outputs": region.outputs,
        "stablehlo": region.stablehlo,
        "hlo": region.hlo,
        "location": region.location,
    })
}
