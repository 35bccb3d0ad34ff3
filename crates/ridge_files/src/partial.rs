//! What is not whole yet: its name, its lock, and how what a killed writer left is told from what is being written.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// How all of these names end.
const ENDING: &[u8] = b".ridgeline-partial";

/// Bytes that are taken of a name, so that the whole is no longer than file systems allow (255).
const LONGEST_NAME: usize = 180;

/// Whether `name` is that of something that is not whole yet.
pub fn is_partial(name: &OsStr) -> bool {
    name.as_bytes().starts_with(b".") && name.as_bytes().ends_with(ENDING)
}

/// Something new beside `place`, which nobody else has and which is locked while the handle is open.
///
/// `make` makes it, and fails where something is there already.
pub(crate) fn new_beside(place: &Path, make: impl Fn(&Path) -> io::Result<File>) -> io::Result<(PathBuf, File)> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let folder = folder_of(place);
    sweep(folder, place);
    loop {
        let mut name = beginning(place);
        name.extend(format!("{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)).bytes());
        name.extend(ENDING);
        let path = folder.join(OsString::from_vec(name));
        let file = match make(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            made => made?,
        };
        // Before it was locked, another may have taken it for one that was left behind, and removed it.
        let is_ours = !is_busy(&file.try_lock());
        if is_ours
            && fs::symlink_metadata(&path).is_ok_and(|found| file.metadata().is_ok_and(|own| own.ino() == found.ino()))
        {
            return Ok((path, file));
        }
    }
}

/// Removes what writers of `place` that were killed left in its folder.
fn sweep(folder: &Path, place: &Path) {
    let beginning = beginning(place);
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    for entry in entries {
        let name = entry.file_name();
        if !name.as_bytes().starts_with(&beginning) || !is_partial(&name) {
            continue;
        }
        // To open a pipe would be to wait for whoever writes to it.
        if !entry.file_type().is_ok_and(|kind| kind.is_file() || kind.is_dir()) {
            continue;
        }
        // A lock that cannot be had because the file system has none says nothing: then it stays. It is held until all is
        // removed: who was about to have it sees then that it is gone.
        if let Ok(left) = File::open(entry.path())
            && left.try_lock().is_ok()
        {
            // What cannot be removed now is removed by the next.
            let _ = remove(&entry.path());
        }
    }
}

/// Removes a file, a link or a folder with all in it; what is not there is removed already.
///
/// # Errors
/// What the system says of what cannot be removed.
pub fn remove(path: &Path) -> io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The folder that holds `path`.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether another holds the lock. A file system without locks says something else, and keeps nobody from writing.
fn is_busy(locked: &Result<(), TryLockError>) -> bool {
    matches!(locked, Err(TryLockError::WouldBlock))
}

/// How the names of what is written for `place` begin.
fn beginning(place: &Path) -> Vec<u8> {
    let name = place.file_name().unwrap_or(OsStr::new("")).as_bytes();
    [b".", &name[..name.len().min(LONGEST_NAME)], b"."].concat()
}
