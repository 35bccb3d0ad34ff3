//! Lines of source files: as the capture carries them, else where they can be read here.

use ridge_import::SourceFile;
use std::collections::HashMap;
use std::path::Path;

/// Source files larger than this are not read.
const MAX_BYTES: u64 = 16 << 20;

/// Reads each source file at most once.
#[derive(Debug, Default)]
pub(crate) struct SourceText {
    files: HashMap<String, Option<Vec<String>>>,
}

impl SourceText {
    /// With the files that a capture carries: they are what ran, whatever lies here under their path.
    pub(crate) fn new(carried: &[SourceFile]) -> SourceText {
        let files =
            carried.iter().map(|file| (file.path.clone(), Some(file.text.lines().map(str::to_owned).collect())));
        SourceText { files: files.collect() }
    }

    /// Line `line`, counted from 1, without the space around it; `None` where the file cannot be read.
    pub(crate) fn line(&mut self, file: &str, line: u32) -> Option<String> {
        let lines = self.files.entry(file.to_owned()).or_insert_with(|| read(file)).as_ref()?;
        let text = lines.get((line as usize).checked_sub(1)?)?.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }
}

fn read(file: &str) -> Option<Vec<String>> {
    let path = Path::new(file);
    let metadata = std::fs::metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() > MAX_BYTES {
        return None;
    }
    let text = std::fs::read(path).ok()?;
    Some(String::from_utf8_lossy(&text).lines().map(str::to_owned).collect())
}
