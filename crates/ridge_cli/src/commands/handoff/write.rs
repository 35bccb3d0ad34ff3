//! Writes a bundle: files, then what other engines give, then what every check says, then the manifest; whole or not at all.

use super::words::{lines, progress, refuse_stopped, say};
use crate::failure::Failure;
use crate::timings::Timings;
use ridge_files::NewFolder;
use ridge_report::{Listing, csv, offload};
use ridgeline::handing_over::bundle::{self, Check, Files, MANIFEST, Recorded, manifest, readme};
use ridgeline::handing_over::jobs::{Job, side_by_side};
use ridgeline::handing_over::verify::{Opened, Place, Running, hashes, of_code, of_engines, open};
use ridgeline::handing_over::{engines, xls};
use ridgeline::{Handoff, Session, Topic};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Writes the bundle to `output`, and gives what the checks said.
pub(super) fn made(
    session: &Session,
    mut handoff: Handoff,
    output: &Path,
    python: Option<&Path>,
    timings: &mut Timings,
) -> Result<Vec<Check>, Failure> {
    if output.exists() {
        return Err(Failure::usage("the directory already exists").at(output).hint("name another, or remove it first"));
    }
    handoff.files.insert("perf/offload.json".to_owned(), offload::json::document(&handoff.offload).into_bytes());
    if let Some(view) = session.answered(Topic::Transfers).first() {
        let table = session.table(Topic::Transfers, view.id)?;
        handoff.files.insert("spec/dma.csv".to_owned(), csv::table(&Listing::whole(table)).into_bytes());
    }
    let parent = beside(output)?;
    let folder =
        NewFolder::beside(output).map_err(|error| Failure::io("could not create the directory", &error).at(&parent))?;
    let sealed = |files: &Files, engines: &Value, ledger: &[Check]| {
        manifest(files, &handoff.source, handoff.refused.as_ref(), engines, ledger)
    };
    let opened = |files: &Files, engines: &Value| {
        write(folder.path(), files)?;
        put(folder.path(), MANIFEST, sealed(files, engines, &[]))?;
        open(folder.path()).map_err(|error| Failure::failed(error.to_string()).at(folder.path()))
    };
    // Other engines run beside the checks of the code, which do not need them.
    let bundle = opened(&handoff.files, &json!({}))?;
    let (mut said, mut ledger) =
        timings.phase("checks", || asked(&bundle, handoff.refused.is_none().then(|| python_of(python)), folder.path()));
    refuse_stopped()?;
    if handoff.refused.is_none() {
        collect(folder.path(), &said, &mut handoff.files)?;
        for made in ["spec/module.vhlo.mlirbc", "xls/kernel.v", "xls/plain.v"] {
            collect_made(folder.path(), made, &mut handoff.files)?;
        }
        if !handoff.source.recorded.is_empty() {
            let sets: Vec<String> = handoff.source.recorded.iter().map(Recorded::set).collect();
            said["program"] = json!({ "ran": "the recording", "sets": sets, "version": "" });
        }
    }
    // The rest runs on a bundle that is whole but for the outcome of the checks.
    let bundle = opened(&handoff.files, &said)?;
    ledger.insert(0, hashes(&bundle));
    let place = Place::new(&bundle, Running::Everything);
    ledger.extend(timings.phase("checks", || {
        side_by_side(of_engines(&bundle, &place), usize::MAX, &mut progress("checks of other engines"))
            .into_iter()
            .flatten()
    }));
    let page = readme(&handoff.files, &handoff.source, handoff.refused.as_ref(), &ledger);
    put(folder.path(), "README.md", page.clone())?;
    handoff.files.insert("README.md".to_owned(), page.into_bytes());
    let text = manifest(&handoff.files, &handoff.source, handoff.refused.as_ref(), &said, &ledger);
    put(folder.path(), MANIFEST, text)?;
    refuse_stopped()?;
    folder.keep().map_err(|error| Failure::io("could not write the directory", &error).at(output))?;
    if let Some(refusal) = &handoff.refused {
        say(&format!("no specification, because {refusal}\n"))?;
    }
    say(&lines(&ledger))?;
    say(&format!("wrote {} ({} files); see README.md for the checks\n", output.display(), handoff.files.len() + 1))?;
    Ok(ledger)
}

/// What is done beside each other.
enum Done {
    Engines(Value),
    Xls(Value),
    Checks(Vec<Check>),
}

/// What other engines say of themselves, where there is a Python to ask, and what the checks of the code say.
fn asked(bundle: &Opened, python: Option<PathBuf>, folder: &Path) -> (Value, Vec<Check>) {
    let place = Place::new(bundle, Running::Everything);
    let checks = of_code(bundle, &place).into_iter();
    let mut jobs: Vec<Job<'_, Done>> =
        checks.map(|job| Job::new(job.name, job.takes, || Done::Checks((job.run)()))).collect();
    if let Some(python) = &python {
        // The interpreter takes minutes for what a processor does in milliseconds.
        let name = "XLA and the StableHLO interpreter";
        jobs.push(Job::new(name, 9, || Done::Engines(engines::run(python, folder))));
        if bundle.files.contains_key("xls/kernel.x") {
            jobs.push(Job::new("XLS", 4, || Done::Xls(xls::run(python, folder))));
        }
    }
    let (mut said, mut of_xls, mut ledger) = (json!({}), None, Vec::new());
    for done in side_by_side(jobs, usize::MAX, &mut progress("checks and engines")) {
        match done {
            Done::Engines(all) => said = all,
            Done::Xls(one) => of_xls = Some(one),
            Done::Checks(checks) => ledger.extend(checks),
        }
    }
    if let Some(one) = of_xls {
        said["xls"] = one;
    }
    (said, ledger)
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
    bundle::write(files, folder).map_err(|(path, error)| Failure::io("could not write", &error).at(&path))
}

fn put(folder: &Path, name: &str, text: String) -> Result<(), Failure> {
    write(folder, &Files::from([(name.to_owned(), text.into_bytes())]))
}

/// Where a bundle is being made, as long as it is not whole.
fn beside(output: &Path) -> Result<PathBuf, Failure> {
    let parent = output.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(parent)
        .map_err(|error| Failure::io("could not create the directory", &error).at(parent))?;
    Ok(parent.to_path_buf())
}
