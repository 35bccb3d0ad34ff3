//! Nsight Compute reports (`.ncu-rep`), read directly, and the `raw` and `details` pages of `ncu --csv`.
//!
//! Each profiled launch becomes a row of the trace's kernel profiles, with every metric in base units and the results of the
//! profiler's own rules. A metric that was not collected stays absent.
//! Reports with file version 7 are read, the layout documented in the Customization Guide's section on the file format. For
//! other versions, export the CSV pages.
//! CSV values are scaled by their units row, so a report and its pages have the same numbers.
//!
//! Process, host and file names are never read. These captures have no clock, and so no events.

mod device;
mod fields;
mod launch;
mod launches;
mod pages;
mod report;
mod result;
mod units;

use crate::choice::InFolder;
use crate::formats::Format;
use crate::import::{CaptureFacts, Import, ImportError, Source};
use ridge_redact::Redactor;

/// The format of reports and of their pages.
pub(super) struct Ncu;

impl Format for Ncu {
    fn name(&self) -> &'static str {
        "ncu"
    }

    fn in_folder(&self) -> InFolder {
        InFolder::Capture(&[".ncu-rep", ".ncu.csv"])
    }

    fn hint(&self, error: &ImportError) -> Option<String> {
        match error {
            ImportError::Broken { source_name, .. } | ImportError::Unknown { source_name, .. }
                if [".ncu-rep", ".ncu-repz"].iter().any(|ending| source_name.ends_with(ending)) =>
            {
                Some(format!("convert it with `ncu --import {source_name} --csv --page raw > FILE.csv`"))
            }
            _ => None,
        }
    }

    fn sniff(&self, head: &[u8]) -> bool {
        report::is_report(head) || pages::find_header(head).is_some()
    }

    fn redactor(&self, head: &[u8]) -> Redactor {
        if report::is_report(head) { Redactor::NcuReport } else { Redactor::Table }
    }

    fn import(&self, source: Source<'_>, import: &mut Import) -> Result<(), ImportError> {
        let launches =
            if report::is_report(source.bytes) { report::read(source, import)? } else { pages::read(source, import)? };
        import.captures.push(CaptureFacts {
            source: source.name.to_owned(),
            format: "ncu",
            bytes: source.bytes.len() as u64,
            ..CaptureFacts::default()
        });
        launches::add(launches, source, import);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
