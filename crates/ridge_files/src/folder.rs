//! A folder that gets its name when all of it is there.

use crate::file::sync_folder;
use crate::partial::{folder_of, new_beside};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

pub use crate::partial::remove;

/// A folder beside the place that it will have; where it gets none it goes, with all in it.
#[derive(Debug)]
pub struct NewFolder {
    path: PathBuf,
    place: PathBuf,
    /// Held for as long as it is written.
    _lock: File,
}

impl NewFolder {
    /// A new, empty folder beside `place`, whose own folder is there.
    ///
    /// # Errors
    /// What the system says where it cannot be made.
    pub fn beside(place: &Path) -> io::Result<NewFolder> {
        let place = std::path::absolute(place)?;
        let (path, lock) = new_beside(&place, |path| fs::create_dir(path).and_then(|()| File::open(path)))?;
        Ok(NewFolder { path, place, _lock: lock })
    }

    /// Where its files are until it has its place.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives it its place, where nothing or an empty folder is.
    ///
    /// # Errors
    /// What the system says where something is there, or the disk is full; nothing is left beside then.
    pub fn keep(self) -> io::Result<()> {
        sync_below(&self.path)?;
        fs::rename(&self.path, &self.place)?;
        sync_folder(folder_of(&self.place));
        Ok(())
    }

    /// Gives it its place, and removes the folder that had it.
    ///
    /// # Errors
    /// What the system says, with the new folder as it is; the one that had the place has it then.
    pub fn keep_instead(self) -> Result<(), (NewFolder, io::Error)> {
        let exchanged = sync_below(&self.path).and_then(|()| match self.place.symlink_metadata() {
            // A link to a folder stays: what it leads to gives way.
            Ok(_) => fs::canonicalize(&self.place).and_then(|place| exchange(&self.path, &place)),
            Err(_) => fs::rename(&self.path, &self.place),
        });
        if let Err(error) = exchanged {
            return Err((self, error));
        }
        sync_folder(folder_of(&self.place));
        Ok(())
    }

    /// Gives it a place near the one that it cannot have: the first of `NAME-2`, `NAME-3`, … that is free.
    ///
    /// # Errors
    /// What the system says.
    pub fn keep_near(self) -> io::Result<PathBuf> {
        let name = self.place.file_name().unwrap_or_default().to_owned();
        for number in 2_u32.. {
            let mut near = name.clone();
            near.push(format!("-{number}"));
            let near = self.place.with_file_name(near);
            match renameat_with(CWD, &self.path, CWD, &near, RenameFlags::NOREPLACE) {
                Ok(()) => return Ok(near),
                Err(Errno::EXIST) => {}
                // A file system that knows no such flag.
                Err(_) if near.symlink_metadata().is_err() => {
                    return fs::rename(&self.path, &near).map(|()| near);
                }
                Err(_) => {}
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }
}

impl Drop for NewFolder {
    fn drop(&mut self) {
        // Where it has its place nothing is here any more, or the earlier one. What stays goes with the next that is written.
        let _ = remove(&self.path);
    }
}

/// Exchanges two folders: in one step if the system can, else in two.
///
/// # Errors
/// What the system says; nothing is lost then.
pub fn exchange(new: &Path, old: &Path) -> io::Result<()> {
    if renameat_with(CWD, new, CWD, old, RenameFlags::EXCHANGE).is_ok() {
        return Ok(());
    }
    let (aside, _lock) = new_beside(old, |path| fs::create_dir(path).and_then(|()| File::open(path)))?;
    fs::rename(old, &aside)?;
    if let Err(error) = fs::rename(new, old) {
        // The earlier one gets its place back; the error that counts is why the new one did not.
        let _ = fs::rename(&aside, old);
        return Err(error);
    }
    fs::rename(aside, new)
}

/// Has every file below `folder` be on the disk, which may say only now that it is full.
fn sync_below(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        match entry.file_type()? {
            kind if kind.is_dir() => sync_below(&entry.path())?,
            kind if kind.is_file() => File::open(entry.path())?.sync_all()?,
            _ => {}
        }
    }
    sync_folder(folder);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name());
        let mut names: Vec<String> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_folder_is_there_when_it_is_whole() {
        let parent = tempfile::tempdir().expect("a folder");
        let place = parent.path().join("copy");
        let new = NewFolder::beside(&place).expect("made");
        fs::create_dir(new.path().join("trace")).expect("a folder");
        fs::write(new.path().join("trace/x"), "x").expect("a file");
        assert!(!place.exists());
        new.keep().expect("nothing is there");
        assert_eq!((names(parent.path()), names(&place)), (vec!["copy".to_owned()], vec!["trace".to_owned()]));
    }

    #[test]
    fn one_that_is_given_up_leaves_nothing() {
        let parent = tempfile::tempdir().expect("a folder");
        let place = parent.path().join("copy");
        let new = NewFolder::beside(&place).expect("made");
        fs::write(new.path().join("x"), "x").expect("a file");
        drop(new);
        let new = NewFolder::beside(&place).expect("made");
        fs::create_dir(&place).expect("a folder");
        fs::write(place.join("mine"), "").expect("a file");
        assert!(new.keep().is_err(), "somebody was quicker");
        assert_eq!((names(parent.path()), names(&place)), (vec!["copy".to_owned()], vec!["mine".to_owned()]));
    }

    #[test]
    fn an_earlier_folder_stays_whole_until_the_end() {
        let parent = tempfile::tempdir().expect("a folder");
        let place = parent.path().join("tried");
        fs::create_dir(&place).expect("a folder");
        fs::write(place.join("old"), "").expect("a file");
        let new = NewFolder::beside(&place).expect("made");
        fs::write(new.path().join("new"), "").expect("a file");
        assert_eq!(names(&place), ["old"]);
        new.keep_instead().map_err(|(_, error)| error).expect("exchanged");
        assert_eq!((names(parent.path()), names(&place)), (vec!["tried".to_owned()], vec!["new".to_owned()]));
    }

    #[test]
    fn one_that_cannot_have_its_place_has_one_near() {
        let parent = tempfile::tempdir().expect("a folder");
        for name in ["tried", "tried-2"] {
            fs::create_dir(parent.path().join(name)).expect("a folder");
        }
        let new = NewFolder::beside(&parent.path().join("tried")).expect("made");
        assert!(new.keep_near().expect("a place").ends_with("tried-3"));
        assert_eq!(names(parent.path()), ["tried", "tried-2", "tried-3"]);
    }

    #[test]
    fn what_a_killed_writer_left_goes() {
        let parent = tempfile::tempdir().expect("a folder");
        let left = parent.path().join(".copy.77-0.ridgeline-partial");
        fs::create_dir(&left).expect("a folder");
        fs::write(left.join("half"), "").expect("a file");
        let one = NewFolder::beside(&parent.path().join("copy")).expect("made");
        let other = NewFolder::beside(&parent.path().join("copy")).expect("made");
        assert!(!left.exists() && one.path().exists() && other.path().exists());
    }
}
