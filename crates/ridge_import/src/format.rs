//! What a kind of capture is: how it is recognized, read, and told from other files of a folder.

use crate::error::ImportError;
use crate::folder::Folder;
use crate::note::Severity;
use crate::packed::Packed;
use crate::source::{Import, Source};
use ridge_redact::Redactor;

/// A kind of capture: how it is recognized and read.
pub trait Format: Sync {
    /// Its name in `--read-as` and on the formats page.
    fn name(&self) -> &'static str;

    /// Whether these first bytes of a file are of this format.
    ///
    /// Formats are told apart by content alone; each file is claimed by exactly one.
    fn sniff(&self, head: &[u8]) -> bool;

    /// What takes out of a file that begins with `head`, unpacked, what is private.
    fn redactor(&self, head: &[u8]) -> Redactor;

    /// Reads one source into `import`.
    ///
    /// # Errors
    /// Only where nothing useful could be read.
    fn import(&self, source: Source<'_>, import: &mut Import) -> Result<(), ImportError>;

    /// Reads one compressed source into `import`.
    ///
    /// Formats that read from front to back do so while it is unpacked; the others get all of it at once.
    ///
    /// # Errors
    /// Only where nothing useful could be read.
    fn import_packed(&self, packed: Packed<'_>, import: &mut Import) -> Result<(), ImportError> {
        let mut bytes = Vec::new();
        let mut reader = packed.reader();
        while reader.fill(&mut bytes, UNPACK_STEP) > 0 {}
        if let Some(damage) = reader.damage() {
            import.note(Severity::Lost, packed.source.name, None, 1, damage.to_owned());
        }
        self.import(Source { name: packed.source.name, bytes: &bytes }, import)
    }

    /// What a file of this format is among the other files of a folder.
    fn in_folder(&self) -> InFolder {
        InFolder::Alone(&[])
    }

    /// Whether captures of this format name the modules that they ran and do not hold them.
    fn takes_modules(&self) -> bool {
        false
    }

    /// What the user can do about `error`, if it is about what this format's tool makes.
    fn hint(&self, _error: &ImportError) -> Option<String> {
        None
    }

    /// Whether files of these names, paths inside a folder, are together one capture of this format.
    fn is_folder(&self, _names: &[&str]) -> bool {
        false
    }

    /// Reads a folder that [`Format::is_folder`] claims.
    ///
    /// # Errors
    /// Only where nothing useful could be read.
    fn import_folder(&self, folder: Folder<'_>, _import: &mut Import) -> Result<(), ImportError> {
        let what = format!("expected a file, found a directory, which {} does not use", self.name());
        Err(ImportError::Broken { source_name: folder.name.to_owned(), offset: 0, what })
    }
}

/// How many bytes are unpacked at a time.
const UNPACK_STEP: usize = 16 << 20;

/// What a file of a format is among the other files of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InFolder {
    /// A capture. Files whose names end so are read whatever is left of them, so that a damaged one is not passed over;
    /// others are read where there is nothing else.
    Capture(&'static [&'static str]),
    /// What tools leave beside their captures to say the same: read where there is no capture.
    Copy,
    /// Read beside captures in a folder that is called so, and there whatever is left of files with these endings;
    /// elsewhere where there is nothing else.
    Beside(&'static str, &'static [&'static str]),
    /// Read where there is nothing else; of several files those with these endings alone, where there are any.
    Alone(&'static [&'static str]),
}
