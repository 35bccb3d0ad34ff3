//! A limit on the size of files (`ulimit -f`) is an error of the write that meets it, not the end of the process.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::SIGXFSZ;

use crate::ignored::is_ignored;

/// Has a write beyond the limit fail, so that it can be said and what was begun be removed.
///
/// For programs, once. A program that is run later meets the limit as it would without us: a signal that is caught is as
/// at the start in a new program, and one that is ignored stays so.
///
/// # Errors
/// Where the system does not let the signal be caught.
pub fn survive_file_size_limit() -> io::Result<()> {
    match is_ignored(SIGXFSZ) {
        true => Ok(()),
        // Nobody asks whether it came: the write says so.
        false => signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false))).map(drop),
    }
}
