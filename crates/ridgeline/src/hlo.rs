//! Modules of a session: which one a name means, and its forms.

use crate::error::{Details, OpenError};
use crate::manifest::Manifest;
use ridge_hlo::HloModule;
use ridge_import::Imported;
use std::path::{Path, PathBuf};

/// A form of a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HloStage {
    /// HLO as JAX handed it to XLA.
    Before,
    /// HLO as XLA ran it.
    After,
    /// The jaxpr that was traced.
    Jaxpr,
    /// StableHLO as JAX lowered it.
    StableHlo,
}

impl HloStage {
    pub(crate) fn file_name(self) -> &'static str {
        match self {
            HloStage::Before => "before.txt",
            HloStage::After => "after.txt",
            HloStage::Jaxpr => "jaxpr.txt",
            HloStage::StableHlo => "stablehlo.mlir",
        }
    }
}

/// The row of the modules table that `name` means: a name, a program id, or `name(id)`.
pub(crate) fn module_row(imported: &Imported, name: &str) -> Result<u32, OpenError> {
    let trace = &imported.trace;
    let text = |row: usize| trace.strings.get(trace.modules[row].name);
    let full = |row: usize| format!("{}({})", text(row), trace.modules[row].program_id);
    let matching = |accept: &dyn Fn(usize) -> bool| -> Vec<usize> {
        (0..trace.modules.len()).filter(|row| accept(*row)).collect()
    };
    let exact =
        matching(&|row| text(row) == name || full(row) == name || trace.modules[row].program_id.to_string() == name);
    let candidates = if exact.is_empty() { matching(&|row| text(row).contains(name)) } else { exact };
    // Ranks run the same program under the same number, so any of them stands for it; best one that has its HLO.
    let is_one = candidates.windows(2).all(|two| full(two[0]) == full(two[1]));
    match candidates[..] {
        [row, ..] if is_one => {
            Ok(candidates.iter().copied().find(|row| trace.modules[*row].hlo.is_some()).unwrap_or(row) as u32)
        }
        [] => Err(OpenError::UnknownName(
            Details::new(format!("no module is called `{name}`"))
                .hint("`ridgeline hlo PATH` without --module lists the modules"),
        )),
        _ => {
            let names: Vec<String> = candidates.iter().take(8).map(|row| full(*row)).collect();
            let message = format!("`{name}` means {} modules: {}", candidates.len(), names.join(", "));
            Err(OpenError::UnknownName(Details::new(message).hint("name one of them with its program id")))
        }
    }
}

/// The HLO of a module.
pub(crate) fn module_hlo(imported: &Imported, row: u32) -> Result<&HloModule, OpenError> {
    let module = &imported.trace.modules[row as usize];
    let hlo = module.hlo.and_then(|hlo| imported.hlo.get(hlo as usize));
    let name = imported.trace.strings.get(module.name);
    hlo.ok_or_else(|| OpenError::NotRecorded(Details::new(format!("the capture has no HLO of module `{name}`"))))
}

/// The dumped file of a module in the run folder, by its name there.
pub(crate) fn dumped(
    imported: &Imported,
    row: u32,
    called: &str,
    manifest: Option<&Manifest>,
) -> Result<String, OpenError> {
    let module = &imported.trace.modules[row as usize];
    let name = imported.trace.strings.get(module.name);
    let advice = "record with `--hlo text,proto,stablehlo,jaxpr,before` to have every form of every module";
    let Some(manifest) = manifest else {
        let message = format!("no dump of module `{name}`: the capture is not a recording");
        return Err(OpenError::NotRecorded(Details::new(message).hint(advice)));
    };
    let file = dump_folders(manifest, name, module.program_id).into_iter().map(|folder| folder.join(called));
    let Some(file) = file.into_iter().find(|file| file.is_file()) else {
        let message = format!("no {called} of module `{name}` in the recording");
        return Err(OpenError::NotRecorded(Details::new(message).at(&manifest.folder).hint(advice)));
    };
    let bytes = std::fs::read(&file).map_err(|error| OpenError::io("read the dump", &file, &error))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Folders of a module: those that the manifest lists under a number, then `hlo/<module>.<id>` of the run folder and of its
/// sizes; the exact id first.
fn dump_folders(manifest: &Manifest, name: &str, id: u64) -> Vec<PathBuf> {
    let listed = manifest.document.modules.iter().filter(|module| module.name == name);
    let mut listed: Vec<_> =
        listed.filter_map(|module| Some((module.program_id, manifest.folder_of(module)?))).collect();
    // A module without a number in the list is known by its folder's name, below.
    listed.retain(|(program_id, _)| program_id.is_some());
    listed.sort_by_key(|(program_id, _)| *program_id != Some(id));
    let mut roots = vec![manifest.folder.join("hlo")];
    let entries = std::fs::read_dir(&manifest.folder).into_iter().flatten().filter_map(Result::ok);
    roots.extend(entries.map(|entry| entry.path().join("hlo")).filter(|path| path.is_dir()));
    let mut folders = Vec::new();
    for root in roots {
        let inside = std::fs::read_dir(root).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
        folders.extend(inside.filter(|path| {
            let file = path.file_name().and_then(|file| file.to_str()).unwrap_or_default();
            file.rsplit_once('.').map_or(file, |(module, _)| module) == name
        }));
    }
    folders.sort_by_key(|path| !path.to_string_lossy().ends_with(&format!(".{id}")));
    if folders.len() > 1 {
        // A recording numbers its folders by itself, so the end of a name may be the number of another module.
        folders.sort_by_cached_key(|folder| number_of(folder) != Some(id));
    }
    listed.into_iter().map(|(_, folder)| folder).chain(folders).collect()
}

/// XLA's number of the module in a folder of a recording, by its proto.
pub(crate) fn number_of(folder: &Path) -> Option<u64> {
    HloModule::from_proto(&std::fs::read(folder.join("after.hlo.pb")).ok()?).ok().map(|hlo| hlo.id)
}
