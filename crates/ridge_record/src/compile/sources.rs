//! The modules of a recording, as sources for a compiler.

use ridge_documents::{Document, Manifest, read};
use std::collections::BTreeSet;
use std::fs;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

/// The forms that can be compiled, the best first: bytecode lowered for GPUs, then what was lowered for what ran, as bytecode that has
/// every constant and as text.
const FORMS: [&str; 3] = [LOWERED, "portable.mlirbc", "stablehlo.mlir"];

/// What one version of jaxlib alone reads, lowered for GPUs.
const LOWERED: &str = "lowered.mlirbc";

/// What goes along with a module that is compiled anew.
const ALONG: [&str; 2] = ["jaxpr.txt", "stablehlo.mlir"];

/// Modules of a recording that are looked at.
const MOST_MODULES: usize = 4096;

/// One module that can be compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceModule {
    /// The name of its folder, and what comes before it where another module's has the same.
    pub name: String,
    /// Its folder in the recording, as the manifest has it; empty where there is none.
    pub dir: String,
    /// The StableHLO that is compiled.
    pub source: PathBuf,
    /// Whether it was lowered for what ran, and not for GPUs.
    pub is_lowered_elsewhere: bool,
    /// Files that go along with what is made of it.
    pub along: Vec<PathBuf>,
}

/// What a recording has to compile.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sources {
    /// The modules, in the order in which they were compiled.
    pub modules: Vec<SourceModule>,
    /// Modules whose StableHLO the recording does not have.
    pub without: usize,
    /// The version of jaxlib that made them, where it is said.
    pub jaxlib: Option<String>,
    /// The command that was recorded.
    pub command: Vec<String>,
}

/// Why a folder has nothing to compile.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// There is no manifest, or it cannot be read.
    #[error("{}: no recording: {why}", path.display())]
    NoRecording {
        /// The folder.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// It has no StableHLO.
    #[error("{}: the recording has no StableHLO of its modules", path.display())]
    NoStablehlo {
        /// The folder.
        path: PathBuf,
    },
}

/// The modules of the recording in `folder`.
///
/// # Errors
/// [`SourceError`] where it is no recording, or has no StableHLO.
pub fn sources_of(folder: &Path) -> Result<Sources, SourceError> {
    let none = |why: String| SourceError::NoRecording { path: folder.to_path_buf(), why };
    let mut bytes = Vec::new();
    let file = fs::File::open(folder.join("manifest.json")).map_err(|error| none(error.to_string()))?;
    file.take(<Manifest as Document>::MAX_BYTES).read_to_end(&mut bytes).map_err(|error| none(error.to_string()))?;
    let manifest = read::<Manifest>(&bytes).map_err(|error| none(error.to_string()))?.document;
    let mut found = Sources { command: manifest.command, ..Sources::default() };
    found.jaxlib = manifest.versions.as_ref().and_then(|versions| Some(versions.get("jaxlib")?.as_str()?.to_owned()));
    let mut names = BTreeSet::new();
    for module in manifest.modules.iter().take(MOST_MODULES) {
        let Some(dir) = module.dir.as_deref().filter(|dir| is_inside(Path::new(dir))) else { continue };
        match source_in(&folder.join(dir)) {
            Some(source) => {
                let name = if names.contains(&source.name) { whole_name(dir) } else { source.name };
                names.insert(name.clone());
                found.modules.push(SourceModule { name, dir: dir.to_owned(), ..source });
            }
            None => found.without += 1,
        }
    }
    if found.modules.is_empty() {
        return Err(SourceError::NoStablehlo { path: folder.to_path_buf() });
    }
    Ok(found)
}

/// A name for the folder `dir` that says its operation and size, too: the sizes of a benchmark number their modules alike.
fn whole_name(dir: &str) -> String {
    dir.split('/').filter(|part| *part != "hlo").collect::<Vec<_>>().join(".")
}

fn is_inside(dir: &Path) -> bool {
    dir.components().all(|part| matches!(part, Component::Normal(_)))
}

/// What can be compiled of the module in `dir`.
pub(super) fn source_in(dir: &Path) -> Option<SourceModule> {
    let source = FORMS.iter().map(|name| dir.join(name)).find(|path| path.is_file())?;
    Some(SourceModule {
        name: dir.file_name()?.to_string_lossy().into_owned(),
        dir: String::new(),
        is_lowered_elsewhere: !source.ends_with(LOWERED),
        source,
        along: ALONG.iter().map(|name| dir.join(name)).filter(|path| path.is_file()).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_that_was_lowered_for_gpus_is_preferred() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(path, text).expect("written");
        };
        write("hlo/jit_f.1/stablehlo.mlir", "module {}");
        write("hlo/jit_f.1/lowered.mlirbc", "ML");
        write("hlo/jit_g.2/stablehlo.mlir", "module {}");
        write("hlo/jit_h.3/after.txt", "HloModule h");
        write("hlo/jit_k.4/portable.mlirbc", "ML");
        write("hlo/jit_k.4/stablehlo.mlir", "module {}");
        write("size_064/hlo/add/jit_f.1/portable.mlirbc", "ML");
        write(
            "manifest.json",
            r#"{"schema":"ridgeline.manifest.v1","versions":{"jaxlib":"0.10.1"},"modules":[{"name":"f","dir":"hlo/jit_f.1"},
               {"name":"g","dir":"hlo/jit_g.2"},{"name":"h","dir":"hlo/jit_h.3"},{"name":"x","dir":"../x"},
               {"name":"k","dir":"hlo/jit_k.4"},{"name":"f","dir":"size_064/hlo/add/jit_f.1"}]}"#,
        );
        let found = sources_of(folder.path()).expect("a recording");
        let told: Vec<(&str, bool)> =
            found.modules.iter().map(|module| (module.name.as_str(), module.is_lowered_elsewhere)).collect();
        let expected = [("jit_f.1", false), ("jit_g.2", true), ("jit_k.4", true), ("size_064.add.jit_f.1", true)];
        assert_eq!(told, expected);
        assert!(found.modules[2].source.ends_with("portable.mlirbc"), "{:?}", found.modules[2]);
        assert_eq!(found.modules[3].dir, "size_064/hlo/add/jit_f.1");
        assert_eq!((found.without, found.jaxlib.as_deref()), (1, Some("0.10.1")));
    }

    #[test]
    fn a_folder_without_a_manifest_is_no_recording() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = sources_of(folder.path()).expect_err("nothing is there");
        assert!(error.to_string().contains("no recording"), "{error}");
    }
}
