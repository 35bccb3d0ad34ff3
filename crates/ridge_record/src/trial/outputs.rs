//! Whether both sides write the same: bytes, or numbers as close as was asked.

use super::workplace::Workplace;
use super::{Side, TrialError, TrialOptions, archives, numbers, words};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// How a file of the candidate compares with that of the program as it is.
#[derive(Debug, Clone, PartialEq)]
pub enum Agreement {
    /// The same bytes.
    Same,
    /// Numbers that differ by at most what is tolerated; the largest difference, as a part of the larger one.
    Close(f64),
    /// They differ.
    Differs(String),
    /// The program's own output differs from run to run.
    NotRepeatable,
    /// A side did not write it.
    Missing(Side),
    /// No run of both sides ended.
    NotCompared,
}

impl Agreement {
    /// Whether the outputs agree.
    pub fn agrees(&self) -> bool {
        matches!(self, Agreement::Same | Agreement::Close(_))
    }

    /// The name in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Agreement::Same => "same",
            Agreement::Close(_) => "close",
            Agreement::Differs(_) => "differs",
            Agreement::NotRepeatable => "not repeatable",
            Agreement::Missing(_) => "missing",
            Agreement::NotCompared => "not compared",
        }
    }
}

/// A file that both sides must write alike.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputCheck {
    /// The file, as the user names it.
    pub file: PathBuf,
    /// How it compares.
    pub agreement: Agreement,
}

pub(super) struct Outputs {
    tolerance: f64,
    keep: PathBuf,
    files: Vec<Watched>,
}

struct Watched {
    file: PathBuf,
    /// When it had been written before the run.
    written: Option<SystemTime>,
    reference: Option<Vec<u8>>,
    has_candidate: bool,
    agreement: Agreement,
}

impl Outputs {
    pub(super) fn new(options: &TrialOptions) -> Outputs {
        let watched = |file: &PathBuf| Watched {
            file: file.clone(),
            written: None,
            reference: None,
            has_candidate: false,
            agreement: Agreement::NotCompared,
        };
        let files = options.outputs.iter().map(watched).collect();
        Outputs { tolerance: options.tolerance, keep: options.out.join("outputs"), files }
    }

    /// A run of `side` begins.
    pub(super) fn expect(&mut self, side: Side, place: &Workplace) {
        for watched in &mut self.files {
            let path = place.path(&watched.file, side);
            watched.written = fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
        }
    }

    /// A run of `side` ended: compares what it wrote, and keeps the first of each side.
    pub(super) fn gather(&mut self, side: Side, place: &Workplace) -> Result<(), TrialError> {
        for (at, watched) in self.files.iter_mut().enumerate() {
            let path = place.path(&watched.file, side);
            let written = fs::metadata(&path).and_then(|metadata| metadata.modified()).ok();
            let bytes = fs::read(&path).ok().filter(|_| written.is_some() && written != watched.written);
            let is_first = match side {
                Side::Before => watched.reference.is_none(),
                Side::After => !watched.has_candidate,
            };
            let Some(bytes) = bytes else {
                watched.agreement = Agreement::Missing(side);
                continue;
            };
            if is_first {
                let name = watched.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let kept = self.keep.join(side.name());
                let copied =
                    fs::create_dir_all(&kept).and_then(|()| fs::write(kept.join(format!("{at}-{name}")), &bytes));
                copied.map_err(|source| TrialError::System { doing: "keep an output", source })?;
            }
            watched.compare(side, bytes, self.tolerance);
        }
        Ok(())
    }

    pub(super) fn done(&self) -> (Vec<OutputCheck>, Vec<String>) {
        let check =
            |watched: &Watched| OutputCheck { file: watched.file.clone(), agreement: watched.agreement.clone() };
        (self.files.iter().map(check).collect(), Vec::new())
    }
}

impl Watched {
    /// A disagreement stays one, whatever comes after it.
    fn compare(&mut self, side: Side, bytes: Vec<u8>, tolerance: f64) {
        let Some(reference) = &self.reference else {
            if side == Side::Before {
                self.reference = Some(bytes);
            }
            return;
        };
        self.has_candidate |= side == Side::After;
        let found = agreement(&self.file, reference, &bytes, tolerance);
        let is_worse = match (&self.agreement, &found) {
            (Agreement::NotCompared, _) => side == Side::After || !found.agrees(),
            (Agreement::Same, found) => *found != Agreement::Same,
            (Agreement::Close(known), Agreement::Close(found)) => found > known,
            (Agreement::Close(_), found) => !found.agrees(),
            _ => false,
        };
        if is_worse {
            self.agreement = match side {
                Side::Before if !found.agrees() => Agreement::NotRepeatable,
                _ => found,
            };
        }
    }
}

fn agreement(file: &Path, before: &[u8], after: &[u8], tolerance: f64) -> Agreement {
    if before == after {
        return Agreement::Same;
    }
    match difference(file, before, after, tolerance) {
        Some(Ok(difference)) if difference <= tolerance => return Agreement::Close(difference),
        Some(Ok(difference)) => {
            return Agreement::Differs(format!("numbers differ by up to {difference:.3e} of the larger one"));
        }
        Some(Err(why)) => return Agreement::Differs(why),
        None => {}
    }
    let at = before.iter().zip(after).position(|(one, other)| one != other).unwrap_or(before.len().min(after.len()));
    Agreement::Differs(format!("bytes differ from byte {at} on, of {} and {}", before.len(), after.len()))
}

/// The largest difference of the numbers of arrays; of texts where numbers may differ at all. `None` for what is compared by bytes.
fn difference(file: &Path, before: &[u8], after: &[u8], tolerance: f64) -> Option<Result<f64, String>> {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("npy") => Some(numbers::largest_difference(before, after)),
        Some("npz") => Some(archives::largest_difference(before, after)),
        _ if tolerance > 0.0 => {
            let (before, after) = (std::str::from_utf8(before).ok()?, std::str::from_utf8(after).ok()?);
            Some(words::largest_difference(before, after))
        }
        _ => None,
    }
}
