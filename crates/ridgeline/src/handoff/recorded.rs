//! Values that the recorder kept while the program ran: the calls of a module, as vectors of a bundle.

use crate::document::read_document;
use crate::manifest::Manifest;
use ridge_documents::Golden;
use ridge_handoff::Program;
use ridge_handoff::bundle::{Recorded, hash};
use ridge_handoff::emulate::sides;
use std::path::{Component, Path, PathBuf};

/// Folders of kept values that are looked at, and calls that are taken.
const MOST_FOLDERS: usize = 256;
const MOST_CALLS: usize = 4;

/// Bytes of one array.
const MOST_BYTES: u64 = 1 << 30;

/// The calls of the module that `program` is the whole of; by its StableHLO where that is known, else by its name and shapes.
pub(super) fn recorded(
    manifest: Option<&Manifest>,
    module: &str,
    stablehlo: Option<&str>,
    program: &Program,
) -> Vec<Recorded> {
    let Some(manifest) = manifest else { return Vec::new() };
    let folders = std::fs::read_dir(manifest.folder.join("golden")).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = folders.take(MOST_FOLDERS).map(|entry| entry.path()).collect();
    folders.sort();
    let kept =
        |folder: &PathBuf| Some((folder.clone(), read_document::<Golden>(&folder.join("golden.json")).ok()?.document));
    let all: Vec<(PathBuf, Golden)> = folders.iter().filter_map(kept).collect();
    let (inputs, outputs) = sides(program);
    let fits = |one: &Golden| one.module == module && one.inputs == inputs.ports && one.outputs == outputs.ports;
    let digest = stablehlo.map(|text| hash(text.as_bytes()));
    let exact = all.iter().find(|(_, one)| fits(one) && Some(&one.stablehlo_sha256) == digest.as_ref());
    let Some((folder, golden)) = exact.or_else(|| all.iter().find(|(_, one)| fits(one) && !one.kept.is_empty())) else {
        return Vec::new();
    };
    let calls = golden.kept.iter().take(MOST_CALLS);
    calls.filter_map(|call| read_call(&folder.join(plain(&call.folder)?), call.call, program)).collect()
}

fn read_call(folder: &Path, call: u64, program: &Program) -> Option<Recorded> {
    let side = |name: &str, count: usize| -> Option<Vec<Vec<u8>>> {
        (0..count).map(|at| read(&folder.join(format!("{name}{at}.bin")))).collect()
    };
    Some(Recorded { call, inputs: side("in", program.inputs.len())?, outputs: side("out", program.outputs.len())? })
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let found = std::fs::symlink_metadata(path).ok()?;
    (found.is_file() && found.len() <= MOST_BYTES).then(|| std::fs::read(path).ok())?
}

/// A folder's name that is one part of a path.
fn plain(name: &str) -> Option<&str> {
    let mut parts = Path::new(name).components();
    let is_plain = matches!(parts.next(), Some(Component::Normal(_))) && parts.next().is_none();
    is_plain.then_some(name)
}
