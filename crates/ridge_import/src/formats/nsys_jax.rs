//! `nsys-jax` archives: NVTX ranges with the device work that they caused, from Nsight Systems, and XLA's dumps.
//!
//! An archive has no kernels and no calls, only ranges, each with the time of the device work that it caused (the recipe
//! `nvtx_gpu_proj_trace`) and its own time on its thread. XLA's ranges name operations and modules; the archive also
//! contains their HLO, and the source files that the HLO names.
//! Device work therefore consists of operations, each from the start of its first kernel to the end of its last. Ranges that
//! contain other operations, such as a module's or an autotuner's, are not device work.
//!
//! Ridgeline reads the zip files from `nsys-jax` and `nsys-jax-combine` (with several processes), and the same files in a
//! directory. Layouts and rules follow JAX-Toolbox's `nsys_jax/data_loaders.py`; tables are recognized by their columns.
//! Host names, environments, thread and process names are never read.

mod dump;
mod machine;
mod place;
mod ranges;
mod replica;

use crate::archive::is_archive;
use crate::choice::InFolder;
use crate::folder::{Files, Folder};
use crate::formats::Format;
use crate::import::{CaptureFacts, Import, ImportError, Source, SourceFile};
use crate::note::Severity;
use dump::Dumps;
use replica::{HOST_RANGES, HOST_RANGES_CSV, PROJECTION, Replica};
use ridge_redact::Redactor;
use std::collections::BTreeSet;

/// The format of archives and folders of `nsys-jax`.
pub(super) struct NsysJax;

/// How the error of an archive that is no capture begins.
const NOT_AN_ARCHIVE: &str = "not an nsys-jax archive";
/// The pickle in an archive of PyTorch, which stands within the first bytes.
const TORCH_MEMBER: &[u8] = b"/data.pkl";
/// Where its name ends at the latest.
const FIRST_NAME: usize = 512;

/// Captures of processes in one archive after which no more are read.
const MAX_REPLICAS: usize = 1 << 12;

impl Format for NsysJax {
    fn name(&self) -> &'static str {
        "nsys-jax"
    }

    fn in_folder(&self) -> InFolder {
        InFolder::Copy
    }

    fn hint(&self, error: &ImportError) -> Option<String> {
        match error {
            ImportError::Broken { what, .. } if what.starts_with(NOT_AN_ARCHIVE) => Some(
                "only zip archives from `nsys-jax` are supported; unpack others and name the captures in them"
                    .to_owned(),
            ),
            _ => None,
        }
    }

    fn sniff(&self, head: &[u8]) -> bool {
        // `torch.save` writes zip archives, too, and this member first.
        is_archive(head)
            && !head[..head.len().min(FIRST_NAME)].windows(TORCH_MEMBER.len()).any(|part| part == TORCH_MEMBER)
    }

    fn redactor(&self, _head: &[u8]) -> Redactor {
        Redactor::Archive
    }

    fn import(&self, source: Source<'_>, import: &mut Import) -> Result<(), ImportError> {
        read(&Files::of_archive(source, import.max_unpacked_bytes), import)
    }

    fn is_folder(&self, names: &[&str]) -> bool {
        names.iter().any(|name| is_called(name, PROJECTION))
    }

    fn import_folder(&self, folder: Folder<'_>, import: &mut Import) -> Result<(), ImportError> {
        read(&Files::of_folder(folder, import.max_unpacked_bytes), import)
    }
}

/// Whether a file is `name`, or one of several of that name that a combined archive keeps apart (`name/rank3`).
fn is_called(file: &str, name: &str) -> bool {
    file == name
        || file
            .strip_prefix(name)
            .is_some_and(|rest| rest.len() > 1 && rest.starts_with('/') && !rest[1..].contains('/'))
}

fn read(files: &Files<'_>, import: &mut Import) -> Result<(), ImportError> {
    let names = files.names();
    let mut replicas: BTreeSet<Option<&str>> = BTreeSet::new();
    for file in &names {
        for name in [PROJECTION, HOST_RANGES, HOST_RANGES_CSV].into_iter().filter(|name| is_called(file, name)) {
            if replicas.len() < MAX_REPLICAS {
                replicas.insert(file[name.len()..].strip_prefix('/'));
            }
        }
    }
    if replicas.is_empty() {
        let found: Vec<&str> = names.iter().copied().take(5).collect();
        let found = if found.is_empty() { "none".to_owned() } else { found.join(", ") };
        return Err(files.broken(format!("{NOT_AN_ARCHIVE}: expected {PROJECTION}, found {found}")));
    }
    // What all processes share has no slug, and is no process of its own where others are.
    if replicas.len() > 1 {
        replicas.remove(&None);
    }
    if files.is_damaged() {
        let message = "the archive's directory is lost: files after the cut are missing".to_owned();
        import.note(Severity::Lost, files.name, None, 1, message);
    }
    let (before, mut error) = (import.builder.rows(), None);
    import.captures.push(CaptureFacts {
        source: files.name.to_owned(),
        format: "nsys-jax",
        bytes: files.bytes,
        ..CaptureFacts::default()
    });
    let mut dumps = Dumps::new(&names);
    for slug in replicas {
        let replica = Replica { files, slug };
        error = read_replica(&replica, &mut dumps, import).err().or(error);
    }
    if import.builder.rows() == before
        && let Some(error) = error
    {
        import.captures.pop();
        return Err(files.broken(error));
    }
    read_sources(files, import);
    Ok(())
}

/// Keeps the program's source files, which are called `sources` and their path.
fn read_sources(files: &Files<'_>, import: &mut Import) {
    let names = files.names().into_iter().filter_map(|name| Some((name, name.strip_prefix("sources")?)));
    for (name, path) in names.filter(|(_, path)| path.starts_with('/') && !path.ends_with('/')) {
        let Some(Ok(content)) = files.read(name) else { continue };
        // What is kept beyond the reading counts once more.
        if !files.bound.take(content.bytes.len() as u64) {
            return;
        }
        if let Ok(text) = String::from_utf8(content.bytes.into_owned()) {
            import.sources.push(SourceFile { path: path.to_owned(), text });
        }
    }
}

/// Reads everything of a replica; the error says what was expected and found.
fn read_replica(replica: &Replica<'_, '_>, dumps: &mut Dumps<'_>, import: &mut Import) -> Result<(), String> {
    let ranges = ranges::read(replica, import);
    if ranges.projected.is_empty() && ranges.host.is_empty() {
        return Err(format!("expected ranges in {PROJECTION}, found none"));
    }
    let machine = machine::read(replica, import);
    let modules = dumps.read(replica, import);
    place::place(replica, ranges, &machine, &modules, import);
    Ok(())
}
