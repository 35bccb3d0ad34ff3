//! A bundle that was read whole and hashed.

use crate::bundle::{Files, MANIFEST, SCHEMA, hash, sealed};
use crate::{Program, lower, vectors};
use ridge_hlo::HloModule;
use serde_json::Value;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::Instant;

/// Bytes of a manifest, of all files of a bundle, and how many there may be.
const MOST_MANIFEST_BYTES: u64 = 16 << 20;
const MOST_BYTES: u64 = 4 << 30;
const MOST_FILES: usize = 10_000;

/// Why a bundle is none, or not the one that was made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BrokenBundle(pub String);

/// A bundle whose files are what its manifest says.
#[derive(Debug, Clone)]
pub struct Opened {
    /// The manifest.
    pub manifest: Value,
    /// All files but the manifest.
    pub files: Files,
    /// How long reading and hashing took, seconds.
    pub wall_s: f64,
}

fn broken<T>(why: impl Into<String>) -> Result<T, BrokenBundle> {
    Err(BrokenBundle(why.into()))
}

/// Whether a name is one part of a path, of letters that mean nothing to a shell.
pub(super) fn is_plain(name: &str) -> bool {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.');
    !name.is_empty() && name.len() <= 128 && !name.starts_with('.') && name.chars().all(fits)
}

/// Reads a bundle and holds every file against its hash.
///
/// # Errors
/// [`BrokenBundle`] with the first thing that does not fit: a file that is missing, changed, or not listed; a link; a path
/// that leaves the bundle; a manifest that was changed.
pub fn open(folder: &Path) -> Result<Opened, BrokenBundle> {
    let began = Instant::now();
    let path = folder.join(MANIFEST);
    let text = read(&path, MOST_MANIFEST_BYTES).map_err(|error| BrokenBundle(format!("{MANIFEST}: {error}")))?;
    let manifest: Value =
        serde_json::from_slice(&text).map_err(|error| BrokenBundle(format!("{MANIFEST} is no JSON: {error}")))?;
    if manifest["schema"] != SCHEMA {
        return broken(format!("{MANIFEST}: expected schema {SCHEMA}, found {}", manifest["schema"]));
    }
    if sealed(manifest.clone()).as_bytes() != text {
        return broken(format!("{MANIFEST} was changed after it was made: its seal does not match"));
    }
    let Some(listed) = manifest["files"].as_object() else { return broken(format!("{MANIFEST} lists no files")) };
    if listed.len() > MOST_FILES {
        return broken(format!("{MANIFEST} lists more than {MOST_FILES} files"));
    }
    let mut files = Files::new();
    let mut left = MOST_BYTES;
    for (name, said) in listed {
        if !name.split('/').all(is_plain) {
            return broken(format!("{MANIFEST} lists a path that is not plain: {name:?}"));
        }
        let bytes = read(&inside(folder, name)?, left).map_err(|error| BrokenBundle(format!("{name}: {error}")))?;
        if said["bytes"].as_u64() != Some(bytes.len() as u64) || said["sha256"].as_str() != Some(&hash(&bytes)) {
            return broken(format!("{name} is not the original file: its hash does not match"));
        }
        left -= bytes.len() as u64;
        files.insert(name.clone(), bytes);
    }
    nothing_else(folder, &files)?;
    Ok(Opened { manifest, files, wall_s: began.elapsed().as_secs_f64() })
}

/// The path of a file, where no part of it is a link.
fn inside(folder: &Path, name: &str) -> Result<PathBuf, BrokenBundle> {
    let mut path = folder.to_path_buf();
    for part in Path::new(name).components() {
        let Component::Normal(part) = part else { return broken(format!("{name:?} leaves the bundle")) };
        path.push(part);
        let is_link = fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink());
        if is_link {
            return broken(format!("{name} is a link, or reached through one"));
        }
    }
    Ok(path)
}

fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let found = fs::symlink_metadata(path)?;
    if !found.is_file() {
        return Err(io::Error::other("expected a regular file"));
    }
    if found.len() > most {
        return Err(io::Error::other("it exceeds the size limit of a bundle"));
    }
    fs::read(path)
}

/// Whether the folder holds nothing that the manifest does not list.
fn nothing_else(folder: &Path, files: &Files) -> Result<(), BrokenBundle> {
    let mut open = vec![(folder.to_path_buf(), String::new())];
    let mut seen = 0;
    while let Some((path, prefix)) = open.pop() {
        let entries = fs::read_dir(&path).map_err(|error| BrokenBundle(format!("{}: {error}", path.display())))?;
        for entry in entries.flatten() {
            seen += 1;
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if seen > 2 * MOST_FILES {
                return broken("the directory has more files than a bundle may have");
            }
            if is_folder {
                open.push((entry.path(), format!("{name}/")));
            } else if name != MANIFEST && !files.contains_key(&name) {
                return broken(format!("{name} is in the directory but not in {MANIFEST}"));
            }
        }
    }
    Ok(())
}

impl Opened {
    /// A document of the bundle.
    pub(crate) fn json(&self, path: &str) -> Option<Value> {
        serde_json::from_slice(self.files.get(path)?).ok()
    }

    /// Whether code and vectors were made of it.
    pub fn has_program(&self) -> bool {
        self.manifest["no_specification_because"].is_null()
    }

    /// The program that its specification says.
    ///
    /// # Errors
    /// Why there is none.
    pub fn program(&self) -> Result<Program, String> {
        let text = self.files.get("spec/module.hlo.txt").ok_or("spec/module.hlo.txt is missing")?;
        let text = String::from_utf8_lossy(text);
        let module = HloModule::from_text(&text).map_err(|error| error.to_string())?;
        let name = self.manifest["source"]["computation"].as_str().unwrap_or_default();
        let computation = module.computation_named(name).ok_or("the specification lacks its computation")?;
        lower(&module, computation).map_err(|refusal| refusal.to_string())
    }
}

/// The names of the sets of vectors.
pub(crate) fn sets(bundle: &Opened) -> Vec<String> {
    let document = bundle.json("golden/vectors.json").unwrap_or(Value::Null);
    let sets = document["sets"].as_array().cloned().unwrap_or_default();
    sets.iter().filter_map(|set| set["name"].as_str()).filter(|name| is_plain(name)).map(str::to_owned).collect()
}

/// The inputs of a set.
pub(crate) fn inputs(
    bundle: &Opened,
    program: &crate::Program,
    set: &str,
) -> Result<Vec<Vec<crate::Cell<f64>>>, String> {
    let files: Option<Vec<Vec<u8>>> =
        (0..program.inputs.len()).map(|at| bundle.files.get(&format!("golden/{set}/in{at}.bin")).cloned()).collect();
    let files = files.ok_or_else(|| format!("set `{set}` lacks an input"))?;
    vectors::inputs_of(program, &files).map_err(|error| error.to_string())
}
