//! From bytes to a document: what is broken is an error, what is damaged in part is left out and named.

use crate::damage::{Parsed, undamaged};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A kind of document.
pub trait Document: DeserializeOwned {
    /// Its name and version, as the key `schema` holds it: `ridgeline.manifest.v1`.
    const SCHEMA: &'static str;
    /// Files larger than this are not ours, bytes.
    const MAX_BYTES: u64;
}

/// Why bytes are not the document that was expected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// It has more bytes than any such document.
    #[error("expected a {schema} document, found a file that is too large for one: {bytes} bytes")]
    TooLarge {
        /// The document that was expected.
        schema: &'static str,
        /// Bytes found.
        bytes: u64,
    },
    /// It is not JSON.
    #[error("expected a {schema} document, found no JSON: {source}")]
    NoJson {
        /// The document that was expected.
        schema: &'static str,
        /// What is wrong, with line and column.
        source: serde_json::Error,
    },
    /// It is JSON of something else.
    #[error("expected a {schema} document, found another schema or none")]
    OtherSchema {
        /// The document that was expected.
        schema: &'static str,
    },
    /// It is such a document of a version that is not known here.
    #[error("expected a {schema} document, found {found}")]
    OtherVersion {
        /// The document that was expected.
        schema: &'static str,
        /// Name and version found.
        found: String,
    },
    /// More of it is damaged than is worth leaving out.
    #[error("expected a {schema} document, found one that is damaged throughout: {source}")]
    Damaged {
        /// The document that was expected.
        schema: &'static str,
        /// The first damage that was too much.
        source: serde_json::Error,
    },
}

/// The one key that all documents share.
#[derive(Deserialize)]
struct Named {
    schema: Option<String>,
}

/// Reads a document.
///
/// # Errors
/// [`DocumentError`] where `text` is not a document `D`; one that is damaged in parts is none.
pub fn read<D: Document>(text: &[u8]) -> Result<Parsed<D>, DocumentError> {
    check::<D>(text)?;
    // Nearly all documents are whole, and a tree of a large one takes several times its bytes.
    if let Ok(document) = serde_json::from_slice(text) {
        return Ok(Parsed { document, damaged: Vec::new() });
    }
    let whole = serde_json::from_slice(text).map_err(|source| DocumentError::NoJson { schema: D::SCHEMA, source })?;
    undamaged(whole).map_err(|source| DocumentError::Damaged { schema: D::SCHEMA, source })
}

/// A part of a document that came by another way, such as a row that a worker wrote; `None` where nothing of it can be used.
pub fn part<T: DeserializeOwned>(value: &Value) -> Option<Parsed<T>> {
    undamaged(value.clone()).ok()
}

/// A document as its file holds it: indented, with a line's end at the end.
///
/// # Panics
/// Never for the documents of this crate: their keys are text, and no value of theirs fails to be written.
pub fn to_text(document: &impl Serialize) -> String {
    serde_json::to_string_pretty(document).expect("keys are text and no value fails to be written") + "\n"
}

fn check<D: Document>(text: &[u8]) -> Result<(), DocumentError> {
    let (schema, bytes) = (D::SCHEMA, text.len() as u64);
    if bytes > D::MAX_BYTES {
        return Err(DocumentError::TooLarge { schema, bytes });
    }
    let found = match serde_json::from_slice::<Named>(text) {
        Ok(named) => named.schema,
        Err(error) if error.is_data() => None,
        Err(source) => return Err(DocumentError::NoJson { schema, source }),
    };
    match found {
        Some(found) if found == schema => Ok(()),
        Some(found) if kind(&found) == kind(schema) => Err(DocumentError::OtherVersion { schema, found }),
        _ => Err(DocumentError::OtherSchema { schema }),
    }
}

/// `ridgeline.manifest` of `ridgeline.manifest.v1`.
fn kind(schema: &str) -> &str {
    schema.rsplit_once(".v").map_or(schema, |(kind, _)| kind)
}

#[cfg(test)]
mod tests {
    use crate::{CeilingsDocument, Manifest, read};

    #[test]
    fn what_is_no_such_document_is_an_error() {
        for (text, expected) in [
            ("x", "found no JSON: expected value at line 1 column 1"),
            (r#"{"schema":"ridgeline.manifest.v1""#, "found no JSON: EOF while parsing an object at line 1 column 33"),
            ("3", "found another schema or none"),
            ("{}", "found another schema or none"),
            (r#"{"schema":1}"#, "found another schema or none"),
            (r#"{"schema":"ridgeline.bench.v1"}"#, "found another schema or none"),
            (r#"{"schema":"ridgeline.manifest.v2"}"#, "found ridgeline.manifest.v2"),
        ] {
            let error = read::<Manifest>(text.as_bytes()).expect_err(text).to_string();
            assert_eq!(error, format!("expected a ridgeline.manifest.v1 document, {expected}"));
        }
    }

    #[test]
    fn a_file_that_is_too_large_is_not_parsed() {
        let text = vec![b' '; (16 << 20) + 1];
        let error = read::<CeilingsDocument>(&text).expect_err("too large").to_string();
        assert!(error.ends_with("found a file that is too large for one: 16777217 bytes"), "{error}");
    }
}
