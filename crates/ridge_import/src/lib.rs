//! Any capture in, one trace out.
//!
//! A [`Format`] recognizes its files by content and reads them into a shared [`Import`].
//! Adding one is a new file under `formats/` and two lines in `formats.rs`.
//!
//! Bytes come in, values go out: nothing here opens a file, reads the environment or a clock.
//! A capture that is broken in part gives [`ImportNote`]s and all that could be read; an error means nothing could.
//!
//! ```
//! use ridge_import::{Source, import};
//! let error = import(&[Source { name: "x.bin", bytes: b"not a capture" }], None).unwrap_err();
//! assert!(error.to_string().contains("unrecognized file format"));
//! ```
//!
//! Floors, lowest first: `note`; `error`, `parquet`; `archive`, `source`; `packed`; `folder`; `format`; `xla`, `ranks`; `formats`; `choice`, `import`, `redact`.

mod archive;
mod choice;
mod demangle;
mod error;
mod folder;
mod foreign;
mod format;
mod formats;
mod graph_captures;
mod graphs;
mod import;
mod inductor;
mod note;
mod packed;
mod parquet;
mod ranks;
mod recorder;
mod redact;
mod source;
mod xla;

pub use choice::{Claimed, InFolder, choose, claim};
pub use demangle::readable as demangled;
pub use folder::Folder;
pub use formats::{FORMATS, Format};
pub use import::{
    CaptureFacts, Import, ImportError, ImportOptions, Imported, Input, Release, Source, SourceFile, import,
    import_inputs, is_lfs_pointer, sniff, sniff_folder, takes_modules,
};
pub use note::{ImportNote, Severity};
pub use packed::{Packed, PackedReader};
pub use redact::{Foreign, Redacted, RedactedFolder, learn, redact};
