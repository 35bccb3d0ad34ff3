//! Writes a bundle: files, then what other engines give, then what every check says, then the manifest; whole or not at all.

use super::{beside, lines, progress, say};
use crate::failure::Failure;
use crate::timings::Timings;
use ridge_report::{Listing, csv, offload};
use ridgeline::handing_over::bundle::{Check, Files, MANIFEST, Recorded, manifest, readme};
use ridgeline::handing_over::verify::{Running, open, verify};
use ridgeline::handing_over::{engines, xls};
use ridgeline::{Handoff, Session, Topic};
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Writes the bundle to `output`, and gives what the checks said.
pub(super) fn bundle(
    session: &Session,
    mut handoff: Handoff,
    output: &Path,
    python: Option<&Path>,
    timings: &mut Timings,
) -> Result<Vec<Check>, Failure> {
    if output.exists() {
        return Err(Failure::usage("the folder is there already").at(output).hint("name another, or remove it first"));
    }
    handoff.files.insert("perf/offload.json".to_owned(), offload::json::document(&handoff.offload).into_bytes());
    if let Some(view) = session.answered(Topic::Transfers).first() {
        let table = session.table(Topic::Transfers, view.id)?;
        handoff.files.insert("spec/dma.csv".to_owned(), csv::table(&Listing::whole(table)).into_bytes());
    }
    let parent = beside(output)?;
    let folder = tempfile::Builder::new().prefix(".handoff-").tempdir_in(&parent);
    let folder = folder.map_err(|error| Failure::io("could not make the folder", &error).at(&parent))?;
    write(folder.path(), &handoff.files)?;
    let mut engines_said = json!({});
    if handoff.refused.is_none() {
        tell("other engines");
        engines_said = timings.phase("engines", || engines::run(&python_of(python), folder.path()));
        collect(folder.path(), &engines_said, &mut handoff.files)?;
        collect_made(folder.path(), "spec/module.vhlo.mlirbc", &mut handoff.files)?;
        if handoff.files.contains_key("xls/kernel.x") {
            tell("XLS");
            engines_said["xls"] = timings.phase("xls", || xls::run(&python_of(python), folder.path()));
            collect_made(folder.path(), "xls/kernel.v", &mut handoff.files)?;
        }
        if !handoff.source.recorded.is_empty() {
            let sets: Vec<String> = handoff.source.recorded.iter().map(Recorded::set).collect();
            engines_said["program"] = json!({ "ran": "the recording", "sets": sets, "version": "" });
        }
    }
    // The checks run on a bundle that is whole but for their own outcome.
    let ledger = {
        put(
            folder.path(),
            MANIFEST,
            manifest(&handoff.files, &handoff.source, handoff.refused.as_ref(), &engines_said, &[]).as_bytes(),
        )?;
        let opened = open(folder.path()).map_err(|error| Failure::failed(error.to_string()).at(folder.path()))?;
        timings.phase("checks", || verify(&opened, Running::Everything, progress()))
    };
    let page = readme(&handoff.files, &handoff.source, handoff.refused.as_ref(), &ledger);
    put(folder.path(), "README.md", page.as_bytes())?;
    handoff.files.insert("README.md".to_owned(), page.into_bytes());
    let text = manifest(&handoff.files, &handoff.source, handoff.refused.as_ref(), &engines_said, &ledger);
    put(folder.path(), MANIFEST, text.as_bytes())?;
    let kept = folder.keep();
    std::fs::rename(&kept, output).map_err(|error| Failure::io("could not rename the folder", &error).at(output))?;
    open_to_all(output);
    if let Some(refusal) = &handoff.refused {
        say(&format!("no specification, because {refusal}\n"))?;
    }
    say(&lines(&ledger))?;
    say(&format!(
        "wrote {} ({} files); README.md says what is checked and what is not\n",
        output.display(),
        handoff.files.len() + 1
    ))?;
    Ok(ledger)
}

fn tell(what: &str) {
    // Nothing is left to tell it to where standard error is closed.
    let _ = writeln!(anstream::stderr(), "ridgeline: {what}");
}

fn python_of(named: Option<&Path>) -> PathBuf {
    if let Some(path) = named {
        return path.to_path_buf();
    }
    let environment = std::env::var_os("VIRTUAL_ENV").map(|folder| PathBuf::from(folder).join("bin/python"));
    environment.filter(|path| path.is_file()).unwrap_or_else(|| PathBuf::from("python3"))
}

/// What the engines wrote beside the vectors.
fn collect(folder: &Path, said: &Value, files: &mut Files) -> Result<(), Failure> {
    let inputs: Vec<String> = files.keys().filter(|path| path.ends_with("/strict.out0.bin")).cloned().collect();
    for engine in ["xla", "stablehlo"].into_iter().filter(|engine| !said[*engine]["ran"].is_null()) {
        for path in &inputs {
            let set = path.trim_end_matches("strict.out0.bin");
            let name = set.trim_start_matches("golden/").trim_end_matches('/');
            if !said[engine]["sets"].as_array().is_some_and(|sets| sets.iter().any(|one| one == name)) {
                continue;
            }
            for at in 0.. {
                if !files.contains_key(&format!("{set}strict.out{at}.bin")) {
                    break;
                }
                let name = format!("{set}{engine}.out{at}.bin");
                let bytes = std::fs::read(folder.join(&name))
                    .map_err(|error| Failure::io("could not read the vectors", &error).at(Path::new(&name)))?;
                files.insert(name, bytes);
            }
        }
    }
    // What was written before an engine failed is no vector.
    for path in inputs.iter().map(|path| path.trim_end_matches("/strict.out0.bin")) {
        for entry in std::fs::read_dir(folder.join(path)).into_iter().flatten().flatten() {
            let name = format!("{path}/{}", entry.file_name().to_string_lossy());
            if !files.contains_key(&name) {
                std::fs::remove_file(entry.path())
                    .map_err(|error| Failure::io("could not remove a file", &error).at(&entry.path()))?;
            }
        }
    }
    Ok(())
}

/// A file that a tool made, where it did.
fn collect_made(folder: &Path, name: &str, files: &mut Files) -> Result<(), Failure> {
    match std::fs::read(folder.join(name)) {
        Ok(bytes) => {
            files.insert(name.to_owned(), bytes);
            Ok(())
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Failure::io("could not read a file", &error).at(Path::new(name))),
    }
}

fn write(folder: &Path, files: &Files) -> Result<(), Failure> {
    files.iter().try_for_each(|(path, bytes)| put(folder, path, bytes))
}

fn put(folder: &Path, path: &str, bytes: &[u8]) -> Result<(), Failure> {
    let target = folder.join(path);
    let failed = |error: std::io::Error| Failure::io("could not write", &error).at(&target);
    target.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(failed)?;
    std::fs::write(&target, bytes).map_err(failed)
}

/// Temporary folders are for their owner alone; a bundle is to be handed over.
fn open_to_all(folder: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let _ = std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755));
    }
    #[cfg(not(unix))]
    let _ = folder;
}
