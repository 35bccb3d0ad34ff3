//! What is looked after while the program runs: a manifest that is true at every moment, and who is busy writing.

use std::fs;
use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::folder::CaptureFolder;
use crate::manifest::{Gathered, compose_so_far};
use crate::options::RecordOptions;
use crate::outcome::RecordEvent;
use crate::pieces::{Pieces, read_pieces};
use crate::redact::Redaction;

/// Looks at the pieces now and then.
pub(crate) struct Progress<'a> {
    folder: &'a CaptureFolder,
    options: &'a RecordOptions,
    redaction: &'a Redaction,
    prepare_s: f64,
    /// The latest change of the pieces that the manifest knows of.
    known: Option<SystemTime>,
    pieces: Pieces,
}

impl<'a> Progress<'a> {
    pub(crate) fn new(
        folder: &'a CaptureFolder,
        options: &'a RecordOptions,
        redaction: &'a Redaction,
        prepare_s: f64,
    ) -> Progress<'a> {
        Progress { folder, options, redaction, prepare_s, known: None, pieces: Pieces::default() }
    }

    /// Write a manifest of what there is after the program ran for `wall`.
    ///
    /// # Errors
    /// Whatever the system says if it cannot be written; the one before is still there then.
    pub(crate) fn write(&self, wall: Duration) -> io::Result<()> {
        let gathered = Gathered::so_far(&self.folder.path, &self.pieces);
        let manifest = compose_so_far(self.options, &self.pieces, &gathered, wall, self.prepare_s, self.redaction);
        write_manifest(self.folder, &self.redaction.apply(json!(manifest)))
    }

    /// Read the pieces if they changed, and tell who is busy writing a trace.
    pub(crate) fn look(&mut self, wall: Duration, tell: &mut dyn FnMut(RecordEvent)) {
        let changed = changed(self.folder);
        if changed != self.known {
            self.known = changed;
            self.pieces = read_pieces(&self.folder.pieces());
            // The next look tries again, and the manifest at the end says whether it mattered.
            let _ = self.write(wall);
        }
        for piece in self.pieces.recorded().filter(|piece| piece.content["state"] == "writing") {
            if let (Some(pid), Some(took)) = (piece.content["pid"].as_u64(), since(&piece.content)) {
                tell(RecordEvent::Writing { pid, took });
            }
        }
    }
}

/// Replace the manifest in one step.
pub(crate) fn write_manifest(folder: &CaptureFolder, manifest: &Value) -> io::Result<()> {
    ridge_files::write(&folder.manifest(), format!("{manifest:#}\n").as_bytes())
}

/// When a piece changed last.
fn changed(folder: &CaptureFolder) -> Option<SystemTime> {
    let entries = fs::read_dir(folder.pieces()).ok()?.filter_map(Result::ok);
    entries.filter_map(|entry| entry.metadata().ok()?.modified().ok()).max()
}

/// How long ago a process began to write.
fn since(content: &Value) -> Option<Duration> {
    let began = Duration::try_from_secs_f64(content["writing_since_unix_s"].as_f64()?).ok()?;
    SystemTime::now().duration_since(UNIX_EPOCH).ok()?.checked_sub(began)
}
