//! Files as memory: the one place that maps them.

use crate::error::OpenError;
use memmap2::Mmap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Files below this are read: mapping costs more than copying them.
const SMALL_FILE: u64 = 1 << 20;

/// A file's bytes, read or mapped.
#[derive(Debug)]
pub(crate) enum FileBytes {
    Read(Vec<u8>),
    Mapped(Mmap),
}

impl FileBytes {
    /// Opens `path`.
    pub(crate) fn open(path: &Path) -> Result<FileBytes, OpenError> {
        let failed = |error: std::io::Error| OpenError::io("read the file", path, &error);
        let mut file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(OpenError::new("expected a file, found a folder", Some(path)));
        }
        if metadata.is_file() && metadata.len() >= SMALL_FILE {
            return map(&file).map(FileBytes::Mapped).map_err(failed);
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        Ok(FileBytes::Read(bytes))
    }

    /// The bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            FileBytes::Read(bytes) => bytes,
            FileBytes::Mapped(map) => map,
        }
    }
}

#[allow(unsafe_code)]
fn map(file: &File) -> std::io::Result<Mmap> {
    // SAFETY: the map is only read, and only while the file is imported. A capture that another process cuts short in
    // that time ends this process with a bus error; it cannot corrupt memory, and every value read is checked.
    let map = unsafe { Mmap::map(file)? };
    #[cfg(unix)]
    let _ = map.advise(memmap2::Advice::Sequential);
    Ok(map)
}
