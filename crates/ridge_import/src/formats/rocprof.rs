//! Captures from AMD's `rocprofv3`: its JSON (`*_results.json`) and its databases (`rocpd`, `*_results.db`).
//!
//! Kernels, copies, HIP, HSA and RCCL calls, and roctx ranges are read, with each device event linked to the call that caused
//! it.
//! Databases with schemas 3.0 to 4.1 are read: tables by their names without the run's suffix, with the columns that exist.
//! Hardware counters (`--pmc`) become profiled launches, like those from Nsight Compute.
//! The formats are defined in rocprofiler-sdk (`generateJSON.cpp`, `counter_info.hpp`, `rocpd_tables.sql`,
//! `generateRocpd.cpp`).

mod counted;
mod json;
mod kept;
mod place;
mod records;
mod rocpd;

use crate::choice::InFolder;
use crate::formats::Format;
use crate::import::{Import, ImportError, Source};
use ridge_redact::Redactor;
use ridge_sqlite::is_database;

pub(super) use rocpd::{is_one, read as read_database};

/// The format of rocprofv3.
pub(super) struct Rocprof;

impl Format for Rocprof {
    fn name(&self) -> &'static str {
        "rocprof"
    }

    fn in_folder(&self) -> InFolder {
        InFolder::Capture(&["_results.db"])
    }

    fn takes_modules(&self) -> bool {
        true
    }

    fn sniff(&self, head: &[u8]) -> bool {
        /// The only key of the document, which its own writer puts first.
        const TOOL: &[u8] = b"\"rocprofiler-sdk-tool\"";
        let text = head.trim_ascii_start();
        text.strip_prefix(b"{").is_some_and(|rest| rest.trim_ascii_start().starts_with(TOOL))
    }

    fn redactor(&self, head: &[u8]) -> Redactor {
        if is_database(head) { Redactor::Nsys } else { Redactor::Json }
    }

    fn import(&self, source: Source<'_>, import: &mut Import) -> Result<(), ImportError> {
        if is_database(source.bytes) { read_database(source, import) } else { json::read(source, import) }
    }
}
