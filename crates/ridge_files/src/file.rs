//! A file that is replaced at once or not at all.

use crate::partial::{folder_of, new_beside};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// Writes `bytes` to `path`, which is replaced at once or not at all.
///
/// # Errors
/// What the system says; what was at `path` is still there then.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(path, |file| file.write_all(bytes))
}

/// Has `write` fill a new file that takes the place of the one at `path` once all of it is on the disk; gives what `write` gives.
///
/// A link stays a link: what it leads to is replaced. The permissions of an earlier file stay. Devices and pipes are written to.
///
/// # Errors
/// What `write` says, or the system; what was at `path` is still there then, and nothing is left beside it.
pub fn replace<T, E: From<io::Error>>(path: &Path, write: impl FnOnce(&mut File) -> Result<T, E>) -> Result<T, E> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let earlier = fs::metadata(&target).ok();
    if earlier.as_ref().is_some_and(|found| !found.is_file()) {
        return write(&mut OpenOptions::new().write(true).open(path)?);
    }
    let (partial, mut file) = new_beside(&target, |path| File::create_new(path))?;
    let written = write(&mut file).and_then(|given| {
        if let Some(earlier) = earlier {
            // On a file system that has no permissions, there are none to keep.
            let _ = file.set_permissions(earlier.permissions());
        }
        // A disk may say only now that it is full.
        file.sync_all()?;
        fs::rename(&partial, &target)?;
        Ok(given)
    });
    match &written {
        Ok(_) => sync_folder(folder_of(&target)),
        // The error that counts is that of the writing.
        Err(_) => drop(fs::remove_file(&partial)),
    }
    written
}

/// Has the names in a folder be on the disk. Some file systems cannot, and then nothing more can be done.
pub(crate) fn sync_folder(folder: &Path) {
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name());
        let mut names: Vec<String> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_the_old_one_until_the_new_one_is_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("report.html");
        write(&path, b"old").expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("they are ours");
        let failed = replace(&path, |file| -> io::Result<()> {
            file.write_all(b"half")?;
            assert_eq!(fs::read(&path).expect("a file"), b"old");
            assert_eq!(names(folder.path()).len(), 2, "the new one is beside it");
            Err(io::ErrorKind::StorageFull.into())
        });
        assert!(failed.is_err());
        assert_eq!((fs::read(&path).expect("a file"), names(folder.path()).len()), (b"old".to_vec(), 1));
        write(&path, b"new").expect("written");
        assert_eq!(fs::read(&path).expect("a file"), b"new");
        assert_eq!(fs::metadata(&path).expect("a file").permissions().mode() & 0o777, 0o640);
    }

    #[test]
    fn a_link_stays_and_a_device_is_written_to() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("far")).expect("a folder");
        fs::write(folder.path().join("far/x"), "old").expect("a file");
        symlink("far/x", folder.path().join("x")).expect("a link");
        write(&folder.path().join("x"), b"new").expect("written");
        assert!(folder.path().join("x").is_symlink());
        assert_eq!(fs::read(folder.path().join("far/x")).expect("a file"), b"new");
        write(Path::new("/dev/null"), b"gone").expect("written");
        assert!(!Path::new("/dev/null").is_file());
    }

    #[test]
    fn what_a_killed_writer_left_goes_and_what_is_being_written_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x");
        fs::write(folder.path().join(".x.77-0.ridgeline-partial"), "left").expect("a file");
        fs::write(folder.path().join(".y.77-0.ridgeline-partial"), "of another file").expect("a file");
        replace(&path, |file| -> io::Result<()> {
            write(&path, b"another that was quicker")?;
            file.write_all(b"whole")
        })
        .expect("written");
        assert_eq!(names(folder.path()), [".y.77-0.ridgeline-partial", "x"]);
        assert_eq!(fs::read(&path).expect("a file"), b"whole");
    }

    #[test]
    fn names_may_be_as_long_as_they_can_be() {
        let folder = tempfile::tempdir().expect("a folder");
        write(&folder.path().join("x".repeat(255)), b"whole").expect("written");
        assert_eq!(names(folder.path()), ["x".repeat(255)]);
    }
}
