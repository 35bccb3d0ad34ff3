//! Why Parquet could not be read.

/// Why a file or a part of it could not be read: what was expected and found, and the byte.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} at byte {offset}")]
pub(crate) struct ParquetError {
    pub(crate) offset: u64,
    pub(crate) what: String,
}
