//! Files as memory: the one place that maps them.

use crate::error::{Details, OpenError};
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
            return Err(OpenError::BadInput(Details::new("expected a file, found a folder").at(path)));
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

impl FileBytes {
    /// Gives back the memory of `part`, where that is a part of this file and mapped; it can be read as before.
    pub(crate) fn release(&self, part: &[u8]) {
        let FileBytes::Mapped(map) = self else { return };
        let Some(offset) = (part.as_ptr() as usize).checked_sub(map.as_ptr() as usize) else { return };
        if offset.checked_add(part.len()).is_some_and(|end| end <= map.len()) && !part.is_empty() {
            drop_pages(map, offset, part.len());
        }
    }
}

/// Lets the system take the pages back; the next read fetches them again from its cache of the file.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
fn drop_pages(map: &Mmap, offset: usize, length: usize) {
    // SAFETY: the map is of a file and is only read, so a dropped page comes back with what the file holds. That the
    // range is inside the map is checked by the caller.
    let _ = unsafe { map.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, offset, length) };
}

#[cfg(not(target_os = "linux"))]
fn drop_pages(_: &Mmap, _: usize, _: usize) {}

#[allow(unsafe_code)]
fn map(file: &File) -> std::io::Result<Mmap> {
    // SAFETY: the map is only read, and only while the file is imported. A capture that another process cuts short in
    // that time ends this process with a bus error; it cannot corrupt memory, and every value read is checked.
    let map = unsafe { Mmap::map(file)? };
    #[cfg(unix)]
    let _ = map.advise(memmap2::Advice::Sequential);
    Ok(map)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn what_was_given_back_can_be_read_again() {
        let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
        let text: Vec<u8> = (0..3 * SMALL_FILE).map(|at| (at % 251) as u8).collect();
        file.write_all(&text).expect("a written file");
        let mapped = FileBytes::open(file.path()).expect("a file");
        assert!(matches!(mapped, FileBytes::Mapped(_)));
        // All of it, a part that begins inside a page, and memory of somebody else.
        mapped.release(mapped.bytes());
        mapped.release(&mapped.bytes()[5000..9000]);
        mapped.release(&text);
        assert!(mapped.bytes() == text);
        let small = FileBytes::Read(text.clone());
        small.release(small.bytes());
        assert!(small.bytes() == text);
    }
}
