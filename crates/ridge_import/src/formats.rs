//! The formats: one file each, listed here.

use crate::import::{Import, ImportError, Source};

mod hlo_dump;
mod xplane;

/// A kind of capture: how it is recognized and read.
pub trait Format: Sync {
    /// Its name in `--read-as` and on the formats page.
    fn name(&self) -> &'static str;

    /// Whether these first bytes of a file are of this format.
    ///
    /// Formats are told apart by content alone; each file is claimed by exactly one.
    fn sniff(&self, head: &[u8]) -> bool;

    /// Reads one source into `import`.
    ///
    /// # Errors
    /// Only where nothing useful could be read.
    fn import(&self, source: Source<'_>, import: &mut Import) -> Result<(), ImportError>;
}

/// Every format, in the order the formats page lists them.
pub static FORMATS: &[&dyn Format] = &[&xplane::XPlane, &hlo_dump::HloDump];
