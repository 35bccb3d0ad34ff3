//! The folder that a compilation leaves: one run folder for each GPU.

use super::run::Compiled;
use ridge_documents::{Document, Manifest, Missing, Written, read, to_text};
use serde_json::{Map, Value, json};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Why the folder cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// It holds something that no compilation made.
    #[error("{} is there, and no compilation made it", found.display())]
    InUse {
        /// What was found.
        found: PathBuf,
    },
    /// The system said no.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
}

/// Where a program was recorded, beside the GPUs' folders; the recorder replaces it.
const RECORDED: &str = "recorded";

/// Where a function was lowered, and what is in it.
const LOWERED: (&str, [&str; 4]) = ("lowered", ["jaxpr.txt", "stablehlo.mlir", "lowered.mlirbc", "versions.json"]);

/// Makes `out` ready: what an earlier compilation left in it is removed, and anything else stops this.
///
/// # Errors
/// [`WriteError`] where something else is there, or it cannot be written.
pub fn claim(out: &Path) -> Result<(), WriteError> {
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        |source| WriteError::Io { path, source }
    };
    fs::create_dir_all(out).map_err(failed(out))?;
    let mut ours = Vec::new();
    for entry in fs::read_dir(out).map_err(failed(out))? {
        let path = entry.map_err(failed(out))?.path();
        if path.ends_with(RECORDED) {
            continue;
        }
        if !is_compilation(&path) && !is_lowered(&path) {
            return Err(WriteError::InUse { found: path });
        }
        ours.push(path);
    }
    ours.iter().try_for_each(|path| fs::remove_dir_all(path).map_err(failed(path)))
}

fn is_lowered(folder: &Path) -> bool {
    let (name, files) = LOWERED;
    let is_ours =
        |entry: io::Result<fs::DirEntry>| entry.is_ok_and(|entry| files.iter().any(|file| entry.file_name() == *file));
    folder.ends_with(name) && fs::read_dir(folder).is_ok_and(|entries| entries.into_iter().all(is_ours))
}

fn is_compilation(folder: &Path) -> bool {
    // Killed before it had its manifest.
    if fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none()) {
        return true;
    }
    let bytes = fs::read(folder.join("manifest.json")).unwrap_or_default();
    read::<Manifest>(&bytes).is_ok_and(|read| read.document.kind == "compile")
}

/// Makes the folder of one GPU, with a manifest that says that nothing is compiled yet: where the compilation is killed, the next
/// one knows it for its own, and a reader for what it is.
///
/// # Errors
/// [`WriteError`] where it cannot be written.
pub fn begin(folder: &Path, target: &Value) -> Result<(), WriteError> {
    let mut options = Map::new();
    options.insert("target".into(), target.clone());
    let why = "the compilation did not end: it still runs, or was stopped".to_owned();
    write(
        folder,
        &Written {
            schema: <Manifest as Document>::SCHEMA.to_owned(),
            kind: "compile".to_owned(),
            recorder_version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            finished: Some(false),
            complete: Some(false),
            missing: vec![Missing { what: "modules".to_owned(), why: Some(why) }],
            options,
            ..Written::default()
        },
    )
}

/// Writes the manifest of what was compiled for one GPU into its folder.
///
/// `target` is what it was compiled for, as a reader of manifests gets it; `command` what was recorded, where something was.
///
/// # Errors
/// [`WriteError`] where it cannot be written.
pub fn write_manifest(
    folder: &Path,
    target: &Value,
    command: &[String],
    compiled: &Compiled,
) -> Result<(), WriteError> {
    let modules = compiled.modules.iter().map(|module| {
        json!({
            "name": module.name,
            "dir": format!("hlo/{}", module.folder),
            "program_id": module.number,
            "files": module.files,
            "compile_s": module.compile_s,
            "beyond_compile_s": module.beyond_s,
            "lowered_for": if module.is_lowered_elsewhere { "what ran" } else { "cuda" },
            "memory": module.memory,
        })
    });
    let noted = compiled.modules.iter().flat_map(|module| {
        module.notes.iter().map(|why| json!({"what": "compilation", "why": format!("{}: {why}", module.folder)}))
    });
    let missing = compiled.failed.iter().map(|(module, why)| Missing {
        what: format!("module {module}"),
        why: Some(format!("it could not be compiled: {why}")),
    });
    let mut versions = Map::new();
    versions.insert("jaxlib".into(), compiled.jaxlib.as_str().into());
    let mut options = Map::new();
    options.insert("target".into(), target.clone());
    let manifest = Written {
        schema: <Manifest as Document>::SCHEMA.to_owned(),
        kind: "compile".to_owned(),
        recorder_version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        command: command.to_vec(),
        complete: Some(compiled.failed.is_empty()),
        missing: missing.collect(),
        versions: Some(versions),
        options,
        modules: modules.collect(),
        notes: Some(noted.collect()),
        ..Written::default()
    };
    write(folder, &manifest)
}

fn write(folder: &Path, manifest: &Written) -> Result<(), WriteError> {
    let path = folder.join("manifest.json");
    let failed = |source| WriteError::Io { path: path.clone(), source };
    fs::create_dir_all(folder).map_err(failed)?;
    ridge_files::write(&path, to_text(manifest).as_bytes()).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compilation_that_was_killed_is_replaced_and_says_that_it_was() {
        let out = tempfile::tempdir().expect("a folder");
        let gpu = out.path().join("h100");
        begin(&gpu, &json!("h100")).expect("written");
        let text = fs::read_to_string(gpu.join("manifest.json")).expect("written");
        assert!(text.contains("\"finished\": false") && text.contains("the compilation did not end"), "{text}");
        fs::create_dir_all(gpu.join("hlo/jit_f.1")).expect("a folder");
        fs::create_dir(out.path().join("a100")).expect("a folder");
        claim(out.path()).expect("its own");
        assert_eq!(fs::read_dir(out.path()).expect("a folder").count(), 0);
    }

    #[test]
    fn only_what_a_compilation_made_is_replaced() {
        let out = tempfile::tempdir().expect("a folder");
        let gpu = out.path().join("h100");
        write_manifest(&gpu, &json!("h100"), &[], &Compiled::default()).expect("written");
        claim(out.path()).expect("its own");
        assert!(!gpu.exists());
        fs::write(out.path().join("notes.txt"), "mine").expect("written");
        let error = claim(out.path()).expect_err("somebody's file");
        assert!(error.to_string().contains("notes.txt"), "{error}");
    }
}
