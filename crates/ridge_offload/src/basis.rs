//! How far a figure of the model or of a sheet can be trusted.

use serde::Deserialize;

/// How far a figure can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// Somebody measured and published it.
    Measured,
    /// A vendor's document says it.
    Sheet,
    /// Arithmetic from sourced figures.
    Derived,
    /// Chosen by those who wrote the model, for a reason that is given.
    Judged,
    /// Nobody has checked it against a source.
    Unverified,
}

impl Basis {
    /// The word in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Basis::Measured => "measured",
            Basis::Sheet => "sheet",
            Basis::Derived => "derived",
            Basis::Judged => "judged",
            Basis::Unverified => "unverified",
        }
    }
}
