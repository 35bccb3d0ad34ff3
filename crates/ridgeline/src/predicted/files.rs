//! The files of a compiled module, as `ridgeline compile` leaves them.

use crate::error::{Details, OpenError};
use ridge_compile::{Branches, Code, Usage, branches, code, usage};
use ridge_hlo::HloModule;
use rustc_hash::FxHashMap;
use std::fs;
use std::io::Read as _;
use std::path::Path;

/// Files larger than this are not looked into.
const MOST_BYTES: u64 = 512 << 20;

/// Programs of one module that are read.
const MOST_PROGRAMS: usize = 4096;

/// What is known of a module.
pub(super) struct Files {
    /// The name of its folder.
    pub(super) folder: String,
    pub(super) hlo: HloModule,
    /// Its text, where there is no proto of it.
    pub(super) hlo_text: Option<String>,
    /// XLA's list of its thunks, and the instructions that they are of.
    pub(super) thunks: (String, String),
    pub(super) usage: FxHashMap<String, Usage>,
    pub(super) code: FxHashMap<String, Code>,
    pub(super) branches: FxHashMap<String, Branches>,
}

/// The files in `folder`.
///
/// # Errors
/// Why its module cannot be read; what else is missing leaves a gap.
pub(super) fn read(folder: &Path) -> Result<Files, String> {
    let text = |name: &str| bytes(&folder.join(name)).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let (hlo, hlo_text) = match bytes(&folder.join("after.hlo.pb")) {
        Ok(proto) => (HloModule::from_proto(&proto), None),
        Err(_) => {
            let text = text("after.txt")?;
            (HloModule::from_text(&text), Some(text))
        }
    };
    let hlo = hlo.map_err(|error| error.to_string())?;
    let (mut all, mut parted) = (FxHashMap::default(), FxHashMap::default());
    for number in 0..MOST_PROGRAMS {
        let Ok(program) = text(&format!("kernels/{number}.ptx")) else { break };
        all.extend(code(&program));
        parted.extend(branches(&program));
    }
    Ok(Files {
        folder: folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        hlo,
        hlo_text,
        thunks: (text("thunks.txt").unwrap_or_default(), text("thunk_metadata.txt").unwrap_or_default()),
        usage: usage(&text("kernels/ptxas.txt").unwrap_or_default()),
        code: all,
        branches: parted,
    })
}

fn bytes(path: &Path) -> Result<Vec<u8>, String> {
    let said = |error: std::io::Error| format!("{}: {error}", path.file_name().unwrap_or_default().to_string_lossy());
    let mut bytes = Vec::new();
    fs::File::open(path).map_err(said)?.take(MOST_BYTES).read_to_end(&mut bytes).map_err(said)?;
    Ok(bytes)
}

/// Writes `text`, and the folder that it goes into.
pub(super) fn write(path: &Path, text: &str) -> Result<(), OpenError> {
    let made = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(path, text));
    made.map_err(|error| OpenError::Unreadable(Details::new(error.to_string()).at(path)))
}
