//! Copies of captures without what is private: files, and folders of them.
//!
//! What is private in a file is decided by `ridge_redact`; here files are found, read and written, and named.

use crate::error::OpenError;
use crate::file_map::FileBytes;
use crate::find::walk;
use ridge_redact::{Removed, What, Words};
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

/// How the names of captures end that their tools name for a machine.
const NAMED_FOR_HOSTS: [&str; 3] = [".xplane.pb", ".pt.trace.json", ".pt.trace.json.gz"];

/// What a copy became.
#[derive(Debug, Clone, Default)]
pub struct Redacted {
    /// Files copied.
    pub files: usize,
    /// What was taken out of all of them.
    pub removed: Removed,
    /// Files of a folder that were not copied, and why.
    pub left_out: Vec<(String, String)>,
}

/// Copies the capture `input`, a file or a folder, to `output` without what is private.
///
/// What is private of this machine and user is taken out too, as `HOME`, `USER` and the system say it.
///
/// # Errors
/// [`OpenError`] where `output` exists, nothing can be copied, or the file is of no format that can be redacted; no file is left at
/// `output` then.
pub fn redact(input: &Path, output: &Path) -> Result<Redacted, OpenError> {
    if output.symlink_metadata().is_ok() {
        return Err(OpenError::new("expected a path for the copy, found something there", Some(output)));
    }
    let metadata = fs::metadata(input).map_err(|error| OpenError::io("open", input, &error))?;
    let words = words_of_this_machine();
    let mut redacted = Redacted::default();
    if !metadata.is_dir() {
        redacted.removed.merge(&file(input, output, &words)?);
        redacted.files = 1;
        return Ok(redacted);
    }
    folder(input, output, &words, &mut redacted)?;
    if redacted.files == 0 {
        return Err(OpenError::new("expected a capture that can be redacted, found none", Some(input)));
    }
    Ok(redacted)
}

fn words_of_this_machine() -> Words {
    let said = |name: &str| std::env::var(name).unwrap_or_default();
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_else(|_| said("HOSTNAME"));
    let user = std::env::var("USER").unwrap_or_else(|_| said("LOGNAME"));
    Words::of(&said("HOME"), &user, host.trim())
}

fn folder(input: &Path, output: &Path, words: &Words, redacted: &mut Redacted) -> Result<(), OpenError> {
    let below = walk(input)?;
    redacted.left_out.extend(below.notes.into_iter().map(|note| (note.file.unwrap_or_default(), note.message)));
    let mut hosts = 0;
    let link = |path: &PathBuf| (path.display().to_string(), "a link that leads out of the folder".to_owned());
    redacted.left_out.extend(below.links.iter().map(link));
    for path in below.files {
        let inside = path.strip_prefix(input).unwrap_or(&path);
        let copy = output.join(shareable(inside, words, &mut hosts, &mut redacted.removed));
        match file(&path, &copy, words) {
            Ok(removed) => {
                redacted.files += 1;
                redacted.removed.merge(&removed);
            }
            Err(error) => redacted.left_out.push((inside.display().to_string(), error.message)),
        }
    }
    Ok(())
}

/// The path of a copy inside its folder: captures that are named for a machine are numbered instead.
fn shareable(inside: &Path, words: &Words, hosts: &mut usize, removed: &mut Removed) -> PathBuf {
    let clean: PathBuf = inside.iter().map(|part| words.clean(&part.to_string_lossy(), removed).into_owned()).collect();
    let name = clean.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let is_ours = ["host", "own"]
        .iter()
        .any(|start| name.strip_prefix(start).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())));
    match NAMED_FOR_HOSTS.iter().find(|suffix| name.ends_with(**suffix)) {
        Some(suffix) if !is_ours => {
            *hosts += 1;
            removed.add(What::HostName);
            clean.with_file_name(format!("host{}.copy{suffix}", *hosts - 1))
        }
        _ => clean,
    }
}

/// Copies one file; on failure nothing is left of the copy.
fn file(input: &Path, output: &Path, words: &Words) -> Result<Removed, OpenError> {
    let bytes = FileBytes::open(input)?;
    // Refused before a folder is made for it.
    ridge_redact::recognize(bytes.bytes()).map_err(|error| refused(input, &error))?;
    let failed = |error: std::io::Error| OpenError::io("write the copy", output, &error);
    if let Some(parent) = output.parent() {
        fs::create_dir_all(parent).map_err(failed)?;
    }
    let partial =
        output.with_file_name(format!("{}.partial", output.file_name().unwrap_or_default().to_string_lossy()));
    let mut copy = BufWriter::new(File::create(&partial).map_err(failed)?);
    let removed = ridge_redact::redact(bytes.bytes(), words, &mut copy).map_err(|error| refused(input, &error));
    let written = removed.and_then(|removed| copy.flush().map(|()| removed).map_err(failed));
    let written = written.and_then(|removed| fs::rename(&partial, output).map(|()| removed).map_err(failed));
    if written.is_err() {
        // The error that counts is the one above.
        let _ = fs::remove_file(&partial);
    }
    written
}

fn refused(path: &Path, error: &ridge_redact::RedactError) -> OpenError {
    let refused = OpenError::new(error.to_string(), Some(path));
    match error.hint() {
        Some(hint) => refused.hint(hint),
        None => refused,
    }
}
