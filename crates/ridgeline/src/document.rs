//! Documents beside a capture: from a file to its type.

use crate::error::OpenError;
use ridge_documents::{Document, Parsed, read};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// Reads the document in the file `path`.
///
/// # Errors
/// [`OpenError`] where it cannot be read or is no such document.
pub(crate) fn read_document<D: Document>(path: &Path) -> Result<Parsed<D>, OpenError> {
    read(&text_of::<D>(path)?).map_err(|error| OpenError::document(path, &error))
}

/// The bytes of `path`, as far as a document `D` can be long and one more, which shows that it is none.
///
/// # Errors
/// [`OpenError`] where the system does not let it be read.
pub(crate) fn text_of<D: Document>(path: &Path) -> Result<Vec<u8>, OpenError> {
    let file = File::open(path).map_err(|error| OpenError::io("open", path, &error))?;
    let mut text = Vec::new();
    let read = file.take(D::MAX_BYTES + 1).read_to_end(&mut text);
    read.map_err(|error| OpenError::io("read", path, &error))?;
    Ok(text)
}
