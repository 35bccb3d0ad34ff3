//! Why bytes are no array.

/// Why bytes are no array of plain numbers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoArray {
    /// The first bytes are others.
    #[error("expected a file of NumPy (.npy), found something else")]
    NotNumpy,
    /// A version of the format that is not read here.
    #[error("expected version 1 to 3 of NumPy's format, found {0}")]
    Version(u8),
    /// It ends before its header does.
    #[error("its header is cut off")]
    CutOff,
    /// The header is not the literal that NumPy writes.
    #[error("its header is none of NumPy's: expected {expected}, found `{found}` at byte {at}")]
    Header {
        /// What is missing.
        expected: &'static str,
        /// What stands there instead, shortened.
        found: String,
        /// Where, in bytes from the start of the header.
        at: usize,
    },
    /// Elements that are no plain little-endian numbers.
    #[error("its elements are {0}, which are not compared")]
    Elements(String),
    /// The numbers are more or fewer than the shape says.
    #[error("its length differs from its header")]
    Length,
}
